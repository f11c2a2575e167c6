"""Limits of a stage hold over all workers: its rate, and the marks of queues it fills."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from curation_sdk import Done, Outcome, Registry, Retry, Stage, Worker
from sdk_tests.desk import Desk, Ticket, answer, triage
from sdk_tests.rig.waiting import HUNG, until

LONG = timedelta(seconds=HUNG)
CLAIMED = "SELECT count(*) FROM curation.attempt WHERE stage = 'triage'"
TO_ANSWER = "SELECT count(*) FROM ticket WHERE answer_state = 'Queued'"
A_MINUTE_LATER = """UPDATE curation.attempt SET claimed_at = claimed_at - interval '1 minute',
  settled_at = settled_at - interval '1 minute'"""
BUSIEST_MINUTE = """SELECT max(claims) FROM (SELECT count(*) OVER (ORDER BY claimed_at
  RANGE BETWEEN CURRENT ROW AND '59.999999 seconds' FOLLOWING) AS claims
  FROM curation.attempt) AS minutes"""


async def hand_over(ticket: Ticket, _tools: object) -> Outcome:
    async def queue(transaction: Any) -> None:
        await transaction.driver.execute(
            "UPDATE ticket SET answer_state = 'Queued' WHERE id = $1", ticket.id
        )

    return Done(queue)


async def drain_with_two(desk: Desk, stage: Stage[Any, Any], *others: Any) -> int:
    """Let two workers do what they may; return how many items they have settled."""
    registry = Registry([stage, *others])
    async with (
        Worker(desk.engine, [stage], registry=registry) as one,
        Worker(desk.engine, [stage], registry=registry) as other,
    ):
        return sum(
            await asyncio.gather(
                one.drain(stage, within=LONG), other.drain(stage, within=LONG)
            )
        )


@pytest.mark.parametrize("options", [{}, {"tenant": Ticket.tenant}], ids=["", "shared"])
async def test_a_rate_holds_over_two_workers(
    desk: Desk, options: dict[str, Any]
) -> None:
    await desk.open(12)
    limited = triage(rate_per_minute=5, **options)

    assert await drain_with_two(desk, limited) == 5
    assert await drain_with_two(desk, limited) == 0
    await desk.execute(A_MINUTE_LATER)
    assert await drain_with_two(desk, limited) == 5
    await desk.execute(A_MINUTE_LATER)
    assert await drain_with_two(desk, limited) == 2

    assert await desk.one(BUSIEST_MINUTE) == 5


async def test_a_limit_is_changed_while_a_worker_runs(desk: Desk) -> None:
    await desk.open(12)
    limited = triage(rate_per_minute=5, batch=3)
    async with desk.worker(limited) as worker:
        assert await worker.drain(limited, within=LONG) == 5
        await worker.limit("triage", batch=2, rate_per_minute=7, high_water=None)
        assert await worker.drain(limited, within=LONG) == 2
        await worker.limit("triage", batch=2, rate_per_minute=None, high_water=None)
        assert await worker.run_batch(limited) == 2
        await worker.start_stage("triage")
        await worker.stop_stage("triage")
        await worker.drain(limited, within=LONG)

    assert await desk.one("SELECT count(*) FROM ticket WHERE state = 'Complete'") == 12


async def test_concurrency_was_changed_by_a_restart_alone(desk: Desk) -> None:
    await desk.open(6)
    may_end = asyncio.Semaphore(0)
    begun: list[int] = []
    in_work = 0

    async def wait(_ticket: Ticket, _tools: object) -> Outcome:
        nonlocal in_work
        in_work += 1
        begun.append(in_work)
        await may_end.acquire()
        in_work -= 1
        return Done()

    async def allow(concurrency: int) -> None:
        await worker.limit(
            "triage",
            batch=6,
            rate_per_minute=None,
            high_water=None,
            concurrency=concurrency,
        )

    async with desk.worker(triage(wait, batch=6, concurrency=1)) as worker:
        await worker.start_stage("triage")
        await until(lambda: len(begun) == 1)
        await allow(4)
        await until(lambda: len(begun) == 4)
        await allow(2)
        for _ in range(6):
            may_end.release()
        await worker.drain("triage", within=LONG)

    assert begun == [1, 2, 3, 4, 2, 2]


async def test_an_item_that_is_tried_again_counts_again(desk: Desk) -> None:
    await desk.open(1)

    async def fail(_ticket: Ticket, _tools: object) -> Outcome:
        return Retry("not yet", timedelta(0))

    limited = triage(fail, rate_per_minute=3, max_attempts=9)
    async with desk.worker(limited) as worker:
        for _ in range(6):
            await worker.run_batch(limited)

    assert await desk.one(CLAIMED) == 3


async def test_one_batch_takes_as_much_as_the_rate_leaves(desk: Desk) -> None:
    await desk.open(9)
    limited = triage(rate_per_minute=7, batch=5)
    async with desk.worker(limited) as worker:
        counts = [await worker.run_batch(limited) for _ in range(3)]

    assert counts == [5, 2, 0]


@pytest.mark.slow
async def test_no_queue_grows_past_its_mark_while_the_last_stage_is_slow(
    desk: Desk,
) -> None:
    await desk.open(40)
    first = triage(hand_over, feeds=("answer",), high_water={"answer": 7})
    last = answer(batch=3)

    depths = []
    async with desk.worker(last, registry=Registry([first, last])) as slow:
        while True:
            await drain_with_two(desk, first, last)
            depths.append(await desk.one(TO_ANSWER))
            if not await slow.run_batch(last):
                break

    # Queued rows are only ever added between two of these counts: each is a peak.
    assert depths[:3] == [7, 7, 7]
    assert max(depths) == 7
    assert (
        await desk.one("SELECT count(*) FROM ticket WHERE answer_state = 'Complete'")
        == 40
    )


async def test_a_stage_held_back_does_not_keep_its_drain_waiting(desk: Desk) -> None:
    await desk.open(3)
    await desk.open(5, answer_state="Queued", state="Complete")
    first = triage(hand_over, feeds=("answer",), high_water=5)

    assert await drain_with_two(desk, first, answer()) == 0
    assert await desk.one(TO_ANSWER) == 5
