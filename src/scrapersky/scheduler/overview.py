"""Every job of the installation as people see it, from whichever process they ask."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.pipeline.stage_settings import JobSettings
from scrapersky.records.base import Json
from scrapersky.scheduler.overrides import stored_changes, with_changes
from scrapersky.scheduler.presence import LiveProcess, died_here, live_processes
from scrapersky.scheduler.run_log import GRID, Run, last_runs, running_now
from scrapersky.settings import Settings
from scrapersky.stages import PIPELINE

HOUSEKEEPING: Final = {
    "reap_expired_claims": ("Rescue Expired Claims", "reap"),
    "purge_old_history": ("Purge Old History", "purge"),
    "match_companies": ("Match Companies", "matching"),
}
"""The jobs that belong to no stage: their names, and the sections of the settings."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job over all processes."""

    id: str
    name: str
    interval: timedelta
    is_enabled: bool
    """Whether a process runs it, or would with the settings of the one that answers."""
    processes: tuple[str, ...]
    """The processes that run it."""
    next_run_at: datetime | None
    """None where no process counts the time: nobody runs it, or each run is asked for."""
    running: int
    last: Run | None
    problem: str | None


async def job_statuses(
    connection: AsyncConnection, settings: Settings
) -> list[JobStatus]:
    """Report every job: where it runs and when next, how many runs there are, the last."""
    current = with_changes(settings, await stored_changes(connection))
    processes = [
        process
        for process in await live_processes(connection)
        if process.state != "gone" and not died_here(process.name)
    ]
    jobs = [*planned_jobs(current)]
    running = await running_now(connection)
    last = await last_runs(connection, [job.id for job in jobs])
    now = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
    return [
        status_of(
            entries_of(job.id, processes),
            job,
            now=now,
            running=running.get(job.id, 0),
            last=last.get(job.id),
        )
        for job in jobs
    ]


class PlannedJob(NamedTuple):
    """A job that there is, whoever runs it."""

    id: str
    name: str
    settings: JobSettings


def planned_jobs(settings: Settings) -> Iterator[PlannedJob]:
    """Yield every job there is."""
    for stage in PIPELINE:
        yield PlannedJob(stage.job.id, stage.job.name, settings.stages[stage.name])
    for job_id, (name, section) in HOUSEKEEPING.items():
        yield PlannedJob(job_id, name, getattr(settings, section))


def entries_of(job_id: str, processes: Sequence[LiveProcess]) -> dict[str, Json]:
    """Return what processes publish of a job, by the name of each that runs it."""
    return {
        process.name: entry
        for process in processes
        for entry in process.jobs
        if entry["id"] == job_id
    }


def status_of(
    entries: Mapping[str, Json],
    planned: PlannedJob,
    *,
    now: datetime,
    running: int,
    last: Run | None,
) -> JobStatus:
    """Put together what the processes that run a job publish of it."""
    intervals = [
        timedelta(seconds=entry["interval_seconds"])
        for entry in entries.values()
        if entry["interval_seconds"] and not entry["problem"]
    ]
    problems = [entry["problem"] for entry in entries.values() if entry["problem"]]
    return JobStatus(
        id=planned.id,
        name=planned.name,
        interval=min(intervals, default=planned.settings.interval),
        is_enabled=bool(entries) or planned.settings.enabled,
        processes=tuple(entries),
        next_run_at=min((next_tick(one, now) for one in intervals), default=None),
        running=running,
        last=last,
        problem=problems[0] if problems else None,
    )


def next_tick(interval: timedelta, now: datetime) -> datetime:
    """Return the first tick after a time: all processes count them from one moment."""
    grid = datetime.fromisoformat(GRID)
    return grid + ((now - grid) // interval + 1) * interval


def cadence(interval: timedelta) -> str:
    """Say how often something happens: every minute, every 5 minutes."""
    seconds = interval.total_seconds()
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        count, rest = divmod(seconds, size)
        if count and not rest:
            return f"every {unit}" if count == 1 else f"every {count:.0f} {unit}s"
    return f"every {seconds:g} seconds"
