"""Every outcome ends where it says, and nothing ends silently."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from curation_sdk import (
    Done,
    GiveUp,
    Later,
    Outcome,
    Permanent,
    Retry,
    Skip,
    StageBroken,
    Transaction,
    Transient,
)
from curation_sdk.events import DeadLettered, Paused, Retried, Settled
from sdk_tests.desk import (
    SOON,
    Desk,
    State,
    Ticket,
    Work,
    answer,
    reply,
    reply_with,
    triage,
)
from sdk_tests.rig.waiting import HUNG


def always(outcome: object) -> Work:
    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome  # type: ignore[return-value]

    return work


class Flaky(Exception):
    """An exception class of the user's own, which says what it means."""

    retryable = True


class Hopeless(Exception):
    retryable = False


async def test_done_completes_the_row_and_clears_its_error(desk: Desk) -> None:
    await desk.open(3, error="an old one")

    settled = await desk.drain(triage())

    assert settled == 3
    assert await desk.states() == {"Complete": 3}
    assert await desk.one("SELECT count(error) FROM ticket") == 0
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_results_and_status_commit_together(desk: Desk) -> None:
    await desk.open(25)

    await desk.drain(triage(reply))

    assert await desk.states() == {"Complete": 25}
    assert await desk.one("SELECT count(DISTINCT ticket_id) FROM reply") == 25


async def test_nothing_found_is_an_outcome_with_a_reason(desk: Desk) -> None:
    await desk.open(1)

    await desk.drain(triage(always(Done(empty_because="the ticket is empty"))))

    assert await desk.rows("SELECT outcome, why FROM curation.attempt") == [
        ("done", "the ticket is empty")
    ]
    assert await desk.states() == {"Complete": 1}


async def test_giving_up_makes_a_dead_letter_at_once(desk: Desk) -> None:
    await desk.open(1)

    await desk.drain(triage(always(GiveUp("no such customer"))))

    assert await desk.states() == {"Error": 1}
    assert await desk.one("SELECT error FROM ticket") == "no such customer"
    assert await desk.rows("SELECT kind, why, tries FROM curation.dead_letter") == [
        ("gave_up", "no such customer", 1)
    ]
    assert desk.emitted(DeadLettered)[0].kind == "gave_up"


async def test_a_skipped_row_gets_the_status_it_asked_for(desk: Desk) -> None:
    await desk.open(1)

    await desk.drain(triage(always(Skip(State.SKIPPED, "spam"))))

    assert await desk.states() == {"Skipped": 1}
    assert await desk.outcomes() == ["skipped"]


@pytest.mark.parametrize("status", ["Nonsense", State.QUEUED, State.PROCESSING])
async def test_a_skip_to_nowhere_is_an_error(desk: Desk, status: object) -> None:
    await desk.open(1)

    await desk.drain(triage(always(Skip(status, "oops"))))

    assert await desk.states() == {"Error": 1}


@pytest.mark.parametrize("answer", [None, True, "done", {"ok": 1}])
async def test_anything_but_an_outcome_pauses_the_stage_and_condemns_no_row(
    desk: Desk, answer: object
) -> None:
    await desk.open(50)

    await desk.drain(triage(always(answer)))

    assert await desk.states() == {"Queued": 50}
    assert await desk.one("SELECT count(*) FROM curation.dead_letter") == 0
    why = await desk.one("SELECT paused_why FROM curation.stage WHERE name = 'triage'")
    assert "instead of an outcome" in why


async def test_a_retry_waits_in_processing_and_then_succeeds(desk: Desk) -> None:
    await desk.open(1)
    tries: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        tries.append(ticket.id)
        return Done() if len(tries) > 2 else Retry("not yet")

    async with desk.running(triage(work)):
        await desk.until("SELECT state::text FROM ticket", "Complete")

    assert len(tries) == 3
    assert await desk.outcomes() == ["retried", "retried", "done"]
    assert [event.tries for event in desk.emitted(Retried)] == [1, 2]


async def test_a_waiting_item_says_when_and_why(desk: Desk) -> None:
    await desk.open(1)

    await desk.drain(triage(always(Retry("busy", after=timedelta(hours=1)))))

    assert await desk.rows("SELECT state::text, error FROM ticket") == [
        ("Processing", "busy")
    ]
    wait = "SELECT round(extract(epoch FROM due_at - now()) / 60) FROM curation.claim"
    assert await desk.one(wait) == 60


async def test_an_item_whose_turn_comes_later_spends_no_try(desk: Desk) -> None:
    await desk.open(1)
    turns: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        turns.append(ticket.id)
        return Done() if len(turns) > 3 else Later("the host is busy", after=SOON)

    async with desk.running(triage(work, max_attempts=1)):
        await desk.until("SELECT state::text FROM ticket", "Complete")

    assert await desk.outcomes() == ["postponed", "postponed", "postponed", "done"]
    assert await desk.one("SELECT max(tries) FROM curation.attempt") == 1


