"""Items that have failed before do not hold up those that were never tried."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from curation_sdk import Done, Later, Outcome, Retry, Worker, producer, shares
from curation_sdk.claim import Claimer
from sdk_tests.desk import Desk, Ticket, answer, triage

NOW = timedelta(0)
ANSWERED = "SELECT count(*) FROM ticket WHERE answer_state = 'Complete'"
NOT_TRIAGED = "SELECT count(*) FROM ticket WHERE state <> 'Complete'"


class Attempts:
    """Counts attempts; every ticket ends with the one of this number."""

    def __init__(self, last: int, until_then: Outcome) -> None:
        self.last = last
        self.until_then = until_then
        self.tickets: list[int] = []

    async def __call__(self, ticket: Ticket, _tools: object) -> Outcome:
        self.tickets.append(ticket.id)
        return Done() if self.tickets.count(ticket.id) == self.last else self.until_then


@asynccontextmanager
async def beside_first_attempts(
    desk: Desk, declared: Any, count: int
) -> AsyncIterator[Worker]:
    """Have so many tickets answered beside others that wait for their first attempt."""
    await desk.open(30)
    over = asyncio.Event()

    async def hang(_ticket: Ticket, _tools: object) -> Outcome:
        await over.wait()
        return Done()

    busy = triage(hang, batch=4, concurrency=4)
    async with desk.running(busy, declared) as worker:
        run = worker._runs["triage"]
        while not run.first_attempts_wait:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        await desk.open(count, state="Complete", answer_state="Queued")
        yield worker
        assert run.first_attempts_wait
        over.set()
        await desk.until(NOT_TRIAGED, 0)
        await desk.until(ANSWERED, count)


@pytest.mark.slow
async def test_items_that_fail_again_and_again_held_up_first_attempts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "RETRIES_PER_SECOND", 0.0)
    attempts = Attempts(5, Retry("closed", NOW))

    async with beside_first_attempts(desk, answer(attempts), 20):
        while len(set(attempts.tickets)) < 20:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.01)
        # Without a share, all of them would be tried again at every look.
        await asyncio.sleep(4 * producer.RETRY_POLL_SECONDS)
        retried = len(attempts.tickets) - 20

    assert retried <= 20 * shares.RETRY_SHARE
    assert len(attempts.tickets) == 5 * 20


async def test_a_retry_waited_for_as_long_as_another_stage_was_busy(desk: Desk) -> None:
    attempts = Attempts(3, Retry("closed", NOW))

    async with beside_first_attempts(desk, answer(attempts), 1):
        await desk.until(ANSWERED, 1)


async def test_an_item_that_only_waits_for_its_turn_was_held_back_like_a_failed_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "RETRIES_PER_SECOND", 0.0)
    monkeypatch.setattr(shares, "RETRY_SHARE", 0.0)
    attempts = Attempts(5, Later("not its turn", NOW))

    async with beside_first_attempts(desk, answer(attempts), 1):
        await desk.until(ANSWERED, 1)


async def test_a_stage_counted_as_empty_while_its_retries_were_held_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "RETRIES_PER_SECOND", 4.0)
    failing = answer(Attempts(4, Retry("closed", NOW)))

    async with beside_first_attempts(desk, failing, 1) as worker:
        await worker.drain(failing, within=timedelta(seconds=60))
        assert await desk.one(ANSWERED) == 1


async def test_a_worker_asked_for_rescued_items_whenever_a_retry_was_due(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    take = Claimer._take

    async def note(self: Claimer, limit: int, statement: Any, *more: object) -> Any:
        known = self._statements
        if statement in (known.claim_rescued, known.claim_suspect):
            asked.append("crashed")
        elif statement == known.claim_due:
            asked.append("due")
        return await take(self, limit, statement, *more)

    monkeypatch.setattr(Claimer, "_take", note)
    attempts = Attempts(3, Retry("closed", NOW))
    await desk.open(5)

    async with desk.running(triage(attempts)):
        await desk.until(NOT_TRIAGED, 0)

    assert set(asked) == {"due"}
