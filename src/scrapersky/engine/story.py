"""The story of one item: who claimed it when, what happened, when it is tried again."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.engine.control import queue_named
from scrapersky.engine.queue import Queue
from scrapersky.errors import UnknownItem


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


@dataclass(frozen=True, slots=True)
class Story:
    """An item's state now, and everything that happened to it in this stage."""

    stage: str
    item: str
    status: str | None
    worker: str | None
    lease_until: datetime | None
    next_try_at: datetime | None
    tries: int
    deaths: int
    dead: str | None
    attempts: tuple[Attempt, ...]


async def story(engine: AsyncEngine, stage: str, item_id: object) -> Story:
    """Tell everything about one item; raise UnknownItem if nothing is known of it."""
    queue = await queue_named(engine, stage)
    item = str(item_id)
    key = {"stage": stage, "item": item}
    async with engine.connect() as connection:
        status = await current_status(connection, queue, item_id)
        claim = (
            await connection.execute(
                text(
                    "SELECT worker, lease_until, due_at, tries, deaths"
                    " FROM curation.claim WHERE stage = :stage AND item = :item"
                ),
                key,
            )
        ).first()
        dead = await connection.scalar(
            text(
                "SELECT kind FROM curation.dead_letter"
                " WHERE stage = :stage AND item = :item"
            ),
            key,
        )
        attempts = await attempts_of(connection, stage, item)
    if status is None and not attempts:
        raise UnknownItem(f"Stage '{stage}' knows no item {item}.")
    return Story(
        stage=stage,
        item=item,
        status=status,
        worker=claim.worker if claim else None,
        lease_until=claim.lease_until if claim else None,
        next_try_at=claim.due_at if claim else None,
        tries=claim.tries if claim else 0,
        deaths=claim.deaths if claim else 0,
        dead=dead,
        attempts=attempts,
    )


async def attempts_of(
    connection: AsyncConnection, stage: str, item: str
) -> tuple[Attempt, ...]:
    """Return all attempts at an item, the first one first."""
    rows = await connection.execute(
        text(
            "SELECT fence, tries, outcome, why, worker, claimed_at, settled_at, due_at"
            " FROM curation.attempt WHERE stage = :stage AND item = :item"
            " ORDER BY settled_at, fence"
        ),
        {"stage": stage, "item": item},
    )
    return tuple(Attempt(*row) for row in rows)


async def current_status(
    connection: AsyncConnection, queue: Queue, item_id: object
) -> str | None:
    """Return the row's status, or None if there is no such row."""
    statement = (
        f"SELECT m.{queue.status}::text FROM {queue.table} m"  # noqa: S608 - quoted
        f" WHERE m.{queue.key}::text = CAST(:item AS text)"
        f" AND m.{queue.key} = CAST(CAST(:item AS text) AS {queue.key_type})"
    )
    found: str | None = await connection.scalar(text(statement), {"item": str(item_id)})
    return found
