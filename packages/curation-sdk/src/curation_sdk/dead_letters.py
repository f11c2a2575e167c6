"""Dead letters: items that need a person. List them, inspect them, replay or discard them."""

from dataclasses import dataclass, replace
from datetime import datetime

from curation_sdk import statements
from curation_sdk.control import (
    Database,
    execute,
    queue_named,
    queues,
    transaction,
    wake,
)
from curation_sdk.errors import UnknownItem
from curation_sdk.history import Attempt, attempts_of
from curation_sdk.queue import Queue

__all__ = ["DeadLetter", "discard", "inspect", "list", "replay"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An item that failed for good."""

    stage: str
    """The name of the stage."""
    item: str
    """The row's primary key as text."""
    kind: str
    """gave_up, exhausted (no attempts left) or quarantined (it crashes its workers)."""
    why: str | None
    """The reason."""
    tries: int
    """How many attempts were made."""
    crashes: int
    """How many workers crashed with the item in hand."""
    died_at: datetime
    """When it became a dead letter."""
    attempts: tuple[Attempt, ...] = ()
    """Its history; only `inspect` fills it."""


async def list(  # noqa: A001 - read as dead_letters.list
    database: Database, stage: str | None = None, *, limit: int = 100
) -> "tuple[DeadLetter, ...]":
    """Return the dead letters of one stage or of all, the latest first.

    An item whose row has left the failed status since is not listed.
    """
    known = (
        await queues(database)
        if stage is None
        else [await queue_named(database, stage)]
    )
    found = [
        letter for queue in known for letter in await of_queue(database, queue, limit)
    ]
    return tuple(sorted(found, key=lambda letter: letter.died_at, reverse=True)[:limit])


async def inspect(database: Database, stage: str, item_id: object) -> DeadLetter:
    """Return one dead letter with its whole history."""
    queue = await queue_named(database, stage)
    found = await of_queue(database, queue, 1, item=str(item_id))
    if not found:
        raise UnknownItem(
            f"Stage '{stage}' has no dead letter {item_id}.",
            hint="List those it has: this one may be queued again, or dismissed.",
        )
    async with transaction(database) as connection:
        attempts = await attempts_of(connection, stage, str(item_id))
    return replace(found[0], attempts=attempts)


async def replay(database: Database, stage: str, *item_ids: object) -> int:
    """Queue dead letters again, as if they had never been tried; return how many.

    Without ids, all of the stage.
    """
    queue = await queue_named(database, stage)
    count = await remove(database, statements.replay(queue), stage, item_ids)
    if count:
        await wake(database, stage)
    return count


async def discard(database: Database, stage: str, *item_ids: object) -> int:
    """Remove dead letters; their rows keep the failed status. Return how many.

    Without ids, all of the stage.
    """
    await queue_named(database, stage)
    return await remove(database, statements.discard(), stage, item_ids)


async def remove(
    database: Database, statement: str, stage: str, item_ids: "tuple[object, ...]"
) -> int:
    """Execute a statement that removes dead letters; return how many it removed."""
    items = [str(item) for item in item_ids] or None
    async with transaction(database) as connection:
        return (await execute(connection, statement, stage, items)).rowcount


async def of_queue(
    database: Database, queue: Queue, limit: int, *, item: str | None = None
) -> "tuple[DeadLetter, ...]":
    """Return a stage's dead letters whose row is still failed."""
    async with transaction(database) as connection:
        rows = await execute(
            connection, statements.dead_letters(queue), queue.stage, item, limit
        )
        return tuple(DeadLetter(*row) for row in rows.all())
