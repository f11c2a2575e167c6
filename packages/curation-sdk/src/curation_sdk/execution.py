"""Execution: many items of one stage at once, each with a timeout, none with a session."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Dialect

from curation_sdk.claim import Claim, ClaimedItem, Claimer, maker_of
from curation_sdk.crash_rule import tried_together
from curation_sdk.errors import CurationSdkError
from curation_sdk.limits import ClaimLimits
from curation_sdk.outcome import Done, GiveUp, Later, Retry, Skip
from curation_sdk.queue import Queue, stored
from curation_sdk.settlement import (
    Broken,
    Committed,
    Result,
    Returned,
    result_of_error,
    traceback_in,
)
from curation_sdk.stage import Stage
from curation_sdk.statements import Statements
from curation_sdk.working import WorkingItem, stopwatch, working

ITEMS_BEFORE_YIELD = 50
CANCEL_GRACE = 5.0
"""Seconds after its timeout in which an item may end by itself, before it is abandoned."""
LOOK_AHEAD = 0.1
"""Seconds of work kept ready, so that the next claim overlaps with it."""
CLAIM_FOR = 0.05
"""Seconds of work that one claim may bring, where a batch is less than that."""
MOST_BATCHES = 4
"""How many batches one claim may bring at most."""
SLOW_SHARE = 0.5
"""The share of a stage's slots that slow items may hold while others wait."""
RETRY_SHARE = 0.25
"""How many items are tried again for each first attempt, while more of those wait."""
RETRIES_PER_SECOND = 1.0
"""How many are tried again at least."""
RATE_HOLDS = 1.0
"""Seconds after which a rate says nothing any more."""
MOST_KNOWN = 2_000
"""How many slow items a worker remembers; others are found to be slow once more."""
TOO_SLOW = "it was slow, and others waited"

