"""A database that is in use is migrated while others read and write it."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import asyncpg
import pytest

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.db.schema import check_schema
from scrapersky.records import METADATA
from tests.conftest import TestDatabase
from tests.db.filled import FILLED, OLD, fill, watched

ROWS = 20_000
MILLION = 1_000_000
FILES = """SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r'
  AND relnamespace IN ('public'::regnamespace, 'curation'::regnamespace)"""
INVALID = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
MIGRATE = """
import asyncio, sys
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
asyncio.run(upgrade(connect(parse_target(sys.argv[1]), statement_timeout=None)))
"""


@pytest.fixture
async def old(
    empty_database: TestDatabase,
) -> AsyncIterator[asyncpg.Connection]:
    """Give a connection to a database with nothing but the tables of revision 22."""
    await migrate(empty_database, OLD)
    connection = await asyncpg.connect(empty_database.dsn)
    yield connection
    await connection.close()


async def migrate(database: TestDatabase, revision: str = "head") -> None:
    engine = connect(parse_target(database.url), statement_timeout=None)
    await upgrade(engine, revision)
    if revision == "head":
        await check_schema(engine, *METADATA)
    await engine.dispose()


@pytest.mark.slow
async def test_tables_were_rewritten_and_locked_while_an_index_was_built(
    empty_database: TestDatabase, old: asyncpg.Connection
) -> None:
    await fill(old, ROWS)
    files = await files_of(old)
    changed = await old.fetchval("SELECT max(updated_at) FROM contacts")

    with watched(empty_database.dsn) as seen:
        await migrate(empty_database)

    after = await files_of(old)
    assert {name: after[name] for name in files} == files, "no table was rewritten"
    assert await old.fetch(INVALID) == []
    # Building an index plainly holds a SHARE lock.
    shared = {table for _, table, mode in seen.locks if mode == "ShareLock"}
    assert shared.isdisjoint(FILLED)
    assert seen.looks > 100
    untouched = "SELECT count(*) FROM contacts WHERE updated_at <= $1"
    assert await old.fetchval(untouched, changed) >= ROWS - 10
    await derived_is_right(old)


async def files_of(connection: asyncpg.Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in await connection.fetch(FILES)}


async def derived_is_right(connection: asyncpg.Connection) -> None:
    for table, column, value in (
        ("contacts", "deliverability::text", "risky"),
        ("contacts", "left(name_order, 12)", "abel odegard"),
        ("local_businesses", "left(name_order, 7)", "strasse"),
        ("local_businesses", "city_order", "lodz"),
        ("places_staging", "left(name_order, 7)", "strasse"),
    ):
        found = await connection.fetch(f"SELECT DISTINCT {column} FROM {table}")
        assert [row[0] for row in found] == [value], (table, column)


@pytest.mark.long
async def test_a_migration_of_a_million_rows_was_an_outage(
    empty_database: TestDatabase, old: asyncpg.Connection
) -> None:
    await fill(old, MILLION)
    files = await files_of(old)

    began = time.monotonic()
    with watched(empty_database.dsn) as seen:
        await migrate(empty_database)

    print(f"\n{MILLION:,} rows, {time.monotonic() - began:.1f} s in all")
    print(seen.table())
    after = await files_of(old)
    assert {name: after[name] for name in files} == files, "no table was rewritten"
    assert max(seen.locks.values()) < 1, "a lock that keeps others out"
    assert max(seen.waits.values(), default=0) < 1, "somebody waited for a lock"
    await derived_is_right(old)


async def until(connection: asyncpg.Connection, query: str) -> None:
    """Wait until a query finds something, for as long as a slow machine may take."""
    for _ in range(1200):
        if await connection.fetch(query):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(query)


FILLING = """SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE NOT granted AND query LIKE 'UPDATE /* in batches */ contacts%'"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "held", "reached"),
    [
        ("0046_people_of_addresses", "SELECT FROM contacts FOR UPDATE", FILLING),
        ("0036_traceparent", "UPDATE pages SET title = title", INVALID),
    ],
    ids=["rows are filled", "an index is built"],
)
async def test_an_upgrade_that_was_killed_goes_on_where_it_was(
    empty_database: TestDatabase,
    old: asyncpg.Connection,
    before: str,
    held: str,
    reached: str,
) -> None:
    await fill(old, 2_000)
    await migrate(empty_database, before)
    other = await asyncpg.connect(empty_database.dsn)
    await other.execute(f"BEGIN; {held}")
    migrating = await asyncio.create_subprocess_exec(
        sys.executable, "-c", MIGRATE, empty_database.url
    )

    await until(old, reached)
    migrating.kill()
    await migrating.wait()
    await other.close()
    unfinished = await old.fetchval("SELECT version_num FROM alembic_version")
    await migrate(empty_database)

    assert unfinished == before
    assert await old.fetch(INVALID) == []
    await derived_is_right(old)


@pytest.mark.slow
async def test_who_waited_to_migrate_kept_an_index_from_being_built(
    empty_database: TestDatabase, old: asyncpg.Connection
) -> None:
    await fill(old, 2_000)

    both = asyncio.gather(migrate(empty_database), migrate(empty_database))

    # They waited for each other, and no server can see that.
    await asyncio.wait_for(both, timeout=300)
