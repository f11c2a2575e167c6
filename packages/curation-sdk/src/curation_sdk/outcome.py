"""What a stage's function returns: what should happen to the item."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from curation_sdk.connection import Transaction

Effect: TypeAlias = Callable[[Transaction], Awaitable[Any]]
"""`async def effect(transaction)`: writes an item's results.

It runs inside the transaction that settles the item, after the change of status. Up to 100
items share a transaction; if one of their effects raises, all are rolled back and each item
is settled by itself. Effects that write rows of other items should have a `lock` that stands
for those: a transaction takes all its locks first, and in one order, so that workers do not
wait for each other in a circle."""


@dataclass(frozen=True, slots=True)
class Done:
    """The work succeeded; the row gets the status `done`."""

    effect: Effect | None = None
    """Writes the results."""
    empty_because: str | None = None
    """Why there are no results, for the history."""
    lock: str | None = None
    """Results with the same lock are written one after the other, by whichever worker."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The work failed for now; it is tried again, or failed after `max_attempts`."""

    why: str
    """The reason, for the history and the error column."""
    after: timedelta | None = None
    """When to try again; by the stage's backoff unless given."""
    effect: Effect | None = None
    """Writes what was learnt all the same. By then the row's status says whether this
    was the last attempt."""
    lock: str | None = None
    """Results with the same lock are written one after the other, by whichever worker."""
    cause: Exception | None = None
    """What it failed with, for whoever looks at a result before it is settled; not stored."""


@dataclass(frozen=True, slots=True)
class Later:
    """It is not this item's turn yet; it is tried again, and no attempt is spent."""

    why: str
    """The reason, for the history."""
    after: timedelta | None = None
    """When to try again; the backoff's first wait unless given."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The work cannot succeed; the item becomes a dead letter."""

    why: str
    """The reason, for the history, the dead letter and the error column."""
    effect: Effect | None = None
    """Writes what was learnt all the same."""
    lock: str | None = None
    """Results with the same lock are written one after the other, by whichever worker."""
    cause: Exception | None = None
    """What it failed with, for whoever looks at a result before it is settled; not stored."""


@dataclass(frozen=True, slots=True)
class Skip:
    """The item needs no work; it leaves the queue with another terminal status."""

    status: Any
    """Any status of the column except queued and processing."""
    why: str
    """The reason, for the history."""


Outcome: TypeAlias = Done | Retry | Later | GiveUp | Skip
"""What a stage's function returns."""
