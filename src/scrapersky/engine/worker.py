"""A worker: claims, works, settles, beats and rescues until it is told to stop."""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Self

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.engine.bell import Bell
from scrapersky.engine.brake import Brake
from scrapersky.engine.claim import Claimer, select_list
from scrapersky.engine.collect import Collector
from scrapersky.engine.duty import Duties, wait_for
from scrapersky.engine.events import Event
from scrapersky.engine.feed import LOOK_FOR_RETRIES, Feeder
from scrapersky.engine.lane import Lane
from scrapersky.engine.pulse import Pulse
from scrapersky.engine.reap import Reaper
from scrapersky.engine.registry import AnyStage, Ready, Registry
from scrapersky.engine.settle import Settler
from scrapersky.engine.sql import statements_of
from scrapersky.engine.verdict import Returned
from scrapersky.engine.work import StageRun
from scrapersky.errors import EngineError, UnknownStage
from scrapersky.kit.events import Events

GRACE = timedelta(seconds=5)
POLL = timedelta(seconds=1)
LAST_WORDS = 3.0
"""Seconds, beyond its grace, in which a stopping worker may settle what it has."""

log = structlog.get_logger()


class Worker:
    """Works the items of some stages with two connections, and a third to listen.

    `registry` names all stages of the application when this worker runs only some.
    `listen_dsn` is a direct way to the database (not through a pooler) on which the
    worker hears at once that rows were queued; without it, it looks every `poll`.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        stages: Iterable[AnyStage],
        *,
        tools: object = None,
        name: str | None = None,
        listen_dsn: str | None = None,
        registry: Registry | None = None,
        events: Events[Event] | None = None,
        poll: timedelta = POLL,
    ) -> None:
        self.stages = tuple(stages)
        if not self.stages:
            raise EngineError("A worker needs at least one stage.")
        self.registry = registry or Registry(self.stages)
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        # Two lives of one process name must not be taken for each other.
        self.name = f"{self.name}-{secrets.token_hex(4)}"
        self.events: Events[Event] = events if events is not None else Events()
        self._engine = engine
        self._tools = tools
        self._listen_dsn = listen_dsn
        self._runs: dict[str, StageRun] = {}
        self._claim_lane = Lane(engine)
        self._settle_lane = Lane(engine)
        self._duties = Duties(self.name, self.events)
        self._bell = Bell(self._claim_lane, self.wake)
        self._settler = Settler(
            self._settle_lane, self.events, worker=self.name, on_wake=self._ring
        )
        self._collector = Collector(self._runs, self._settler, self._duties)
        self._brake = Brake(self._runs, self._claim_lane, self._duties, self.events)
        self._pulse = Pulse(
            self._runs, self._claim_lane, Reaper(self._claim_lane, self.events)
        )
        self._feeder = Feeder(
            self._runs,
            self._claim_lane,
            self._duties,
            self.events,
            worker=self.name,
            poll=poll.total_seconds(),
        )
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._started = False

    @property
    def in_hand(self) -> int:
        """How many items this worker holds."""
        return sum(len(run.held) for run in self._runs.values())

    @property
    def refused(self) -> int:
        """How many late answers of this worker were refused by the fence."""
        return self._settler.fenced

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Check the stages against the database; raise if one cannot run as it is."""
        if self._started:
            return
        for ready in await self.registry.check(self._engine, self.stages):
            self._runs[ready.stage.name] = self._prepare(ready)
            self._brake.fed[ready.stage.name] = ready.queue
        await self._learn_fed_queues()
        self._started = True
        for duty in (
            self._collector.settle_finished,
            self._pulse.beat,
            self._pulse.rescue,
            self._pulse.watch_timeouts,
            self._brake.look_at_states,
            self._bell.notify,
        ):
            self._duties.keep(duty)
        if self._listen_dsn is not None:
            self._duties.keep(self._listen)

    async def run(self) -> None:
        """Work until stopped; nothing the database does ends it."""
        await self.start()
        for run in self._runs.values():
            self._feeder.start(run)
        await self._stopped.wait()

    async def drain(
        self, stage: str | AnyStage, *, within: timedelta = timedelta(minutes=1)
    ) -> int:
        """Work one stage until nothing of it can be claimed; return how many settled.

        Items that wait for a later try are left for later.
        """
        await self.start()
        name = stage if isinstance(stage, str) else stage.name
        if name not in self._runs:
            raise UnknownStage(f"This worker does not run a stage '{name}'.")
        run = self._runs[name]
        before, began = run.settled, time.monotonic()
        alone = not self._feeder.is_fed(run)
        self._feeder.start(run)
        run.wake.set()
        deadline = began + within.total_seconds()
        while not self._stopping.is_set() and time.monotonic() < deadline:
            since = max(run.busy_at, began)
            empty = run.empty_at > since and run.empty_waiting_at > since
            if not run.held:
                if empty or run.paused is not None:
                    break
                # The last look was before the last settle; look again now, not at
                # the next poll.
                run.wake.set()
                run.suspect_gone.set()
            run.changed.clear()
            await wait_for(run.changed, LOOK_FOR_RETRIES)
        if alone and not self._stopping.is_set():
            await self._feeder.stop(run)
            await self._hand_back(run, time.monotonic() + GRACE.total_seconds())
        return run.settled - before

    async def stop(self, *, grace: timedelta = GRACE) -> None:
        """Claim no more at once; finish what is in work within `grace`; hand back the rest."""
        first = not self._stopping.is_set()
        self._stopping.set()
        if first and self._started:
            deadline = time.monotonic() + grace.total_seconds()
            await self._feeder.close()
            runs = self._runs.values()
            await asyncio.gather(*(self._hand_back(run, deadline) for run in runs))
            await self._settle_last(deadline + LAST_WORDS)
        await self._duties.end()
        await self._claim_lane.close()
        await self._settle_lane.close()
        self._stopped.set()

    def wake(self, *stages: str) -> None:
        """Look for queued rows of these stages now."""
        for name in stages:
            run = self._runs.get(name)
            if run is not None:
                run.wake.set()

    def _prepare(self, ready: Ready) -> StageRun:
        dialect = self._engine.dialect
        statements = statements_of(
            ready.queue,
            columns=select_list(ready.stage, dialect),
            batch=ready.stage.batch,
            keyed=ready.keyed,
        )
        return StageRun(
            ready.stage,
            ready.queue,
            statements,
            claimer=Claimer(ready.stage, statements, self._claim_lane, self.name),
            dialect=dialect,
            tools=self._tools,
            some_finished=self._collector.some_finished,
            on_broken=self._brake.pause,
        )

    async def _learn_fed_queues(self) -> None:
        fed = {name for run in self._runs.values() for name in run.stage.feeds}
        missing = [self.registry[name] for name in fed if name not in self._runs]
        if not missing:
            return
        for ready in await self.registry.check(self._engine, missing):
            self._brake.fed[ready.stage.name] = ready.queue

    async def _hand_back(self, run: StageRun, deadline: float) -> None:
        run.give_back_ready("the worker stopped")
        await run.until_idle(deadline)
        for slot in tuple(run.slots):
            slot.stop(Returned("the worker stopped before it was finished"))
        await run.until_idle(time.monotonic() + 1)

    async def _settle_last(self, deadline: float) -> None:
        # Whatever the database cannot be told now, its leases will tell it later.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(deadline - time.monotonic(), 0)):
                while self._collector.unsettled:  # noqa: ASYNC110 - two signals
                    await asyncio.sleep(0.002)

    def _ring(self, stages: Iterable[str]) -> None:
        for name in stages:
            if name not in self.registry:
                log.error("wake.unknown_stage", stage=name)
        self._bell.ring(stages)

    async def _listen(self) -> None:
        assert self._listen_dsn is not None  # noqa: S101 - for the type checker
        await self._bell.listen(self._listen_dsn, self._runs)
