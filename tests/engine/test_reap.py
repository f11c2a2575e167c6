"""Rescue: what a dead worker held comes back, and what kills workers is put away."""

import asyncio
from datetime import timedelta

from scrapersky.engine import Done, Outcome, reap, story
from scrapersky.engine.control import queue_named
from scrapersky.engine.events import Died, Rescued
from scrapersky.engine.lane import Lane
from scrapersky.engine.reap import Reaped, Reaper
from tests.engine.desk import Desk, Ticket, triage

DONE = "SELECT count(*) FROM ticket WHERE state = 'Complete'"


async def abandon(
    desk: Desk, count: int, *, expired: bool = True, deaths: int = 0
) -> None:
    """Leave claims behind as a worker that was killed would."""
    await desk.open(count)
    await desk.drain(triage(), seconds=0.0)
    until = "clock_timestamp() - interval '1 s'" if expired else "'infinity'"
    await desk.execute("UPDATE ticket SET state = 'Processing'")
    await desk.execute(
        "INSERT INTO curation.claim (stage, item, fence, lease_until, claimed_at, tries, deaths,"
        f" worker) SELECT 'triage', id, nextval('curation.fence'), {until}, now(), 1, {deaths},"
        " 'the dead' FROM ticket"
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


async def test_a_lease_from_the_future_is_shortened_not_trusted(desk: Desk) -> None:
    await abandon(desk, 1)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() + interval '1 year'"
    )

    assert await reap(desk.engine) == Reaped()

    left = "SELECT lease_until < now() + interval '3 s' FROM curation.claim"
    assert await desk.one(left) is True


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


async def test_the_third_death_is_the_last(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2)

    assert await reap(desk.engine) == Reaped(quarantined=1)

    assert await desk.states() == {"Error": 1}
    assert "died 3 times" in await desk.one("SELECT error FROM ticket")
    assert await desk.rows("SELECT kind, deaths FROM curation.dead_letter") == [
        ("quarantined", 3)
    ]
    assert (await story(desk.engine, "triage", 1)).dead == "quarantined"


async def test_a_survivor_is_no_suspect_any_more(desk: Desk) -> None:
    await abandon(desk, 1, deaths=1)
    await reap(desk.engine)

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        raise ValueError("an ordinary failure")

    await desk.drain(triage(work), seconds=0.2)

    assert await desk.one("SELECT max(deaths) FROM curation.claim") == 0


async def test_a_worker_rescues_by_itself(desk: Desk) -> None:
    await abandon(desk, 5)

    async with desk.running(triage(lease=timedelta(milliseconds=500))):
        await desk.until(DONE, 5)

    assert len(desk.told(Rescued)) == 5


async def test_a_claim_must_be_seen_expired_twice(desk: Desk) -> None:
    await abandon(desk, 1)
    lane = Lane(desk.engine)
    reaper = Reaper(lane)
    queues = [await queue_named(desk.engine, "triage")]

    first = await reaper.reap(queues)
    await desk.execute(
        "UPDATE curation.claim SET lease_until = now() - interval '1 ms'"
    )
    await asyncio.sleep(0.7)
    beaten_meanwhile = await reaper.reap(queues)
    await asyncio.sleep(0.7)
    second = await reaper.reap(queues)
    await lane.close()

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

    assert await reap(desk.engine) == Reaped(requeued=1)
    assert await desk.states() == {"Queued": 1}


async def test_quarantine_is_news(desk: Desk) -> None:
    await abandon(desk, 1, deaths=2)

    async with desk.running(triage(lease=timedelta(milliseconds=300))):
        await desk.until("SELECT state::text FROM ticket", "Error")

    assert [event.kind for event in desk.told(Died)] == ["quarantined"]
