"""The desk: what the operations of one process share while the application runs."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

import structlog
from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.operations.board import Board
from scrapersky.api.operations.hub import Hub
from scrapersky.api.operations.refreshed import RefreshedValue
from scrapersky.api.operations.town import DemoTown
from scrapersky.db.connection import Target, connect
from scrapersky.kit.clock import utc_now
from scrapersky.observability.metrics import STANDING, Metrics
from scrapersky.reporting.stage_stats import Waiting, waiting_for_anyone
from scrapersky.scheduler.app import Background
from scrapersky.settings import Settings

log = structlog.get_logger()

POOL_SIZE: Final = 2
"""Connections for counting and for the stream of events, whoever is listening."""


@dataclass(slots=True)
class Desk:
    """The shared parts: the board, the hub, and work that outlives its request."""

    settings: Settings
    background: Background
    engine: AsyncEngine
    """Sees all tenants: for what counts or watches with a tenant named in the query."""
    board: Board
    hub: Hub
    town: DemoTown
    metrics: Metrics
    waiting: RefreshedValue[list[Waiting]]
    started_at: datetime = field(default_factory=utc_now)
    _errands: set[asyncio.Task[Any]] = field(default_factory=set)

    def send(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start work that goes on when its request is over; it ends with the process."""
        errand = asyncio.create_task(work, name=name)
        self._errands.add(errand)
        errand.add_done_callback(self._returned)
        return errand

    async def figures(self) -> bytes:
        """Write the figures for Prometheus."""
        paused = await self.board.paused()
        for one in await self.waiting.get():
            standing = {name: getattr(one, name) or 0 for name in STANDING}
            self.metrics.stand(one.stage, standing, paused=one.stage in paused)
        self.metrics.listeners(self.hub.streams)
        return self.metrics.written()

    async def close(self) -> None:
        """End what still goes on."""
        self.metrics.forget()
        self.hub.close()
        for errand in self._errands:
            errand.cancel()
        if self._errands:
            await asyncio.wait(self._errands)
        await self.hub.closed()
        await self.waiting.close()
        await self.board.close()
        await self.town.close()

    def _returned(self, errand: asyncio.Task[Any]) -> None:
        self._errands.discard(errand)
        if not errand.cancelled() and (error := errand.exception()) is not None:
            log.error("errand.failed", name=errand.get_name(), exc_info=error)


@asynccontextmanager
async def open_desk(
    settings: Settings, target: Target, background: Background
) -> AsyncIterator[Desk]:
    """Open what the operations share, and close it in the end."""
    engine = connect(target, name="scrapersky-operations", pool_size=POOL_SIZE)
    board = Board(
        engine, {stage: settings.pace_in_words(stage) for stage in settings.stages}
    )
    desk = Desk(
        settings=settings,
        background=background,
        engine=engine,
        board=board,
        hub=Hub(engine, board),
        town=DemoTown(background),
        metrics=Metrics(background.events),
        waiting=RefreshedValue(partial(waiting_for_anyone, engine)),
    )
    try:
        yield desk
    finally:
        await desk.close()
        await engine.dispose()


def desk_of(request: Request) -> Desk:
    """Return the desk of this application."""
    found: Desk = request.app.state.desk
    return found


AtDesk = Annotated[Desk, Depends(desk_of)]
