"""The promises one by one, each as the shortest history that a broken engine fails."""

import asyncio
import enum
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from curation_sdk import Done, Retry, Transaction, run_job_loop, statements
from sdk_tests.conftest import Database
from sdk_tests.model.ledger import (
    DONE,
    FAILED,
    QUEUED,
    WORKING,
    Job,
    Ledger,
    entry_of,
)
from sdk_tests.rig.cluster import Cluster
from sdk_tests.rig.proxy import fault_proxy

GROUP = 60
"""Items enough to be settled by the statement for many."""


@pytest.fixture
async def ledger(empty_database: Database) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(empty_database.url, empty_database.dsn)
    yield opened
    await opened.close()


async def test_a_worker_that_lost_its_claim_writes_nothing(ledger: Ledger) -> None:
    await ledger.reset(1)
    [late] = await ledger.hands[0].claim("batch")
    await ledger.requeue(1)
    [current] = await ledger.hands[1].claim("batch")

    await late.hand.settle(late, entry_of(late))

    now = await ledger.look(1)
    assert (now.status, now.fence) == ("working", current.held.fence)
    assert now.entries == ()


async def test_a_rescued_item_is_settled_by_its_new_owner_only(ledger: Ledger) -> None:
    await ledger.reset(1)
    [late] = await ledger.hands[0].claim("batch")
    await ledger.jump(100)
    await ledger.hands[1].reap()
    [current] = await ledger.hands[1].claim("suspect")

    await late.hand.settle(late, entry_of(late))
    await current.hand.settle(current, entry_of(current))

    now = await ledger.look(1)
    assert (now.status, len(now.entries)) == ("done", 1)
    assert late.hand.worker.refused == 1
    assert current.hand.worker.refused == 0


async def test_a_late_answer_in_a_group_does_not_use_a_neighbours_fence(
    ledger: Ledger,
) -> None:
    await ledger.reset(2 * GROUP)
    hand = ledger.hands[0]
    hand.batch(GROUP)
    first = await hand.claim("batch")
    await ledger.observer.execute(
        "UPDATE job SET status = 'queued', queued_at = 'epoch' WHERE id = 1"
    )
    hand.batch(GROUP)
    second = await hand.claim("batch")
    for mine in (*first, *second):
        hand.run.hold(mine.held)
    [late] = [mine for mine in first if mine.job == 1]
    [current] = [mine for mine in second if mine.job == 1]

    group = [late, *(mine for mine in second if mine.job != 1)]
    await hand.settle_together([(mine, Done()) for mine in group])

    now = await ledger.look(1)
    assert (now.status, now.fence) == ("working", current.held.fence)
    assert hand.worker.refused == 1
    done = "SELECT count(*) FROM job WHERE status = 'done'"
    assert await ledger.observer.fetchval(done) == GROUP - 1