Finished = tuple[ClaimedItem, Result]
Batch = list[Finished]


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
        self.held: dict[str, ClaimedItem] = {}
        self.ready: deque[ClaimedItem] = deque()
        self.slow: deque[ClaimedItem] = deque()
        """Items known to be slow, which have a share of the slots."""
        self.finished: Batch = []
        self.slots: set[Slot] = set()
        self.wake = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self.changed = asyncio.Event()
        self.paused: str | None = None
        self.resting: str | None = None
        self.stopped: str | None = None
        self.suspects: set[ClaimedItem] = set()
        self.suspect_gone = asyncio.Event()
        self._survived = 0
        self.busy_at = time.monotonic()
        self.empty_at = self.empty_waiting_at = 0.0
        self.settled = 0
        self.ahead = 0
        self._retries = 0.0
        self._retries_at = time.monotonic()
        self._rate = 0.0
        self._rate_at = time.monotonic()
        self._rate_settled = 0
        self._dialect = dialect
        self._make = maker_of(stage, dialect)
        self._some_finished = some_finished
        self._on_broken = on_broken
        self._slow_after = None
        if stage.slow_after is not None:
            self._slow_after = stage.slow_after.total_seconds()
        self._known_slow: dict[str, None] = {}
        self.lag = 0.0
        """Seconds in which this worker itself could not go on: they make no item slow."""

    @property
    def is_open(self) -> bool:
        """Whether the stage is neither paused nor stopped in this worker."""
        return self.paused is None and self.stopped is None and self.resting is None

    @property
    def _most_held(self) -> int:
        return self.stage.concurrency + MOST_BATCHES * self.stage.batch

    @property
    def _most_slow(self) -> int:
        return max(int(self.stage.concurrency * SLOW_SHARE), 1)

    def limit(self, stage: Stage[Any, Any], limits: ClaimLimits | None) -> None:
        """Go on with another batch, another concurrency and other limits."""
        self.stage = stage
        self.ahead = min(self.ahead, stage.batch - 1)
        self.claimer.limit(stage, limits)
        self.start_slots()
        self.room.set()
        self.wake.set()

    def has_room(self) -> bool:
        """Return whether another batch should be claimed now."""
        if len(self.ready) > self.ahead:
            return False
        if self.stage.rate_per_minute is not None:
            # What counts is when items begin: claim those that can begin at once.
            return len(self.held) < self.stage.concurrency
        return len(self.held) + self.stage.batch <= self._most_held

    def claim_size(self) -> int:
        """Return how many items to claim: a batch, or more of them if they are quick.

        Each claim waits for a commit. In small batches quick items would wait for that
        rather than for each other; a batch of one is left as it is, for its order.
        """
        if self.stage.rate_per_minute is not None:
            return min(self.stage.batch, self.stage.concurrency - len(self.held))
        size = batch = self.stage.batch
        if batch == 1 or time.monotonic() - self._rate_at > RATE_HOLDS:
            return batch
        room = self._most_held - len(self.held)
        limit = min(room, MOST_BATCHES * batch, self._rate * CLAIM_FOR)
        while 2 * size <= limit:
            size *= 2
        return size

    @property
    def slow_items(self) -> list[str]:
        """The items that were slow when they were last tried, as far as is remembered."""
        return list(self._known_slow)

    def room_slow(self) -> int:
        """Return how many items known to be slow may be claimed now."""
        if not self._known_slow:
            return 0
        if self.ready:
            room = self._most_slow - self._count_slow()
        else:
            room = self.stage.concurrency - len(self.slots)
        return min(max(room - len(self.slow), 0), self.stage.batch)

    def room_retries(self, *, others_wait: bool) -> int:
        """Return how many items that have failed before may be claimed now.

        While first attempts wait, in whichever stage, there are a few for each of those
        begun here, and a few each second, so that none waits for ever.
        """
        now = time.monotonic()
        gained = (now - self._retries_at) * RETRIES_PER_SECOND
        self._retries = min(self._retries + gained, self.stage.batch)
        self._retries_at = now
        return int(self._retries) if others_wait else self.stage.batch

    @property
    def first_attempts_wait(self) -> bool:
        """Whether items are ready that have not failed before."""
        return any(held.tries <= 1 for held in self.ready)

    def room_rescued(self) -> int:
        """Return how many rescued items may be claimed now.

        One more for each that ended and the worker lived: they double with every round,
        until they may fill the stage. Slow ones do not keep the others from being tried.
        """
        slow = sum(slot.held in self.suspects for slot in self._slow_slots())
        together = tried_together(self.stage.concurrency)
        most = max(self.stage.concurrency, together)
        room = min(together + self._survived, most) - (len(self.suspects) - slow)
        # Not one by one: each claim waits for a commit.
        return room if 2 * room >= together else 0

    def accept(self, found: list[ClaimedItem], *, slow: bool = False) -> None:
        """Take claimed items and start to work on them."""
        self.busy_at = time.monotonic()
        if not self.held:
            self._rate_at, self._rate_settled = self.busy_at, self.settled
        mine = self.held
        for held in found:
            mine[held.item] = held
            self._retries += RETRY_SHARE if held.tries <= 1 else -1
        self._retries = min(max(self._retries, 0.0), self.stage.batch)
        (self.slow if slow else self.ready).extend(found)
        self.start_slots()

    def next_for(self, slot: "Slot") -> ClaimedItem | None:
        """Return what a slot works next: of slow items no more than their share."""
        if len(self.slots) > self.stage.concurrency:
            return None
        slow, ready = self.slow, self.ready
        if slow and (not ready or self._count_slow() < self._most_slow):
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
        waiting = len(self.ready) + len(self.slow)
        for _ in range(min(waiting, free, max(len(self.slots), 1))):
            self.slots.add(Slot(self))
        if waiting and len(self.slots) < self.stage.concurrency:
            asyncio.get_running_loop().call_soon(self.start_slots)

    def give_back_ready(self, why: str) -> None:
        """Return the items that are not in work yet to the queue."""
        for waiting in (self.ready, self.slow):
            while waiting:
                self.finish(waiting.popleft(), Returned(why))

    def stop_all(self, result: Result) -> None:
        """Cancel everything in work; `result` is what becomes of it."""
        for slot in tuple(self.slots):
            slot.stop(result)

    def set_back(self, held: ClaimedItem, why: str, after: timedelta) -> None:
        """Cancel one item in work and try it again later, without spending an attempt."""
        for slot in tuple(self.slots):
            if slot.held is held:
                slot.stop(Later(why, after))

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
            if self.suspects and held in self.suspects:
                self.suspects.discard(held)
                # Work that was cut short might have crashed its worker later.
                self._survived += not isinstance(result, Returned | Later)
                self.suspect_gone.set()

    def note_pace(self, count: int, seconds: float) -> None:
        """Have more items ready if one slot alone has done this many in so short a time."""
        ahead = min(self.stage.batch - 1, int(count / seconds * LOOK_AHEAD))
        if ahead > self.ahead:
            self.ahead = ahead
            self.room.set()

    def note_settled(self, count: int) -> None:
        """Count what was settled and make room for more."""
        now = self.busy_at = time.monotonic()
        self.settled += count
        if now - self._rate_at > LOOK_AHEAD / 10:
            # As many items ready as are finished while the next claim is under way.
            self._rate = (self.settled - self._rate_settled) / (now - self._rate_at)
            self.ahead = min(self.stage.batch - 1, int(self._rate * LOOK_AHEAD))
            self._rate_at, self._rate_settled = now, self.settled
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
        for slot in self.slots:
            if slot.held is held:
                slot.stop(lost)
                return
        for waiting in (self.ready, self.slow):
            if held in waiting:
                waiting.remove(held)

    def check_timeouts(self) -> None:
        """Cancel every item that has run past the stage's timeout.

        Work that goes on although it is cancelled is abandoned after `CANCEL_GRACE`: it
        cannot be stopped, but it no longer holds up its item and those behind it.
        """
        limit = self.stage.timeout.total_seconds()
        now = time.monotonic()
        for slot in tuple(self.slots):
            late = now - slot.since - limit
            if slot.held is not None and late > 0:
                late_item = Retry(f"ran past its timeout of {limit:g} s")
                end = slot.abandon if late > CANCEL_GRACE else slot.stop
                end(late_item)

    def make_room(self) -> None:
        """Set slow items back that hold more than their share while others wait."""
        if self._slow_after is None or not self.ready:
            return
        if len(self.slots) < self.stage.concurrency:
            return
        over = self._count_slow() - self._most_slow
        slow = [slot for slot in self._slow_slots() if not slot.is_known_slow]
        # Those that have just become slow lose the least by it.
        slow.sort(key=lambda slot: -slot.since)
        for slot in slow[: max(over, 0)]:
            slot.stop(Later(TOO_SLOW, self.stage.slow_after))

    def _slow_slots(self) -> "list[Slot]":
        if self._slow_after is None:
            return []
        since = self.steady_time() - self._slow_after
        return [
            slot
            for slot in self.slots
            if slot.held is not None
            and slot.began < since
            and not slot.is_stopped
            and not slot.pauses
        ]

    def steady_time(self) -> float:
        """Return a time that stands still while the worker could not go on."""
        return time.monotonic() - self.lag

    def _count_slow(self) -> int:
        """Count the slots whose item is slow, or known to be."""
        known = sum(slot.is_known_slow for slot in self.slots)
        return known + sum(not slot.is_known_slow for slot in self._slow_slots())

    def note_time(self, held: ClaimedItem, result: Result, began: float) -> None:
        """Remember an item that was slow, by steady time, and will be tried again."""
        if self._slow_after is None:
            return
        self._known_slow.pop(held.item, None)
        seconds = self.steady_time() - began
        if seconds > self._slow_after and isinstance(result, Retry | Later):
            self._known_slow[held.item] = None
            if len(self._known_slow) > MOST_KNOWN:
                del self._known_slow[next(iter(self._known_slow))]

    def finish(self, held: ClaimedItem, result: Result) -> None:
        """Pass a result on to be settled."""
        if type(result) is Broken:
            self.stop(result.why) if result.is_local else self._on_broken(self, result)
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

    def rest(self, why: str | None) -> None:
        """Claim nothing in this worker, for this reason; None claims again."""
        self.resting = why
        if why is not None:
            self.give_back_ready(why)
        self.wake.set()
        self.changed.set()

    def stop(self, why: str) -> None:
        """Stop claiming in this worker only."""
        if self.stopped is None:
            self.stopped = why
            self.give_back_ready(why)
            self.changed.set()

    def make_item(self, held: ClaimedItem) -> Any:  # noqa: ANN401 - an instance of the model
        """Return the row of a claimed item as a detached model instance."""
        if self.stage.load == "claim":
            key = self.claimer.key(held)
            return Claim(key, held.item, held.fence, held.tries, held.crashes)
        item = self._make(held.row)
        held.row = None
        return item

    def checked(self, outcome: object) -> Result:
        """Return what work returned, or what is wrong with it."""
        if isinstance(outcome, Skip):
            try:
                status = stored(self.stage, outcome.status, self._dialect)
            except (CurationSdkError, LookupError) as error:
                return GiveUp(str(error))
            if status in {self.queue.queued, self.queue.processing}:
                return GiveUp(f"Skip({status!r}) would not leave the queue")
            return replace(outcome, status=status)
        if isinstance(outcome, (Done, Retry, Later, GiveUp, Committed, Broken)):
            return outcome
        return self.violation(
            f"returned {outcome!r} instead of an outcome "
            "(Done, Retry, Later, GiveUp or Skip)"
        )

    def violation(self, what: str) -> Broken:
        """Pause the stage for a bug of its function; no item is condemned for it."""
        why = f"{self.stage.name} {what}"
        self.queue.log.error("stage.contract_violation", why=why)
        return Broken(why)