async def test_retries_end_in_a_dead_letter_with_all_attempts(desk: Desk) -> None:
    await desk.open(1)

    async with desk.running(triage(always(Retry("down")), max_attempts=3)):
        await desk.until("SELECT state::text FROM ticket", "Error")

    assert await desk.outcomes() == ["retried", "retried", "exhausted"]
    assert await desk.one("SELECT tries FROM curation.dead_letter") == 3


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("a bug"), "retried"),
        (Flaky("later"), "retried"),
        (Hopeless("never"), "gave_up"),
        (Transient("later"), "retried"),
        (Permanent("never"), "gave_up"),
    ],
)
async def test_what_work_raises_becomes_an_outcome(
    desk: Desk, error: Exception, outcome: str
) -> None:
    await desk.open(1)

    async with desk.running(triage(always(error), max_attempts=9)):
        await desk.until("SELECT count(*) > 0 FROM curation.attempt", True)

    assert (await desk.outcomes())[0] == outcome


async def test_a_failing_effect_spoils_only_its_own_item(desk: Desk) -> None:
    await desk.open(10)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        words = "the same" if ticket.id in {4, 7} else f"re: {ticket.id}"
        return reply_with(words, ticket)

    await desk.drain(triage(work, max_attempts=1))

    assert await desk.states() == {"Complete": 9, "Error": 1}
    assert await desk.one("SELECT count(*) FROM reply") == 9


async def test_an_effect_that_fails_leaves_nothing_behind(desk: Desk) -> None:
    await desk.open(1)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        done = reply_with("half", ticket)

        async def write_and_fail(transaction: object) -> None:
            assert done.effect is not None
            await done.effect(transaction)  # type: ignore[arg-type]
            raise RuntimeError("after the first half")

        return Done(write_and_fail)

    await desk.drain(triage(work, max_attempts=1))

    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert await desk.states() == {"Error": 1}


async def test_two_stages_that_wrote_each_others_rows_waited_for_each_other_in_a_circle(
    desk: Desk,
) -> None:
    """Under one lock they come one after the other: the second begins with nothing in hand."""
    await desk.open(1, answer_state=State.NEW)
    await desk.open(1, state=State.NEW, answer_state=State.QUEUED)
    order: list[str] = []
    met = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

    def writes(other: int) -> Work:
        async def work(ticket: Ticket, _tools: object) -> Outcome:
            async def effect(transaction: Transaction) -> None:
                order.append(f"{ticket.id} begins")
                # The other one has its own row by now, or waits at the lock.
                async with asyncio.timeout(HUNG):
                    while len(order) == 1 and not await desk.one(met):  # noqa: ASYNC110 - no event
                        await asyncio.sleep(0.01)
                titled = update(Ticket).where(Ticket.id == other).values(title="told")
                await transaction.execute(titled)
                order.append(f"{ticket.id} ends")

            return Done(effect, lock="tickets 1 and 2")

        return work

    await asyncio.gather(
        desk.drain(triage(writes(2))), desk.drain(answer(writes(1)))
    )  # fmt: skip

    assert [line.split()[1] for line in order] == ["begins", "ends", "begins", "ends"]
    assert await desk.rows("SELECT title FROM ticket") == [("told",), ("told",)]
    assert await desk.outcomes(1) == await desk.outcomes(2) == ["done"]


@pytest.mark.parametrize("kind", [Retry, GiveUp])
async def test_a_failure_commits_with_what_was_learnt(
    desk: Desk, kind: type[Retry | GiveUp]
) -> None:
    await desk.open(3)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 1:
            return reply_with("answered", ticket)
        learnt = reply_with(f"closed {ticket.id}", ticket).effect
        return kind("no customer", effect=learnt)

    await desk.drain(triage(work, max_attempts=1))

    assert await desk.states() == {"Complete": 1, "Error": 2}
    assert await desk.one("SELECT count(*) FROM reply") == 3


async def test_what_cannot_be_written_about_a_failure_does_not_hide_it(
    desk: Desk,
) -> None:
    await desk.open(1)

    async def fail(_transaction: object) -> None:
        raise RuntimeError("no room")

    await desk.drain(triage(always(GiveUp("no customer", effect=fail))))

    assert await desk.states() == {"Error": 1}
    assert await desk.rows("SELECT outcome, why FROM curation.attempt") == [
        ("gave_up", "no customer")
    ]


async def test_a_broken_stage_pauses_and_returns_its_items_unharmed(desk: Desk) -> None:
    await desk.open(30)

    await desk.drain(triage(always(StageBroken("the key was refused")), concurrency=2))

    assert await desk.states() == {"Queued": 30}
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0
    assert (
        await desk.one("SELECT paused_why FROM curation.stage") == "the key was refused"
    )
    assert desk.emitted(Paused)[0].why == "the key was refused"
    assert {event.outcome for event in desk.emitted(Settled)} == {"returned"}


async def test_a_broken_stage_may_resume_by_itself(desk: Desk) -> None:
    await desk.open(3)
    broken = [StageBroken("rate limit", resume_after=timedelta(milliseconds=100))]

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        if broken:
            raise broken.pop()
        return Done()

    async with desk.running(triage(work)):
        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 3)


async def test_texts_postgresql_cannot_store_are_stored_all_the_same(
    desk: Desk,
) -> None:
    await desk.open(1)

    await desk.drain(triage(always(GiveUp("nul \x00 and \ud800" + "x" * 50_000))))

    assert await desk.states() == {"Error": 1}
    assert await desk.one("SELECT length(error) FROM ticket") == 1024
    assert await desk.one("SELECT length(why) FROM curation.attempt") == 20_000
