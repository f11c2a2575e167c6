"""This version on the schema of one that is still to come."""

import asyncio
from pathlib import Path

import httpx
import psycopg
import pytest

from scrapersky.cli.way_back import walk_back
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.db.schema import check_schema
from scrapersky.errors import SchemaMismatch
from scrapersky.records import METADATA
from scrapersky.records.status import ENUMS
from tests.cli.rig import execute
from tests.conftest import TestDatabase
from tests.releases.rig import THIS, load, works

FUTURE = (
    "UPDATE alembic_version SET version_num = '9999_future'",
    "CREATE TABLE moods (id int PRIMARY KEY, contact_id uuid REFERENCES contacts)",
    "ALTER TABLE contacts ADD COLUMN mood text NOT NULL DEFAULT 'calm'",
    "ALTER TABLE domains ADD COLUMN mood text GENERATED ALWAYS AS (lower(domain)) STORED",
    "ALTER TABLE domains ALTER COLUMN domain DROP NOT NULL",
    "CREATE INDEX ix_mood ON contacts (mood)",
    """CREATE FUNCTION note_mood() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO moods VALUES (nextval('mood'), NULL); RETURN NULL; END $$""",
    "CREATE SEQUENCE mood",
    """CREATE TRIGGER note_mood AFTER UPDATE ON local_businesses
    FOR EACH ROW EXECUTE FUNCTION note_mood()""",
)
UNKNOWN = "Pondering"
STATUSES = """SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_type t ON t.oid = a.atttypid
  WHERE t.typtype = 'e' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attgenerated = ''
    AND c.relname IN ('contacts', 'domains', 'local_businesses', 'pages', 'sitemap_files',
      'places_staging', 'people', 'companies')"""
LISTS = (
    "contacts", "domains", "local-businesses", "pages", "sitemap-files", "places/staging",
    "companies",
)  # fmt: skip


@pytest.fixture
def newer(bare_database: TestDatabase) -> TestDatabase:
    """Give a filled database that a version to come has migrated, with rows as it leaves them."""
    asyncio.run(fill(bare_database))
    for statement in FUTURE:
        execute(bare_database, statement)
    for enum in ENUMS:
        execute(bare_database, f"ALTER TYPE {enum.name} ADD VALUE '{UNKNOWN}'")
    for table, column in execute(bare_database, STATUSES):
        execute(
            bare_database,
            f"UPDATE {table} SET {column} = '{UNKNOWN}' WHERE id IN"
            f" (SELECT id FROM {table} ORDER BY id DESC LIMIT 1)",
        )
    return bare_database


async def fill(database: TestDatabase) -> None:
    await load(database, "0.2.0")
    engine = connect(parse_target(database.url), statement_timeout=None)
    await upgrade(engine)
    await engine.dispose()


async def check(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url))
    try:
        await check_schema(engine, *METADATA)
    finally:
        await engine.dispose()


@pytest.mark.slow
def test_the_version_before_could_not_start_again_on_a_newer_schema(
    newer: TestDatabase, tmp_path: Path
) -> None:
    def lists(client: httpx.Client) -> None:
        for name in LISTS:
            answer = client.get(f"/api/v3/{name}", params={"limit": 200})
            assert answer.status_code == 200, (name, answer.text)
            assert UNKNOWN in answer.text, name

    works(THIS, newer, tmp_path / "old", "up", "--workers", "0", look=lists)
    exported = THIS.run(
        "export", "contacts", "--out", str(tmp_path / "contacts.csv"),
        DATABASE_URL=newer.url, SCRAPERSKY_DATA_DIR=tmp_path / "data",
    )  # fmt: skip

    assert exported.returncode == 0, exported.stderr
    with psycopg.connect(newer.dsn) as connection:
        noted = connection.execute("SELECT count(*) FROM moods").fetchone()
    assert noted != (0,), "the trigger of the newer schema ran"


@pytest.mark.slow
def test_what_a_newer_schema_demands_or_lacks_is_named(newer: TestDatabase) -> None:
    execute(newer, "ALTER TABLE contacts ADD COLUMN demanded int")
    execute(newer, "UPDATE contacts SET demanded = 1")
    execute(newer, "ALTER TABLE contacts ALTER COLUMN demanded SET NOT NULL")
    execute(newer, "ALTER TABLE domains DROP COLUMN organisation")

    with pytest.raises(SchemaMismatch) as refused:
        asyncio.run(check(newer))

    assert "column contacts.demanded must be given" in str(refused.value)
    assert "column domains.organisation is missing" in str(refused.value)
    with pytest.raises(
        SchemaMismatch, match="9999_future, which this ScraperSky does not"
    ):
        asyncio.run(
            walk_back(parse_target(newer.url), "0041_time_ordered_keys", check=True)
        )
