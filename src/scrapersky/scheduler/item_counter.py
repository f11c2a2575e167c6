"""Counts what the stages of this process do, for the records of runs."""

import time
from collections import defaultdict
from dataclasses import dataclass, field

from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Event,
    Fenced,
    Retried,
    Settled,
)

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

    def add(self, more: "Counts") -> None:
        """Count what happened since."""
        self.picked += more.picked
        self.succeeded += more.succeeded
        self.failed += more.failed
        self.retried += more.retried
        self.last_error = more.last_error or self.last_error


@dataclass(slots=True)
class Activity:
    """What a stage did, and from when to when by the clock of this process."""

    began: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)
    counts: Counts = field(default_factory=Counts)


class ItemCounter:
    """Listens to workers and counts by stage."""

    def __init__(self) -> None:
        self._stages: defaultdict[str, Activity] = defaultdict(Activity)
        self._in_work: defaultdict[str, set[str]] = defaultdict(set)

    def hear(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Claimed(stage=stage, items=items):
                self._in_work[stage].update(items)
                self._count(stage, Counts(picked=len(items)))
            case Settled(stage=stage, outcome=outcome, item=item):
                self._in_work[stage].discard(item)
                self._count(stage, Counts(succeeded=int(outcome in SUCCEEDED)))
            case Retried(stage=stage, why=why, item=item):
                self._in_work[stage].discard(item)
                self._count(stage, Counts(retried=1, last_error=why))
            case DeadLettered(stage=stage, why=why, item=item):
                self._in_work[stage].discard(item)
                self._count(stage, Counts(failed=1, last_error=why))
            case Fenced(stage=stage, item=item):
                self._in_work[stage].discard(item)
            case _:
                pass

    def is_busy(self, stage: str) -> bool:
        """Whether an item of a stage is in work."""
        return bool(self._in_work[stage])

    def activity(self, stage: str) -> Activity | None:
        """Return what a stage did since it was last asked, if it did anything."""
        return self._stages.pop(stage, None)

    def take(self, stage: str) -> Counts:
        """Return what a stage did since it was last asked."""
        return self._stages.pop(stage, Activity()).counts

    def _count(self, stage: str, counts: Counts) -> None:
        activity = self._stages[stage]
        activity.counts.add(counts)
        activity.last = time.monotonic()
