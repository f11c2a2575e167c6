"""The kinds of processes: each is one function that runs until its block ends.

`serve` answers people, `work` works the stages by schedule and wake-up, `up` does both, and
`work_on_demand` works when it is asked to (Celery). `serve_beside_workers` is what `up` serves
with when the stages have processes of their own. What one wants to know about another it reads
from the database.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
)
from typing import Protocol

from curation_sdk.events import Events
from scrapersky.db.connection import Target
from scrapersky.pipeline.stage_settings import SchedulerPace
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler.background import (
    Background,
    open_resources,
    open_stage_work,
)
from scrapersky.scheduler.live_stages import report_changes
from scrapersky.scheduler.presence import Presence, RestReasons
from scrapersky.scheduler.run_log import RunLog
from scrapersky.scheduler.schedule import JobSchedule
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.settings import Settings


class ProcessKind(Protocol):
    """One of the functions below."""

    def __call__(
        self,
        settings: Settings,
        target: Target,
        *,
        services: ExternalServices | None = None,
        address: str | None = None,
    ) -> AbstractAsyncContextManager[Background]:
        """Run until the block ends; `address` is where the process serves its health."""
        ...


@asynccontextmanager
async def serve(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    address: str | None = None,
) -> AsyncIterator[Background]:
    """Work no stage and run no job: other processes do."""
    async with open_resources(settings, target, services) as resources:
        engine, rests = resources.engine, RestReasons(None)
        presence = Presence(
            engine, None, rests, role=ProcessRole.SERVE, address=address
        )
        schedule = JobSchedule((), RunLog(engine, presence.name))
        async with presence, resources.in_background(presence, {}):
            yield Background(
                engine, None, schedule, resources.tools, Events(), presence, None,
                asyncio.Event(),
            )  # fmt: skip


@asynccontextmanager
async def work(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    address: str | None = None,
    role: ProcessRole = ProcessRole.WORKER,
) -> AsyncIterator[Background]:
    """Work the stages by schedule and wake-up.

    An eager stage is drained the moment rows are queued; the schedule's ticks are the net
    under that, for rows that plain SQL has queued. At the pace `interval` a stage works only
    then. What operators have changed of its settings holds instead of what is given.
    """
    async with (
        open_resources(settings, target, services) as resources,
        open_stage_work(resources) as stage_work,
    ):
        report_changes(settings, resources.changes)
        presence = stage_work.presence(role, address)
        async with presence, stage_work.running(presence, eager_stages) as background:
            await background.schedule.start()
            # Others see its jobs from now on.
            await presence.beat()
            yield background


def up(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    address: str | None = None,
) -> AbstractAsyncContextManager[Background]:
    """Work the stages in the process that serves people."""
    role = ProcessRole.UP
    return work(settings, target, services=services, address=address, role=role)


@asynccontextmanager
async def work_on_demand(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    address: str | None = None,
) -> AsyncIterator[Background]:
    """Work a stage, or do any other job, when its job is run, and never by itself."""
    async with (
        open_resources(settings, target, services) as resources,
        open_stage_work(resources) as stage_work,
    ):
        presence = stage_work.presence(ProcessRole.WORKER, address)
        async with presence, stage_work.running(presence, no_stages) as background:
            yield background


@asynccontextmanager
async def serve_beside_workers(
    settings: Settings,
    target: Target,
    *,
    services: ExternalServices | None = None,
    address: str | None = None,
) -> AsyncIterator[Background]:
    """Work on demand for people who run a job here; the stages are others' work.

    So it is listed as one that serves, and nobody counts on it for a stage or a job.
    """
    async with (
        open_resources(settings, target, services) as resources,
        open_stage_work(resources) as stage_work,
    ):
        presence = Presence(
            resources.engine,
            stage_work.worker,
            stage_work.rests,
            role=ProcessRole.SERVE,
            address=address,
            name=stage_work.runs.process,
        )
        async with presence, stage_work.running(presence, no_stages) as background:
            yield background


def eager_stages(settings: Settings) -> Collection[str]:
    """Return the stages that work the moment rows are queued."""
    return {
        name
        for name in settings.stages
        if settings.pace_of(name) is SchedulerPace.EAGER
    }


def no_stages(_settings: Settings) -> Collection[str]:
    """Return the stages that a process works by itself which waits to be asked."""
    return ()
