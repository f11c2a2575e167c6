"""Whether a stage may claim now in this worker, and if not, why."""

import asyncio
import enum


class Obstacle(enum.Enum):
    """What keeps a stage from claiming, whatever room it has."""

    PAUSED = enum.auto()
    """The stage is paused in every worker."""
    STOPPED = enum.auto()
    """The stage ended in this worker: its function broke its contract."""
    RESTING = enum.auto()
    """This worker finds itself unfit."""
    ALONE = enum.auto()
    """One item must be the only one in hand, for a moment."""


class ClaimGate:
    """The obstacles of one stage, each with its reason."""

    def __init__(self, wake: asyncio.Event, changed: asyncio.Event) -> None:
        self._reasons: dict[Obstacle, str] = {}
        self._wake = wake
        self._changed = changed

    @property
    def is_open(self) -> bool:
        """Whether the stage may claim now."""
        return not self._reasons

    @property
    def is_shut(self) -> bool:
        """Whether it may not, and for more than a moment."""
        return bool(self._reasons.keys() - {Obstacle.ALONE})

    def reason(self, obstacle: Obstacle) -> str | None:
        """Return why this obstacle is there, or None if it is not."""
        return self._reasons.get(obstacle)

    def close(self, obstacle: Obstacle, why: str) -> None:
        """Claim nothing until `open` is called for the same obstacle."""
        self._reasons[obstacle] = why
        self._changed.set()

    def open(self, obstacle: Obstacle) -> None:
        """Remove an obstacle."""
        if self._reasons.pop(obstacle, None) is not None:
            self._wake.set()
            self._changed.set()
