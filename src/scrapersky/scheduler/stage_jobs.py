"""The jobs that work the stages, each run bounded by time."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Registry, Worker
from curation_sdk.events import Event, Events
from curation_sdk.registry import AnyStage
from scrapersky.kit.background import cancel
from scrapersky.pipeline.stage_settings import SchedulerPace
from scrapersky.pipeline.tools import Tools
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.item_counter import Counts, ItemCounter
from scrapersky.scheduler.presence import RestReasons
from scrapersky.scheduler.schedule import ScheduledJob
from scrapersky.scheduler.shutdown import Shutdown
from scrapersky.settings import Settings
from scrapersky.stages import STAGES

MIN_DRAIN_TIME: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class BatchRunner:
    """Runs one batch of a stage apart from all other work."""

    engine: AsyncEngine
    tools: Tools
    registry: Registry
    events: Events[Event]
    rests: RestReasons
    shutdown: Shutdown

    async def run(self, stage: AnyStage, size: int, within: timedelta) -> Counts:
        """Claim at most `size` items, work them, and return what they came to.

        A process that rests or stops claims none.
        """
        stopping = self.shutdown.stopping
        if self.rests.why is not None or stopping.is_set():
            return Counts()
        counter, heard = ItemCounter(), Events[Event]()
        heard.listen(counter.hear)
        heard.listen(self.events.emit)
        async with Worker(
            self.engine,
            [stage.configured(batch=size)],
            tools=self.tools,
            registry=self.registry,
            events=heard,
        ) as worker:
            stopped = asyncio.create_task(self.shutdown.stop_worker(worker))
            try:
                await worker.run_batch(stage.name, within=within)
            finally:
                # What it hands back is in the database when it has stopped, not before.
                await (stopped if stopping.is_set() else cancel(stopped))
        return counter.take(stage.name)


@dataclass(frozen=True, slots=True)
class StageJobFactory:
    """Makes the jobs that work the stages, each run bounded by time."""

    worker: Worker
    counter: ItemCounter
    drains: DrainLog
    batches: BatchRunner

    def job(self, stage: AnyStage, settings: Settings) -> ScheduledJob:
        """Make the job of one stage.

        When it is due, an eager stage is drained and any other works one batch; a run that
        somebody asks for is always one batch.
        """
        given, declared = settings.stages[stage.name], STAGES[stage.name]
        is_eager = settings.pace_of(stage.name) is SchedulerPace.EAGER
        within = max(given.interval, MIN_DRAIN_TIME)

        async def run(limit: int | None) -> Counts:
            if is_eager and limit is None:
                async with self.drains.tick(stage.name):
                    await self.worker.drain(stage.name, within=within)
                    return self.counter.take(stage.name)
            size = min(given.batch_size, limit or given.batch_size)
            return await self.batches.run(stage, size, within)

        return ScheduledJob(
            declared.job.id,
            declared.job.name,
            given,
            run,
            is_singleton=not is_eager,
            at_most=None if is_eager else given.max_instances,
            batch=given.batch_size,
            logger=declared.logger_name,
        )
