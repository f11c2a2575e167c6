"""What matching costs: bounded by the work, kept, and next to nothing where nothing changed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.companies import matching
from scrapersky.companies.clustering import MOST_COMPARED, Clusters
from scrapersky.companies.matching import match_chunk, match_companies
from scrapersky.companies.reading import NO_ID
from scrapersky.db.connection import connect, parse_target
from scrapersky.kit.stopping import never
from sdk_tests.rig.waiting import HUNG
from tests.companies.conftest import HERE, Trade
from tests.conftest import TestDatabase

GROUP = 100
ADD_OLD = """INSERT INTO places_staging (tenant_id, source, source_place_id, name, phone,
    latitude, longitude, updated_at)
  SELECT (SELECT min(id::text)::uuid FROM tenants), 'test', n::text,
    'Salon ' || md5((n / :size)::text), '+4989' || (10000000 + n / :size),
    48 + (n / :size) * 0.01, 11, clock_timestamp() - interval '1 hour'
  FROM generate_series(0, :count - 1) AS n"""
"""Before the last two minutes: those are read again in any case."""
TOUCH = "UPDATE places_staging SET phone = '+4930999999' WHERE source_place_id = '7'"
IDLE = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'scrapersky-matcher'
  AND datname = current_database() AND state LIKE 'idle in transaction%'"""


@pytest.fixture
async def engine(database: TestDatabase) -> Any:
    engine = connect(parse_target(database.url), name="scrapersky-matcher", pool_size=1)
    yield engine
    await engine.dispose()


async def ask(engine: AsyncEngine, statement: str, **values: Any) -> list[Any]:
    async with engine.begin() as connection:
        result = await connection.execute(text(statement), values)
        return [*result.all()] if result.returns_rows else []


@contextmanager
def counted_rows(engine: AsyncEngine) -> Iterator[list[int]]:
    """Count the rows that every statement reads or writes."""
    rows: list[int] = []

    def count(_connection: Any, cursor: Any, *_: Any) -> None:
        rows.append(max(cursor.rowcount, 0))

    event.listen(engine.sync_engine, "after_cursor_execute", count)
    yield rows
    event.remove(engine.sync_engine, "after_cursor_execute", count)


async def test_a_run_after_which_nothing_had_changed_read_every_record_again(
    engine: AsyncEngine,
) -> None:
    await ask(engine, ADD_OLD, count=300, size=3)
    await match_companies(engine)

    with counted_rows(engine) as again:
        nothing = await match_companies(engine)
    await ask(engine, TOUCH)
    with counted_rows(engine) as changed:
        one = await match_companies(engine)

    assert nothing.records == 0
    # A dozen statements that ask how far it has come: a row each, and nothing else.
    assert sum(again) <= 20
    assert one.records == 1
    assert sum(changed) <= 60


async def test_every_record_of_a_hundred_was_compared_with_all_others(
    engine: AsyncEngine,
) -> None:
    await ask(engine, ADD_OLD, count=2 * GROUP, size=GROUP)
    await match_companies(engine, limit=1)

    compared = 0
    while chunk := await match_chunk(
        engine, await tenant(engine), 2 * GROUP, NO_ID, never
    ):
        compared += chunk.comparisons

    assert compared <= 2 * GROUP * 2 * MOST_COMPARED
    assert await ask(engine, "SELECT records_count FROM companies") == [(50,), (50,)]
    assert await ask(
        engine, "SELECT count(*) FROM company_members GROUP BY company_id"
    ) == [(GROUP,), (GROUP,)]


async def tenant(engine: AsyncEngine) -> UUID:
    ((found,),) = await ask(engine, "SELECT min(id::text)::uuid FROM tenants")
    return UUID(str(found))


async def test_a_transaction_was_open_while_records_were_compared(
    engine: AsyncEngine, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(engine, ADD_OLD, count=20, size=2)
    watcher = connect(parse_target(database.url))
    loop = asyncio.get_running_loop()
    idle: list[int] = []
    compare = matching.place_some

    async def look() -> int:
        ((count,),) = await ask(watcher, IDLE)
        return int(count)

    def watched(*given: Any) -> Any:
        idle.append(asyncio.run_coroutine_threadsafe(look(), loop).result(HUNG))
        return compare(*given)

    monkeypatch.setattr(matching, "place_some", watched)
    await match_companies(engine)
    await watcher.dispose()

    assert idle == [0]


async def test_what_a_person_said_while_records_were_compared_was_overwritten(
    trade: Trade, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trade.place("a", "Bäckerei Huber", phone="+498912345678")
    await trade.match()
    company = await trade.company_of("a")
    await trade.place("b", "Bäckerei Huber", phone="+498912345678")
    loop = asyncio.get_running_loop()
    compare = matching.place_some
    tries: list[Clusters] = []

    async def work_on_it() -> None:
        # Somebody moves the company's record while another one is compared with it.
        await trade.rows(
            "UPDATE company_members SET name = 'Metzgerei Kunz', street = 'mill rd 1', "
            "latitude = 50, phone = NULL, near_block = NULL WHERE company_id = :company",
            company=company,
        )

    def interrupted(clusters: Clusters, *given: Any) -> Any:
        if not tries:
            asyncio.run_coroutine_threadsafe(work_on_it(), loop).result(HUNG)
        tries.append(clusters)
        return compare(clusters, *given)

    monkeypatch.setattr(matching, "place_some", interrupted)
    await trade.match()

    assert len(tries) == 2
    assert await trade.groups() == {frozenset("a"), frozenset("b")}


async def test_a_record_that_was_deleted_while_it_was_read_set_its_tenant_back(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(engine, ADD_OLD, count=3, size=1)
    keep = matching.keep_step
    deleted: list[Any] = []

    async def late(*given: Any) -> None:
        if not deleted:
            deleted.append(
                await ask(
                    engine_beside,
                    "DELETE FROM places_staging WHERE source_place_id = '1'",
                )
            )
        await keep(*given)

    engine_beside = connect(
        parse_target(engine.url.render_as_string(hide_password=False))
    )
    monkeypatch.setattr(matching, "keep_step", late)
    run = await match_companies(engine)
    await engine_beside.dispose()

    assert run.failures == {}
    assert run.records == 2


async def test_the_person_who_keeps_two_apart_is_heard_about_every_record_of_a_company(
    trade: Trade,
) -> None:
    """A company may have more records than a new one is compared with."""
    for number in range(MOST_COMPARED + 3):
        await trade.place(f"{number:02}", "Bäckerei Huber", phone="+498912345678")
    await trade.match()
    await trade.place("new", "Metzgerei Kunz", latitude=50.0, longitude=8.0)
    await trade.match()
    last = f"{MOST_COMPARED + 2:02}"
    await trade.rows(
        """INSERT INTO company_pairs (tenant_id, left_id, right_id, score, verdict)
        SELECT :tenant, least(a.id, b.id), greatest(a.id, b.id), 1, 'different'
        FROM company_members a JOIN places_staging p ON p.id = a.place_id,
          company_members b JOIN places_staging q ON q.id = b.place_id
        WHERE a.tenant_id = :tenant AND b.tenant_id = :tenant
          AND p.source_place_id = :last AND q.source_place_id = 'new'""",
        last=last,
    )
    await trade.rows(
        """UPDATE places_staging SET name = 'Bäckerei Huber', phone = '+498912345678',
          latitude = :latitude, longitude = :longitude
        WHERE tenant_id = :tenant AND source_place_id = 'new'""",
        **HERE,
    )
    await trade.match()

    assert frozenset({"new"}) in await trade.groups()