class Slot:
    """A task that works items one after the other while there are any.

    A task for each item would cost more than a fast item itself.
    """

    __slots__ = (
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
        self.task = asyncio.create_task(self._work(), name=f"slot:{run.stage.name}")

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
                self.paused_at = self._run.steady_time()
            self.pauses += 1
        return self.held

    def resume(self, held: object) -> None:
        """Go on counting; work that outlives its item changes nothing for the next."""
        if held is None or self.held is not held:
            return
        self.pauses -= 1
        if not self.pauses:
            self.began += self._run.steady_time() - self.paused_at

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
        try:
            while (held := run.next_for(self)) is not None:
                self.held = held
                if len(ready) == run.ahead:
                    # Nearly all of this batch is begun: ask for another one.
                    run.room.set()
                self.since = time.monotonic()
                self.began = self.since - run.lag
                working.set(WorkingItem(run.stage.name, held.item, held.fence))
                try:
                    outcome = await work(run.make_item(held), tools)
                except BaseException as error:  # noqa: BLE001 - becomes an outcome
                    result = self._result_of(held, error)
                else:
                    result = outcome if type(outcome) is Done else run.checked(outcome)
                if self._stopped_by is not None:
                    result = self._result_of_stop(self._stopped_by)
                self.held = None
                self.pauses = 0
                run.note_time(held, result, self.began)
                run.finish(held, result)
                count += 1
                if count == ITEMS_BEFORE_YIELD:
                    run.note_pace(count, time.monotonic() - began)
                    # Work that never awaits must not starve the heartbeat.
                    await asyncio.sleep(0)
                    count, began = 0, time.monotonic()
        finally:
            run.slots.discard(self)

    def _result_of(self, held: ClaimedItem, error: BaseException) -> Result:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            self._run.finish(held, Returned("the process was asked to exit"))
            raise error
        if not isinstance(error, asyncio.CancelledError):
            return self._result_of_exception(error)
        if is_cancelled() and self._stopped_by is None:
            self._run.finish(held, Returned("its task was cancelled"))
            raise error
        return Retry("it cancelled itself")

    def _result_of_exception(self, error: BaseException) -> Result:
        if is_wrong_call(error):
            return self._run.violation(
                f"cannot be awaited with an item and tools: {error}"
            )
        if not isinstance(error, Exception):
            return self._run.violation(f"raised {error!r}, which is not an Exception")
        return result_of_error(error)

    def _result_of_stop(self, result: Result) -> Result:
        if self.held is None:
            # It was abandoned: another slot has its place by now.
            raise asyncio.CancelledError
        self._stopped_by = None
        while is_cancelled():
            self.task.uncancel()
        return result


def is_wrong_call(error: BaseException) -> bool:
    """Return whether a function could not be called or awaited at all.

    Then the error comes from the line that calls it, and from nowhere deeper.
    """
    where = error.__traceback__
    return isinstance(error, TypeError) and where is not None and where.tb_next is None


def is_cancelled() -> bool:
    """Return whether someone asked the task we are in to stop."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
