"""Look after stages from outside: install, pause, resume, measure, wake, purge."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.schema import CreateSchema

from scrapersky.engine.queue import Queue, literal
from scrapersky.engine.tables import SCHEMA, metadata
from scrapersky.errors import UnknownStage

INSTALL_LOCK = 0x5C7A_9E0A
PURGE_STEP = 5_000
HAS_ALONE = (
    "SELECT 1 FROM pg_attribute WHERE attrelid = 'curation.claim'::regclass"
    " AND attname = 'alone' AND NOT attisdropped"
)
ADD_ALONE = "ALTER TABLE curation.claim ADD COLUMN alone boolean NOT NULL DEFAULT false"


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage as the database knows it."""

    name: str
    queue: Queue
    paused: bool
    paused_at: datetime | None
    paused_until: datetime | None
    paused_why: str | None


async def install(engine: AsyncEngine) -> None:
    """Create the engine's own tables, in the schema `curation`, where they are missing."""
    async with engine.begin() as connection:
        await connection.execute(
            text("SELECT pg_advisory_xact_lock(:key)"), {"key": INSTALL_LOCK}
        )
        await connection.execute(CreateSchema(SCHEMA, if_not_exists=True))
        await connection.run_sync(metadata.create_all)
        if not await connection.scalar(text(HAS_ALONE)):
            # From before items were tried alone.
            await connection.execute(text(ADD_ALONE))


async def states(engine: AsyncEngine) -> list[StageState]:
    """Return every stage that was ever registered, in the order of names."""
    query = text(
        "SELECT name, queue::text, paused_at, paused_until, paused_why,"
        " paused_at IS NOT NULL AND (paused_until IS NULL"
        " OR paused_until > clock_timestamp()) AS paused"
        " FROM curation.stage ORDER BY name"
    )
    async with engine.connect() as connection:
        rows = (await connection.execute(query)).all()
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


async def queues(engine: AsyncEngine) -> list[Queue]:
    """Return the queue of every stage the database knows."""
    return [state.queue for state in await states(engine)]


async def queue_named(engine: AsyncEngine, stage: str) -> Queue:
    """Return a stage's queue; raise UnknownStage if there is none."""
    for queue in await queues(engine):
        if queue.stage == stage:
            return queue
    raise UnknownStage(
        f"No stage is called '{stage}'.",
        hint="A stage is known once a worker has started with it.",
    )


async def pause(
    engine: AsyncEngine,
    stage: str,
    why: str,
    *,
    resume_after: timedelta | None = None,
) -> None:
    """Stop a stage from claiming, at once and in every worker."""
    seconds = None if resume_after is None else resume_after.total_seconds()
    await change_stage(
        engine,
        stage,
        "UPDATE curation.stage SET paused_at = clock_timestamp(), paused_why = :why,"
        " paused_until = clock_timestamp()"
        " + make_interval(secs => CAST(:seconds AS float8))"
        " WHERE name = :stage RETURNING name",
        {"why": why, "seconds": seconds},
    )


async def resume(engine: AsyncEngine, stage: str) -> None:
    """Let a paused stage claim again."""
    await change_stage(
        engine,
        stage,
        "UPDATE curation.stage SET paused_at = NULL, paused_until = NULL,"
        " paused_why = NULL WHERE name = :stage RETURNING name",
        {},
    )
    await wake(engine, stage)


async def change_stage(
    engine: AsyncEngine, stage: str, statement: str, values: dict[str, Any]
) -> None:
    """Execute an update of one stage's row; raise UnknownStage if it has none."""
    async with engine.begin() as connection:
        changed = await connection.execute(text(statement), {"stage": stage, **values})
        if changed.first() is None:
            raise UnknownStage(f"No stage is called '{stage}'.")


async def wake(engine: AsyncEngine, *stages: str) -> None:
    """Tell listening workers that rows were queued; call it after the commit."""
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "SELECT pg_notify('curation', name)"
                " FROM unnest(CAST(:names AS text[])) AS s(name)"
            ),
            {"names": list(stages)},
        )


async def depth(engine: AsyncEngine, stage: str, *, at_most: int | None = None) -> int:
    """Count the items queued, or stop counting at `at_most`."""
    queue = await queue_named(engine, stage)
    limit = "" if at_most is None else f"LIMIT {int(at_most)}"
    statement = (
        f"SELECT count(*) FROM (SELECT 1 FROM {queue.table} m"  # noqa: S608 - quoted
        f" WHERE m.{queue.status} = {literal(queue.queued)} {limit}) waiting"
    )
    async with engine.connect() as connection:
        return int((await connection.exec_driver_sql(statement)).scalar_one())


async def oldest(engine: AsyncEngine, stage: str) -> Any:  # noqa: ANN401 - whatever order_by holds
    """Return the smallest `order_by` value queued (how long the queue's head waits)."""
    queue = await queue_named(engine, stage)
    statement = (
        f"SELECT min(m.{queue.order_by}) FROM {queue.table} m"  # noqa: S608 - quoted
        f" WHERE m.{queue.status} = {literal(queue.queued)}"
    )
    async with engine.connect() as connection:
        return (await connection.exec_driver_sql(statement)).scalar_one()


async def rate(
    engine: AsyncEngine, stage: str, *, over: timedelta = timedelta(minutes=1)
) -> float:
    """Return how many items per second the stage finished lately."""
    query = text(
        "SELECT count(*) FROM curation.attempt WHERE stage = :stage AND settled_at >"
        " clock_timestamp() - make_interval(secs => CAST(:seconds AS float8))"
        " AND outcome IN ('done', 'skipped', 'gave_up', 'exhausted', 'quarantined')"
    )
    seconds = over.total_seconds()
    async with engine.connect() as connection:
        count = await connection.scalar(query, {"stage": stage, "seconds": seconds})
    return float(count or 0) / seconds


async def purge(engine: AsyncEngine, *, older_than: timedelta) -> int:
    """Delete attempts older than this, in small steps; return how many.

    The history of open dead letters and of items in hand is kept however old.
    """
    statement = text(
        "DELETE FROM curation.attempt WHERE ctid = ANY(ARRAY("
        " SELECT a.ctid FROM curation.attempt a WHERE a.settled_at <"
        " clock_timestamp() - make_interval(secs => CAST(:seconds AS float8))"
        " AND NOT EXISTS (SELECT FROM curation.dead_letter d"
        "  WHERE d.stage = a.stage AND d.item = a.item)"
        " AND NOT EXISTS (SELECT FROM curation.claim k"
        "  WHERE k.stage = a.stage AND k.item = a.item) LIMIT :step))"
    )
    values = {"seconds": older_than.total_seconds(), "step": PURGE_STEP}
    total = 0
    while True:
        async with engine.begin() as connection:
            deleted = (await connection.execute(statement, values)).rowcount
        total += deleted
        if deleted < PURGE_STEP:
            return total
