"""Events: what a worker reports to its listeners."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeAlias, TypeVar

from curation_sdk.log import get_logger


@dataclass(frozen=True, slots=True)
class Claimed:
    """A worker took these items."""

    stage: str
    worker: str
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Settled:
    """An item left the stage: `outcome` is done, skipped, postponed or returned."""

    stage: str
    item: str
    outcome: str
    why: str | None
    took: timedelta
    correlation_id: str | None = None
    """The same in the item's history and in log lines of its work."""


@dataclass(frozen=True, slots=True)
class Retried:
    """An item failed for now and is tried again after `wait`."""

    stage: str
    item: str
    why: str | None
    tries: int
    wait: timedelta
    correlation_id: str | None = None
    """The same in the item's history and in log lines of its work."""


@dataclass(frozen=True, slots=True)
class DeadLettered:
    """An item became a dead letter: `kind` is gave_up, exhausted or quarantined."""

    stage: str
    item: str
    kind: str
    why: str | None
    correlation_id: str | None = None
    """The same in the item's history and in log lines of its work."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """An item was taken from a worker whose lease had expired."""

    stage: str
    item: str
    worker: str | None


@dataclass(frozen=True, slots=True)
class Requeued:
    """A row was processing although no worker had claimed it; it is queued again."""

    stage: str
    item: str
    why: str


@dataclass(frozen=True, slots=True)
class Fenced:
    """A late result was refused: another worker owns the item by now."""

    stage: str
    item: str
    fence: int


@dataclass(frozen=True, slots=True)
class Paused:
    """A stage claims nothing until it is resumed."""

    stage: str
    why: str | None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A stage claims again."""

    stage: str


@dataclass(frozen=True, slots=True)
class Drained:
    """A stage found nothing more to claim."""

    stage: str


@dataclass(frozen=True, slots=True)
class Overclaimed:
    """A claim returned more items than were asked for, which should never happen."""

    stage: str
    asked: int
    got: int


@dataclass(frozen=True, slots=True)
class WorkerFault:
    """The worker could not reach or use the database; it goes on trying."""

    doing: str
    why: str


Event: TypeAlias = (
    Claimed
    | Settled
    | Retried
    | DeadLettered
    | Rescued
    | Requeued
    | Fenced
    | Paused
    | Resumed
    | Drained
    | Overclaimed
    | WorkerFault
)
"""Anything a worker reports."""

EventT = TypeVar("EventT")
Listener = Callable[[EventT], None]
"""A plain function that is called with every event."""

log = get_logger(__name__)


class Events(Generic[EventT]):
    """Calls its listeners with every event; falsy while there are none.

    Pass one to `Worker(events=...)`. Listeners are called in the event loop of the worker,
    so they must be quick; one that raises is logged, and the others are still called.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener[EventT]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def listen(self, listener: Listener[EventT]) -> Callable[[], None]:
        """Call `listener` with every event from now on; return how to stop it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def emit(self, event: EventT) -> None:
        """Call every listener."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("listener.failed", event_type=type(event).__name__)
