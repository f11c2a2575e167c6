"""A worker: claims, works, settles, beats and rescues until it is told to stop."""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Self

import asyncpg
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.engine import sql
from scrapersky.engine.claim import Claimer, Held, select_list
from scrapersky.engine.events import (
    Claimed,
    Drained,
    Event,
    Overclaimed,
    Paused,
    Resumed,
    Troubled,
)
from scrapersky.engine.lane import Lane, is_transient
from scrapersky.engine.queue import Queue, literal
from scrapersky.engine.reap import Reaper
from scrapersky.engine.registry import AnyStage, Ready, Registry
from scrapersky.engine.settle import Settler
from scrapersky.engine.sql import statements_of
from scrapersky.engine.verdict import Broken, Result, Returned
from scrapersky.engine.work import Batch, StageRun
from scrapersky.errors import EngineError, UnknownStage
from scrapersky.kit.events import Events

MOST_SETTLED_AT_ONCE = 1_000
LOOK_FOR_RETRIES = 0.25
LINGER = 0.003
"""Seconds a settle waits for more items while they come thick and fast."""
ENOUGH = 200
"""Items that are worth a commit of their own."""
QUIET_AFTER = 10.0
"""Seconds without any item after which retries are looked for less often."""
LOOK_AT_STATES = 0.5
NOTIFY_EVERY = 0.01
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
LISTEN_PROBE = 5.0
GRACE = timedelta(seconds=5)
POLL = timedelta(seconds=1)

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
        self._poll = poll.total_seconds()
        self._claim_lane = Lane(engine)
        self._settle_lane = Lane(engine)
        self._settler = Settler(
            self._settle_lane, self.events, worker=self.name, on_wake=self._wake_later
        )
        self._reaper = Reaper(self._claim_lane, self.events)
        self._runs: dict[str, StageRun] = {}
        self._fed: dict[str, Queue] = {}
        self._some_finished = asyncio.Event()
        self._settling = False
        self._to_wake: set[str] = set()
        self._some_to_wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._background: list[asyncio.Task[None]] = []
        self._feeders: dict[str, list[asyncio.Task[None]]] = {}
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
            self._fed[ready.stage.name] = ready.queue
        await self._learn_fed_queues()
        self._started = True
        self._keep(self._settle_finished)
        self._keep(self._beat)
        self._keep(self._rescue)
        self._keep(self._look_at_states)
        self._keep(self._watch_timeouts)
        self._keep(self._notify)
        if self._listen_dsn is not None:
            self._keep(self._listen)

    async def run(self) -> None:
        """Work until stopped; nothing the database does ends it."""
        await self.start()
        for run in self._runs.values():
            self._start_feeding(run)
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
        alone = name not in self._feeders
        self._start_feeding(run)
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
            await self._wait(run.changed, LOOK_FOR_RETRIES)
        if alone and not self._stopping.is_set():
            await self._stop_feeding(name)
            await self._hand_back(run)
        return run.settled - before

    async def stop(self, *, grace: timedelta = GRACE) -> None:
        """Claim no more at once; finish what is in work within `grace`; hand back the rest."""
        if self._stopping.is_set() or not self._started:
            self._stopping.set()
            await self._close()
            return
        self._stopping.set()
        deadline = time.monotonic() + grace.total_seconds()
        for name in list(self._feeders):
            await self._stop_feeding(name)
        runs = self._runs.values()
        await asyncio.gather(*(self._hand_back(run, deadline) for run in runs))
        # Whatever the database cannot be told now, its leases will tell it later.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(deadline - time.monotonic(), 0) + 3):
                while self._unsettled():  # noqa: ASYNC110 - two signals
                    await asyncio.sleep(0.002)
        await self._close()

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
            on_finished=self._on_finished,
        )

    async def _learn_fed_queues(self) -> None:
        fed = {name for run in self._runs.values() for name in run.stage.feeds}
        missing = [self.registry[name] for name in fed if name not in self._runs]
        for ready in await self.registry.check(self._engine, missing):
            self._fed[ready.stage.name] = ready.queue

    def _keep(self, work: Callable[[], Awaitable[None]]) -> None:
        self._background.append(asyncio.create_task(self._keep_going(work)))

    async def _keep_going(self, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE
        while True:
            began = time.monotonic()
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._trouble(work.__name__.strip("_"), error)
            if time.monotonic() - began > LISTEN_PROBE:
                pause = FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _trouble(self, doing: str, error: Exception) -> None:
        level = log.warning if is_transient(error) else log.exception
        level("worker.troubled", worker=self.name, doing=doing, why=repr(error))
        self.events.emit(Troubled(doing, repr(error)))

    # Claiming

    def _start_feeding(self, run: StageRun) -> None:
        name = run.stage.name
        if name not in self._feeders:
            self._feeders[name] = [
                asyncio.create_task(self._feed(run)),
                asyncio.create_task(self._feed_waiting(run)),
            ]

    async def _stop_feeding(self, name: str) -> None:
        tasks = self._feeders.pop(name, [])
        run = self._runs[name]
        # A claim that is under way must end, or nobody would know what it claimed.
        run.wake.set()
        run.room.set()
        run.suspect_gone.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _is_fed(self, run: StageRun) -> bool:
        return not self._stopping.is_set() and run.stage.name in self._feeders

    async def _feed(self, run: StageRun) -> None:
        pause = FIRST_PAUSE
        while self._is_fed(run):
            run.wake.clear()
            if not run.has_room():
                run.room.clear()
                await run.room.wait()
                continue
            if not run.is_open:
                await self._wait(run.wake, self._poll)
                continue
            began = time.monotonic()
            try:
                found = await run.claimer.next_batch()
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._trouble("claim", error)
                await self._wait(run.wake, pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                await self._return_strays(run)
                continue
            pause = FIRST_PAUSE
            if found:
                self._accept(run, found, run.stage.batch)
                continue
            if run.empty_at <= run.busy_at and self.events:
                self.events.emit(Drained(run.stage.name))
            run.empty_at = began
            run.changed.set()
            await self._wait(run.wake, self._poll)

    async def _feed_waiting(self, run: StageRun) -> None:
        while self._is_fed(run):
            run.suspect_gone.clear()
            if not run.is_open:
                await self._wait(run.suspect_gone, LOOK_FOR_RETRIES)
                continue
            began = time.monotonic()
            found: list[Held] = []
            suspects: list[Held] = []
            try:
                if len(run.ready) < run.stage.batch:
                    found = await run.claimer.next_due()
                    self._accept(run, found, run.stage.batch)
                if not run.suspects:
                    suspects = await self._claim_suspects(run)
                    self._accept(run, suspects, sql.RESCUED_TOGETHER)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._trouble("claim", error)
                await self._wait(run.suspect_gone, LONGEST_PAUSE)
                await self._return_strays(run)
            else:
                if not found and not run.suspects:
                    run.empty_waiting_at = began
                    run.changed.set()
            if not found:
                quiet = began - run.busy_at > QUIET_AFTER
                pause = LONGEST_PAUSE if quiet else LOOK_FOR_RETRIES
                await self._wait(run.suspect_gone, pause)

    async def _claim_suspects(self, run: StageRun) -> list[Held]:
        # In the whole worker, one item at most whose next death would be its last:
        # or the third death of one would be counted as the third of both.
        run.has_last_chance = not any(r.has_last_chance for r in self._runs.values())
        found: list[Held] = []
        try:
            found = await run.claimer.next_suspects(alone=run.has_last_chance)
        finally:
            last = run.stage.max_deaths - 1
            run.has_last_chance = any(held.deaths >= last for held in found)
        run.suspects.update(found)
        return found

    def _accept(self, run: StageRun, found: list[Held], asked: int) -> None:
        if not found:
            return
        if len(found) > asked:
            log.error(
                "claim.too_many", stage=run.stage.name, asked=asked, got=len(found)
            )
            self.events.emit(Overclaimed(run.stage.name, asked, len(found)))
        if self.events:
            items = [held.item for held in found]
            self.events.emit(Claimed(run.stage.name, self.name, items))
        run.accept(found)
        if not self._is_fed(run):
            for held in run.take_back_ready():
                self._on_finished(run, held, Returned("the worker stopped"))

    async def _return_strays(self, run: StageRun) -> None:
        """Hand back items that a claim took although its answer never came."""
        try:
            rows = await self._claim_lane.fetch(sql.MINE, run.stage.name, self.name)
        except Exception:  # noqa: BLE001 - their lease will tell
            return
        now = time.monotonic()
        for row in rows:
            known = run.held.get(row["item"])
            if known is None or known.fence != row["fence"]:
                values = (row["fence"], row["tries"], row["deaths"], row["item"])
                stray = Held(values, now)
                self._on_finished(run, stray, Returned("the claim's answer was lost"))

    # Settling

    def _on_finished(self, run: StageRun, held: Held, result: Result) -> None:
        if type(result) is Broken:
            self._break(run, result)
        run.finished.append((held, result))
        self._some_finished.set()

    def _unsettled(self) -> int:
        waiting = sum(len(run.finished) for run in self._runs.values())
        return waiting + self._settling

    async def _settle_finished(self) -> None:
        last = 0.0
        while True:
            await self._some_finished.wait()
            if time.monotonic() - last < LINGER * 3 and self._unsettled() < ENOUGH:
                # In a stream of small batches, several of them share one commit.
                await asyncio.sleep(LINGER)
            self._some_finished.clear()
            self._settling = True
            try:
                for run in self._runs.values():
                    batch, run.finished = run.finished, []
                    await self._settle(run, batch)
            finally:
                self._settling = False
                last = time.monotonic()

    async def _settle(self, run: StageRun, batch: Batch) -> None:
        for start in range(0, len(batch), MOST_SETTLED_AT_ONCE):
            part = batch[start : start + MOST_SETTLED_AT_ONCE]
            try:
                await self._settler.settle(run, part)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._trouble("settle", error)
                # Hold them no longer: without a heartbeat the reaper sees them.
                run.release(part)
                run.note_settled(0)

    async def _hand_back(self, run: StageRun, deadline: float | None = None) -> None:
        for held in run.take_back_ready():
            self._on_finished(run, held, Returned("the worker stopped"))
        limit = (
            time.monotonic() + GRACE.total_seconds() if deadline is None else deadline
        )
        while run.slots and time.monotonic() < limit:  # noqa: ASYNC110 - or too late
            await asyncio.sleep(0.002)
        for slot in tuple(run.slots):
            slot.stop(Returned("the worker stopped before it was finished"))
        last = time.monotonic() + 1
        while run.slots and time.monotonic() < last:  # noqa: ASYNC110 - or too late
            await asyncio.sleep(0.002)

    def _break(self, run: StageRun, broken: Broken) -> None:
        if run.paused is not None:
            return
        run.paused = broken.why
        run.changed.set()
        self.events.emit(Paused(run.stage.name, broken.why))
        for held in run.take_back_ready():
            self._on_finished(run, held, Returned(broken.why))
        seconds = None
        if broken.resume_after is not None:
            seconds = broken.resume_after.total_seconds()
        task = asyncio.create_task(self._pause_stage(run, broken.why, seconds))
        self._background.append(task)
        task.add_done_callback(self._background.remove)

    async def _pause_stage(
        self, run: StageRun, why: str, seconds: float | None
    ) -> None:
        while True:
            try:
                await self._claim_lane.fetch(sql.PAUSE, run.stage.name, why, seconds)
            except Exception as error:  # noqa: BLE001 - until it is told
                self._trouble("pause", error)
                await asyncio.sleep(LONGEST_PAUSE)
            else:
                return

    # Beating, rescuing, looking around

    async def _beat(self) -> None:
        while True:
            shortest = min(run.queue.lease for run in self._runs.values())
            await asyncio.sleep(shortest / 5)
            now = time.monotonic()
            due = [
                (run, held)
                for run in self._runs.values()
                for held in run.held.values()
                if now - held.beat > run.queue.lease / 5
            ]
            if not due:
                continue
            rows = await self._claim_lane.fetch(
                sql.HEARTBEAT,
                [run.stage.name for run, _ in due],
                [held.item for _, held in due],
                [held.fence for _, held in due],
                [run.queue.lease for run, _ in due],
            )
            for _, held in due:
                held.beat = now
            for name, item, fence in rows:
                self._runs[name].lose(item, fence)

    async def _rescue(self) -> None:
        known = [run.queue for run in self._runs.values()]
        every = min(max(min(queue.lease for queue in known) / 6, 0.1), 10.0)
        while True:
            await asyncio.sleep(every)
            await self._reaper.reap(known)

    async def _look_at_states(self) -> None:
        while True:
            await self._look_at_pauses()
            for run in self._runs.values():
                await self._look_downstream(run)
            await asyncio.sleep(LOOK_AT_STATES)

    async def _look_at_pauses(self) -> None:
        asked_at = {name: run.paused for name, run in self._runs.items()}
        rows = await self._claim_lane.fetch(sql.STATES, list(self._runs))
        for row in rows:
            run = self._runs[row["name"]]
            if run.paused != asked_at[row["name"]]:
                # It broke while we asked; the answer is older than that.
                continue
            if row["paused"] and run.paused is None:
                run.paused = row["paused_why"] or "paused"
                self.events.emit(Paused(run.stage.name, row["paused_why"]))
                for held in run.take_back_ready():
                    self._on_finished(run, held, Returned("the stage was paused"))
            elif not row["paused"] and run.paused is not None:
                run.paused = None
                self.events.emit(Resumed(run.stage.name))
                run.wake.set()

    async def _look_downstream(self, run: StageRun) -> None:
        mark = run.stage.high_water
        if mark is None:
            return
        choked = False
        for name in run.stage.feeds:
            queue = self._fed[name]
            rows = await self._claim_lane.fetch(
                f"SELECT count(*) FROM (SELECT 1 FROM {queue.table} m"  # noqa: S608 - quoted
                f" WHERE m.{queue.status} = {literal(queue.queued)}"
                f" LIMIT {mark}) waiting"
            )
            choked = choked or rows[0][0] >= mark
        if run.choked and not choked:
            run.wake.set()
        run.choked = choked

    async def _watch_timeouts(self) -> None:
        shortest = min(run.stage.timeout.total_seconds() for run in self._runs.values())
        while True:
            await asyncio.sleep(min(max(shortest / 10, 0.01), 0.5))
            for run in self._runs.values():
                run.check_timeouts()

    # Waking

    def _wake_later(self, stages: Iterable[str]) -> None:
        for name in stages:
            if name not in self.registry:
                log.error("wake.unknown_stage", stage=name)
            self.wake(name)
            self._to_wake.add(name)
        self._some_to_wake.set()

    async def _notify(self) -> None:
        while True:
            await self._some_to_wake.wait()
            self._some_to_wake.clear()
            # Notifying inside every transaction would take one global lock at each
            # commit; once in a while, apart from them, costs nobody anything.
            names, self._to_wake = self._to_wake, set()
            await self._claim_lane.fetch(sql.NOTIFY, sorted(names))
            await asyncio.sleep(NOTIFY_EVERY)

    async def _listen(self) -> None:
        connection: asyncpg.Connection[Any] = await asyncpg.connect(
            self._listen_dsn, timeout=5, statement_cache_size=0
        )
        try:
            await connection.add_listener("curation", self._heard)
            self.wake(*self._runs)
            while not connection.is_closed():
                await asyncio.sleep(LISTEN_PROBE)
                async with asyncio.timeout(LISTEN_PROBE):
                    await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    def _heard(
        self, _connection: object, _pid: int, _channel: str, payload: object
    ) -> None:
        self.wake(str(payload))

    @staticmethod
    async def _wait(event: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()

    async def _close(self) -> None:
        tasks: Sequence[asyncio.Task[None]] = tuple(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._background.clear()
        await self._claim_lane.close()
        await self._settle_lane.close()
        self._stopped.set()
