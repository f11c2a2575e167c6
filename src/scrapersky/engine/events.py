"""What the engine tells whoever listens; it knows none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias


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


@dataclass(frozen=True, slots=True)
class Retried:
    """An item failed for now and is tried again after `wait`."""

    stage: str
    item: str
    why: str | None
    tries: int
    wait: timedelta


@dataclass(frozen=True, slots=True)
class Died:
    """An item became a dead letter: `kind` is gave_up, exhausted or quarantined."""

    stage: str
    item: str
    kind: str
    why: str | None


@dataclass(frozen=True, slots=True)
class Rescued:
    """An item was taken from a worker that vanished."""

    stage: str
    item: str
    worker: str | None


@dataclass(frozen=True, slots=True)
class Fenced:
    """A late answer was refused: the item belongs to someone else by now."""

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
    """A claim returned more items than were asked for: an alarm, never expected."""

    stage: str
    asked: int
    got: int


@dataclass(frozen=True, slots=True)
class Troubled:
    """The worker could not reach or use the database; it goes on trying."""

    doing: str
    why: str


Event: TypeAlias = (
    Claimed
    | Settled
    | Retried
    | Died
    | Rescued
    | Fenced
    | Paused
    | Resumed
    | Drained
    | Overclaimed
    | Troubled
)
