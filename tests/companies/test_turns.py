"""Companies are matched in turns: no tenant stops the others, the loop, or the process."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.companies.matching import (
    FIRST_CHUNK,
    match_chunk,
    match_companies,
    match_tenant,
)
from scrapersky.companies.reading import NO_ID, STEP_ROWS, finish_reading, start_of
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.kit.stopping import never
from scrapersky.scheduler.alert import active_alerts
from scrapersky.scheduler.alert_monitor import SnapshotReader
from scrapersky.scheduler.app import work
from sdk_tests.rig.waiting import HUNG
from tests.conftest import TestDatabase

BIG, SMALL = UUID(int=1), UUID(int=2)
"""In the order in which tenants that wait equally long have their turns."""
MOST_LOOP_SECONDS = 0.25
"""Of processor time, between two turns of the loop; it was a minute and more."""
MOST_SECONDS = 5.0
"""Of processor time, for what took more than a minute."""
MOST_COMPARISONS = 22_000
"""In one transaction: the last record of a chunk may go beyond what is allowed."""
MOST_IN_GROUP = 100
ADD_TENANTS = """INSERT INTO tenants (id, name, slug)
  SELECT id, 'T', id::text FROM unnest(CAST(:ids AS uuid[])) AS t(id)"""
ADD_PLACE = """INSERT INTO places_staging
    (tenant_id, source, source_place_id, name, phone)
  VALUES (:tenant, 'test', :key, :name, '+498912345678')"""
ADD_PLACES = """INSERT INTO places_staging (tenant_id, source, source_place_id, name,
    phone, latitude, longitude)
  SELECT :tenant, 'test', n::text, 'Salon ' || md5((n / :size)::text),
    '+4989' || (10000000 + n / :size), 48 + (n / :size) * 0.01, 11
  FROM generate_series(0, :count - 1) AS n"""
REFUSE = """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE 'these records cannot be kept'; END $$;
CREATE TRIGGER refuse BEFORE UPDATE ON company_members FOR EACH ROW
  WHEN (NEW.tenant_id = '{tenant}') EXECUTE FUNCTION refuse()"""
SETBACK = """SELECT failures, error, extract(epoch FROM resume_at - clock_timestamp())
    AS rest FROM company_progress WHERE kind = 'matching'"""
REST_IS_OVER = (
    "UPDATE company_progress SET resume_at = clock_timestamp() WHERE kind = 'matching'"
)
COUNT = "SELECT count(*) FROM {table} WHERE tenant_id = '{tenant}'"


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    """Give a database with two tenants, which one connection reaches."""
    engine = connect(parse_target(database.url), pool_size=1)
    await ask(engine, ADD_TENANTS, ids=[BIG, SMALL])
    yield engine
    await engine.dispose()


async def ask(engine: AsyncEngine, statement: str, **values: Any) -> list[Any]:
    async with engine.begin() as connection:
        result = await connection.execute(text(statement), values)
        return [*result.all()] if result.returns_rows else []


async def count(engine: AsyncEngine, table: str, tenant: UUID) -> int:
    ((found,),) = await ask(engine, COUNT.format(table=table, tenant=tenant))
    return int(found)


async def add_places(
    engine: AsyncEngine, tenant: UUID, count: int, size: int = 1
) -> None:
    """Store places of one moment, of which so many are one company each time."""
    await ask(engine, ADD_PLACES, tenant=tenant, count=count, size=size)


@contextmanager
def watched_loop() -> Iterator[list[float]]:
    """Measure how long the loop works before others have their turn."""
    pauses = [0.0]

    async def beat() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            pauses.append((now := time.thread_time()) - before)
            before = now

    task = asyncio.ensure_future(beat())
    yield pauses
    task.cancel()


def after_calls(number: int) -> Callable[[], bool]:
    """Return what says for so many times that nothing has to stop."""
    calls = iter(range(number))
    return lambda: next(calls, None) is None


async def test_twelve_names_of_400_words_froze_the_worker(engine: AsyncEngine) -> None:
    for number in range(12):
        name = " ".join(words(400, number))
        await ask(engine, ADD_PLACE, tenant=BIG, key=f"{number}", name=name)

    began = time.process_time()
    with watched_loop() as pauses:
        run = await match_companies(engine)

    assert run.records == 12
    assert time.process_time() - began < MOST_SECONDS
    assert max(pauses) < MOST_LOOP_SECONDS
    assert await count(engine, "companies", BIG) == 12


def words(count: int, seed: int) -> Iterator[str]:
    """Make up words of five letters, none of which comes twice."""
    letters = "bcdfghklmnprstvw"
    for number in range(seed * count, (seed + 1) * count):
        yield "a" + "".join(letters[number >> shift & 15] for shift in (0, 4, 8, 12))


@pytest.mark.slow
async def test_a_hundred_records_of_each_company_kept_a_transaction_open_for_minutes(
    engine: AsyncEngine,
) -> None:
    await add_places(engine, BIG, 6 * MOST_IN_GROUP, size=MOST_IN_GROUP)
    # Everything is read, and one record matched.
    await match_tenant(engine, BIG, limit=1)
    chunks = []

    with watched_loop() as pauses:
        size, after = 6 * MOST_IN_GROUP, NO_ID
        while chunk := await match_chunk(engine, BIG, size, after, never):
            chunks.append(chunk)
            size, after = chunk.next_size, chunk.ids[-1]

    assert max(chunk.comparisons for chunk in chunks) < MOST_COMPARISONS
    assert max(pauses) < MOST_LOOP_SECONDS
    assert await count(engine, "companies", BIG) == 6


@pytest.mark.slow
async def test_a_tenant_whose_records_could_not_be_matched_stopped_all_after_it(
    engine: AsyncEngine, tmp_path: Any
) -> None:
    for tenant in (BIG, SMALL):
        await add_places(engine, tenant, 3)
    for statement in REFUSE.format(tenant=BIG).split(";\nCREATE TRIGGER"):
        prefix = "" if statement.startswith("CREATE") else "CREATE TRIGGER"
        await ask(engine, prefix + statement)

    with structlog.testing.capture_logs() as logs:
        run = await match_companies(engine)

    assert run.records == 3
    assert await count(engine, "companies", SMALL) == 3
    assert "these records cannot be kept" in run.failures[BIG]
    (line,) = [line for line in logs if line["event"] == "companies.tenant_failed"]
    assert line["log_level"] == "error"
    assert line["tenant_id"] == str(BIG)

    resting = await match_companies(engine)
    (first,) = await ask(engine, SETBACK)
    await ask(engine, REST_IS_OVER)
    await match_companies(engine)
    (second,) = await ask(engine, SETBACK)

    assert resting.failures == {}
    assert (first.failures, second.failures) == (1, 2)
    assert "these records cannot be kept" in second.error
    assert second.rest > first.rest
    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    found = active_alerts(await SnapshotReader(engine, settings.settings).read())
    assert (f"tenant {BIG}", "matching_failed") in [(t.subject, t.rule) for t in found]

    await ask(engine, "DROP TRIGGER refuse ON company_members")
    await ask(engine, REST_IS_OVER)
    recovered = await match_companies(engine)

    assert recovered.records == 3
    assert await ask(engine, SETBACK) == []


async def test_a_small_tenant_waited_until_all_records_of_a_big_one_were_matched(
    engine: AsyncEngine,
) -> None:
    await add_places(engine, BIG, 5 * FIRST_CHUNK)
    await add_places(engine, SMALL, 1)

    await match_companies(engine)

    ((before,),) = await ask(
        engine,
        """SELECT count(*) FROM companies b WHERE b.tenant_id = :big AND b.created_at <
          (SELECT created_at FROM companies WHERE tenant_id = :small)""",
        big=BIG,
        small=SMALL,
    )
    assert before <= FIRST_CHUNK
    assert await count(engine, "companies", BIG) == 5 * FIRST_CHUNK


async def test_reading_that_was_broken_off_began_anew_with_all_records_of_its_moment(
    engine: AsyncEngine,
) -> None:
    await add_places(engine, BIG, 2 * STEP_ROWS)

    await match_companies(engine, is_stopping=after_calls(1))
    half = await count(engine, "company_members", BIG)
    await match_companies(engine, is_stopping=after_calls(1))
    whole = await count(engine, "company_members", BIG)

    assert (half, whole) == (STEP_ROWS, 2 * STEP_ROWS)


@pytest.mark.slow
async def test_a_process_that_was_to_stop_matched_all_records_first(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Any
) -> None:
    await add_places(engine, BIG, STEP_ROWS, size=MOST_IN_GROUP)
    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    target = parse_target(database.url)
    async with work(settings.settings, target) as background:
        job = asyncio.ensure_future(background.schedule.trigger("match_companies"))
        async with asyncio.timeout(HUNG):
            while not await count(engine, "companies", BIG):  # noqa: ASYNC110 - in a database
                await asyncio.sleep(0.01)
    records = await job

    assert 0 < records < STEP_ROWS
    assert await match_tenant(engine, BIG) == STEP_ROWS - records
    assert await count(engine, "companies", BIG) == STEP_ROWS // MOST_IN_GROUP


async def test_who_had_begun_before_took_back_how_far_all_was_read(
    engine: AsyncEngine,
) -> None:
    read_until = "SELECT read_until FROM company_progress WHERE kind = 'places'"
    earlier = await start_of(engine, SMALL, "places")
    await ask(engine, ADD_PLACE, tenant=SMALL, key="a", name="Ada's Bakery")
    await match_tenant(engine, SMALL)
    before = await ask(engine, read_until)
    async with engine.begin() as connection:
        await finish_reading(SMALL, "places", earlier.began, connection)

    assert await ask(engine, read_until) == before
    assert len(before) == 1
