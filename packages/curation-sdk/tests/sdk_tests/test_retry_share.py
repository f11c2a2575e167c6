"""Items that have failed before do not hold up those that were never tried."""

import asyncio
from datetime import timedelta

import pytest

from curation_sdk import Done, Later, Outcome, Retry, execution, producer
from sdk_tests.desk import Desk, Ticket, answer, triage

NOW = timedelta(0)
DONE = "SELECT count(*) FROM ticket WHERE state = 'Complete'"
ANSWERED = "SELECT count(*) FROM ticket WHERE answer_state = 'Complete'"


async def test_items_that_fail_again_and_again_held_up_first_attempts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "RETRIES_PER_SECOND", 0.0)
    await desk.open(30)
    over = asyncio.Event()
    failed: list[int] = []

    async def hang(_ticket: Ticket, _tools: object) -> Outcome:
        await over.wait()
        return Done()

    async def fail(ticket: Ticket, _tools: object) -> Outcome:
        failed.append(ticket.id)
        return Done() if failed.count(ticket.id) == 5 else Retry("closed", NOW)

    busy = triage(hang, batch=4, concurrency=4)
    async with desk.running(busy, answer(fail)) as worker:
        while not worker._runs["triage"].first_attempts_wait:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await desk.open(20, state="Complete", answer_state="Queued")
        while len(set(failed)) < 20:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.01)
        # Without a share, all of them would be tried again at every look.
        await asyncio.sleep(4 * producer.LOOK_FOR_RETRIES)
        retried = len(failed) - 20
        over.set()
        await desk.until(ANSWERED, 20)

    assert retried <= 20 * execution.RETRY_SHARE
    assert len(failed) == 5 * 20


async def test_a_retry_waited_for_as_long_as_another_stage_was_busy(desk: Desk) -> None:
    await desk.open(30)
    await desk.open(1, state="Complete", answer_state="Queued")
    over = asyncio.Event()
    tried: list[int] = []

    async def hang(_ticket: Ticket, _tools: object) -> Outcome:
        await over.wait()
        return Done()

    async def fail_first(ticket: Ticket, _tools: object) -> Outcome:
        tried.append(ticket.id)
        return Done() if len(tried) == 3 else Retry("closed", NOW)

    busy = triage(hang, batch=4, concurrency=4)
    async with desk.running(busy, answer(fail_first)) as worker:
        await desk.until(ANSWERED, 1)
        assert worker._runs["triage"].first_attempts_wait
        over.set()
        await desk.until(DONE, 31)


async def test_an_item_that_only_waits_for_its_turn_was_held_back_like_a_failed_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "RETRIES_PER_SECOND", 0.0)
    monkeypatch.setattr(execution, "RETRY_SHARE", 0.0)
    await desk.open(30)
    await desk.open(1, state="Complete", answer_state="Queued")
    over = asyncio.Event()
    turns: list[int] = []

    async def hang(_ticket: Ticket, _tools: object) -> Outcome:
        await over.wait()
        return Done()

    async def wait_for_turn(ticket: Ticket, _tools: object) -> Outcome:
        turns.append(ticket.id)
        return Done() if len(turns) == 5 else Later("not its turn", NOW)

    busy = triage(hang, batch=4, concurrency=4)
    async with desk.running(busy, answer(wait_for_turn)) as worker:
        await desk.until(ANSWERED, 1)
        assert worker._runs["triage"].first_attempts_wait
        over.set()
        await desk.until(DONE, 31)


async def test_a_stage_counted_as_empty_while_its_retries_were_held_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "RETRIES_PER_SECOND", 4.0)
    await desk.open(30)
    await desk.open(1, state="Complete", answer_state="Queued")
    over = asyncio.Event()
    tried: list[int] = []

    async def hang(_ticket: Ticket, _tools: object) -> Outcome:
        await over.wait()
        return Done()

    async def fail_often(ticket: Ticket, _tools: object) -> Outcome:
        tried.append(ticket.id)
        return Done() if len(tried) == 4 else Retry("closed", NOW)

    failing = answer(fail_often)
    async with desk.running(triage(hang, batch=4, concurrency=4), failing) as worker:
        while not worker._runs["triage"].first_attempts_wait:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await worker.drain(failing, within=timedelta(seconds=60))
        assert await desk.one(ANSWERED) == 1
        over.set()
        await desk.until(DONE, 31)
