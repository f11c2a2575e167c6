"""The helpers for tests, used as someone with stages of their own would use them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from curation_sdk import Backoff, Done, GiveUp, Later, Outcome, Skip, Transaction
from curation_sdk.control import depth, hold, pause, queue_named, states
from curation_sdk.testing import (
    advance,
    assert_dead_letter,
    assert_settled,
    drain,
    freeze,
    make_due,
)
from sdk_tests.desk import Desk, State, Ticket, answer, job_loop, triage

HOUR = timedelta(hours=1)
SLOW = Backoff(first=HOUR, longest=HOUR)


def failing(times: int) -> Any:
    """Return work that fails so many times for each ticket."""
    tries: dict[int, int] = {}

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        tries[ticket.id] = tries.get(ticket.id, 0) + 1
        if tries[ticket.id] <= times:
            raise OSError("down")
        return Done()

    return work


async def test_drain_works_everything_without_waiting_for_its_pauses(
    desk: Desk,
) -> None:
    await desk.open(3)

    assert await drain(desk.engine, triage(failing(2), backoff=SLOW)) == 9

    assert await desk.states() == {"Complete": 3}
    known = await assert_settled(desk.engine, "triage", 2)
    outcomes = [attempt.outcome for attempt in known.attempts]
    assert outcomes == ["retried", "retried", "done"]


async def test_drain_hands_the_stages_their_tools_and_works_what_they_queue(
    desk: Desk,
) -> None:
    await desk.open(3)

    async def hand_over(ticket: Ticket, tools: dict[str, str]) -> Outcome:
        async def queue(transaction: Transaction) -> None:
            statement = update(Ticket).where(Ticket.id == ticket.id)
            await transaction.execute(
                statement.values(answer_state=State.QUEUED, title=tools["title"])
            )

        return Done(queue)

    first = triage(hand_over, feeds=("answer",))
    await drain(desk.engine, answer(), first, tools={"title": "from the tools"})

    assert await desk.rows("SELECT DISTINCT answer_state::text, title FROM ticket") == [
        ("Complete", "from the tools")
    ]
    await assert_settled(desk.engine, first, 1)
    await assert_settled(desk.engine, answer(), 1)


async def test_drain_says_when_it_never_comes_to_an_end(desk: Desk) -> None:
    await desk.open(1)

    async def postpone(_ticket: Ticket, _tools: object) -> Outcome:
        return Later("not today", HOUR)

    with pytest.raises(TimeoutError, match="still work"):
        await drain(desk.engine, triage(postpone), within=timedelta(seconds=1))


async def test_drain_leaves_a_paused_stage_and_held_items_as_they_are(
    desk: Desk,
) -> None:
    await desk.open(2)
    await drain(desk.engine, answer(), triage())
    await desk.open(2)
    queue = await queue_named(desk.engine, "triage")
    async with desk.engine.begin() as connection:
        assert await hold(connection, queue, ["3"]) == 1

    assert await drain(desk.engine, triage()) == 1

    await pause(desk.engine, "triage", "for a reason")
    await desk.open(1)
    assert await drain(desk.engine, triage()) == 0
    assert await depth(desk.engine, "triage") == 1
    assert await desk.one("SELECT state::text FROM ticket WHERE id = 3") == "Processing"


async def test_a_pause_can_be_shortened_or_ended(desk: Desk) -> None:
    await desk.open(2)
    declared = triage(failing(1), backoff=SLOW)
    await desk.drain(declared)

    assert await advance(desk.engine, declared, HOUR / 3) == 2
    assert await desk.drain(declared) == 0
    assert await make_due(desk.engine, declared, 2) == 1
    assert await desk.drain(declared) == 1
    assert await advance(desk.engine, declared, 2 * HOUR) == 1
    assert await desk.drain(declared) == 1

    assert await desk.states() == {"Complete": 2}


async def test_a_loop_needs_only_its_items_to_be_due(desk: Desk) -> None:
    await desk.open(1)
    calls: list[int] = []

    async def fail_once(ticket_id: int, _session: AsyncSession) -> None:
        calls.append(ticket_id)
        if len(calls) == 1:
            raise OSError("down")

    await job_loop(desk, fail_once, backoff=SLOW)
    await job_loop(desk, fail_once, backoff=SLOW)
    assert len(calls) == 1
    assert await make_due(desk.engine, "ticket_state") == 1
    await job_loop(desk, fail_once, backoff=SLOW)

    await assert_settled(desk.engine, "ticket_state", 1)


async def test_nothing_is_claimed_while_frozen(desk: Desk) -> None:
    await desk.open(2)

    async with freeze(desk.engine, triage()):
        assert await drain(desk.engine, triage()) == 0
        assert await desk.states() == {"Queued": 2}

    assert await drain(desk.engine, triage()) == 2


async def test_freeze_stops_all_stages_and_keeps_the_pauses_there_were(
    desk: Desk,
) -> None:
    await drain(desk.engine, triage(), answer())
    await pause(desk.engine, "answer", "for a reason")

    async with freeze(desk.engine):
        assert {state.paused for state in await states(desk.engine)} == {True}

    paused = {state.name: state.paused_why for state in await states(desk.engine)}
    assert paused == {"answer": "for a reason", "triage": None}


async def test_assert_settled_shows_what_happened_instead(desk: Desk) -> None:
    await desk.open(2)
    await desk.drain(triage(failing(9), max_attempts=1))
    await desk.open(1)

    with pytest.raises(AssertionError) as failed:
        await assert_settled(desk.engine, "triage", 1)
    with pytest.raises(AssertionError) as never:
        await assert_settled(desk.engine, "triage", 3)

    assert str(failed.value) == (
        "Item 1 of triage is not settled as done: it is Error.\n"
        "  attempt 1: exhausted crashed: OSError('down')"
    )
    assert str(never.value).endswith("it is Queued.\n  never attempted")


async def test_assert_settled_is_not_content_with_an_item_in_work(desk: Desk) -> None:
    await desk.open(1)
    await drain(desk.engine, triage())
    await desk.execute("UPDATE ticket SET state = 'Queued'")
    begun, gate = asyncio.Event(), asyncio.Event()

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        begun.set()
        await gate.wait()
        return Skip(State.SKIPPED, "too old")

    async with desk.running(triage(work)):
        await begun.wait()
        with pytest.raises(AssertionError, match="is in work again"):
            await assert_settled(desk.engine, "triage", 1)
        gate.set()
        await desk.until("SELECT state::text FROM ticket", "Skipped")

    await assert_settled(desk.engine, "triage", 1, "skipped")


async def test_assert_dead_letter_knows_kind_and_reason(desk: Desk) -> None:
    await desk.open(2)

    async def give_up(ticket: Ticket, _tools: object) -> Outcome:
        return GiveUp("no such customer") if ticket.id == 1 else Done()

    await drain(desk.engine, triage(give_up))

    letter = await assert_dead_letter(desk.engine, "triage", 1)
    assert letter.tries == 1
    await assert_dead_letter(desk.engine, "triage", 1, "gave_up", why="customer")
    for options in ({"kind": "exhausted"}, {"why": "timeout"}):
        with pytest.raises(AssertionError, match="is gave_up: no such customer; not"):
            await assert_dead_letter(desk.engine, "triage", 1, **options)
    with pytest.raises(AssertionError, match="is not a dead letter: it is Complete"):
        await assert_dead_letter(desk.engine, "triage", 2)
