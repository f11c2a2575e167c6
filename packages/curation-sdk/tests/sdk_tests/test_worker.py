"""A worker's life: timeouts, lost claims, cut connections, waking, and an orderly end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from curation_sdk import Done, Outcome, Registry, StageBroken, Worker
from curation_sdk.connection import Transaction, WorkerConnection
from curation_sdk.control import pause, resume, wake
from curation_sdk.errors import CurationSdkError, UnknownStage
from curation_sdk.events import (
    Claimed,
    Drained,
    Event,
    Events,
    Fenced,
    Overclaimed,
    Paused,
    Resumed,
    Settled,
)
from sdk_tests.desk import (
    Desk,
    State,
    Ticket,
    answer,
    eventually,
    reply,
    reply_with,
    triage,
)
from sdk_tests.rig.waiting import until

DONE = "SELECT count(*) FROM ticket WHERE state = 'Complete'"


def patient(seconds: float = 60) -> Any:
    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        await asyncio.sleep(seconds)
        return Done()

    return work


async def test_an_item_past_its_timeout_is_cancelled_and_tried_again(
    desk: Desk,
) -> None:
    await desk.open(1)
    ended: list[str] = []

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")
        return Done()

    declared = triage(work, timeout=timedelta(milliseconds=100), max_attempts=1)
    await desk.drain(declared)

    assert ended == ["cancelled"]
    assert await desk.one("SELECT error FROM ticket") == "ran past its timeout of 0.1 s"


async def test_work_that_ignores_its_timeout_does_not_succeed(desk: Desk) -> None:
    await desk.open(1)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return Done()

    await desk.drain(triage(work, timeout=timedelta(milliseconds=50), max_attempts=1))

    assert await desk.states() == {"Error": 1}


async def test_work_that_cancels_itself_is_tried_again(desk: Desk) -> None:
    await desk.open(2)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 1:
            raise asyncio.CancelledError
        return Done()

    await desk.drain(triage(work, max_attempts=1))

    assert await desk.states() == {"Error": 1, "Complete": 1}


async def test_a_late_answer_is_refused_when_someone_else_owns_the_item(
    desk: Desk,
) -> None:
    await desk.open(1)
    gate = asyncio.Event()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        await gate.wait()
        return reply_with("from the first owner", ticket)

    async with desk.running(triage(work, lease=timedelta(minutes=1))) as worker:
        await desk.until("SELECT count(*) FROM curation.claim", 1)
        await desk.execute(
            "UPDATE curation.claim SET fence = nextval('curation.fence')"
        )
        gate.set()
        await eventually(lambda: value(worker, "refused"), 1)

        # It is counted before it is recorded.
        await eventually(desk.outcomes, ["refused"])
        assert await desk.states() == {"Processing": 1}
        assert await desk.one("SELECT count(*) FROM reply") == 0
        assert len(desk.emitted(Fenced)) == 1


@pytest.mark.parametrize(
    "change", ["UPDATE ticket SET state = 'New'", "DELETE FROM ticket"]
)
async def test_an_item_cancelled_or_deleted_in_work_stays_so(
    desk: Desk, change: str
) -> None:
    await desk.open(1)
    gate = asyncio.Event()

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        await gate.wait()
        return reply_with("too late", ticket)

    async with desk.running(triage(work)) as worker:
        await desk.until("SELECT count(*) FROM curation.claim", 1)
        await desk.execute(change)
        gate.set()
        await eventually(lambda: value(worker, "in_hand"), 0)

    assert "Complete" not in await desk.states()
    assert await desk.one("SELECT count(*) FROM reply") == 0
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_an_item_queued_again_in_work_is_worked_again(desk: Desk) -> None:
    await desk.open(1)
    gates = [asyncio.Event(), asyncio.Event()]
    begun: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        begun.append(ticket.id)
        turn = len(begun)
        await gates[turn - 1].wait()
        return reply_with(f"turn {turn}", ticket)

    async with desk.running(triage(work)):
        await eventually(lambda: value(begun, "__len__", call=True), 1)
        await desk.execute("UPDATE ticket SET state = 'Queued'")
        await eventually(lambda: value(begun, "__len__", call=True), 2)
        gates[0].set()
        gates[1].set()
        await desk.until(DONE, 1)

    assert await desk.rows("SELECT words FROM reply") == [("turn 2",)]


async def test_a_lost_claim_cancels_the_work_on_it(desk: Desk) -> None:
    await desk.open(1)
    ended: list[str] = []

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")
        return Done()

    async with desk.running(triage(work, lease=timedelta(seconds=1))):
        await desk.until("SELECT count(*) FROM curation.claim", 1)
        await desk.execute("UPDATE curation.claim SET fence = fence + 1000000")
        await eventually(lambda: value(ended, "__len__", call=True), 1)


async def test_heartbeats_keep_a_long_item_from_the_reaper(desk: Desk) -> None:
    await desk.open(3)

    declared = triage(patient(2.5), lease=timedelta(seconds=1))
    async with desk.running(declared), desk.running(declared):
        await desk.until(DONE, 3)

    assert (
        await desk.one("SELECT count(*) FROM curation.attempt WHERE outcome <> 'done'")
        == 0
    )


async def test_a_heart_beats_on_while_another_item_is_being_settled(desk: Desk) -> None:
    await desk.open(2)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        if ticket.id == 2:
            await asyncio.sleep(2.5)
            return Done()

        async def slow(transaction: Any) -> None:
            await transaction.driver.execute("SELECT pg_sleep(2.5)")

        return Done(slow)

    declared = triage(work, lease=timedelta(seconds=1))
    async with desk.running(declared), desk.running(declared):
        await desk.until(DONE, 2)

    assert (
        await desk.one("SELECT count(*) FROM curation.attempt WHERE outcome <> 'done'")
        == 0
    )


async def test_a_stop_hands_everything_back_without_spending_an_attempt(
    desk: Desk,
) -> None:
    await desk.open(50)
    async with desk.running(triage(patient(600), concurrency=5)) as worker:
        await desk.until("SELECT count(*) > 0 FROM curation.claim", True)

        await worker.stop(grace=timedelta(milliseconds=100))

    assert await desk.states() == {"Queued": 50}
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0
    outcomes = await desk.rows("SELECT DISTINCT outcome FROM curation.attempt")
    assert outcomes == [("returned",)]


async def test_a_stop_lets_items_finish_within_the_grace(desk: Desk) -> None:
    await desk.open(5)
    async with desk.running(triage(patient(0.3))) as worker:
        await desk.until("SELECT count(*) FROM curation.claim", 5)

        await worker.stop(grace=timedelta(seconds=5))

    assert await desk.states() == {"Complete": 5}


async def test_a_stopped_worker_claims_no_more(desk: Desk) -> None:
    async with desk.running(triage()) as worker:
        await worker.stop()
        await desk.open(1)
        await asyncio.sleep(0.2)

    assert await desk.states() == {"Queued": 1}


async def test_a_returned_item_keeps_the_tries_it_had(desk: Desk) -> None:
    await desk.open(1)
    await desk.execute("UPDATE ticket SET state = 'Processing';")
    await desk.execute(
        "INSERT INTO curation.claim (stage, item, tries, due_at) VALUES ('triage', '1', 2, now())"
    )
    async with desk.running(triage(patient())) as worker:
        await desk.until("SELECT count(fence) FROM curation.claim", 1)
        await worker.stop(grace=timedelta(0))

    assert await desk.rows("SELECT tries, fence FROM curation.claim") == [(2, None)]


async def test_a_drain_had_ended_before_the_pause_of_its_stage_was_stored(
    desk: Desk,
) -> None:
    async def break_down(_ticket: Ticket, _tools: object) -> Outcome:
        raise StageBroken("the key is wrong")

    await desk.open(1)
    async with desk.worker(triage(break_down)) as worker:
        async with desk.engine.begin() as slow:
            await slow.execute(text("LOCK TABLE curation.stage IN SHARE MODE"))
            drain = asyncio.create_task(worker.drain("triage"))
            await until(lambda: bool(desk.emitted(Paused)))
            done, _ = await asyncio.wait({drain}, timeout=0.5)
            assert not done
        await drain

        why = await desk.one("SELECT paused_why FROM curation.stage")
        assert why == "the key is wrong"


async def test_a_paused_stage_claims_nothing_until_it_is_resumed(desk: Desk) -> None:
    async with desk.running(triage()):
        await pause(desk.engine, "triage", "lunch")
        await desk.open(3)
        await asyncio.sleep(0.8)
        assert await desk.states() == {"Queued": 3}

        await resume(desk.engine, "triage")
        await desk.until(DONE, 3)

    assert desk.emitted(Paused)[0].why == "lunch"
    assert desk.emitted(Resumed)


async def test_a_stage_waits_while_the_next_one_is_full(desk: Desk) -> None:
    await desk.open(40, answer_state=State.QUEUED)
    first = triage(feeds=("answer",), high_water=40)
    worker = Worker(desk.engine, [first], registry=Registry([first, answer()]))

    async with worker:
        task = asyncio.create_task(worker.run())
        await asyncio.sleep(1)
        begun = await desk.one(DONE)
        await desk.execute("UPDATE ticket SET answer_state = 'New'")
        await desk.until(DONE, 40)
        await worker.stop()
        await task

    assert begun <= 20


async def test_a_wake_up_is_heard_at_once(desk: Desk) -> None:
    declared = triage()
    async with desk.running(declared, listen_dsn=desk.dsn, poll=timedelta(hours=1)):
        await asyncio.sleep(0.3)
        await desk.open(1)
        await wake(desk.engine, "triage")

        await desk.until(DONE, 1)


async def test_settling_wakes_the_stage_that_is_fed(desk: Desk) -> None:
    await desk.open(3)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        async def hand_over(transaction: Any) -> None:
            await transaction.driver.execute(
                "UPDATE ticket SET answer_state = 'Queued' WHERE id = $1", ticket.id
            )

        return Done(hand_over)

    stages = [triage(work, feeds=("answer",)), answer()]
    async with desk.running(*stages, listen_dsn=desk.dsn, poll=timedelta(hours=1)):
        await desk.until(
            "SELECT count(*) FROM ticket WHERE answer_state = 'Complete'", 3
        )


async def test_three_connections_are_enough_for_a_thousand_items(desk: Desk) -> None:
    await desk.open(1000)
    declared = triage(
        # A loop that is blocked for longer has its leases renewed over a fourth one.
        patient(),
        batch=500,
        concurrency=1000,
        lease=timedelta(minutes=2),
    )

    async with desk.running(declared, listen_dsn=desk.dsn) as worker:
        await desk.until("SELECT count(*) FROM curation.claim", 1000)
        assert worker.in_hand == 1000
        async with desk.connection() as other:
            used = await other.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND query NOT LIKE '%count(*) FROM curation.claim%'"
            )
        await worker.stop(grace=timedelta(0))

    assert used <= 3


async def test_cut_connections_cost_nothing_but_time(desk: Desk) -> None:
    await desk.open(300)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        await asyncio.sleep(0.01)
        return reply_with(f"re: {ticket.id}", ticket)

    async with desk.running(triage(work)), desk.connection() as other:
        for _ in range(5):
            await asyncio.sleep(0.1)
            await other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        await desk_until_done(desk, 300)

    assert await desk.one("SELECT count(DISTINCT ticket_id) FROM reply") == 300
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def test_a_commit_whose_answer_was_lost_is_found_again(desk: Desk) -> None:
    await desk.open(1)

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        return reply_with("once", ticket)

    async with desk.worker(triage(work)) as worker:
        lossy = worker._settler._connection = LossyLane(desk.engine)
        await worker.drain("triage")
        await lossy.close()

    assert lossy.lost == 1
    assert await desk.states() == {"Complete": 1}
    assert await desk.outcomes() == ["done"]
    assert [event.outcome for event in desk.emitted(Settled)] == ["done"]


async def test_events_tell_the_life_of_an_item(desk: Desk) -> None:
    await desk.open(2)

    await desk.drain(triage(reply))

    kinds = [type(event) for event in desk.heard]
    assert kinds.count(Claimed) == 1
    assert kinds.count(Settled) == 2
    assert Drained in kinds
    assert desk.emitted(Settled)[0].took > timedelta(0)


async def test_tools_are_handed_to_the_work(desk: Desk) -> None:
    await desk.open(1)
    given: list[object] = []

    async def work(_ticket: Ticket, tools: object) -> Outcome:
        given.append(tools)
        return Done()

    await desk.drain(triage(work), tools="hammer")

    assert given == ["hammer"]


async def test_a_drain_of_a_stage_it_does_not_run_is_refused(desk: Desk) -> None:
    async with desk.worker(triage()) as worker:
        with pytest.raises(UnknownStage):
            await worker.drain("answer")


async def test_a_worker_without_stages_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(CurationSdkError):
        Worker(engine, [])


async def test_a_worker_waits_for_a_database_that_comes_back(desk: Desk) -> None:
    await desk.open(5)
    small = create_async_engine(
        desk.engine.url, pool_size=2, max_overflow=0, pool_timeout=0.2
    )
    async with Worker(small, [triage()], poll=timedelta(milliseconds=50)) as worker:
        thief = [await small.connect(), await small.connect()]
        task = asyncio.create_task(worker.run())
        await asyncio.sleep(0.6)
        assert await desk.states() == {"Queued": 5}
        for connection in thief:
            await connection.close()

        await desk.until(DONE, 5)
        await worker.stop()
        await task
    await small.dispose()


class LossyLane(WorkerConnection):
    """Loses the answer to the first COMMIT, as a broken network would."""

    lost = 0

    @asynccontextmanager
    async def transaction(self, *first: str) -> AsyncIterator[Transaction]:
        async with super().transaction(*first) as transaction:
            yield transaction
        if not self.lost:
            self.lost += 1
            raise ConnectionResetError("the answer was lost")


async def value(thing: Any, name: str, *, call: bool = False) -> Any:
    found = getattr(thing, name)
    return found() if call else found


async def desk_until_done(desk: Desk, count: int) -> None:
    async def ask() -> Any:
        try:
            return await desk.one(DONE)
        except Exception:  # noqa: BLE001 - our own connection was cut too
            return None

    await eventually(ask, count, seconds=20)


async def test_a_listener_may_come_later(desk: Desk) -> None:
    await desk.open(1)
    events: Events[Event] = Events()
    heard: list[Event] = []
    async with Worker(desk.engine, [triage()], events=events) as worker:
        events.listen(heard.append)
        await worker.drain("triage")

    assert Settled in {type(event) for event in heard}


async def test_a_claim_of_more_than_was_asked_for_raises_an_alarm(desk: Desk) -> None:
    await desk.open(3)
    async with desk.worker(triage(batch=3)) as worker:
        run = worker._runs["triage"]
        worker._producer.accept(run, await run.claimer.next_batch(), 2)

    assert desk.emitted(Overclaimed) == [Overclaimed("triage", asked=2, got=3)]
    assert await desk.states() == {"Queued": 3}


async def test_what_cannot_be_settled_is_held_no_longer(desk: Desk) -> None:
    await desk.open(3)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        return Done()

    async with desk.running(triage(work, lease=timedelta(seconds=1))) as worker:
        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 3)
        # An error that no timeout cures: it must not be heartbeaten for ever.
        await desk.execute("ALTER TABLE curation.attempt RENAME TO put_away")
        await desk.execute("UPDATE ticket SET state = 'Queued'")
        await desk.until("SELECT count(*) FROM curation.claim", 3)

        await eventually(lambda: in_hand(worker), 0)
        expired = "SELECT count(*) FROM curation.claim WHERE lease_until < now()"
        await desk.until(expired, 3)

        await desk.execute("ALTER TABLE curation.put_away RENAME TO attempt")
        await desk.until("SELECT count(*) FROM ticket WHERE state = 'Complete'", 3)
    assert await desk.one("SELECT count(*) FROM curation.claim") == 0


async def in_hand(worker: Worker) -> int:
    return worker.in_hand
