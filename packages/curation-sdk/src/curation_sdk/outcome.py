"""What may become of an item that was worked on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from curation_sdk.connection import Transaction

Effect: TypeAlias = Callable[[Transaction], Awaitable[Any]]
"""Writes an item's results; runs inside the transaction that settles the item."""


@dataclass(frozen=True, slots=True)
class Done:
    """The work succeeded; `effect` writes its results, `nothing` says why there are none."""

    effect: Effect | None = None
    nothing: str | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The work failed for now; it is tried again `after` a pause, or by the backoff.

    `effect` keeps what was learnt all the same; whether this was the last try, the
    row's status says by then.
    """

    why: str
    after: timedelta | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Later:
    """It is not this item's turn yet; it is taken up again, and no attempt is spent."""

    why: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The work cannot succeed; the item becomes a dead letter.

    `effect` keeps what was learnt all the same.
    """

    why: str
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """The item needs no work; it leaves the queue with another terminal status."""

    status: Any
    why: str


Outcome: TypeAlias = Done | Retry | Later | GiveUp | Skip
