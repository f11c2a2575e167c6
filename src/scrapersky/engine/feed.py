"""Feed: claim for the stages of a worker, as much as they can work."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

import structlog

from scrapersky.engine import sql
from scrapersky.engine.claim import Held
from scrapersky.engine.duty import FIRST_PAUSE, LONGEST_PAUSE, Duties, wait_for
from scrapersky.engine.events import Claimed, Drained, Event, Overclaimed
from scrapersky.engine.lane import Lane
from scrapersky.engine.verdict import Returned
from scrapersky.engine.work import StageRun
from scrapersky.kit.events import Events
from scrapersky.kit.haste import haste

LOOK_FOR_RETRIES = 0.25
QUIET_AFTER = 10.0
"""Seconds without any item after which retries are looked for less often."""
ALONE_AT_MOST = 10.0
"""Seconds a worker gives to items that must be worked alone, before others again."""
TICK = 0.005

Take = Callable[[], Awaitable[list[Held]]]

log = structlog.get_logger()


class Feeder:
    """Sends the claims of one worker and hands out what they bring."""

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        lane: Lane,
        duties: Duties,
        events: Events[Event],
        *,
        worker: str,
        poll: float,
    ) -> None:
        self._runs = runs
        self._lane = lane
        self._duties = duties
        self._events = events
        self._worker = worker
        self._poll = poll
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._closed = False
        self._under_way = 0
        self._has_suspect = False
        self._suspects_after = 0.0
        # Cleared while one item must be the only one in hand.
        self._may_claim = asyncio.Event()
        self._may_claim.set()
        self._looking = asyncio.Lock()
        self._looked_at = -LOOK_FOR_RETRIES
        self._due: frozenset[str] = frozenset()

    def is_fed(self, run: StageRun) -> bool:
        """Return whether claims are sent for a stage."""
        return not self._closed and run.stage.name in self._tasks

    def start(self, run: StageRun) -> None:
        """Begin to claim for a stage."""
        name = run.stage.name
        if name not in self._tasks:
            self._tasks[name] = [
                asyncio.create_task(self._feed(run)),
                asyncio.create_task(self._feed_waiting(run)),
            ]

    async def stop(self, run: StageRun) -> None:
        """Claim no more for a stage; return when no claim of it is under way."""
        tasks = self._tasks.pop(run.stage.name, [])
        # A claim that is under way must end, or nobody would know what it claimed.
        run.wake.set()
        run.room.set()
        run.suspect_gone.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Claim no more, for any stage."""
        self._closed = True
        for name in list(self._tasks):
            await self.stop(self._runs[name])

    def accept(self, run: StageRun, found: list[Held], asked: int) -> None:
        """Give claimed items to their stage, or back if it has stopped meanwhile."""
        if not found:
            return
        if len(found) > asked:
            log.error(
                "claim.too_many", stage=run.stage.name, asked=asked, got=len(found)
            )
            self._events.emit(Overclaimed(run.stage.name, asked, len(found)))
        if self._events:
            items = [held.item for held in found]
            self._events.emit(Claimed(run.stage.name, self._worker, items))
        run.accept(found)
        if not self.is_fed(run):
            run.give_back_ready("the worker stopped")

    async def _feed(self, run: StageRun) -> None:
        pause = FIRST_PAUSE
        while self.is_fed(run):
            run.wake.clear()
            if not self._may_claim.is_set():
                await wait_for(self._may_claim, LOOK_FOR_RETRIES)
                continue
            if not run.has_room():
                run.room.clear()
                await run.room.wait()
                continue
            if not run.is_open:
                await wait_for(run.wake, self._poll)
                continue
            began = time.monotonic()
            try:
                found = await self._claim(run, run.claimer.next_batch, run.stage.batch)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._duties.trouble("claim", error)
                await wait_for(run.wake, pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                await self._return_strays(run)
                continue
            pause = FIRST_PAUSE
            if found:
                continue
            if run.empty_at <= run.busy_at and self._events:
                self._events.emit(Drained(run.stage.name))
            run.empty_at = began
            run.changed.set()
            await wait_for(run.wake, self._poll)

    async def _feed_waiting(self, run: StageRun) -> None:
        while self.is_fed(run):
            is_called = run.suspect_gone.is_set()
            run.suspect_gone.clear()
            if not run.is_open or not self._may_claim.is_set():
                await wait_for(run.suspect_gone, LOOK_FOR_RETRIES)
                continue
            began = time.monotonic()
            found = 0
            try:
                due, began = await self._look_for_due(at_once=is_called)
                if run.stage.name in due:
                    found = await self._claim_waiting(run)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._duties.trouble("claim", error)
                await wait_for(run.suspect_gone, LONGEST_PAUSE)
                await self._return_strays(run)
            else:
                if not found and not run.suspects:
                    run.empty_waiting_at = began
                    run.changed.set()
            if not found:
                quiet = began - run.busy_at > QUIET_AFTER
                pause = LONGEST_PAUSE if quiet else LOOK_FOR_RETRIES
                await wait_for(run.suspect_gone, pause)

    async def _look_for_due(self, *, at_once: bool) -> tuple[frozenset[str], float]:
        """Return which stages have items to try again, and when that was asked.

        One question for all stages: nearly always the answer is that none has.
        """
        async with self._looking:
            began = time.monotonic()
            if at_once or began - self._looked_at > LOOK_FOR_RETRIES / 2:
                rows = await self._lane.fetch(sql.DUE, list(self._runs))
                self._due = frozenset(row[0] for row in rows)
                self._looked_at = began
            return self._due, self._looked_at

    async def _claim_waiting(self, run: StageRun) -> int:
        due: list[Held] = []
        if len(run.ready) < run.stage.batch:
            due = await self._claim(run, run.claimer.next_due, run.stage.batch)
        rescued: list[Held] = []
        if not run.suspects:
            take = run.claimer.next_rescued
            rescued = await self._claim(run, take, sql.RESCUED_TOGETHER)
            run.suspects.update(held for held in rescued if held.item in run.held)
        alone = await self._try_suspects(run)
        # Rescued items are worked a few at a time: the next ones when these are gone.
        return len(due) + alone

    async def _claim(self, run: StageRun, take: Take, asked: int) -> list[Held]:
        self._under_way += 1
        try:
            found = await take()
            self.accept(run, found, asked)
        finally:
            self._under_way -= 1
        return found

    # Items whose next death would be their last

    async def _try_suspects(self, run: StageRun) -> int:
        """Work such items one after the other, each as the only one in hand."""
        if self._has_suspect or time.monotonic() < self._suspects_after:
            return 0
        self._has_suspect = True
        began, tried = time.monotonic(), 0
        try:
            while self.is_fed(run) and time.monotonic() - began < ALONE_AT_MOST:
                found = await run.claimer.next_suspect()
                if not found:
                    break
                self._may_claim.clear()
                await self._work_alone(run, found[0])
                tried += 1
        finally:
            self._has_suspect = False
            self._may_claim.set()
        if tried:
            # As long for all others as it took.
            self._suspects_after = 2 * time.monotonic() - began
        return tried

    async def _work_alone(self, run: StageRun, held: Held) -> None:
        run.hold(held)
        if await self._is_quiet(run, held) and await self._set_apart(run, held):
            with haste():
                self.accept(run, [held], 1)
            while run.holds(held) and self.is_fed(run):  # noqa: ASYNC110 - two signals
                await asyncio.sleep(TICK)
        elif run.holds(held):
            run.finish(held, Returned("it could not be tried alone"))

    async def _is_quiet(self, run: StageRun, held: Held) -> bool:
        """Wait until nothing else is in hand; return whether it is so."""
        while run.holds(held) and self.is_fed(run):
            for each in self._runs.values():
                each.give_back_ready("another item must be worked alone")
            in_hand = sum(len(each.held) for each in self._runs.values())
            if in_hand == 1 and not self._under_way:
                return True
            await asyncio.sleep(TICK)
        return False

    async def _set_apart(self, run: StageRun, held: Held) -> bool:
        """Write down that a death from now on is this item's own."""
        try:
            name = run.stage.name
            rows = await self._lane.fetch(sql.ALONE, name, held.item, held.fence)
        except Exception as error:  # noqa: BLE001 - it is handed back
            self._duties.trouble("set an item apart", error)
            return False
        return bool(rows)

    async def _return_strays(self, run: StageRun) -> None:
        """Hand back items that a claim took although its answer never came."""
        try:
            rows = await self._lane.fetch(sql.MINE, run.stage.name, self._worker)
        except Exception:  # noqa: BLE001 - their lease will tell
            return
        now = time.monotonic()
        for row in rows:
            known = run.held.get(row["item"])
            if known is None or known.fence != row["fence"]:
                stray = Held(row["item"], row["fence"], None, now)
                stray.tries, stray.deaths = row["tries"], row["deaths"]
                run.finish(stray, Returned("the claim's answer was lost"))
