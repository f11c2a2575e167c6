"""A worker: claims, works and settles items until it is stopped."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Self, TypedDict, Unpack, overload

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.background import BackgroundTasks, wait_for
from curation_sdk.backpressure import Backpressure
from curation_sdk.claim import Claimer, select_list
from curation_sdk.connection import WorkerConnection, refuse_unusable_engine
from curation_sdk.errors import CurationSdkError, UnknownStage
from curation_sdk.events import Event, Events
from curation_sdk.execution import StageRun
from curation_sdk.heartbeat import Heartbeat
from curation_sdk.limits import limits_of
from curation_sdk.log import get_logger
from curation_sdk.loop_watch import LoopWatch
from curation_sdk.notifier import Notifier
from curation_sdk.process import sign
from curation_sdk.producer import RETRY_POLL_SECONDS, Producer
from curation_sdk.queue import Queue
from curation_sdk.reap import Reaper
from curation_sdk.registry import AnyStage, CheckedStage, Registry
from curation_sdk.settle import Settler
from curation_sdk.settlement import Returned
from curation_sdk.stage import Stage, ToolsT
from curation_sdk.statements import statements_of

HAND_BACK_GRACE = timedelta(seconds=5)
POLL_TIME = timedelta(seconds=1)
SETTLE_GRACE_SECONDS = 3.0
"""Seconds, beyond its grace, in which a stopping worker may settle what it has."""

log = get_logger(__name__)


class WorkerOptions(TypedDict, total=False):
    """What a worker takes besides its stages and their tools; see `Worker`."""

    name: str | None
    listen_dsn: str | None
    registry: Registry | None
    events: Events[Event] | None
    poll: timedelta


class Worker:
    """Works the items of some stages, with two connections of the engine's pool.

    `tools` is passed to every work function; for a type checker, stages that declare
    different tools are a `list[Stage[Any, YourTools]]`. `registry` holds all stages of the
    application when this worker runs only some of them. `listen_dsn` opens a third connection,
    which must go to PostgreSQL directly and not through a pooler: on it the worker is
    notified of queued rows at once. Without it the worker looks every `poll`. `events`
    reports what it does.

    As a context manager it checks its stages at the start and stops at the end.
    """

    @overload
    def __init__(
        self,
        engine: AsyncEngine,
        stages: Iterable[Stage[Any, None]],
        **options: Unpack[WorkerOptions],
    ) -> None: ...

    @overload
    def __init__(
        self,
        engine: AsyncEngine,
        stages: Iterable[Stage[Any, ToolsT]],
        *,
        tools: ToolsT,
        **options: Unpack[WorkerOptions],
    ) -> None: ...

    def __init__(
        self,
        engine: AsyncEngine,
        stages: Iterable[Stage[Any, Any]],
        *,
        tools: object = None,
        name: str | None = None,
        listen_dsn: str | None = None,
        registry: Registry | None = None,
        events: Events[Event] | None = None,
        poll: timedelta = POLL_TIME,
    ) -> None:
        refuse_unusable_engine(engine, connections=2)
        if isinstance(stages, Stage):
            raise CurationSdkError(
                f"A worker was given the stage '{stages.name}' instead of a list.",
                hint=f"Write Worker(engine, [{stages.name}]).",
            )
        self.stages = tuple(stages)
        if not self.stages:
            raise CurationSdkError(
                "A worker needs at least one stage.",
                hint="Pass what @stage returns: Worker(engine, [count_letters]).",
            )
        self.registry = registry or Registry(self.stages)
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        # Two lives of one process name must not be taken for each other, and whoever
        # comes after us on this machine should see at once that we are dead.
        self.name = f"{self.name}-{sign().hex}"
        self.events: Events[Event] = events if events is not None else Events()
        self._engine = engine
        self._tools = tools
        self._listen_dsn = listen_dsn
        self._runs: dict[str, StageRun] = {}
        self._queues: dict[str, Queue] = {}
        self._claim_connection = WorkerConnection(engine)
        self._settle_connection = WorkerConnection(engine)
        self._background = BackgroundTasks(self.name, self.events)
        self._notifier = Notifier(self._claim_connection, self.wake)
        self._settler = Settler(
            self._runs,
            self._settle_connection,
            self._background,
            self.events,
            worker=self.name,
            on_wake=self._announce,
        )
        self._backpressure = Backpressure(
            self._runs, self._claim_connection, self._background, self.events
        )
        self._heartbeat = Heartbeat(
            self._runs,
            self._claim_connection,
            self._background,
            Reaper(self._claim_connection, self.events),
        )
        self._producer = Producer(
            self._runs,
            self._claim_connection,
            self._background,
            self.events,
            worker=self.name,
            poll=poll.total_seconds(),
        )
        self._loop_watch = LoopWatch(self._runs, engine)
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._started = False
        self._stop_request: asyncio.Task[None] | None = None
        self._resting: str | None = None

    @property
    def resting(self) -> str | None:
        """Why this worker claims nothing for now, if it does not."""
        return self._resting

    def rest(self, why: str) -> None:
        """Claim nothing until `resume`, in this worker only.

        For a worker that finds itself unfit: items in work go on, and those that have
        not begun go back to the queue, for others.
        """
        self._resting = why
        for run in self._runs.values():
            run.rest(why)

    def resume(self) -> None:
        """Claim again after a rest."""
        self._resting = None
        for run in self._runs.values():
            run.rest(None)

    @property
    def in_hand(self) -> int:
        """How many items this worker holds."""
        return sum(len(run.held) for run in self._runs.values())

    @property
    def refused(self) -> int:
        """How many late results of this worker were refused by the fence."""
        return self._settler.refused

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Check the stages against the database; raise if one cannot run as it is."""
        if self._stopping.is_set():
            raise CurationSdkError(
                "This worker was stopped.", hint="Make another one to go on."
            )
        if self._started:
            return
        checked = await self.registry.check(self._engine, self.stages)
        await self._learn_queues(checked)
        for ready in checked:
            self._runs[ready.stage.name] = run = self._prepare(ready)
            if self._resting is not None:
                run.rest(self._resting)
        self._started = True
        self._loop_watch.start()
        for task in (
            self._loop_watch.turn,
            self._settler.settle_finished,
            self._heartbeat.beat,
            self._heartbeat.rescue,
            self._heartbeat.watch_timeouts,
            self._backpressure.watch_states,
            self._notifier.send,
        ):
            self._background.keep(task)
        if self._listen_dsn is not None:
            self._background.keep(self._listen)

    async def run(self, stages: Iterable[str] | None = None) -> None:
        """Work until stopped; a database that goes away and comes back does not end it.

        Of its stages only those named in `stages` are worked, if it is given: the others wait
        for `drain` or `run_batch`.
        """
        if self._stopping.is_set():
            return  # asked to before it could begin
        await self.start()
        names = self._runs if stages is None else stages
        for run in [(await self._started_run(name)) for name in names]:
            self._producer.start(run)
        await self._stopped.wait()

    async def start_stage(self, stage: str | AnyStage) -> None:
        """Work one more of its stages continuously, as `run` does."""
        self._producer.start(await self._started_run(stage))

    async def stop_stage(self, stage: str | AnyStage) -> None:
        """Claim no more of a stage until `start_stage`, `drain` or `run_batch`.

        Items in work are finished; those that have not begun go back to the queue.
        """
        run = await self._started_run(stage)
        await self._producer.stop(run)
        run.give_back_ready("the stage was stopped in this worker")

    async def limit(
        self,
        stage: str | AnyStage,
        *,
        batch: int,
        rate_per_minute: int | None,
        high_water: int | Mapping[str, int] | None,
        concurrency: int | None = None,
    ) -> None:
        """Use another batch, rate and high-water marks for a stage from its next claim on.

        `concurrency`, if it is given, holds at once: items in work beyond it are finished.
        """
        run = await self._started_run(stage)
        limited = run.stage.configured(
            batch=batch,
            rate_per_minute=rate_per_minute,
            high_water=high_water,
            concurrency=concurrency or run.stage.concurrency,
        )
        run.limit(limited, limits_of(limited, self._queues, self.registry))

    async def run_batch(
        self, stage: str | AnyStage, *, within: timedelta = timedelta(minutes=10)
    ) -> int:
        """Work at most one batch of a stage; return how many attempts were settled.

        Items whose next attempt is due go first. Items of a worker that vanished are
        rescued, and worked if nothing else was claimed.
        """
        run = await self._started_run(stage)
        before, deadline = run.rate.settled, time.monotonic() + within.total_seconds()
        await self._heartbeat.look_for_abandoned(run)
        claimed = await self._producer.claim_once(run)
        await self._until_settled(run, deadline)
        while self._heartbeat.is_watching(run) and time.monotonic() < deadline:
            await wait_for(self._stopping, RETRY_POLL_SECONDS)
        if not claimed and run.gate.is_open:
            await self._producer.claim_once(run)
            await self._until_settled(run, deadline)
        await self._producer.stop(run)
        await self._hand_back(run, time.monotonic() + HAND_BACK_GRACE.total_seconds())
        return run.rate.settled - before

    async def drain(
        self,
        stage: str | AnyStage,
        *,
        within: timedelta = timedelta(minutes=1),
        rescue: bool = False,
    ) -> int:
        """Work one stage until nothing can be claimed; return how many attempts settled.

        Items whose next attempt is not due yet are left waiting. `rescue` also waits for
        the items of workers that seem to have vanished, and works them.
        """
        run = await self._started_run(stage)
        before, began = run.rate.settled, time.monotonic()
        if rescue:
            await self._heartbeat.look_for_abandoned(run)
        alone = not self._producer.is_active(run)
        self._producer.start(run)
        run.wake.set()
        deadline = began + within.total_seconds()
        while not self._stopping.is_set() and time.monotonic() < deadline:
            if not self._producer.is_active(run):
                break
            if rescue and self._heartbeat.is_watching(run):
                began = time.monotonic()
            elif not run.held:
                if run.looks.is_empty_since(began) or run.gate.is_shut:
                    break
                # The last look was before the last settle; look again now, not at
                # the next poll.
                run.wake.set()
                run.rescued.some_gone.set()
            run.changed.clear()
            await wait_for(run.changed, RETRY_POLL_SECONDS)
        if alone and not self._stopping.is_set():
            await self._producer.stop(run)
            await self._hand_back(
                run, time.monotonic() + HAND_BACK_GRACE.total_seconds()
            )
        # Whoever looks at the stage next must see that its work has paused it.
        await self._backpressure.pauses_stored(SETTLE_GRACE_SECONDS)
        return run.rate.settled - before

    async def stop(self, *, grace: timedelta = HAND_BACK_GRACE) -> None:
        """Stop claiming, finish what is in work within `grace`, and return the rest to the queue.

        What is returned has not spent an attempt.
        """
        first = not self._stopping.is_set()
        self._stopping.set()
        if first and self._started:
            deadline = time.monotonic() + grace.total_seconds()
            await self._producer.close()
            runs = self._runs.values()
            await asyncio.gather(*(self._hand_back(run, deadline) for run in runs))
            await self._settle_last(deadline + SETTLE_GRACE_SECONDS)
            await self._backpressure.pauses_stored(SETTLE_GRACE_SECONDS)
        self._loop_watch.end()
        await self._background.end()
        await self._claim_connection.close()
        await self._settle_connection.close()
        self._stopped.set()

    def request_stop(self) -> None:
        """Begin to stop, as `stop` does; `run` returns when it is done."""
        if self._stop_request is None:
            self._stop_request = asyncio.create_task(self.stop())

    async def _started_run(self, stage: str | AnyStage) -> StageRun:
        await self.start()
        name = stage if isinstance(stage, str) else stage.name
        if name not in self._runs:
            raise UnknownStage(
                f"This worker does not run a stage '{name}'.",
                hint=f"It runs {', '.join(self._runs)}.",
            )
        return self._runs[name]

    async def _until_settled(self, run: StageRun, deadline: float) -> None:
        while run.held and time.monotonic() < deadline and not self._stopping.is_set():
            run.changed.clear()
            await wait_for(run.changed, RETRY_POLL_SECONDS)

    def wake(self, *stages: str) -> None:
        """Look for queued rows of these stages now."""
        for name in stages:
            run = self._runs.get(name)
            if run is not None:
                run.wake.set()

    def _prepare(self, ready: CheckedStage) -> StageRun:
        dialect = self._engine.dialect
        statements = statements_of(
            ready.queue,
            columns=select_list(ready.stage, dialect),
            keyed=ready.keyed,
        )
        return StageRun(
            ready.stage,
            ready.queue,
            statements,
            claimer=Claimer(
                ready.stage,
                statements,
                self._claim_connection,
                self.name,
                limits_of(ready.stage, self._queues, self.registry),
            ),
            dialect=dialect,
            tools=self._tools,
            some_finished=self._settler.some_finished,
            on_broken=self._backpressure.pause,
        )

    async def _learn_queues(self, checked: list[CheckedStage]) -> None:
        """Learn the queues of these stages, and those that they feed."""
        known = {ready.stage.name: ready.queue for ready in checked}
        fed = {name for ready in checked for name in ready.stage.feeds}
        if missing := [self.registry[name] for name in fed if name not in known]:
            others = await self.registry.check(self._engine, missing)
            known.update({ready.stage.name: ready.queue for ready in others})
        self._queues = known

    async def _hand_back(self, run: StageRun, deadline: float) -> None:
        run.give_back_ready("the worker stopped")
        await run.until_idle(deadline)
        for slot in tuple(run.slots):
            slot.stop(Returned("the worker stopped before it was finished"))
        await run.until_idle(time.monotonic() + 1)

    async def _settle_last(self, deadline: float) -> None:
        # What cannot be written now is rescued when its lease expires.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(deadline - time.monotonic(), 0)):
                while self._settler.unsettled:
                    if not self._background.is_running:
                        # The whole event loop ends: a function raised SystemExit.
                        await self._settler.settle_all()
                    await asyncio.sleep(0.002)

    def _announce(self, stages: Iterable[str]) -> None:
        for name in stages:
            if name not in self.registry:
                log.error("wake.unknown_stage", stage=name)
        self._notifier.announce(stages)

    async def _listen(self) -> None:
        assert self._listen_dsn is not None  # noqa: S101 - for the type checker
        await self._notifier.listen(self._listen_dsn, self._runs)
