"""The scheduler: its jobs and their runs; and tools for developers."""

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.exceptions import HTTPException

from scrapersky.api.dependency import (
    HiddenOperator,
    Operator,
    Reader,
    SystemTransaction,
)
from scrapersky.api.operations.state import Operations, OperationsState
from scrapersky.api.schema import (
    NOT_FOUND,
    ListOut,
    Word,
)
from scrapersky.api.time_list import (
    PageAsked,
    read_latest,
)
from scrapersky.errors import InvalidStageSettings
from scrapersky.records import SchedulerRun
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.item_counter import Counts
from scrapersky.scheduler.overview import JobStatus, cadence, job_statuses
from scrapersky.settings import Settings
from scrapersky.stages import PIPELINE

router = APIRouter(prefix="/api/v3", tags=["scheduler"])

WAIT_SECONDS: Final = 10.0
"""Seconds a manual trigger waits for the run to end before it answers."""


class JobOut(BaseModel):
    """A job over all processes, and how it went last."""

    id: str = Field(examples=["process_pending_domains"])
    name: str = Field(examples=["Process Pending Domains"])
    trigger: str = Field(examples=["every minute"])
    enabled: bool = Field(
        description="Whether a process runs it, or the settings would let one."
    )
    processes: list[str] = Field(
        description="The processes that run it, by name.", examples=[["worker-1-4711"]]
    )
    next_run_at: datetime | None = Field(
        None, description="Empty if no process runs it, or each run is asked for."
    )
    running: int = Field(
        description="Runs that are not over, in all processes.", examples=[0]
    )
    last_outcome: RunOutcome | None = None
    last_run_at: datetime | None = None
    last_items: int | None = Field(None, description="Items picked by the last run.")
    last_succeeded: int | None = None
    last_failed: int | None = None
    last_retried: int | None = None
    last_seconds: float | None = None
    last_error: str | None = None
    problem: str | None = Field(None, description="Why it could not be registered.")


class RunOut(BaseModel):
    """One due time of one job, or its work between two of them, and what came of it."""

    id: UUID
    job_id: str
    process: str
    outcome: RunOutcome
    due_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    items: int | None = Field(description="Items picked.")
    succeeded: int | None
    failed: int | None = Field(description="Items that failed for good.")
    retried: int | None
    last_item_error: str | None
    error: str | None = Field(description="Why the run itself failed.")


class SchedulerStatusOut(BaseModel):
    """The scheduler, over all processes."""

    running: bool = Field(description="Whether it ticks in any process.")
    jobs: list[JobOut]
    problems: dict[str, str] = Field(description="Jobs that could not be registered.")


class TriggeredOut(BaseModel):
    """What a manual run came to, as far as it was waited for."""

    job_id: str
    finished: bool
    items: int | None = None


AtMostItems = Annotated[
    int | None,
    Query(
        ge=1,
        le=10_000,
        description="Items picked at most; more than a batch of the stage is refused.",
    ),
]


def developer_only(operations: Operations) -> None:
    """Answer as if there were nothing, outside development."""
    if not operations.settings.environment.is_development:
        raise HTTPException(404)


@router.get("/scheduler/jobs", operation_id="list_jobs")
async def list_jobs(
    who: Reader,  # noqa: ARG001 - checked
    operations: Operations,
    connection: SystemTransaction,
) -> list[JobOut]:
    """Report every job: where it runs and when next, what runs now, how it went last."""
    return await jobs_of(operations.settings, connection)


@router.get("/scheduler/runs", operation_id="list_runs")
async def list_runs(
    *,
    who: Operator,
    connection: SystemTransaction,
    page: PageAsked,
    job_id: Annotated[Word | None, Query()] = None,
    outcome: Annotated[RunOutcome | None, Query()] = None,
) -> ListOut[RunOut]:
    """List the runs of every process, the latest first."""
    scope: list[Any] = [str(who.tenant_id), "runs", job_id, outcome]
    query = select(SchedulerRun)
    if job_id is not None:
        query = query.where(SchedulerRun.job_id == job_id)
    if outcome is not None:
        query = query.where(SchedulerRun.outcome == outcome)
    found = await read_latest(
        connection,
        query,
        SchedulerRun.started_at,
        SchedulerRun.id,
        scope=scope,
        page=page,
    )
    runs = [RunOut.model_validate(row, from_attributes=True) for row in found.rows]
    return found.listing(runs)


