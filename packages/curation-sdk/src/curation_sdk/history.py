"""The history of one item: who claimed it when, what happened, when it is tried again."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk import statements
from curation_sdk.control import execute, queue_named
from curation_sdk.errors import UnknownItem


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claim of an item and what became of it."""

    fence: int
    tries: int
    outcome: str
    why: str | None
    worker: str | None
    claimed_at: datetime | None
    settled_at: datetime
    due_at: datetime | None
    traceback: str | None = None
    """Of an exception that nobody foresaw; the end of it if it was long."""


@dataclass(frozen=True, slots=True)
class History:
    """An item's state now, and everything that happened to it in this stage."""

    stage: str
    item: str
    status: str | None
    worker: str | None
    lease_until: datetime | None
    next_try_at: datetime | None
    tries: int
    crashes: int
    dead: str | None
    attempts: tuple[Attempt, ...]


async def history(engine: AsyncEngine, stage: str, item_id: object) -> History:
    """Return everything about one item; raise UnknownItem if nothing is known of it."""
    queue = await queue_named(engine, stage)
    key = (stage, str(item_id))
    async with engine.connect() as connection:
        status = (
            await execute(connection, statements.status_of(queue), str(item_id))
        ).scalar()
        claim = (await execute(connection, statements.CLAIM_OF, *key)).first()
        dead = (await execute(connection, statements.DEAD_LETTER_KIND, *key)).scalar()
        attempts = await attempts_of(connection, *key)
    if status is None and not attempts:
        raise UnknownItem(f"Stage '{stage}' knows no item {item_id}.")
    return History(
        stage=stage,
        item=str(item_id),
        status=status,
        worker=claim.worker if claim else None,
        lease_until=claim.lease_until if claim else None,
        next_try_at=claim.due_at if claim else None,
        tries=claim.tries if claim else 0,
        crashes=claim.deaths if claim else 0,
        dead=dead,
        attempts=attempts,
    )


async def attempts_of(
    connection: AsyncConnection, stage: str, item: str
) -> tuple[Attempt, ...]:
    """Return all attempts at an item, the first one first."""
    rows = await execute(connection, statements.ATTEMPTS, stage, item)
    return tuple(Attempt(*row) for row in rows.all())
