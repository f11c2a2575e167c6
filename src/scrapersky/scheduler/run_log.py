"""What every tick came to, kept in the database for people and for the API."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import (
    ARRAY,
    Function,
    Insert,
    Row,
    String,
    Update,
    cast,
    func,
    insert,
    literal,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import Insert as UpsertStatement
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.chunks import change_in_chunks
from scrapersky.kit.clock import utc_now
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.kit.time_ordered import time_ordered_uuid
from scrapersky.records import SchedulerRun
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.item_counter import Counts
from scrapersky.scheduler.presence import end_lost_runs

log = structlog.get_logger(__name__)

GRID = "2020-01-01T00:00:00Z"
"""Where every process starts counting its ticks, so that their due times agree."""
CLOCK_TOLERANCE = timedelta(seconds=1)
"""How far before its time a tick may come, as two clocks are never quite alike."""
NOW = func.clock_timestamp()
OLD_RUNS = """DELETE FROM scheduler_runs WHERE id IN (SELECT id FROM scheduler_runs
  WHERE started_at < statement_timestamp() - CAST(:age AS interval)
  LIMIT :chunk FOR UPDATE SKIP LOCKED)"""


@dataclass(frozen=True, slots=True)
class Run:
    """One due time of one job, and what came of it."""

    job_id: str
    outcome: RunOutcome
    due_at: datetime
    counts: Counts | None = None
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class RunLog:
    """Writes runs; a database that does not answer costs the record, never the job."""

    def __init__(self, engine: AsyncEngine, process: str) -> None:
        self._engine = engine
        self.process = process
        self._unsaved: list[Update] = []
        """How runs ended while the database was away: none of them may seem to run on."""

    async def clock_skew(self) -> timedelta:
        """Return how far the clock of the database is ahead, if that makes a difference."""
        async with self._engine.connect() as connection:
            now = (await connection.execute(select(NOW))).scalar_one()
        skew: timedelta = now - utc_now()
        return skew if abs(skew) > CLOCK_TOLERANCE else timedelta(0)

    async def begin(
        self,
        job_id: str,
        *,
        only_one: timedelta | None = None,
        at_most: int | None = None,
    ) -> UUID | None:
        """Record that a run starts; with `only_one`, None if another process has it.

        With `at_most`, None too if so many are running over all processes, which is
        recorded as skipped.

        Without a database the run is not recorded, and one that must be the only one
        does not happen: its work is in the database anyway.
        """
        values: dict[str, object] = {
            "job_id": job_id,
            "process": self.process,
            "outcome": RunOutcome.RUNNING,
            "due_at": NOW,
        }
        statement = upsert(SchedulerRun)
        if only_one is not None:
            values |= {"due_at": tick_at(only_one), "is_singleton": True}
            statement = unless_taken(statement)
        async with self._engine.begin() as connection:
            for unsaved in self._unsaved:
                await connection.execute(unsaved)
            if at_most is not None and await is_full(connection, job_id, at_most):
                values |= {"outcome": RunOutcome.SKIPPED, "finished_at": NOW}
                await connection.execute(statement.values(values))
                run_id = None
            else:
                written = statement.values(values).returning(SchedulerRun.id)
                run_id = await connection.scalar(written)
        self._unsaved.clear()
        return run_id

    async def end(
        self,
        run_id: UUID,
        outcome: RunOutcome,
        counts: Counts | None,
        error: str | None,
    ) -> None:
        """Record how a run ended."""
        statement = (
            update(SchedulerRun)
            .where(SchedulerRun.id == run_id)
            .values(outcome=outcome, error=error, finished_at=NOW, **columns_of(counts))
        )
        if not await self._write(statement):
            self._unsaved.append(statement)

    async def record_not_run(
        self, job_id: str, outcome: RunOutcome, interval: timedelta, late: timedelta
    ) -> None:
        """Record a due time of so long ago at which nothing ran, once for all processes."""
        await self._write(
            upsert(SchedulerRun)
            .values(
                job_id=job_id,
                process=self.process,
                due_at=tick_at(interval, late),
                is_singleton=True,
                outcome=outcome,
                finished_at=NOW,
            )
            .on_conflict_do_nothing()
        )

    async def begin_drain(self, job_id: str, ago: timedelta) -> UUID | None:
        """Record that a stage works between two ticks, and has for so long."""
        began = NOW - literal(ago)
        values = {
            "job_id": job_id,
            "process": self.process,
            "outcome": RunOutcome.RUNNING,
            "due_at": began,
            "started_at": began,
        }
        run_id = time_ordered_uuid()
        is_written = await self._write(
            insert(SchedulerRun).values(values | {"id": run_id})
        )
        return run_id if is_written else None

    async def update_drain(
        self, run_id: UUID, counts: Counts, ended_ago: timedelta | None
    ) -> bool:
        """Record what such work has come to, and when it ended; None while it goes on."""
        is_over = ended_ago is not None
        return await self._write(
            update(SchedulerRun)
            .where(SchedulerRun.id == run_id)
            .values(
                outcome=RunOutcome.EXECUTED if is_over else RunOutcome.RUNNING,
                error=None,
                finished_at=NOW - literal(ended_ago) if is_over else None,
                **columns_of(counts),
            )
        )

    async def _write(self, statement: Insert | Update) -> bool:
        try:
            async with self._engine.begin() as connection:
                await connection.execute(statement)
        except (OSError, SQLAlchemyError) as error:
            log.warning("scheduler.run_not_recorded", error=str(error))
            return False
        return True


def tick_at(interval: timedelta, late: timedelta = timedelta(0)) -> Function[datetime]:
    """Name a tick by the clock of the database, so that all processes name it alike."""
    # A process that is a moment early must not take the tick before.
    early = min(interval / 2, CLOCK_TOLERANCE)
    return func.date_bin(
        literal(interval), NOW + literal(early - late), text(f"timestamptz '{GRID}'")
    )


def unless_taken(statement: UpsertStatement) -> UpsertStatement:
    """Let one process have a tick: the first, or one that can where others could not."""
    return statement.on_conflict_do_update(
        index_elements=[SchedulerRun.job_id, SchedulerRun.due_at],
        index_where=text("is_singleton"),
        set_={
            name: statement.excluded[name]
            for name in ("process", "outcome", "started_at", "finished_at")
        },
        where=SchedulerRun.outcome.in_((RunOutcome.SKIPPED, RunOutcome.MISSED)),
    )


def columns_of(counts: Counts | None) -> dict[str, object]:
    """Return what a record keeps of the counts."""
    if counts is None:
        return {}
    return {
        "items": counts.picked,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "retried": counts.retried,
        "last_item_error": counts.last_error,
    }


async def is_full(connection: AsyncConnection, job_id: str, at_most: int) -> bool:
    """Whether as many runs as may be are running; who asks has the job to itself."""
    await connection.execute(
        select(func.pg_advisory_xact_lock(func.hashtextextended(job_id, 0)))
    )
    await end_lost_runs(connection)
    return (await running_now(connection)).get(job_id, 0) >= at_most


async def running_now(connection: AsyncConnection) -> dict[str, int]:
    """Count the runs of every job that are not over, whichever process has them."""
    query = (
        select(SchedulerRun.job_id, func.count().label("running"))
        .where(SchedulerRun.outcome == RunOutcome.RUNNING)
        .group_by(SchedulerRun.job_id)
    )
    rows = await connection.execute(query)
    return {row.job_id: row.running for row in rows}


async def last_runs(
    connection: AsyncConnection, job_ids: Iterable[str]
) -> dict[str, Run]:
    """Return the last run of each of these jobs that is over, whichever process had it."""
    wanted = (
        func.unnest(cast([*job_ids], ARRAY(String)))
        .table_valued("id")
        .render_derived("j")
    )
    newest = (
        select(SchedulerRun)
        .where(
            SchedulerRun.job_id == wanted.c.id,
            SchedulerRun.outcome != RunOutcome.RUNNING,
        )
        .order_by(SchedulerRun.due_at.desc())
        .limit(1)
        .lateral()
    )
    joined = wanted.join(newest, true())
    rows = await connection.execute(select(newest).select_from(joined))
    return {row.job_id: run_of(row) for row in rows}


def run_of(row: Row[Any]) -> Run:
    """Return what a record says."""
    counts = Counts(
        row.items or 0, row.succeeded or 0, row.failed or 0, row.retried or 0,
        last_error=row.last_item_error,
    )  # fmt: skip
    return Run(
        row.job_id,
        RunOutcome(row.outcome),
        row.due_at,
        counts=counts,
        error=row.error,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


async def purge_runs(
    engine: AsyncEngine, older_than: timedelta, is_stopping: IsStopping = never
) -> int:
    """Delete runs older than this and return how many."""
    return await change_in_chunks(engine, (OLD_RUNS,), {"age": older_than}, is_stopping)
