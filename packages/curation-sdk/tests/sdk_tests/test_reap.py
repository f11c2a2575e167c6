"""Rescue: what a dead worker held comes back, and what kills workers is put away."""

import asyncio
import subprocess
from datetime import timedelta

from curation_sdk import Done, Later, Outcome, history
from curation_sdk.connection import WorkerConnection
from curation_sdk.control import queue_named
from curation_sdk.crash_rule import RESCUED_TOGETHER, tried_together
from curation_sdk.events import DeadLettered, Rescued
from curation_sdk.process import sign, sign_for
from curation_sdk.reap import Reaped, Reaper, reap
from sdk_tests.desk import Desk, Ticket, answer, triage

DONE = "SELECT count(*) FROM ticket WHERE state = 'Complete'"


async def abandon(
    desk: Desk,
    count: int,
    *,
    expired: bool = True,
    deaths: int = 0,
    alone: bool = False,
) -> None:
    """Leave claims behind as a worker that was killed would."""
    await desk.open(count)
    await desk.drain(triage(), seconds=0.0)
    until = "clock_timestamp() - interval '1 s'" if expired else "'infinity'"
    await desk.execute("UPDATE ticket SET state = 'Processing'")
    await desk.execute(
        "INSERT INTO curation.claim (stage, item, fence, lease_until, claimed_at, tries, deaths,"
        " worker, alone) SELECT 'triage', id, nextval('curation.fence'),"
        f" {until}, now(), 1, {deaths}, 'the dead', {alone} FROM ticket"
    )


async def test_an_expired_claim_becomes_a_suspect(desk: Desk) -> None:
    await abandon(desk, 2)

    assert await reap(desk.engine) == Reaped(rescued=2)

    rows = await desk.rows("SELECT fence, tries, deaths FROM curation.claim")
    assert rows == [(None, 0, 1), (None, 0, 1)]
    assert await desk.outcomes() == ["rescued"]


async def test_a_live_claim_is_left_alone(desk: Desk) -> None:
    await abandon(desk, 1)
    await desk.execute("UPDATE curation.claim SET lease_until = now() + interval '1 s'")

    assert await reap(desk.engine) == Reaped()


def killed_worker() -> str:
    """Name a worker of this machine whose process is gone."""
    with subprocess.Popen(["sleep", "600"]) as process:
        signature = sign_for(process.pid)
        process.kill()
    return f"it-{signature.hex}"


async def test_items_of_a_worker_killed_on_this_machine_waited_for_their_lease(
    desk: Desk,
) -> None:
    await abandon(desk, 5)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() + interval '1 hour',"
        f" worker = '{killed_worker()}' WHERE item <> '5'"
    )
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() + interval '1 hour',"
        f" worker = 'it-{sign().hex}' WHERE item = '5'"
    )
    hour = triage(lease=timedelta(hours=1))

    async with desk.running(hour):
        await desk.until(DONE, 4)

    # The one whose worker lives is left to it.
    assert await desk.rows("SELECT item, deaths FROM curation.claim") == [("5", 0)]


async def test_a_lease_from_the_future_is_shortened_not_trusted(desk: Desk) -> None:
    await abandon(desk, 1)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() + interval '1 year'"
    )

    assert await reap(desk.engine) == Reaped()

    left = "SELECT lease_until < now() + interval '3 s' FROM curation.claim"
    assert await desk.one(left) is True


async def test_rescue_waited_for_a_claim_being_settled_once_the_clock_was_set_back(
    desk: Desk,
) -> None:
    await abandon(desk, 3)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() + interval '1 year'"
    )

    async with desk.connection() as settling:
        await settling.execute(
            "BEGIN; DELETE FROM curation.claim WHERE item IN ('1', '3')"
        )
        assert await reap(desk.engine) == Reaped()
        shortened = (
            "SELECT item FROM curation.claim WHERE lease_until < now() + interval '3 s'"
        )
        assert await desk.rows(shortened) == [("2",)]


async def test_items_that_may_be_to_blame_are_worked_one_at_a_time(desk: Desk) -> None:
    await abandon(desk, 6, deaths=1)
    await reap(desk.engine)
    at_once = [0, 0]

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.01)
        at_once[0] -= 1
        return Done()

    await desk.drain(triage(work))

    assert await desk.states() == {"Complete": 6}
    assert at_once[1] == 1


