"""Producer: claim as much for the stages of a worker as they can work."""

import asyncio
import time
from collections.abc import Awaitable, Mapping

from curation_sdk import statements
from curation_sdk.background import (
    FIRST_PAUSE_SECONDS,
    MAX_PAUSE_SECONDS,
    BackgroundTasks,
    wait_for,
)
from curation_sdk.claim import (
    ANY_TRIES,
    FAILED_BEFORE,
    POSTPONED,
    ClaimedItem,
    Tries,
)
from curation_sdk.connection import WorkerConnection
from curation_sdk.crash_rule import tried_together
from curation_sdk.events import Claimed, Drained, Event, Events, Overclaimed
from curation_sdk.execution import StageRun
from curation_sdk.quarantine import Quarantine
from curation_sdk.settlement import Returned

RETRY_POLL_SECONDS = 0.25
ROOM_POLL_SECONDS = 0.5
WAIT_VALID_SECONDS = 1.0
"""Seconds after which it says nothing any more that first attempts waited."""
IDLE_AFTER_SECONDS = 10.0
"""Seconds without any item after which retries are looked for less often."""


class Producer:
    """Sends the claims of one worker and passes the items on to their stages."""

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        connection: WorkerConnection,
        background: BackgroundTasks,
        events: Events[Event],
        *,
        worker: str,
        poll: float,
    ) -> None:
        self._runs = runs
        self._connection = connection
        self._background = background
        self._events = events
        self._worker = worker
        self._poll = poll
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._closed = False
        self.under_way = 0
        self._quarantine = Quarantine(runs, connection, background, self)
        self._looking = asyncio.Lock()
        self._looked_at = -RETRY_POLL_SECONDS
        self._due: dict[str, tuple[bool, bool]] = {}
        self._waited_at = -WAIT_VALID_SECONDS

    def is_active(self, run: StageRun) -> bool:
        """Return whether claims are sent for a stage."""
        return not self._closed and run.stage.name in self._tasks

    def start(self, run: StageRun) -> None:
        """Begin to claim for a stage."""
        name = run.stage.name
        if name not in self._tasks:
            self._tasks[name] = [
                asyncio.create_task(self._produce(run)),
                asyncio.create_task(self._produce_waiting(run)),
            ]

    async def claim_once(self, run: StageRun) -> int:
        """Claim one batch, waiting items before queued ones; return how many.

        One item that must be worked alone comes first, and is worked within the call:
        a queue that is never empty would let it wait for ever.
        """
        self._tasks.setdefault(run.stage.name, [])
        left = run.stage.batch
        left -= await self._quarantine.try_suspects(run, most=1)
        if left:
            left -= len(await self._claim_due(run, left))
        if left:
            most = min(left, tried_together(run.stage.concurrency))
            left -= len(await self._claim_rescued(run, most))
        if left:
            left -= len(await self._claim(run, run.claimer.next_rows(left), left))
        return run.stage.batch - left

    async def stop(self, run: StageRun) -> None:
        """Claim no more for a stage; return when no claim of it is under way."""
        tasks = self._tasks.pop(run.stage.name, [])
        # A claim that is under way must end, or its items would be known to no one.
        run.wake.set()
        run.room.set()
        run.rescued.some_gone.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Claim no more, for any stage."""
        self._closed = True
        for name in list(self._tasks):
            await self.stop(self._runs[name])

    def accept(
        self,
        run: StageRun,
        found: list[ClaimedItem],
        asked: int,
        *,
        slow: bool = False,
    ) -> None:
        """Give claimed items to their stage, or return them if it has stopped since."""
        if not found:
            return
        if len(found) > asked:
            run.queue.log.error("claim.too_many", asked=asked, got=len(found))
            self._events.emit(Overclaimed(run.stage.name, asked, len(found)))
        if self._events:
            items = [held.item for held in found]
            self._events.emit(Claimed(run.stage.name, self._worker, items))
        run.accept(found, slow=slow)
        if not self.is_active(run):
            run.give_back_ready("the worker stopped")

    async def _produce(self, run: StageRun) -> None:
        pause = FIRST_PAUSE_SECONDS
        while self.is_active(run):
            run.wake.clear()
            if not (size := run.claim_size()):
                run.room.clear()
                await run.room.wait()
                continue
            if not run.gate.is_open:
                await wait_for(run.wake, self._poll)
                continue
            began = time.monotonic()
            try:
                found = await self._claim(run, run.claimer.next_batch(size), size)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._background.report("claim", error)
                await wait_for(run.wake, pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
                await self._release_unknown_claims(run)
                continue
            pause = FIRST_PAUSE_SECONDS
            if found:
                continue
            held_back = run.claimer.held_back_by is not None
            if (
                run.looks.empty_at <= run.looks.busy_at
                and self._events
                and not held_back
            ):
                self._events.emit(Drained(run.stage.name))
            run.looks.empty_at = began
            run.changed.set()
            # Nobody says when there is room again.
            look_again = min(ROOM_POLL_SECONDS, self._poll) if held_back else self._poll
            await wait_for(run.wake, look_again)

    async def _produce_waiting(self, run: StageRun) -> None:
        while self.is_active(run):
            is_called = run.rescued.some_gone.is_set()
            run.rescued.some_gone.clear()
            if not run.gate.is_open:
                await wait_for(run.rescued.some_gone, RETRY_POLL_SECONDS)
                continue
            began = time.monotonic()
            found, alone, held_back = 0, 0, False
            try:
                due, began = await self._look_for_due(at_once=is_called)
                harmless, crashed = due.get(run.stage.name, (False, False))
                if harmless:
                    found, held_back = await self._claim_retries(run)
                if crashed:
                    alone = await self._claim_crashed(run)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._background.report("claim", error)
                await wait_for(run.rescued.some_gone, MAX_PAUSE_SECONDS)
                await self._release_unknown_claims(run)
            else:
                if not (found or alone or held_back or run.rescued.items):
                    run.looks.none_due_at = began
                    run.changed.set()
            if not alone and found < run.stage.batch:
                # Retries come due one by one: each claim takes those of a moment.
                quiet = began - run.looks.busy_at > IDLE_AFTER_SECONDS
                pause = MAX_PAUSE_SECONDS if quiet else RETRY_POLL_SECONDS
                await wait_for(run.rescued.some_gone, pause)

    async def _look_for_due(
        self, *, at_once: bool
    ) -> tuple[dict[str, tuple[bool, bool]], float]:
        """Return which stages have items to try again, and when that was asked.

        Of each stage whether there are some that crashed no worker, and some that did. One
        query for all stages: nearly always none of them has any.
        """
        async with self._looking:
            began = time.monotonic()
            if at_once or began - self._looked_at > RETRY_POLL_SECONDS / 2:
                rows = await self._connection.fetch(statements.DUE, list(self._runs))
                self._due = {row[0]: (row[1], row[2]) for row in rows}
                self._looked_at = began
            return self._due, self._looked_at

    async def _claim_retries(self, run: StageRun) -> tuple[int, bool]:
        """Claim what may be tried again; return how many, and whether some must wait."""
        batch = run.stage.batch
        retries = run.retries.room(others_wait=self._first_attempts_wait())
        due: list[ClaimedItem] = []
        if len(run.ready) < batch:
            if retries < batch:
                due = await self._claim_due(run, batch, POSTPONED)
            if retries:
                tries = FAILED_BEFORE if retries < batch else ANY_TRIES
                due += await self._claim_due(run, retries, tries)
        if room := run.slow.room(others_wait=bool(run.ready)):
            claim = run.claimer.next_due_of(run.slow.known, room)
            due += await self._claim(run, claim, room, slow=True)
        return len(due), retries < batch

    async def _claim_crashed(self, run: StageRun) -> int:
        """Claim what was in hand when a worker crashed; return how many were worked alone.

        They are worked a few at a time: the next ones when some are gone.
        """
        if room := run.rescued.room(run.slow.slots()):
            await self._claim_rescued(run, room)
        return await self._quarantine.try_suspects(run)

    def _first_attempts_wait(self) -> bool:
        """Return whether any stage has more first attempts than it can begin.

        What is ready comes and goes, so that a moment ago counts as now.
        """
        now = time.monotonic()
        if any(run.first_attempts_wait for run in self._runs.values()):
            self._waited_at = now
        return now - self._waited_at < WAIT_VALID_SECONDS

    async def _claim_due(
        self, run: StageRun, limit: int, tries: Tries = ANY_TRIES
    ) -> list[ClaimedItem]:
        claim = run.claimer.next_due(limit, tries, but=run.slow.known)
        return await self._claim(run, claim, limit)

    async def _claim_rescued(self, run: StageRun, limit: int) -> list[ClaimedItem]:
        found = await self._claim(run, run.claimer.next_rescued(limit), limit)
        run.rescued.items.update(held for held in found if held.item in run.held)
        return found

    async def _claim(
        self,
        run: StageRun,
        claim: Awaitable[list[ClaimedItem]],
        asked: int,
        *,
        slow: bool = False,
    ) -> list[ClaimedItem]:
        self.under_way += 1
        try:
            found = await claim
            self.accept(run, found, asked, slow=slow)
        finally:
            self.under_way -= 1
        return found

    async def _release_unknown_claims(self, run: StageRun) -> None:
        """Return items that a claim took although its answer was lost."""
        try:
            rows = await self._connection.fetch(
                statements.MINE, run.stage.name, self._worker
            )
        except Exception:  # noqa: BLE001 - their lease will expire
            return
        now = time.monotonic()
        for row in rows:
            known = run.held.get(row["item"])
            if known is None or known.fence != row["fence"]:
                stray = ClaimedItem(row["item"], row["fence"], None, now)
                stray.tries, stray.crashes = row["tries"], row["crashes"]
                run.finish(stray, Returned("the claim's answer was lost"))
