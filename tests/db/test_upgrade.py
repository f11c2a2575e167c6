"""A database that an older version has filled is upgraded with everything in it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.db.revision import revisions
from scrapersky.db.schema import check_schema
from scrapersky.records import METADATA
from tests.conftest import TestDatabase

OLD = "0022_tracebacks"
DATA = Path(__file__).with_name("data_at_0022.sql")
VERSIONS = {"public.alembic_version", "curation.version"}
DEFAULT_RULE = "Contact-like pages"

TABLES = """
SELECT n.nspname || '.' || c.relname FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', 'curation') AND c.relkind IN ('r', 'p') ORDER BY 1
"""

Row = dict[str, Any]
Content = dict[str, list[Row]]


@pytest.fixture
async def connection(
    empty_database: TestDatabase,
) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(empty_database.dsn)
    yield connection
    await connection.close()


async def migrate(database: TestDatabase, revision: str) -> None:
    engine = connect(parse_target(database.url))
    await upgrade(engine, revision)
    if revision == "head":
        await check_schema(engine, *METADATA)
    await engine.dispose()


async def content(connection: asyncpg.Connection) -> Content:
    """Return every row of every table, but for those that hold the version."""
    tables = [row[0] for row in await connection.fetch(TABLES)]
    return {
        table: [
            orjson.loads(row[0])
            for row in await connection.fetch(f"SELECT to_jsonb(t) FROM {table} t")
        ]
        for table in tables
        if table not in VERSIONS
    }


def hollow(rows: list[Row]) -> list[str]:
    """Return the columns in which no row holds a value."""
    names = rows[0] if rows else ["every column"]
    return [name for name in names if all(row.get(name) is None for row in rows)]


def in_order(rows: list[Row], columns: Row) -> list[str]:
    """Write these columns of every row down, so that two lists can be compared."""
    return sorted(
        orjson.dumps(
            {name: row.get(name, "the column is gone") for name in columns},
            option=orjson.OPT_SORT_KEYS,
        ).decode()
        for row in rows
    )


def lost(before: Content, after: Content) -> dict[str, set[str]]:
    """Return the rows, by table, that are no longer there as they were."""
    return {
        table: gone
        for table, rows in before.items()
        if rows
        and (
            gone := set(in_order(rows, rows[0])).difference(
                in_order(after.get(table, []), rows[0])
            )
        )
    }


async def test_an_old_database_is_upgraded_and_no_value_is_lost(
    empty_database: TestDatabase, connection: asyncpg.Connection
) -> None:
    await migrate(empty_database, OLD)
    await connection.execute(DATA.read_text(encoding="utf-8"))
    before = await content(connection)
    assert [name for name, rows in before.items() if hollow(rows)] == []

    await migrate(empty_database, "head")

    after = await content(connection)
    assert (
        await connection.fetchval("SELECT version_num FROM alembic_version")
        == (revisions()[-1])
    )
    assert {name: len(rows) for name, rows in before.items()} == {
        name: len(after[name]) for name in before
    }
    # The rule that every tenant begins with becomes a better one; a changed one stays.
    ours = [row for row in before["public.selection_rules"] if not_by_hand(row)]
    changed = lost(before, after)
    assert list(changed) == ["public.selection_rules"]
    assert changed["public.selection_rules"] == set(in_order(ours, ours[0]))


def not_by_hand(rule: Row) -> bool:
    return bool(rule["name"] == DEFAULT_RULE and "0.3" in str(rule["conditions"]))


def test_a_lost_row_a_changed_value_and_a_dropped_column_are_noticed() -> None:
    before: Content = {"pages": [{"id": 1, "title": "Kontakt"}]}

    assert (
        lost(before, {"pages": [{"id": 1, "title": "Kontakt", "clicks": None}]}) == {}
    )
    assert lost(before, {"pages": []})
    assert lost(before, {"pages": [{"id": 1, "title": "Contact"}]})
    assert lost(before, {"pages": [{"id": 1}]})
