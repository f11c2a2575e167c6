"""What every tick came to, kept in the database for people and for the API."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import (
    ARRAY,
    Insert,
    Row,
    String,
    Update,
    cast,
    func,
    insert,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.steps import stepwise
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.records import SchedulerRun
from scrapersky.scheduler.tally import Counts

log = structlog.get_logger(__name__)

GRID = "2020-01-01T00:00:00Z"
"""Where every process starts counting its ticks, so that their due times agree."""
OLD_RUNS = """DELETE FROM scheduler_runs WHERE id IN (SELECT id FROM scheduler_runs
  WHERE started_at < statement_timestamp() - CAST(:age AS interval)
  LIMIT :chunk FOR UPDATE SKIP LOCKED)"""


class RunOutcome(StrEnum):
    """What may become of a due time."""

    RUNNING = "running"
    EXECUTED = "executed"
    FAILED = "failed"
    MISSED = "missed"
    SKIPPED = "skipped"


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


@dataclass(frozen=True, slots=True)
class AtMost:
    """How many runs of a job there may be at once, over all processes."""

    runs: int
    lasting: timedelta
    """No run takes longer: one that seems to has lost its process."""


class RunLog:
    """Writes runs; a database that does not answer costs the record, never the job."""

    def __init__(self, engine: AsyncEngine, process: str) -> None:
        self._engine = engine
        self._process = process

    async def begin(
        self,
        job_id: str,
        due_at: datetime,
        *,
        only_one: timedelta | None = None,
        at_most: AtMost | None = None,
    ) -> UUID | None:
        """Record that a run starts; with `only_one`, None if another process has it.

        With `at_most`, None too if so many are running, which is recorded as skipped.

        Without a database the run is not recorded, and one that must be the only one
        does not happen: its work is in the database anyway.
        """
        values = {
            "job_id": job_id,
            "process": self._process,
            "outcome": RunOutcome.RUNNING,
            "due_at": due_at,
        }
        statement = upsert(SchedulerRun)
        if only_one is None:
            statement = statement.values(values)
        else:
            # The database's clock names the tick, so that all processes name it alike.
            tick = func.date_bin(
                text(f"interval '{only_one.total_seconds()} seconds'"),
                func.clock_timestamp(),
                text(f"timestamptz '{GRID}'"),
            )
            statement = statement.values(
                {**values, "due_at": tick, "is_singleton": True}
            ).on_conflict_do_nothing()
        async with self._engine.begin() as connection:
            if at_most is not None and await is_full(connection, job_id, at_most):
                now = func.clock_timestamp()
                skipped = {"outcome": RunOutcome.SKIPPED, "finished_at": now}
                await connection.execute(statement.values(skipped))
                return None
            return await connection.scalar(statement.returning(SchedulerRun.id))

    async def end(
        self,
        run_id: UUID,
        outcome: RunOutcome,
        counts: Counts | None,
        error: str | None,
    ) -> None:
        """Record how a run ended."""
        await self._write(
            update(SchedulerRun)
            .where(SchedulerRun.id == run_id)
            .values(
                outcome=outcome,
                error=error,
                finished_at=func.clock_timestamp(),
                **columns_of(counts),
            )
        )

    async def record(
        self,
        job_id: str,
        due_at: datetime,
        outcome: RunOutcome,
        counts: Counts | None = None,
    ) -> None:
        """Record a due time at which nothing ran, or what was done besides the runs."""
        await self._write(
            insert(SchedulerRun).values(
                job_id=job_id,
                process=self._process,
                due_at=due_at,
                outcome=outcome,
                finished_at=func.clock_timestamp(),
                **columns_of(counts),
            )
        )

    async def _write(self, statement: Insert | Update) -> None:
        try:
            async with self._engine.begin() as connection:
                await connection.execute(statement)
        except (OSError, SQLAlchemyError) as error:
            log.warning("scheduler.run_not_recorded", error=str(error))


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


async def is_full(connection: AsyncConnection, job_id: str, at_most: AtMost) -> bool:
    """Whether as many runs as may be are running; who asks has the job to itself."""
    await connection.execute(
        select(func.pg_advisory_xact_lock(func.hashtextextended(job_id, 0)))
    )
    oldest = func.clock_timestamp() - text(
        f"interval '{at_most.lasting.total_seconds()} seconds'"
    )
    running = await connection.scalar(
        select(func.count()).where(
            SchedulerRun.job_id == job_id,
            SchedulerRun.outcome == RunOutcome.RUNNING,
            SchedulerRun.started_at > oldest,
        )
    )
    return (running or 0) >= at_most.runs


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
    return await stepwise(engine, (OLD_RUNS,), {"age": older_than}, is_stopping)
