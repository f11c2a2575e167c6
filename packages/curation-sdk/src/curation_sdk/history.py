"""The history of one item: who claimed it and when, what happened, when it is tried again."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from curation_sdk import statements
from curation_sdk.control import Database, execute, queue_named, transaction
from curation_sdk.errors import UnknownItem
from curation_sdk.working import correlation_id

__all__ = ["Attempt", "History", "history"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claim of an item and what became of it."""

    fence: int
    """The number of the claim; later claims have higher ones."""
    tries: int
    """Which attempt it was, counted from 1."""
    outcome: str
    """done, skipped, retried, postponed, gave_up, exhausted, returned, rescued,
    cancelled, quarantined, refused, unclaimed, requeued, replayed or discarded."""
    why: str | None
    """The reason, where there is one."""
    worker: str | None
    """The name of the worker that had claimed the item."""
    claimed_at: datetime | None
    """When the item was claimed, by the database's clock."""
    settled_at: datetime
    """When this was recorded, by the database's clock."""
    due_at: datetime | None
    """When the next attempt was due, if there was to be one."""
    traceback: str | None = None
    """The traceback of an unexpected exception; if it was long, the end of it."""
    correlation_id: str = ""
    """The same in log lines of this attempt, and in its events."""


@dataclass(frozen=True, slots=True)
class History:
    """An item's state now, and everything that happened to it in this stage."""

    stage: str
    """The name of the stage."""
    item: str
    """The row's primary key as text."""
    status: str | None
    """The row's status; None if the row is gone."""
    worker: str | None
    """The worker that holds the item now."""
    lease_until: datetime | None
    """Until when that worker's claim holds without another heartbeat."""
    next_try_at: datetime | None
    """When the item is tried again; `control.NEVER` while it is held."""
    tries: int
    """How many attempts the current claim has counted; 0 without a claim."""
    crashes: int
    """How many workers have crashed with the item in hand."""
    dead: str | None
    """The kind of dead letter the item is, if it is one."""
    attempts: tuple[Attempt, ...]
    """Every attempt, the first one first."""


async def history(database: Database, stage: str, item_id: object) -> History:
    """Return everything about one item; raise UnknownItem if nothing is known of it."""
    queue = await queue_named(database, stage)
    key = (stage, str(item_id))
    async with transaction(database) as connection:
        status = (
            await execute(connection, statements.status_of(queue), str(item_id))
        ).scalar()
        claim = (await execute(connection, statements.CLAIM_OF, *key)).first()
        dead = (await execute(connection, statements.DEAD_LETTER_KIND, *key)).scalar()
        attempts = await attempts_of(connection, *key)
    if status is None and not attempts:
        raise UnknownItem(
            f"Stage '{stage}' knows no item {item_id}.",
            hint="An item is named by its row's primary key.",
        )
    return History(
        stage=stage,
        item=str(item_id),
        status=status,
        worker=claim.worker if claim else None,
        lease_until=claim.lease_until if claim else None,
        next_try_at=claim.due_at if claim else None,
        tries=claim.tries if claim else 0,
        crashes=claim.crashes if claim else 0,
        dead=dead,
        attempts=attempts,
    )


async def attempts_of(
    connection: AsyncConnection, stage: str, item: str
) -> tuple[Attempt, ...]:
    """Return all attempts at an item, the first one first."""
    rows = await execute(connection, statements.ATTEMPTS, stage, item)
    found = (Attempt(*row) for row in rows.all())
    return tuple(
        replace(each, correlation_id=correlation_id(item, each.fence)) for each in found
    )