async def test_rescued_items_were_tried_ten_at_a_time_however_well_they_ended(
    desk: Desk,
) -> None:
    await abandon(desk, 30)
    await reap(desk.engine)
    begun: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        begun.append(ticket.id)
        # The first ten end when they are ten, the others when all others have begun.
        wanted = RESCUED_TOGETHER if len(begun) <= RESCUED_TOGETHER else 30
        while len(begun) < wanted:  # noqa: ASYNC110 - the others tell nobody
            await asyncio.sleep(0.001)
        return Done()

    await desk.drain(triage(work, concurrency=40, batch=40), seconds=60)

    assert await desk.states() == {"Complete": 30}


async def test_a_large_stage_stood_idle_after_a_kill(desk: Desk) -> None:
    together = tried_together(60)
    assert together > RESCUED_TOGETHER
    await abandon(desk, together)
    await reap(desk.engine)
    begun: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        begun.append(ticket.id)
        while len(begun) < together:  # noqa: ASYNC110 - the others tell nobody
            await asyncio.sleep(0.001)
        return Done()

    await desk.drain(triage(work, concurrency=60, batch=60), seconds=60)

    assert await desk.states() == {"Complete": together}


async def test_a_rescued_item_that_was_set_back_has_proved_nothing(desk: Desk) -> None:
    await abandon(desk, 3 * RESCUED_TOGETHER)
    await reap(desk.engine)
    at_once = [0, 0]

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.01)
        at_once[0] -= 1
        return Later("not now", timedelta(hours=1))

    await desk.drain(triage(work, concurrency=40, batch=40), seconds=60)

    assert await desk.one("SELECT count(*) FROM curation.attempt WHERE why = 'not now'")
    assert at_once[1] <= RESCUED_TOGETHER


async def test_the_third_death_is_the_last(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2, alone=True)

    assert await reap(desk.engine) == Reaped(quarantined=1)

    assert await desk.states() == {"Error": 1}
    assert "crashed 3 times" in await desk.one("SELECT error FROM ticket")
    assert await desk.rows("SELECT kind, deaths FROM curation.dead_letter") == [
        ("quarantined", 3)
    ]
    assert (await history(desk.engine, "triage", 1)).dead == "quarantined"


async def test_nobody_is_condemned_for_a_death_in_company(desk: Desk) -> None:
    await abandon(desk, 3, deaths=2)

    assert await reap(desk.engine) == Reaped(rescued=3)

    assert await desk.states() == {"Processing": 3}
    assert await desk.rows("SELECT DISTINCT deaths, alone FROM curation.claim") == [
        (2, False)
    ]


async def test_while_other_workers_die_too_it_takes_more_deaths_to_blame_an_item(
    desk: Desk,
) -> None:
    await abandon(desk, 1, deaths=2, alone=True)
    await desk.execute(
        "INSERT INTO curation.attempt (stage, item, fence, tries, outcome, worker)"
        " VALUES ('answer', '7', 0, 1, 'rescued', 'someone else')"
    )

    died = []
    for _ in range(3):
        died.append(await reap(desk.engine))
        await desk.execute(
            "UPDATE curation.claim SET fence = nextval('curation.fence'), alone = true,"
            " lease_until = now() - interval '1 second', worker = 'the next'"
        )

    assert died == [*[Reaped(rescued=1)] * 2, Reaped(quarantined=1)]
    assert await desk.one("SELECT deaths FROM curation.dead_letter") == 5


async def test_workers_that_died_of_an_item_do_not_speak_for_it(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2, alone=True)
    await desk.execute(
        "INSERT INTO curation.attempt (stage, item, fence, tries, outcome, worker)"
        " SELECT stage, item, 0, 1, 'rescued', 'the first' FROM curation.claim"
        " UNION ALL VALUES ('triage', '999', 0, 1, 'rescued', 'the first')"
    )

    assert await reap(desk.engine) == Reaped(quarantined=1)


