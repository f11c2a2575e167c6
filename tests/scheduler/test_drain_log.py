"""The records of what eager stages do between two ticks."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.events import Claimed, Retried, Settled
from scrapersky.db.connection import connect, parse_target
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.item_counter import Counts, ItemCounter
from scrapersky.scheduler.run_log import Run, RunLog
from tests.conftest import TestDatabase


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


def claim(tally: ItemCounter, *items: str) -> None:
    tally.hear(Claimed("pages", "w", items))


def settle(tally: ItemCounter, *items: str) -> None:
    for item in items:
        tally.hear(Settled("pages", item, "done", None, timedelta(0)))


async def rows(engine: AsyncEngine) -> list[tuple[object, ...]]:
    query = (
        "SELECT job_id, outcome, items, succeeded, finished_at >= started_at"
        " FROM scheduler_runs ORDER BY started_at"
    )
    async with engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(text(query))]


async def test_work_between_two_ticks_was_a_short_run_at_the_later_one(
    engine: AsyncEngine,
) -> None:
    tally = ItemCounter()
    drains = DrainLog(tally, RunLog(engine, "p1"), {"pages": "a_job"})
    claim(tally, "1", "2", "3")
    settle(tally, "1")

    await drains.look()
    assert await rows(engine) == [("a_job", "running", 3, 1, None)]

    settle(tally, "2", "3")
    await drains.look()
    assert await rows(engine) == [("a_job", "executed", 3, 3, True)]


async def test_pauses_between_items_make_no_record_for_each(
    engine: AsyncEngine,
) -> None:
    tally, reported = ItemCounter(), list[Run]()
    drains = DrainLog(tally, RunLog(engine, "p1"), {"pages": "a_job"})
    drains.ended.listen(reported.append)
    for item in ("1", "2", "3"):
        claim(tally, item)
        await drains.look()
        settle(tally, item)
        await drains.look()

    assert await rows(engine) == [("a_job", "executed", 3, 3, True)]
    assert reported == []
    await drains.close()
    assert [run.counts for run in reported] == [Counts(picked=3, succeeded=3)]


async def test_a_tick_has_what_is_done_during_it_and_nothing_of_before(
    engine: AsyncEngine,
) -> None:
    tally = ItemCounter()
    drains = DrainLog(tally, RunLog(engine, "p1"), {"pages": "a_job"})
    claim(tally, "1")
    async with drains.tick("pages"):
        tally.hear(Retried("pages", "1", "slow", 1, timedelta(0)))
        await drains.look()
        assert tally.take("pages") == Counts(retried=1, last_error="slow")
    claim(tally, "2")
    await drains.close()

    assert await rows(engine) == [
        ("a_job", "executed", 1, 0, True),
        ("a_job", "executed", 1, 0, True),
    ]


async def test_what_was_done_while_the_database_was_away_is_recorded_later(
    engine: AsyncEngine,
) -> None:
    tally, runs = ItemCounter(), RunLog(engine, "p1")
    drains = DrainLog(tally, runs, {"pages": "a_job"})
    runs._engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))
    claim(tally, "1")
    await drains.look()
    await runs._engine.dispose()
    runs._engine = engine
    settle(tally, "1")
    await drains.look()

    assert await rows(engine) == [("a_job", "executed", 1, 1, True)]