@router.get(
    "/dev-tools/scheduler_status",
    operation_id="scheduler_status",
    dependencies=[Depends(developer_only)],
    responses=NOT_FOUND,
    tags=["dev tools"],
)
async def scheduler_status(
    _who: HiddenOperator, operations: Operations, connection: SystemTransaction
) -> SchedulerStatusOut:
    """Report how the scheduler stands in all processes; in development, for operators."""
    jobs = await jobs_of(operations.settings, connection)
    return SchedulerStatusOut(
        running=is_ticking(jobs), jobs=jobs, problems=problems_of(jobs)
    )


@router.post(
    "/dev-tools/process-pending-domains",
    operation_id="process_pending_domains",
    dependencies=[Depends(developer_only)],
    responses=NOT_FOUND,
    tags=["dev tools"],
)
async def process_pending_domains(
    _who: HiddenOperator,
    operations: Operations,
    response: Response,
    limit: AtMostItems = None,
) -> TriggeredOut:
    """Gather the metadata of pending domains now; in development, for operators."""
    return await trigger(operations, "process_pending_domains", response, limit)


@router.post(
    "/dev-tools/trigger/{job_id}",
    operation_id="trigger_job",
    dependencies=[Depends(developer_only)],
    responses=NOT_FOUND,
    tags=["dev tools"],
)
async def trigger_job(
    _who: HiddenOperator,
    operations: Operations,
    response: Response,
    job_id: Word,
    limit: AtMostItems = None,
) -> TriggeredOut:
    """Run a job now, beside its schedule; in development, for operators."""
    return await trigger(operations, job_id, response, limit)


async def trigger(
    operations: OperationsState, job_id: str, response: Response, limit: int | None
) -> TriggeredOut:
    """Start a run and wait a while for it; 202 if it takes longer."""
    schedule = operations.background.schedule
    schedule.require(job_id)
    refuse_above_batch(operations, job_id, limit)
    run = operations.send(schedule.trigger(job_id, limit), f"run of {job_id}")
    done, _ = await asyncio.wait({run}, timeout=WAIT_SECONDS)
    if not done:
        response.status_code = 202
        return TriggeredOut(job_id=job_id, finished=False)
    return TriggeredOut(job_id=job_id, finished=True, items=run.result())


def refuse_above_batch(
    operations: OperationsState, job_id: str, limit: int | None
) -> None:
    """Raise InvalidStageSettings if a run would pick fewer items than asked for."""
    live = operations.background.live
    stage = next((stage.name for stage in PIPELINE if stage.job.id == job_id), None)
    if live is None or stage is None or limit is None:
        return
    batch = live.settings.stages[stage].batch_size
    if limit > batch:
        raise InvalidStageSettings(
            f"A run of {job_id} takes a batch of {batch} items at most, and {limit} were "
            "asked for.",
            hint="Ask for no more, run it again for the next batch, or raise the batch "
            f"size: `scrapersky stages set {stage} --batch-size {limit}`.",
        )


async def jobs_of(settings: Settings, connection: AsyncConnection) -> list[JobOut]:
    """Show every job."""
    return [job(status) for status in await job_statuses(connection, settings)]


def is_ticking(jobs: Iterable[JobOut]) -> bool:
    """Whether a process runs jobs when they are due."""
    return any(job.next_run_at is not None for job in jobs)


def problems_of(jobs: Iterable[JobOut]) -> dict[str, str]:
    """Return why jobs could not be registered."""
    return {job.id: job.problem for job in jobs if job.problem is not None}


def job(status: JobStatus) -> JobOut:
    """Show one job."""
    last = status.last
    counts = (last and last.counts) or Counts()
    seconds = None
    if last and last.started_at and last.finished_at:
        seconds = (last.finished_at - last.started_at).total_seconds()
    return JobOut(
        id=status.id,
        name=status.name,
        trigger=cadence(status.interval),
        enabled=status.is_enabled,
        processes=list(status.processes),
        next_run_at=status.next_run_at,
        running=status.running,
        last_outcome=last.outcome if last else None,
        last_run_at=(last.started_at or last.due_at) if last else None,
        last_items=counts.picked,
        last_succeeded=counts.succeeded,
        last_failed=counts.failed,
        last_retried=counts.retried,
        last_seconds=seconds,
        last_error=((last and last.error) or counts.last_error or "")[:300] or None,
        problem=status.problem,
    )
