"""What every tick came to, kept in the database for people and for the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import structlog
from sqlalchemy import delete, func, insert, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.records import SchedulerRun

log = structlog.get_logger()

GRID = "2020-01-01T00:00:00Z"
"""Where every process starts counting its ticks, so that their due times agree."""


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
    items: int | None = None
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class RunLog:
    """Writes runs; a database that does not answer costs the record, never the job."""

    def __init__(self, engine: AsyncEngine, process: str) -> None:
        self._engine = engine
        self._process = process

    async def begin(
        self, job_id: str, due_at: datetime, *, only_one: timedelta | None = None
    ) -> UUID | None:
        """Record that a run starts; with `only_one`, None if another process has it.

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
            return await connection.scalar(statement.returning(SchedulerRun.id))

    async def end(
        self, run_id: UUID, outcome: RunOutcome, items: int | None, error: str | None
    ) -> None:
        """Record how a run ended."""
        async with self._writing() as connection:
            await connection.execute(
                update(SchedulerRun)
                .where(SchedulerRun.id == run_id)
                .values(
                    outcome=outcome,
                    items=items,
                    error=error,
                    finished_at=func.clock_timestamp(),
                )
            )

    async def record(self, job_id: str, due_at: datetime, outcome: RunOutcome) -> None:
        """Record a due time at which nothing ran."""
        async with self._writing() as connection:
            await connection.execute(
                insert(SchedulerRun).values(
                    job_id=job_id,
                    process=self._process,
                    due_at=due_at,
                    outcome=outcome,
                    finished_at=func.clock_timestamp(),
                )
            )

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except (OSError, SQLAlchemyError) as error:
            log.warning("scheduler.run_not_recorded", error=str(error))


async def purge_runs(engine: AsyncEngine, older_than: timedelta) -> int:
    """Delete runs older than this and return how many."""
    age = text(f"interval '{older_than.total_seconds()} seconds'")
    async with engine.begin() as connection:
        result = await connection.execute(
            delete(SchedulerRun).where(
                SchedulerRun.started_at < func.clock_timestamp() - age
            )
        )
    return int(result.rowcount)
