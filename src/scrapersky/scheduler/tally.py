"""Counts what the stages of this process did, for the records of runs."""

from collections import defaultdict
from dataclasses import dataclass

from curation_sdk.events import Claimed, DeadLettered, Event, Retried, Settled

SUCCEEDED = frozenset({"done", "skipped"})


@dataclass(slots=True)
class Counts:
    """What a run came to, in items."""

    picked: int = 0
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    last_error: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.picked or self.succeeded or self.failed or self.retried)


class Tally:
    """Listens to workers and counts by stage."""

    def __init__(self) -> None:
        self._stages: defaultdict[str, Counts] = defaultdict(Counts)

    def hear(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Claimed(stage=stage, items=items):
                self._stages[stage].picked += len(items)
            case Settled(stage=stage, outcome=outcome) if outcome in SUCCEEDED:
                self._stages[stage].succeeded += 1
            case Retried(stage=stage, why=why):
                self._stages[stage].retried += 1
                self._stages[stage].last_error = why
            case DeadLettered(stage=stage, why=why):
                self._stages[stage].failed += 1
                self._stages[stage].last_error = why
            case _:
                pass

    def take(self, stage: str) -> Counts:
        """Return what a stage did since it was last asked."""
        return self._stages.pop(stage, Counts())