async def test_a_group_settles_what_is_still_its_own(ledger: Ledger) -> None:
    await ledger.reset(GROUP)
    hand = ledger.hands[0]
    hand.batch(GROUP)
    mine = await hand.claim("batch")
    await ledger.cancel(1)
    await ledger.erase(2)
    await ledger.requeue(3)
    await ledger.hands[1].claim("batch")

    await hand.settle_together([(each, Done()) for each in mine])

    statuses = await ledger.observer.fetch(
        "SELECT status, count(*) FROM job GROUP BY 1 ORDER BY 1"
    )
    expected = [("cancelled", 1), ("done", GROUP - 3), ("working", 1)]
    assert [tuple(row) for row in statuses] == expected
    assert hand.worker.refused == 3
    noted = await ledger.observer.fetch(
        "SELECT outcome, count(*) FROM curation.attempt GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in noted] == [("done", GROUP - 3), ("refused", 3)]


async def test_a_cancelled_item_gets_no_result(ledger: Ledger) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")
    await ledger.cancel(1)

    await mine.hand.settle(mine, entry_of(mine))

    now = await ledger.look(1)
    assert (now.status, now.entries) == ("cancelled", ())


async def test_status_and_effect_stand_or_fall_together(ledger: Ledger) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")

    async def break_off(transaction: Transaction) -> None:
        raise ValueError("the effect failed half way")

    await mine.hand.settle(mine, Done(break_off))

    now = await ledger.look(1)
    assert (now.status, now.entries) == ("working", ())


async def test_a_settle_that_meets_a_dead_connection_is_repeated(
    ledger: Ledger,
) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")
    await ledger.cut(mine.hand)

    await mine.hand.settle(mine, entry_of(mine))

    now = await ledger.look(1)
    assert (now.status, len(now.entries)) == ("done", 1)


async def test_a_session_cut_inside_the_settle_doubles_nothing(ledger: Ledger) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")
    cuts = [mine.hand]

    async def cut_once() -> None:
        if cuts:
            await ledger.cut(cuts.pop())

    await mine.hand.settle(mine, entry_of(mine, cut_once))

    now = await ledger.look(1)
    assert (now.status, len(now.entries)) == ("done", 1)


async def test_a_commit_whose_answer_was_lost_counts_once(ledger: Ledger) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")
    mine.hand.connection.lose_next = True

    await mine.hand.settle(mine, entry_of(mine))

    now = await ledger.look(1)
    assert (now.status, len(now.entries)) == ("done", 1)
    assert mine.hand.worker.refused == 0


@pytest.mark.long
async def test_a_connection_that_falls_silent_while_it_opens_is_given_up(
    postgres_server: Cluster, empty_database: Database
) -> None:
    socket = f"{postgres_server.home}/.s.PGSQL.{postgres_server.port}"
    async with fault_proxy(socket=socket) as proxy:
        place = f"postgres@127.0.0.1:{proxy.port}/{empty_database.name}"
        ledger = await Ledger.open(f"postgresql+asyncpg://{place}", empty_database.dsn)
        await ledger.reset(1)
        [mine] = await ledger.hands[0].claim("batch")
        await ledger.engine.dispose()
        await ledger.cut(mine.hand)
        # It accepts, and says no more.
        proxy.hold_after = 0
        started = time.monotonic()

        settling = asyncio.ensure_future(mine.hand.settle(mine, entry_of(mine)))
        await asyncio.sleep(1)
        proxy.hold_after = None
        await settling

        assert time.monotonic() - started < 15
        assert proxy.injected > 0
        assert (await ledger.look(1)).status == "done"
        await ledger.close()


@pytest.mark.long
async def test_a_connection_that_falls_silent_inside_the_settle_is_given_up(
    postgres_server: Cluster, empty_database: Database
) -> None:
    socket = f"{postgres_server.home}/.s.PGSQL.{postgres_server.port}"
    async with fault_proxy(socket=socket) as proxy:
        place = f"postgres@127.0.0.1:{proxy.port}/{empty_database.name}"
        ledger = await Ledger.open(f"postgresql+asyncpg://{place}", empty_database.dsn)
        await ledger.reset(1)
        [mine] = await ledger.hands[0].claim("batch")
        mine.hand.connection.when_begun = proxy.hold_all
        started = time.monotonic()

        await mine.hand.settle(mine, entry_of(mine))

        assert time.monotonic() - started < 15
        now = await ledger.look(1)
        assert (now.status, len(now.entries)) == ("done", 1)
        await ledger.close()


async def test_a_running_lease_is_left_alone(ledger: Ledger) -> None:
    await ledger.reset(1)
    [mine] = await ledger.hands[0].claim("batch")

    await ledger.hands[1].reap()

    assert (await ledger.look(1)).fence == mine.held.fence


async def test_a_worker_with_a_wrong_clock_gets_a_whole_lease(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ledger.reset(1)
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() - 86_400)
    ledger.hands[0].forget()

    [mine] = await ledger.hands[0].claim("batch")
    await ledger.hands[1].reap()

    assert (await ledger.look(1)).fence == mine.held.fence


async def test_a_claim_takes_no_more_than_asked(ledger: Ledger) -> None:
    await ledger.reset(40)
    await ledger.observer.execute("ANALYZE job")
    driver = await ledger.hands[0].connection._open()
    # The plan under which a LIMIT inside IN is run again for every row.
    for method in ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize"):
        await driver.execute(f"SET enable_{method} = off")

    taken = await ledger.hands[0].claim("batch")

    working = await ledger.observer.fetchval(
        "SELECT count(*) FROM job WHERE status = 'working'"
    )
    assert (len(taken), working) == (2, 2)


async def test_a_large_claim_from_a_small_table_does_not_read_it_all(
    ledger: Ledger,
) -> None:
    await ledger.reset(20_000)
    await ledger.observer.execute("ANALYZE job")
    queue = ledger.hands[0].run.queue
    rows = statements.claim_rows(queue, 1000, keyed=True)
    claim = statements.take_first(queue, "m.id AS c0", rows)

    plan = await ledger.observer.fetch(f"EXPLAIN {claim}", "book", "hand", 30.0)

    lines = "\n".join(row[0] for row in plan)
    assert "Seq Scan on job" not in lines
    assert "Tid Scan on job" in lines


async def test_a_claim_steps_over_rows_that_others_hold(ledger: Ledger) -> None:
    await ledger.reset(3)
    ledger.hands[0].connection._timeout = 2.0
    async with ledger.observer.transaction():
        await ledger.observer.execute("SELECT FROM job WHERE id = 1 FOR UPDATE")

        taken = await ledger.hands[0].claim("batch")

    assert [mine.job for mine in taken] == [2, 3]


async def test_nobody_is_condemned_for_a_death_in_company(ledger: Ledger) -> None:
    await ledger.reset(2)
    hand = ledger.hands[0]
    await hand.claim("batch")
    for _ in range(3):
        await ledger.jump(100)
        await ledger.hands[1].reap()
        await hand.claim_suspects_together()
    await ledger.jump(100)
    await ledger.hands[1].reap()

    assert await ledger.observer.fetchval("SELECT max(deaths) FROM curation.claim") == 2
    [alone] = await hand.claim("suspect")
    await ledger.jump(100)
    await ledger.hands[1].reap()

    dead = await ledger.observer.fetch("SELECT item, kind FROM curation.dead_letter")
    assert [tuple(row) for row in dead] == [(str(alone.job), "quarantined")]


async def test_a_clock_set_back_keeps_nobody_waiting(ledger: Ledger) -> None:
    await ledger.reset(1)
    await ledger.hands[0].claim("batch")
    await ledger.jump(-600)
    await ledger.hands[1].reap()

    left = await ledger.observer.fetchval(
        "SELECT extract(epoch FROM lease_until - clock_timestamp())::float8"
        " FROM curation.claim"
    )

    assert left <= 60


async def test_a_queued_row_that_others_hold_is_found_later(ledger: Ledger) -> None:
    await ledger.reset(3)
    async with ledger.observer.transaction():
        await ledger.observer.execute("SELECT FROM job WHERE id = 1 FOR UPDATE")
        await ledger.hands[0].claim("batch")

    taken = await ledger.hands[0].claim("batch")

    assert [mine.job for mine in taken] == [1]


class Status(enum.StrEnum):
    QUEUED = QUEUED
    WORKING = WORKING
    DONE = DONE
    FAILED = FAILED


async def loop(ledger: Ledger, function: Any, **options: Any) -> int:
    """Call the plain loop on the ledger's own stage."""
    return await run_job_loop(
        Job,
        Status,
        Status.QUEUED,
        Status.WORKING,
        Status.DONE,
        Status.FAILED,
        function,
        order_by_column="queued_at",
        name="book",
        engine=ledger.engine,
        **options,
    )


async def look(_job: int, _session: AsyncSession) -> None:
    pass


async def test_a_loop_called_once_rescues_what_another_process_left(
    ledger: Ledger,
) -> None:
    await ledger.reset(1)
    await ledger.hands[0].claim("batch")
    await ledger.jump(100)

    settled = await loop(ledger, look, lease=timedelta(milliseconds=300))

    assert settled == 1
    assert (await ledger.look(1)).status == "done"


async def test_one_batch_works_no_more_than_asked(ledger: Ledger) -> None:
    await ledger.reset(7)
    [first, second] = await ledger.hands[0].claim("batch")
    again = Retry("once more", after=timedelta(0))
    await ledger.hands[0].settle_together([(first, again), (second, again)])

    settled = await loop(ledger, look, batch_size=3, mode="one_batch")

    assert settled == 3
    left = "SELECT count(*) FROM job WHERE status = 'queued'"
    assert await ledger.observer.fetchval(left) == 4


async def test_the_claim_of_another_worker_is_not_closed(ledger: Ledger) -> None:
    await ledger.reset(1)
    [late] = await ledger.hands[0].claim("batch")
    await ledger.requeue(1)
    [current] = await ledger.hands[1].claim("batch")

    await ledger.observer.execute(
        statements.CLOSE_CLAIM, "book", "1", late.held.fence, "done", None, None
    )

    assert (await ledger.look(1)).fence == current.held.fence
    assert not await ledger.observer.fetchval("SELECT count(*) FROM curation.attempt")


async def test_a_status_that_a_function_sets_too_late_is_not_written(
    ledger: Ledger,
) -> None:
    await ledger.reset(1)

    async def finish_late(job: int, session: AsyncSession) -> None:
        await ledger.requeue(job)
        await ledger.hands[1].claim("batch")
        await session.execute(text("UPDATE job SET status = 'done'"))

    await loop(ledger, finish_late, within=timedelta(seconds=1))

    now = await ledger.look(1)
    assert (now.status, now.claimed) == ("working", True)


async def test_the_reaper_steps_over_an_item_whose_session_writes(
    ledger: Ledger,
) -> None:
    await ledger.reset(1)

    async def write_slowly(_job: int, session: AsyncSession) -> None:
        await ledger.jump(100)
        await session.execute(text("SELECT 1"))
        await ledger.hands[1].reap()

    await loop(ledger, write_slowly)

    outcomes = await ledger.observer.fetch("SELECT outcome FROM curation.attempt")
    assert [row["outcome"] for row in outcomes] == ["done"]
