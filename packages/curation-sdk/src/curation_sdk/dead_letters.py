"""Dead letters: items that need a person. List them, look closer, replay or discard."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import statements
from curation_sdk.control import execute, queue_named, queues, wake
from curation_sdk.errors import UnknownItem
from curation_sdk.history import Attempt, attempts_of
from curation_sdk.queue import Queue


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An item that failed for good: `kind` is gave_up, exhausted or quarantined."""

    stage: str
    item: str
    kind: str
    why: str | None
    tries: int
    crashes: int
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
    return replace(found[0], attempts=attempts)


async def replay(engine: AsyncEngine, stage: str, *item_ids: object) -> int:
    """Queue dead items again with all their attempts; none named: all of the stage."""
    queue = await queue_named(engine, stage)
    count = await remove(engine, statements.replay(queue), stage, item_ids)
    if count:
        await wake(engine, stage)
    return count


async def discard(engine: AsyncEngine, stage: str, *item_ids: object) -> int:
    """Forget dead letters; the rows keep their failed status."""
    await queue_named(engine, stage)
    return await remove(engine, statements.discard(), stage, item_ids)


async def remove(
    engine: AsyncEngine, statement: str, stage: str, item_ids: "tuple[object, ...]"
) -> int:
    """Execute a statement that removes dead letters; return how many it removed."""
    items = [str(item) for item in item_ids] or None
    async with engine.begin() as connection:
        return (await execute(connection, statement, stage, items)).rowcount


async def of_queue(
    engine: AsyncEngine, queue: Queue, limit: int, *, item: str | None = None
) -> "tuple[DeadLetter, ...]":
    """Return a stage's dead letters whose row is still failed."""
    async with engine.connect() as connection:
        rows = await execute(
            connection, statements.dead_letters(queue), queue.stage, item, limit
        )
        return tuple(DeadLetter(*row) for row in rows.all())
