"""One AsyncIOScheduler per process: registers jobs, ticks, and says what happened."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from apscheduler.events import (
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from curation_sdk.events import Events
from scrapersky.errors import UnknownJob
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.stage_settings import JobSettings
from scrapersky.records.base import Json
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.item_counter import Counts
from scrapersky.scheduler.run_log import GRID, Run, RunLog

log = structlog.get_logger(__name__)

CUT_OFF: Final = "It was cut off when its process stopped; the next run goes on."


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """Something that happens again and again."""

    id: str
    name: str
    settings: JobSettings
    run: Callable[[int | None], Awaitable[Counts]]
    """Does what is due, of at most so many items, and returns what it came to."""
    is_singleton: bool = False
    """Whether one process per tick is enough for all of them."""
    at_most: int | None = None
    """How many runs there may be at once over all processes; None for any number."""
    batch: int | None = None
    """How many items a run that somebody asks for takes at most; None for all."""
    logger: str = __name__
    """The name of the log lines about its runs."""


class JobSchedule:
    """The shared scheduler of this process; starting or stopping it twice is harmless."""

    def __init__(self, jobs: Iterable[ScheduledJob], runs: RunLog) -> None:
        self._jobs = {job.id: job for job in jobs}
        self._runs = runs
        self._scheduler: Any = None
        self._grid = datetime.fromisoformat(GRID)
        """Where its ticks are counted from, by the clock of this machine."""
        self._ticks = 0
        self._works: set[asyncio.Future[Counts]] = set()
        self._notes: set[asyncio.Task[None]] = set()
        self.problems: dict[str, str] = {}
        self.ended: Events[Run] = Events()
        """Reports every run that is over, and every one that did not happen."""

    @property
    def is_running(self) -> bool:
        """Whether it ticks."""
        return self._scheduler is not None

    async def start(self) -> None:
        """Register every enabled job and start ticking, by the clock of the database."""
        if self._scheduler is not None:
            log.warning("scheduler.started_twice")
            return
        self._grid = datetime.fromisoformat(GRID) - await self._runs.clock_skew()
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._scheduler.add_listener(self._on_missed, EVENT_JOB_MISSED)
        self._scheduler.add_listener(self._on_skipped, EVENT_JOB_MAX_INSTANCES)
        for job in self._jobs.values():
            self._register(job)
        self._scheduler.start()
        log.info("scheduler.started", jobs=len(self._jobs))
        for job in self._scheduler.get_jobs():
            next_run = job.next_run_time.isoformat()
            log.info("scheduler.job", id=job.id, name=job.name, next_run=next_run)

    async def stop(self, grace: timedelta = timedelta.max) -> None:
        """Stop ticking and wait for what is running, which is cut off after `grace`."""
        scheduler, self._scheduler = self._scheduler, None
        for job in scheduler.get_jobs() if scheduler is not None else ():
            job.remove()
        deadline = time.monotonic() + grace.total_seconds()
        # A run is over when it is recorded: cut off there, it would stay open for ever.
        while self._ticks:
            if time.monotonic() >= deadline:
                self._cut_off()
                deadline = float("inf")
            await asyncio.sleep(0.01)
        if scheduler is None:
            return
        scheduler.shutdown(wait=False)
        if self._notes:
            await asyncio.wait(self._notes)
        log.info("scheduler.stopped")

    def _cut_off(self) -> None:
        """Cancel what is running: PostgreSQL takes back the step that it was at."""
        for work in self._works:
            work.cancel()

    def published(self) -> list[Json]:
        """Return what other processes see of the jobs that run here."""
        return [
            {
                "id": job.id,
                "interval_seconds": job.settings.interval.total_seconds()
                if self.is_running
                else None,
                "problem": self.problems.get(job.id),
            }
            for job in self._jobs.values()
            if job.settings.enabled
        ]

    async def trigger(self, job_id: str, limit: int | None = None) -> int:
        """Run a job now, beside its schedule; return how many items it picked.

        A stage picks one batch, with a `limit` no more than so many.
        """
        self.require(job_id)
        job = replace(self._jobs[job_id], is_singleton=False)
        return await self._tick(job, job.batch if limit is None else limit)

    async def tick(self, job_id: str) -> int:
        """Run a job as its schedule would; return how many items it picked.

        Of what one process per tick is enough for, the first one to ask does it.
        """
        self.require(job_id)
        return await self._tick(self._jobs[job_id])

    def require(self, job_id: str) -> None:
        """Raise UnknownJob unless there is a job of this id."""
        if job_id not in self._jobs:
            raise UnknownJob(
                f"There is no job '{job_id}' in this process.",
                hint="Jobs run where stages do: in `scrapersky up` and "
                "`scrapersky worker`.",
            )

    def replace(self, job: ScheduledJob) -> None:
        """Run a job from now on as it is given here."""
        self.require(job.id)
        self._jobs[job.id] = job
        if self._scheduler is not None:
            self._register(job)

    def _register(self, job: ScheduledJob) -> None:
        if not job.settings.enabled:
            return
        try:
            self._scheduler.add_job(
                self._tick,
                IntervalTrigger(
                    seconds=job.settings.interval.total_seconds(),
                    start_date=self._grid,
                    timezone=UTC,
                ),
                args=[job],
                id=job.id,
                name=job.name,
                max_instances=job.settings.max_instances,
                misfire_grace_time=job.settings.misfire_grace_seconds,
                coalesce=True,
                replace_existing=True,
            )
        except Exception as error:  # one bad job must not stop the others
            self.problems[job.id] = f"{type(error).__name__}: {error}"
            log.exception("scheduler.job_refused", id=job.id)

    async def _tick(self, job: ScheduledJob, limit: int | None = None) -> int:
        self._ticks += 1
        try:
            return await self._run(job, limit)
        finally:
            self._ticks -= 1

    async def _run(self, job: ScheduledJob, limit: int | None) -> int:
        due_at = utc_now()
        only_one = job.settings.interval if job.is_singleton else None
        try:
            run_id = await self._runs.begin(
                job.id, only_one=only_one, at_most=job.at_most
            )
        except Exception as error:  # noqa: BLE001 - the database is away: the job may still report
            log.warning("scheduler.run_not_recorded", id=job.id, error=str(error))
            run_id = None
            if job.is_singleton:
                return 0
        else:
            if run_id is None:
                return 0
        work = asyncio.ensure_future(job.run(limit))
        self._works.add(work)
        try:
            counts = await work
        except asyncio.CancelledError:
            log.warning("scheduler.job_cut_off", id=job.id)
            failed = Run(job.id, RunOutcome.FAILED, due_at, error=CUT_OFF)
            await asyncio.shield(self._finish(run_id, failed))
            if is_cancelled():
                raise
            return 0
        except Exception as error:  # noqa: BLE001 - logged and recorded
            named = structlog.get_logger(job.logger)
            named.exception("scheduler.job_failed", id=job.id)
            await self._finish(
                run_id, Run(job.id, RunOutcome.FAILED, due_at, error=str(error))
            )
            return 0
        finally:
            self._works.discard(work)
        await self._finish(
            run_id, Run(job.id, RunOutcome.EXECUTED, due_at, counts=counts)
        )
        self._log_run(job, counts)
        return counts.picked

    def report(self, run: Run) -> None:
        """Report what a stage did between two ticks, as of any other run."""
        self.ended.emit(run)
        if run.counts is not None:
            self._log_run(self._jobs[run.job_id], run.counts)

    def _log_run(self, job: ScheduledJob, counts: Counts) -> None:
        named = structlog.get_logger(job.logger)
        named.info("scheduler.run", id=job.id, **asdict(counts))

    async def _finish(self, run_id: Any, run: Run) -> None:  # noqa: ANN401
        done = replace(run, started_at=run.due_at, finished_at=utc_now())
        self.ended.emit(done)
        if run_id is not None:
            await self._runs.end(run_id, run.outcome, run.counts, run.error)

    def _on_missed(self, event: JobExecutionEvent) -> None:
        self._note(event.job_id, event.scheduled_run_time, RunOutcome.MISSED)

    def _on_skipped(self, event: JobSubmissionEvent) -> None:
        for due_at in event.scheduled_run_times:
            self._note(event.job_id, due_at, RunOutcome.SKIPPED)

    def _note(self, job_id: str, due_at: datetime, outcome: RunOutcome) -> None:
        log.warning(
            "scheduler.not_run", id=job_id, why=outcome, due_at=due_at.isoformat()
        )
        run = Run(job_id, outcome, due_at, finished_at=utc_now())
        self.ended.emit(run)
        interval = self._jobs[job_id].settings.interval
        task = asyncio.ensure_future(
            self._runs.record_not_run(job_id, outcome, interval, utc_now() - due_at)
        )
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)


def is_cancelled() -> bool:
    """Say whether the task that asks was itself cancelled, and not what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
