"""Slow items do not hold up others: a share of the slots, and no more while others wait."""

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest

from curation_sdk import Done, Outcome, Retry, crash_rule, quarantine
from curation_sdk.errors import InvalidStage
from curation_sdk.reap import reap
from curation_sdk.working import uncounted_wait
from sdk_tests.desk import Desk, Ticket, answer, triage
from sdk_tests.test_reap import abandon

SOON = timedelta(milliseconds=50)
DONE = "SELECT count(*) FROM ticket WHERE state = 'Complete'"
POSTPONED = "SELECT count(*) FROM curation.attempt WHERE outcome = 'postponed'"


class Work:
    """Tickets up to a number never end; the others end at once."""

    def __init__(self, slow: int) -> None:
        self.slow = slow
        self.in_work: set[int] = set()
        self.most = 0
        self.is_over = asyncio.Event()

    async def __call__(self, ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id > self.slow:
            return Done()
        self.in_work.add(ticket.id)
        self.most = max(self.most, len(self.in_work))
        try:
            await self.is_over.wait()
        finally:
            self.in_work.discard(ticket.id)
        return Done()


def slow_stage(work: Any, **options: Any) -> Any:
    return triage(work, **{"concurrency": 4, "batch": 4, "slow_after": SOON, **options})


@pytest.mark.slow
async def test_slow_items_held_every_slot_while_quick_ones_waited(desk: Desk) -> None:
    await desk.open(30)
    work = Work(slow=20)

    async with desk.running(slow_stage(work), answer()):
        await desk.until(DONE, 10)
        # With nobody waiting they may have all the slots.
        while len(work.in_work) < 4:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.01)
        work.is_over.set()
        await desk.until(DONE, 30)

    assert await desk.one(POSTPONED) > 0
    # Nobody was charged for having to make room.
    assert await desk.one("SELECT max(tries) FROM curation.attempt") == 1


@pytest.mark.slow
async def test_slow_items_that_are_tried_again_held_up_those_that_are_quick(
    desk: Desk,
) -> None:
    await desk.open(9)
    tried: dict[int, int] = {}
    hang = asyncio.Event()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        tried[ticket.id] = tried.get(ticket.id, 0) + 1
        if ticket.id <= 8:
            # Slow at first, and then for ever.
            await (asyncio.sleep(0.2) if tried[ticket.id] == 1 else hang.wait())
            return Done() if hang.is_set() else Retry("slow", timedelta(0))
        # One that waits for its turn again and again, and is quick each time.
        return Done() if tried[ticket.id] == 20 else Retry("busy", timedelta(0))

    declared = slow_stage(work, concurrency=9, max_attempts=100)
    async with desk.running(declared, answer()):
        await desk.until(
            "SELECT count(*) FROM ticket WHERE id = 9 AND state = 'Complete'", 1
        )
        hang.set()
        await desk.until(DONE, 9)


async def test_items_were_slow_because_their_worker_was_busy(desk: Desk) -> None:
    await desk.open(8)
    work = Work(slow=8)

    async with desk.running(slow_stage(work), answer()) as worker:
        run = worker._runs["triage"]
        while not (len(work.in_work) == 4 and run.ready):  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.01)
        # As if nothing had gone on for an hour, and these were begun before.
        run.slow.lag += 3600
        await asyncio.sleep(2 * SOON.total_seconds())
        run.make_room()
        assert not any(slot.is_stopped for slot in run.slots)
        before = run.slow.lag
        time.sleep(0.6)  # noqa: ASYNC251 - nothing goes on
        while run.slow.lag == before:  # noqa: ASYNC110 - it is measured now and then
            await asyncio.sleep(0.01)
        work.is_over.set()
        await desk.until(DONE, 8)

    assert await desk.one(POSTPONED) == 0


async def test_items_were_slow_because_they_waited_for_the_worker_itself(
    desk: Desk,
) -> None:
    await desk.open(8)
    work = Work(slow=8)

    async def queue_here(ticket: Ticket, tools: object) -> Outcome:
        with uncounted_wait():
            # Parts of the work may wait at once.
            with uncounted_wait():
                pass
            return await work(ticket, tools)

    async with desk.running(slow_stage(queue_here), answer()) as worker:
        run = worker._runs["triage"]
        while not (len(work.in_work) == 4 and run.ready):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        await asyncio.sleep(2 * SOON.total_seconds())
        run.make_room()
        assert not any(slot.is_stopped for slot in run.slots)
        work.is_over.set()
        await desk.until(DONE, 8)

    assert await desk.one(POSTPONED) == 0


async def test_without_slow_after_items_wait_for_slow_ones(desk: Desk) -> None:
    await desk.open(6)
    work = Work(slow=4)

    async with desk.running(slow_stage(work, slow_after=None), answer()):
        while len(work.in_work) < 4:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        assert await desk.one(DONE) == 0
        work.is_over.set()
        await desk.until(DONE, 6)

    assert await desk.one(POSTPONED) == 0


async def test_a_slow_rescued_item_kept_the_others_from_being_tried(desk: Desk) -> None:
    await abandon(desk, 30)
    await reap(desk.engine)
    work = Work(slow=crash_rule.RESCUED_TOGETHER)

    async with desk.running(slow_stage(work, concurrency=40, batch=40), answer()):
        await desk.until(DONE, 20)
        work.is_over.set()
        await desk.until(DONE, 30)


async def test_everything_waited_for_the_slowest_item_before_one_was_tried_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "CLEARING_SECONDS", 0.1)
    await abandon(desk, 1, deaths=2)
    await reap(desk.engine)
    await desk.open(3)
    alone = asyncio.Event()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 1:
            alone.set()
        await alone.wait()
        return Done()

    async with desk.running(triage(work), answer()):
        await desk.until(DONE, 4)

    assert await desk.one("SELECT max(tries) FROM curation.attempt") == 1


@pytest.mark.slow
async def test_everything_waited_for_an_item_that_took_its_time_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "FIRST_TRIAL_SECONDS", 0.1)
    await abandon(desk, 1, deaths=2)
    await reap(desk.engine)
    tried: list[float] = []
    loop = asyncio.get_running_loop()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 1:
            began = loop.time()
            try:
                await asyncio.sleep(0.3)
            finally:
                tried.append(loop.time() - began)
        return Done()

    async with desk.running(triage(work), answer()):
        while not tried:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.01)
        await desk.open(1)
        await desk.until(DONE, 2)

    # Each time it got twice as long, so in the end it had the time it needs; on a busy
    # machine what it needs is more.
    assert len(tried) >= 3
    assert await desk.one(DONE) == 2


def test_slow_after_must_be_positive() -> None:
    with pytest.raises(InvalidStage):
        slow_stage(Work(0), slow_after=timedelta(0))