async def test_a_suspect_waits_until_it_is_alone_in_its_worker(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2)
    await reap(desk.engine)
    await desk.open(30)
    gate = asyncio.Event()
    in_work: set[int] = set()
    seen: list[tuple[set[int], bool]] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        in_work.add(ticket.id)
        if ticket.id == 1:
            alone = await desk.one("SELECT alone FROM curation.claim WHERE item = '1'")
            await asyncio.sleep(0.1)
            seen.append((set(in_work), alone))
        elif len(in_work) < 3:
            await gate.wait()
        in_work.discard(ticket.id)
        return Done()

    async with desk.running(triage(work), answer()):
        # The first two are in work before the suspect may begin.
        suspect = "SELECT count(*) FROM curation.claim WHERE item = '1' AND fence > 0"
        await desk.until(suspect, 1)
        await asyncio.sleep(0.1)
        assert seen == []
        gate.set()
        await desk.until(DONE, 31)

    assert seen == [({1}, True)]
    # What had to make room for it was not charged for that.
    assert await desk.one("SELECT max(tries) FROM curation.attempt") == 1


async def test_a_suspect_that_cannot_begin_is_handed_back(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2)
    await reap(desk.engine)
    await desk.open(1)
    begun: list[int] = []

    async def work(ticket: Ticket, _tools: object) -> Outcome:
        begun.append(ticket.id)
        await asyncio.Event().wait()
        return Done()

    async with desk.running(triage(work)) as worker:
        await desk.until("SELECT count(*) FROM curation.claim WHERE fence > 0", 2)
        await worker.stop(grace=timedelta(0))

    assert begun == [2]
    assert await desk.rows("SELECT item, fence, deaths, alone FROM curation.claim") == [
        ("1", None, 2, False)
    ]


async def test_a_survivor_is_no_suspect_any_more(desk: Desk) -> None:
    await abandon(desk, 1, deaths=1)
    await reap(desk.engine)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        raise ValueError("an ordinary failure")

    async with desk.running(triage(work)):
        await desk.until("SELECT max(deaths) FROM curation.claim", 0)


async def test_a_worker_rescues_by_itself(desk: Desk) -> None:
    await abandon(desk, 5)

    async with desk.running(triage(lease=timedelta(milliseconds=500))):
        await desk.until(DONE, 5)

    assert len(desk.emitted(Rescued)) == 5


async def test_a_claim_must_be_seen_expired_twice(desk: Desk) -> None:
    await abandon(desk, 1)
    connection = WorkerConnection(desk.engine)
    reaper = Reaper(connection)
    queues = [await queue_named(desk.engine, "triage")]

    first = await reaper.reap(queues)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() - interval '1 ms'"
    )
    await asyncio.sleep(0.7)
    beaten_meanwhile = await reaper.reap(queues)
    await asyncio.sleep(0.7)
    second = await reaper.reap(queues)
    await connection.close()

    assert (first, beaten_meanwhile, second) == (Reaped(), Reaped(), Reaped(rescued=1))


async def test_two_reapers_take_each_item_once(desk: Desk) -> None:
    await abandon(desk, 50)

    counts = await asyncio.gather(*(reap(desk.engine) for _ in range(4)))

    assert sum(reaped.rescued for reaped in counts) == 50
    assert await desk.one("SELECT max(deaths) FROM curation.claim") == 1


async def test_an_expired_claim_on_a_deleted_row_is_forgotten(desk: Desk) -> None:
    await abandon(desk, 1)
    await desk.execute("DELETE FROM ticket")

    await reap(desk.engine)

    assert await desk.one("SELECT count(*) FROM curation.claim") == 0
    assert await desk.outcomes() == ["discarded"]


async def test_processing_without_a_claim_is_queued_again(desk: Desk) -> None:
    await desk.open(1)
    await desk.drain(triage(), seconds=0.0)
    await desk.execute("UPDATE ticket SET state = 'Processing'")
    await desk.execute("DELETE FROM curation.claim")

    assert await reap(desk.engine, orphans=False) == Reaped()
    assert await reap(desk.engine) == Reaped(requeued=1)
    assert await desk.states() == {"Queued": 1}


async def test_quarantine_is_news(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2, alone=True)

    async with desk.running(triage(lease=timedelta(milliseconds=300))):
        await desk.until("SELECT state::text FROM ticket", "Error")

    assert [event.kind for event in desk.emitted(DeadLettered)] == ["quarantined"]
