"""Dead letters: items that need a person. List them, look closer, replay or discard."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.engine.control import queue_named, queues, wake
from scrapersky.engine.queue import Queue, literal
from scrapersky.engine.story import Attempt, attempts_of
from scrapersky.errors import UnknownItem


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An item that failed for good: `kind` is gave_up, exhausted or quarantined."""

    stage: str
    item: str
    kind: str
    why: str | None
    tries: int
    deaths: int
    died_at: datetime
    attempts: tuple[Attempt, ...] = ()


async def list(  # noqa: A001 - read as dead_letters.list
    engine: AsyncEngine, stage: str | None = None, *, limit: int = 100
) -> "tuple[DeadLetter, ...]":
    """Return dead letters, the latest first, of one stage or of all."""
    known = (
        await queues(engine) if stage is None else [await queue_named(engine, stage)]
    )
    found = [
        letter for queue in known for letter in await of_queue(engine, queue, limit)
    ]
    return tuple(sorted(found, key=lambda letter: letter.died_at, reverse=True)[:limit])


async def inspect(engine: AsyncEngine, stage: str, item_id: object) -> DeadLetter:
    """Return one dead letter with its whole history."""
    queue = await queue_named(engine, stage)
    found = await of_queue(engine, queue, 1, item=str(item_id))
    if not found:
        raise UnknownItem(f"Stage '{stage}' has no dead letter {item_id}.")
    async with engine.connect() as connection:
        attempts = await attempts_of(connection, stage, str(item_id))
    letter = found[0]
    return DeadLetter(
        stage,
        letter.item,
        letter.kind,
        letter.why,
        letter.tries,
        letter.deaths,
        letter.died_at,
        attempts,
    )


async def replay(engine: AsyncEngine, stage: str, *item_ids: object) -> int:
    """Queue dead items again with all their attempts; none named: the stage's all."""
    queue = await queue_named(engine, stage)
    error = f", {queue.error} = NULL" if queue.error else ""
    changed = (
        f"UPDATE {queue.table} m"  # noqa: S608 - quoted
        f" SET {queue.status} = {literal(queue.queued)}{error}"
        f" FROM buried WHERE m.{queue.key} = CAST(buried.item AS {queue.key_type})"
        f" AND m.{queue.status} = {literal(queue.failed)} RETURNING buried.item"
    )
    count = await dig_up(engine, stage, item_ids, note="replayed", changed=changed)
    if count:
        await wake(engine, stage)
    return count


async def discard(engine: AsyncEngine, stage: str, *item_ids: object) -> int:
    """Forget dead letters; the rows keep their failed status."""
    await queue_named(engine, stage)
    return await dig_up(
        engine, stage, item_ids, note="discarded", changed="SELECT item FROM buried"
    )


async def dig_up(
    engine: AsyncEngine,
    stage: str,
    item_ids: "tuple[object, ...]",
    *,
    note: str,
    changed: str,
) -> int:
    """Remove dead letters, do what `changed` says, and note it in their story."""
    statement = text(
        "WITH buried AS (DELETE FROM curation.dead_letter WHERE stage = :stage"  # noqa: S608
        " AND (CAST(:items AS text[]) IS NULL OR item = ANY(CAST(:items AS text[])))"
        f" RETURNING item, fence, tries), changed AS ({changed})"
        " INSERT INTO curation.attempt (stage, item, fence, tries, outcome)"
        " SELECT :stage, item, fence, tries, CAST(:note AS text) FROM buried"
        " WHERE item IN (SELECT item FROM changed)"
    )
    items = [str(item) for item in item_ids] or None
    values = {"stage": stage, "items": items, "note": note}
    async with engine.begin() as connection:
        return (await connection.execute(statement, values)).rowcount


async def of_queue(
    engine: AsyncEngine, queue: Queue, limit: int, *, item: str | None = None
) -> "tuple[DeadLetter, ...]":
    """Return a stage's dead letters whose row is still failed."""
    # Whoever queued the row again by plain SQL has replayed it in their own way.
    statement = text(
        "SELECT d.stage, d.item, d.kind, d.why, d.tries, d.deaths, d.died_at"  # noqa: S608
        f" FROM curation.dead_letter d JOIN {queue.table} m"
        f" ON m.{queue.key} = CAST(d.item AS {queue.key_type})"
        f" WHERE d.stage = :stage AND m.{queue.status} = {literal(queue.failed)}"
        " AND (CAST(:item AS text) IS NULL OR d.item = :item)"
        " ORDER BY d.died_at DESC LIMIT :limit"
    )
    values = {"stage": queue.stage, "item": item, "limit": limit}
    async with engine.connect() as connection:
        rows = await connection.execute(statement, values)
        return tuple(DeadLetter(*row) for row in rows)
