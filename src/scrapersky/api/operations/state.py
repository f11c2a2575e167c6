"""The operations: what the operations of one process share while the application runs."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final

import structlog
from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.events.broker import EventBroker
from scrapersky.api.operations.workspace import DemoWorkspace
from scrapersky.api.refreshed import RefreshedValue
from scrapersky.api.stage_stats import StageStats
from scrapersky.changes.watch import ChangeWatch
from scrapersky.db.connection import Target, connect
from scrapersky.kit.clock import utc_now
from scrapersky.observability.metrics import STANDING, Metrics
from scrapersky.observability.stage_log import StageLog
from scrapersky.reporting.database import DatabaseFigures, database_figures
from scrapersky.reporting.stage_stats import QueueStatus, waiting_for_anyone
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.presence import LiveProcess, live_processes
from scrapersky.settings import Settings

log = structlog.get_logger(__name__)

POOL_SIZE: Final = 2
"""Connections for counting and for the stream of events, whoever is listening."""


@dataclass(slots=True)
class OperationsState:
    """The shared parts: the stats, the broker, and work that outlives its request."""

    settings: Settings
    background: Background
    engine: AsyncEngine
    """Sees all tenants: for what counts or watches with a tenant named in the query."""
    stats: StageStats
    broker: EventBroker
    watch: ChangeWatch
    demo: DemoWorkspace
    metrics: Metrics
    waiting: RefreshedValue[list[QueueStatus]]
    database: RefreshedValue[DatabaseFigures]
    processes: RefreshedValue[list[LiveProcess]]
    started_at: datetime = field(default_factory=utc_now)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    def send(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start work that goes on when its request is over; it ends with the process."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._returned)
        return task

    async def figures(self) -> bytes:
        """Write the figures for Prometheus."""
        paused = await self.stats.paused()
        held_back = await self.stats.held_back()
        intervals = await self.stats.intervals()
        for one in await self.waiting.get():
            self.metrics.stand(
                one.stage,
                {name: getattr(one, name) or 0 for name in STANDING},
                paused=one.stage in paused,
                held_back=one.stage in held_back,
                interval=intervals.get(one.stage, timedelta(0)),
            )
        self.metrics.note_database(await self.database.get())
        self.metrics.note_processes(await self.processes.get())
        self.metrics.listeners(self.broker.streams)
        return self.metrics.written()

    def end_streams(self) -> None:
        """Let go of everyone who listens."""
        self.broker.close()
        self.watch.close()

    async def close(self) -> None:
        """End what still goes on."""
        self.metrics.forget()
        self.end_streams()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.broker.closed()
        await self.watch.closed()
        for value in (self.waiting, self.database, self.processes):
            await value.close()
        await self.stats.close()
        await self.demo.close()

    def _returned(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task.failed", name=task.get_name(), exc_info=error)


@asynccontextmanager
async def open_operations(
    settings: Settings, target: Target, background: Background
) -> AsyncIterator[OperationsState]:
    """Open what the operations share, and close it in the end."""
    engine = connect(target, name="scrapersky-operations", pool_size=POOL_SIZE)
    StageLog(background.events)
    waiting = RefreshedValue(partial(waiting_for_anyone, engine))
    stats = StageStats(engine, settings, waiting)
    operations = OperationsState(
        settings=settings,
        background=background,
        engine=engine,
        stats=stats,
        broker=EventBroker(engine, stats),
        watch=ChangeWatch(engine),
        demo=DemoWorkspace(target),
        metrics=Metrics(background.events),
        waiting=waiting,
        database=RefreshedValue(partial(database_figures, engine)),
        processes=RefreshedValue(partial(live_processes, engine)),
    )
    operations.metrics.follow(background, settings)
    operations.metrics.watch_pool("operations", engine)
    try:
        yield operations
    finally:
        await operations.close()
        await engine.dispose()


def operations_of(request: Request) -> OperationsState:
    """Return the operations of this application."""
    found: OperationsState = request.app.state.operations
    return found


Operations = Annotated[OperationsState, Depends(operations_of)]
