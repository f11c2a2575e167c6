"""Look after stages from outside a worker: pause, resume, hold, measure, wake, purge."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from asyncpg import InvalidColumnReferenceError
from sqlalchemy import CursorResult, func, inspect
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk import statements
from curation_sdk.connection import driver_beneath, refuse_unusable_engine, root_of
from curation_sdk.errors import CurationSdkError, UnknownStage
from curation_sdk.queue import Queue, touched_column
from curation_sdk.stage import Attribute, Stage

__all__ = [
    "NEVER",
    "Database",
    "StageState",
    "cancel",
    "count_waiting",
    "depth",
    "driver_beneath",
    "forget",
    "hold",
    "oldest",
    "pause",
    "purge",
    "queue_named",
    "queue_once",
    "queues",
    "rate",
    "release",
    "resume",
    "states",
    "transaction",
    "wake",
    "withdraw",
]

PURGE_CHUNK_ROWS = 5_000
NEVER = datetime.fromisoformat(statements.NEVER_TEXT)
"""The due time of a held item."""

Database: TypeAlias = AsyncEngine | AsyncConnection
"""Where a function works: on an engine in a transaction of its own, which it commits; on
a connection in the caller's transaction, which the caller commits."""


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage as the database knows it."""

    name: str
    """The name of the stage."""
    queue: Queue
    """Its table, columns and statuses."""
    paused: bool
    """Whether it is paused now."""
    paused_at: datetime | None
    """When it was paused."""
    paused_until: datetime | None
    """When it resumes by itself; None if someone must resume it."""
    paused_why: str | None
    """The reason."""


@asynccontextmanager
async def transaction(database: Database) -> AsyncIterator[AsyncConnection]:
    """Join the transaction of a connection, or begin and commit one on an engine."""
    if isinstance(database, AsyncConnection):
        yield database
        return
    refuse_unusable_engine(database)
    async with database.begin() as connection:
        yield connection


async def execute(
    connection: AsyncConnection, statement: str, *arguments: object
) -> "CursorResult[*tuple[Any, ...]]":
    """Execute one of the SDK's statements, with its $1, $2 ... as the driver takes them."""
    return await connection.exec_driver_sql(statement, arguments)


async def states(database: Database) -> list[StageState]:
    """Return every stage that was ever registered, ordered by name."""
    async with transaction(database) as connection:
        rows = (await execute(connection, statements.STAGES)).all()
    return [
        StageState(
            name=row.name,
            queue=Queue.loads(row.queue),
            paused=row.paused,
            paused_at=row.paused_at,
            paused_until=row.paused_until,
            paused_why=row.paused_why,
        )
        for row in rows
    ]


async def queues(database: Database) -> list[Queue]:
    """Return the queue of every stage the database knows."""
    return [state.queue for state in await states(database)]


async def queue_named(database: Database, stage: str) -> Queue:
    """Return a stage's queue; raise UnknownStage if there is none."""
    for queue in await queues(database):
        if queue.stage == stage:
            return queue
    raise unknown_stage(stage)


def unknown_stage(stage: str) -> UnknownStage:
    """Return what to raise for a stage that the database does not know."""
    return UnknownStage(
        f"No stage is called '{stage}'.",
        hint="A stage is known once a worker has started with it.",
    )


async def pause(
    database: Database,
    stage: str,
    why: str,
    *,
    resume_after: timedelta | None = None,
) -> None:
    """Stop a stage from claiming, in every worker; what is in work is finished.

    With `resume_after` it resumes by itself.
    """
    seconds = None if resume_after is None else resume_after.total_seconds()
    await change_stage(database, statements.PAUSE, stage, why, seconds)


async def resume(database: Database, stage: str) -> None:
    """Let a paused stage claim again."""
    await change_stage(database, statements.RESUME, stage)
    await wake(database, stage)


async def change_stage(
    database: Database, statement: str, stage: str, *arguments: object
) -> None:
    """Update one stage's row; raise UnknownStage if it has none."""
    async with transaction(database) as connection:
        changed = await execute(connection, statement, stage, *arguments)
        if changed.first() is None:
            raise unknown_stage(stage)


async def wake(database: Database, *stages: str) -> None:
    """Notify listening workers that rows were queued.

    On an engine, call it after the commit; on the connection that has queued the rows,
    the workers hear of it with its commit.
    """
    async with transaction(database) as connection:
        await execute(connection, statements.NOTIFY, list(stages))


async def depth(database: Database, stage: str, *, at_most: int | None = None) -> int:
    """Count the items queued, or stop counting at `at_most`."""
    queue = await queue_named(database, stage)
    async with transaction(database) as connection:
        counted = await execute(connection, statements.depth(queue, at_most=at_most))
        return int(counted.scalar_one())


async def oldest(database: Database, stage: str) -> Any:  # noqa: ANN401 - whatever order_by holds
    """Return the smallest `order_by` value queued, or None if nothing is queued."""
    queue = await queue_named(database, stage)
    async with transaction(database) as connection:
        return (await execute(connection, statements.oldest(queue))).scalar_one()


async def rate(
    database: Database, stage: str, *, over: timedelta = timedelta(minutes=1)
) -> float:
    """Return how many items per second the stage has finished, over the last while.

    Finished are items that are done, skipped or dead letters.
    """
    seconds = over.total_seconds()
    async with transaction(database) as connection:
        count = await execute(connection, statements.SETTLED_SINCE, stage, seconds)
        return float(count.scalar_one()) / seconds


