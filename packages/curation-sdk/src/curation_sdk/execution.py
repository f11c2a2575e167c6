"""Execution: many items of one stage at once, each with a timeout, none with a session."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from sqlalchemy import Dialect

from curation_sdk.background import is_loop_ending
from curation_sdk.claim import ClaimedItem, Claimer
from curation_sdk.claim_gate import ClaimGate, Obstacle
from curation_sdk.limits import ClaimLimits
from curation_sdk.outcome import Done, Later, Retry
from curation_sdk.queue import Queue
from curation_sdk.settlement import Broken, Result, Returned, traceback_in
from curation_sdk.shares import (
    RescueShare,
    RetryShare,
    SettleRate,
    SlowShare,
)
from curation_sdk.stage import Stage
from curation_sdk.stage_function import StageFunction
from curation_sdk.statements import Statements
from curation_sdk.working import WorkingItem, stopwatch, working

ITEMS_BEFORE_YIELD = 50
CANCEL_GRACE_SECONDS = 5.0
"""Seconds after its timeout in which an item may end by itself, before it is abandoned."""
SLOW_REASON = "it was slow, and others waited"

FinishedItem = tuple[ClaimedItem, Result]
Batch = list[FinishedItem]


class StageRun:
    """What one worker has in hand of one stage."""

    def __init__(
        self,
        stage: Stage[Any, Any],
        queue: Queue,
        statements: Statements,
        *,
        claimer: Claimer,
        dialect: Dialect,
        tools: object,
        some_finished: asyncio.Event,
        on_broken: Callable[["StageRun", Broken], None],
    ) -> None:
        self.stage = stage
        self.queue = queue
        self.statements = statements
        self.claimer = claimer
        self.tools = tools
        self.function = StageFunction(stage, queue, claimer, dialect)
        self.held: dict[str, ClaimedItem] = {}
        self.ready: deque[ClaimedItem] = deque()
        self.finished: Batch = []
        self.slots: set[Slot] = set()
        self.wake = asyncio.Event()
        self.room = asyncio.Event()
        self.changed = asyncio.Event()
        self.gate = ClaimGate(self.wake, self.changed)
        self.looks = QueueLooks()
        self.rate = SettleRate(stage)
        self.retries = RetryShare(stage)
        self.rescued = RescueShare(stage)
        self.slow = SlowShare(stage, self.slots)
        self.pid = os.getpid()
        self._some_finished = some_finished
        self._on_broken = on_broken

    def limit(self, stage: Stage[Any, Any], limits: ClaimLimits | None) -> None:
        """Go on with another batch, another concurrency and other limits."""
        self.stage = self.retries.stage = self.rescued.stage = self.slow.stage = stage
        self.rate.limit(stage)
        self.claimer.limit(stage, limits)
        self.start_slots()
        self.room.set()
        self.wake.set()

    def claim_size(self) -> int:
        """Return how many queued items to claim now, 0 while there is no room for them."""
        if len(self.ready) > self.rate.ahead:
            return 0
        return self.rate.claim_size(len(self.held))

    @property
    def first_attempts_wait(self) -> bool:
        """Whether items are ready that have not failed before."""
        return any(held.tries <= 1 for held in self.ready)

    def accept(self, found: list[ClaimedItem], *, slow: bool = False) -> None:
        """Take claimed items and start to work on them."""
        self.looks.busy_at = time.monotonic()
        if not self.held:
            self.rate.restart(self.looks.busy_at)
        self.held.update((held.item, held) for held in found)
        self.retries.add(found)
        (self.slow.waiting if slow else self.ready).extend(found)
        self.start_slots()

    def next_for(self, slot: "Slot") -> ClaimedItem | None:
        """Return what a slot works next: of slow items no more than their share."""
        if len(self.slots) > self.stage.concurrency:
            return None
        slow, ready = self.slow.waiting, self.ready
        if slow and (not ready or self.slow.has_room()):
            slot.is_known_slow = True
            return slow.popleft()
        slot.is_known_slow = False
        return ready.popleft() if ready else None

    def hold(self, held: ClaimedItem) -> None:
        """Keep a claimed item, with a heartbeat, without beginning to work on it."""
        self.held[held.item] = held

    def holds(self, held: ClaimedItem) -> bool:
        """Return whether a claimed item is neither settled nor lost."""
        return self.held.get(held.item) is held

    def start_slots(self) -> None:
        """Run as many items at once as the stage allows.

        Twice as many at each turn of the loop: items that never wait are done before
        most of the slots would have been needed.
        """
        free = self.stage.concurrency - len(self.slots)
        waiting = len(self.ready) + len(self.slow.waiting)
        for _ in range(min(waiting, free, max(len(self.slots), 1))):
            self.slots.add(Slot(self))
        if waiting and len(self.slots) < self.stage.concurrency:
            asyncio.get_running_loop().call_soon(self.start_slots)

    def give_back_ready(self, why: str) -> None:
        """Return the items that are not in work yet to the queue."""
        for waiting in (self.ready, self.slow.waiting):
            while waiting:
                self.finish(waiting.popleft(), Returned(why))

    def stop_items(self, result: Result, held: ClaimedItem | None = None) -> None:
        """Cancel this item, or everything in work; `result` is what becomes of it."""
        for slot in tuple(self.slots):
            if held is None or slot.held is held:
                slot.stop(result)

    async def until_idle(self, deadline: float) -> None:
        """Wait until nothing is in work, but not beyond the deadline."""
        while self.slots and time.monotonic() < deadline:  # noqa: ASYNC110 - or too late
            await asyncio.sleep(0.002)

    def release(self, batch: Batch) -> None:
        """Forget items that are settled."""
        mine = self.held
        for held, result in batch:
            # The same row may have been claimed again by now, under another fence.
            if mine.get(held.item) is held:
                del mine[held.item]
            if self.rescued.items:
                self.rescued.remove(held, result)

    def note_pace(self, count: int, seconds: float) -> None:
        """Have more items ready if one slot alone has done this many in so short a time."""
        if self.rate.raise_ahead(count, seconds):
            self.room.set()

    def note_settled(self, count: int) -> None:
        """Count what was settled and make room for more."""
        self.looks.busy_at = time.monotonic()
        self.rate.add(count, self.looks.busy_at)
        self.room.set()
        if not self.held:
            self.changed.set()

    def lose(self, item: str, fence: int) -> None:
        """Stop working on an item whose claim was lost."""
        held = self.held.get(item)
        if held is None or held.fence != fence:
            return
        lost = Returned("its claim was lost")
        self.release([(held, lost)])
        self.stop_items(lost, held)
        for waiting in (self.ready, self.slow.waiting):
            if held in waiting:
                waiting.remove(held)

    def check_timeouts(self) -> None:
        """Cancel every item that has run past the stage's timeout.

        Work that goes on although it is cancelled is abandoned after its grace: it cannot
        be stopped, but it no longer holds up its item and those behind it.
        """
        limit = self.stage.timeout.total_seconds()
        now = time.monotonic()
        for slot in tuple(self.slots):
            late = now - slot.since - limit
            if slot.held is not None and late > 0:
                late_item = Retry(f"ran past its timeout of {limit:g} s")
                end = slot.abandon if late > CANCEL_GRACE_SECONDS else slot.stop
                end(late_item)

    def make_room(self) -> None:
        """Set slow items back that hold more than their share while others wait."""
        if self.ready:
            for slot in self.slow.excess():
                slot.stop(Later(SLOW_REASON, self.stage.slow_after))

    def finish(self, held: ClaimedItem, result: Result) -> None:
        """Pass a result on to be settled."""
        if type(result) is Broken:
            self.stop(result.why) if result.is_local else self.pause(result)
        elif type(result) is not Done and (traceback := traceback_in(result)):
            self.queue.log.error(
                "item.crashed",
                item=held.item,
                attempt=held.tries,
                correlation_id=held.correlation_id,
                # As text: a renderer that shows every variable takes seconds for it,
                # and would write what the function had in hand into the log.
                exception=traceback,
            )
        self.finished.append((held, result))
        self._some_finished.set()

    def pause(self, broken: Broken) -> None:
        """Pause the stage, in every worker: none of its items can succeed now."""
        self._on_broken(self, broken)

    def rest(self, why: str | None) -> None:
        """Claim nothing in this worker, for this reason; None claims again."""
        if why is None:
            self.gate.open(Obstacle.RESTING)
        else:
            self.gate.close(Obstacle.RESTING, why)
            self.give_back_ready(why)

    def stop(self, why: str) -> None:
        """Stop claiming in this worker only."""
        if self.gate.reason(Obstacle.STOPPED) is None:
            self.gate.close(Obstacle.STOPPED, why)
            self.give_back_ready(why)


class QueueLooks:
    """When a stage last had something to do, and when its queue was last found empty."""

    def __init__(self) -> None:
        self.busy_at = time.monotonic()
        self.empty_at = 0.0
        """When a claim of queued rows that found none began."""
        self.none_due_at = 0.0
        """When a look for items to try again that found none began."""

    def is_empty_since(self, began: float) -> bool:
        """Return whether nothing was found, by looks that began after this and any work."""
        return min(self.empty_at, self.none_due_at) > max(self.busy_at, began)


class Slot:
    """A task that works items one after the other while there are any.

    A task for each item would cost more than a fast item itself.
    """

    __slots__ = (
        "_context",
        "_run",
        "_stopped_by",
        "began",
        "held",
        "is_known_slow",
        "paused_at",
        "pauses",
        "since",
        "task",
    )

    def __init__(self, run: StageRun) -> None:
        self._run = run
        self._stopped_by: Result | None = None
        self.held: ClaimedItem | None = None
        self.since = 0.0
        self.began = 0.0
        """The same as `since`, by the worker's steady time."""
        self.is_known_slow = False
        self.pauses = 0
        """How many parts of its item's work wait for something of the worker's own."""
        self.paused_at = 0.0
        self._context = copy_context()
        self.task = asyncio.create_task(self._work(), name=f"slot:{run.stage.name}")
        # What it raised ends the event loop, and is not reported a second time.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    @property
    def is_stopped(self) -> bool:
        """Whether its item has been asked to end."""
        return self._stopped_by is not None

    def stop(self, result: Result) -> None:
        """Cancel the item in work; `result` is what becomes of it."""
        if self.held is not None:
            self._stopped_by = self._stopped_by or result
            self.task.cancel()

    def pause(self) -> ClaimedItem | None:
        """Stop counting whether its item is slow."""
        if self.held is not None:
            if not self.pauses:
                self.paused_at = self._run.slow.steady_time()
            self.pauses += 1
        return self.held

    def resume(self, held: object) -> None:
        """Go on counting; work that outlives its item changes nothing for the next."""
        if held is None or self.held is not held:
            return
        self.pauses -= 1
        if not self.pauses:
            self.began += self._run.slow.steady_time() - self.paused_at

    def abandon(self, result: Result) -> None:
        """Settle the item in work although its work goes on, and work others instead."""
        run, held = self._run, self.held
        if held is None:
            return
        run.queue.log.error("item.abandoned", item=held.item)
        self._stopped_by, self.held = result, None
        run.slots.discard(self)
        run.finish(held, result)
        run.start_slots()

    async def _work(self) -> None:
        run = self._run
        ready, work, tools = run.ready, run.stage.work, run.tools
        count, began = 0, time.monotonic()
        stopwatch.set(self)
        has_changed_context = False
        try:
            while (held := run.next_for(self)) is not None:
                self.held = held
                if len(ready) == run.rate.ahead:
                    # Nearly all of this batch is begun: ask for another one.
                    run.room.set()
                self.since = time.monotonic()
                self.began = self.since - run.slow.lag
                working.set(WorkingItem(run.stage.name, held.item, held.fence))
                context = copy_context()
                try:
                    outcome = await work(run.function.item_of(held), tools)
                except BaseException as error:  # noqa: BLE001 - becomes an outcome
                    self._leave_forked(error)
                    result = self._result_of(held, error)
                else:
                    self._leave_forked()
                    result = (
                        outcome
                        if type(outcome) is Done and outcome.effect is None
                        else run.function.result_of(outcome)
                    )
                if self._stopped_by is not None:
                    result = self._result_of_stop(self._stopped_by)
                self.held = None
                self.pauses = 0
                run.slow.note(held, result, self.began)
                run.finish(held, result)
                has_changed_context = copy_context() != context
                if has_changed_context or self.task.cancelling():
                    break
                count += 1
                if count == ITEMS_BEFORE_YIELD:
                    run.note_pace(count, time.monotonic() - began)
                    # Work that never awaits must not starve the heartbeat.
                    await asyncio.sleep(0)
                    count, began = 0, time.monotonic()
        finally:
            run.slots.discard(self)
            is_spent = has_changed_context or self.task.cancelling()
            if is_spent and not is_loop_ending():
                # Whoever cancelled this task may do so again, and what an item has set in
                # its context is not for the next one: another task goes on.
                self._context.run(run.start_slots)

    def _leave_forked(self, error: BaseException | None = None) -> None:
        """End a process that an item has forked, and that comes back from its function.

        It is a copy of the worker, and would work on the same connections.
        """
        if os.getpid() != self._run.pid:
            code = getattr(error, "code", 0 if error is None else 1)
            os._exit(code if isinstance(code, int) else int(code is not None))

    def _result_of(self, held: ClaimedItem, error: BaseException) -> Result:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            self._run.finish(held, Returned("the process was asked to exit"))
            raise error
        if not isinstance(error, asyncio.CancelledError):
            return self._run.function.result_of_error(error)
        if not self.task.cancelling():
            return Retry("it cancelled itself")
        if self._stopped_by is None and is_loop_ending():
            self._run.finish(held, Returned("its task was cancelled"))
            raise error
        return Retry("its work cancelled the task it ran in")

    def _result_of_stop(self, result: Result) -> Result:
        if self.held is None:
            # It was abandoned: another slot has its place by now.
            raise asyncio.CancelledError
        self._stopped_by = None
        while self.task.cancelling():
            self.task.uncancel()
        return result