async def purge(
    engine: AsyncEngine,
    *,
    older_than: timedelta,
    is_stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Delete attempts older than this, in small steps; return how many.

    The history of open dead letters and of items in hand is kept however old. Between two
    steps it asks whether the process `is_stopping`, and leaves the rest for the next time.
    """
    total = 0
    while not is_stopping():
        async with engine.begin() as connection:
            await execute(connection, statements.PLAN_ANEW)
            deleted = (
                await execute(
                    connection,
                    statements.PURGE,
                    older_than.total_seconds(),
                    PURGE_CHUNK_ROWS,
                )
            ).rowcount
        total += deleted
        if deleted < PURGE_CHUNK_ROWS:
            break
    return total


async def hold(connection: AsyncConnection, queue: Queue, items: Sequence[str]) -> int:
    """Keep queued and waiting items from being claimed; return how many.

    Items in work are finished. A held item is in the processing status, like one that
    waits for another attempt, until `release` or `withdraw`.
    """
    arguments = (queue.stage, list(items))
    held = await execute(connection, statements.hold_queued(queue), *arguments)
    waiting = await execute(connection, statements.HOLD_WAITING, *arguments)
    return held.rowcount + waiting.rowcount


async def release(
    connection: AsyncConnection, queue: Queue, items: Sequence[str]
) -> int:
    """Let held items be claimed at once; return how many."""
    released = await execute(connection, statements.RELEASE, queue.stage, list(items))
    return released.rowcount


async def withdraw(
    connection: AsyncConnection, queue: Queue, items: Sequence[str], why: str
) -> int:
    """Fail queued, waiting and held items, with a reason; return how many.

    Items in work are not touched. No dead letter is made.
    """
    withdrawn = await execute(
        connection, statements.withdraw(queue), queue.stage, list(items), why
    )
    return withdrawn.rowcount


async def cancel(
    database: Database, stage: str, *item_ids: object, why: str = "cancelled"
) -> int:
    """Fail queued, waiting and running items, with a reason; return how many.

    The function of a running one is cancelled at its worker's next heartbeat, within a fifth
    of the lease, and nothing it returns counts. No dead letter is made.
    """
    queue = await queue_named(database, stage)
    items = [str(item) for item in item_ids]
    async with transaction(database) as connection:
        done = await execute(connection, statements.cancel(queue), stage, items, why)
        return done.rowcount


async def queue_once(
    database: Database, stage: Stage[Any, Any], unique: Attribute, **values: object
) -> bool:
    """Add a row to a queue unless it is queued or in work already; return whether.

    `unique` is a column of the model with a unique constraint, and has a value in
    `values`. A row that is finished or has failed is queued again, with these values.
    """
    if not isinstance(stage, Stage):
        raise CurationSdkError(
            f"queue_once was given {stage!r} instead of a stage.",
            hint="Pass the stage itself, which knows its columns, and not its name.",
        )
    status, waiting = stage.claims, (stage.queued, stage.processing)
    mapper = inspect(stage.model)
    row = {**values, status.key: stage.queued}
    if unknown := row.keys() - set(mapper.columns.keys()):
        raise CurationSdkError(
            f"{stage.model.__name__} has no column {min(unknown)}.",
            hint=f"It has {', '.join(mapper.columns.keys())}.",
        )
    if row.get(unique.key) is None:
        raise CurationSdkError(
            f"queue_once was given no value of {unique}.",
            hint=f"Pass {unique.key}=...: what no other row may have.",
        )
    added = insert(stage.model).values(
        {mapper.columns[name].key: value for name, value in row.items()}
    )
    others = [mapper.columns[name].key for name in row if name != unique.key]
    changed: dict[str, Any] = {key: added.excluded[key] for key in others}
    touched = touched_column(mapper)
    if touched is not None:  # or it would go before all that wait
        changed.setdefault(touched.key, func.now())
    statement = added.on_conflict_do_update(
        index_elements=[unique.property.columns[0]],
        set_=changed,
        where=status.not_in(waiting),
    ).returning(status)
    async with transaction(database) as connection:
        try:
            is_queued = (await connection.execute(statement)).first() is not None
        except DBAPIError as error:
            if not isinstance(root_of(error), InvalidColumnReferenceError):
                raise
            raise CurationSdkError(
                f"{unique} is not unique: two rows may have the same value.",
                hint="Give the column a unique constraint.",
            ) from error
        if is_queued:
            await execute(connection, statements.NOTIFY, [stage.name])
    return is_queued


async def forget(connection: AsyncConnection, stage: str, item_id: object) -> None:
    """Delete the claim on an item: the worker that holds it can no longer settle it.

    For code that has changed the row's status itself, in the same transaction.
    """
    await execute(connection, statements.FORGET, stage, str(item_id))


async def count_waiting(
    database: Database, *, longer_than: timedelta = timedelta(0)
) -> int:
    """Count the items of all stages whose next attempt is due later than this from now."""
    async with transaction(database) as connection:
        seconds = longer_than.total_seconds()
        counted = await execute(connection, statements.WAITING_LONGER, seconds)
        return int(counted.scalar_one())
