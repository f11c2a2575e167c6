"""What every release left behind is upgraded, worked on, and taken back again."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import orjson
import psycopg
import pytest

from scrapersky.cli.way_back import walk_back
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.db.releases import RELEASED, RUNS_ON_OURS, Release, releases
from scrapersky.db.revision import revisions
from scrapersky.db.schema import check_schema
from scrapersky.errors import SchemaMismatch
from scrapersky.records import METADATA
from scripts.release_fixture import MAX_FIXTURE_BYTES, PLACE
from tests.cli.rig import execute
from tests.conftest import TestDatabase
from tests.db.test_upgrade import Content, content, lost
from tests.durable import new_database
from tests.releases.rig import THIS, load, sources_of, works

KEPT = sorted(file.stem for file in PLACE.glob("*.backup"))
KEYS = """SELECT n.nspname || '.' || c.relname, array_agg(a.attname::text ORDER BY a.attname)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
  WHERE i.indisprimary AND n.nspname IN ('public', 'curation') GROUP BY 1"""
REWRITTEN = {
    "public.place_search_hits", "public.places_staging", "public.selection_rules",
}  # fmt: skip
"""Tables with values that migrations write in another form."""
Keys = dict[str, set[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A database that a release left behind, upgraded and worked on by this version."""

    release: str
    revision: str
    database: TestDatabase
    before: Content
    keys: Keys
    after: Content
    kept: Keys


@pytest.fixture(scope="module", params=KEPT)
def upgraded(
    request: pytest.FixtureRequest,
    durable_server: EmbeddedPostgres,
    tmp_path_factory: pytest.TempPathFactory,
) -> Upgraded:
    database = new_database(durable_server, "template0")
    revision = asyncio.run(load(database, request.param))
    before, keys = asyncio.run(content_in(database)), keys_in(database)
    asyncio.run(migrate(database))
    after, kept = asyncio.run(content_in(database)), keys_in(database)
    works(THIS, database, tmp_path_factory.mktemp("new") / "it", "up", "--workers", "0")
    return Upgraded(request.param, revision, database, before, keys, after, kept)


async def content_in(database: TestDatabase) -> Content:
    connection = await asyncpg.connect(database.dsn)
    try:
        return await content(connection)
    finally:
        await connection.close()


def keys_in(database: TestDatabase) -> Keys:
    """Return the key of every row of every table."""
    with psycopg.connect(database.dsn) as connection:
        return {
            table: {
                tuple(map(str, row))
                for row in connection.execute(
                    f"SELECT {', '.join(columns)} FROM {table}".encode()
                )
            }
            for table, columns in connection.execute(KEYS).fetchall()
            if table != "public.alembic_version"
        }


async def migrate(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url), statement_timeout=None)
    await upgrade(engine)
    await check_schema(engine, *METADATA)
    await engine.dispose()


def missing(before: Keys, after: Keys) -> Keys:
    """Return the rows, by table, that are no longer there."""
    return {
        table: gone
        for table, rows in before.items()
        if (gone := rows - after.get(table, set()))
    }


def within(content: Content, schema: Content) -> Content:
    """Return what has a place in an older schema."""
    return {
        table: [{name: row[name] for name in rows[0]} for row in content[table]]
        for table, rows in schema.items()
        if rows and len(rows) == len(content[table])
    }


def test_every_release_left_a_database_behind() -> None:
    tagged = {release.version for release in RELEASED}

    assert tagged <= {*KEPT}
    assert {*KEPT} <= {release.version for release in releases()}
    assert [
        file.name for file in PLACE.iterdir() if file.stat().st_size > MAX_FIXTURE_BYTES
    ] == []


@pytest.mark.slow
def test_a_database_of_every_release_is_upgraded_and_worked_on(
    upgraded: Upgraded, tmp_path: Path
) -> None:
    assert sum(map(len, upgraded.keys.values())) > 300, "it holds a town"
    assert missing(upgraded.keys, upgraded.kept) == {}
    assert {*lost(upgraded.before, upgraded.after)} <= REWRITTEN

    exported = THIS.run(
        "export", "contacts", "--out", str(tmp_path / "contacts.csv"),
        DATABASE_URL=upgraded.database.url, SCRAPERSKY_DATA_DIR=tmp_path / "data",
    )  # fmt: skip

    assert exported.returncode == 0, exported.stderr
    contacts = len(upgraded.keys["public.contacts"])
    assert len((tmp_path / "contacts.csv").read_text().splitlines()) == contacts + 1


@pytest.mark.slow
def test_the_way_back_to_every_release_was_a_backup_it_could_not_restore(
    upgraded: Upgraded,
) -> None:
    target = parse_target(upgraded.database.url)
    worked = asyncio.run(content_in(upgraded.database))

    foreseen = asyncio.run(walk_back(target, upgraded.revision, check=True))
    assert lost(worked, asyncio.run(content_in(upgraded.database))) == {}, "a dry run"
    undone, losses = asyncio.run(walk_back(target, upgraded.revision, check=False))

    assert (undone, losses) == foreseen
    newest = revisions().index(upgraded.revision) + 1
    assert undone == revisions()[newest:]
    back = asyncio.run(content_in(upgraded.database))
    assert back.keys() == upgraded.before.keys()
    # What both versions did is whole; a default that was rewritten is written back.
    assert {*lost(within(worked, back), back)} <= REWRITTEN
    assert missing(upgraded.keys, keys_in(upgraded.database)) == {}

    asyncio.run(migrate(upgraded.database))
    assert missing(upgraded.keys, keys_in(upgraded.database)) == {}


@pytest.mark.long
def test_every_release_starts_again_after_the_way_back(
    upgraded: Upgraded, tmp_path: Path
) -> None:
    release = next(one for one in releases() if one.version == upgraded.release)
    if release.commit is None:
        pytest.skip("it is not tagged yet")
    tree = sources_of(release, tmp_path / "sources")
    asyncio.run(migrate(upgraded.database))
    if release.version < RUNS_ON_OURS:
        refused = tree.run(
            "worker", DATABASE_URL=upgraded.database.url, SCRAPERSKY_DATA_DIR=tmp_path
        )
        assert refused.returncode == 1
        assert revisions()[-1] in refused.stderr, "it says that the schema is newer"

    asyncio.run(
        walk_back(parse_target(upgraded.database.url), upgraded.revision, check=False)
    )
    works(tree, upgraded.database, tmp_path / "old", "up")

    asyncio.run(migrate(upgraded.database))
    assert missing(upgraded.keys, keys_in(upgraded.database)) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "newer"),
    [
        (old, newer)
        for newer in releases()
        for old in RELEASED
        if newer.runs <= old.version < newer.version
    ],
    ids=lambda release: release.version,
)
def test_an_older_release_runs_on_the_schema_of_a_newer_one(
    old: Release, newer: Release, bare_database: TestDatabase, tmp_path: Path
) -> None:
    asyncio.run(load(bare_database, newer.version))
    if newer.commit is None:
        asyncio.run(migrate(bare_database))

    works(sources_of(old, tmp_path / "sources"), bare_database, tmp_path / "old", "up")


@pytest.mark.slow
def test_going_back_is_refused_while_somebody_works(
    installed: TestDatabase,
) -> None:
    execute(
        installed,
        "INSERT INTO processes (name, role, host, pid, version) VALUES"
        " ('crawler-1', 'worker', 'crawler', 1, '0.4.0')",
    )

    with pytest.raises(
        SchemaMismatch, match="Processes work on this database: crawler-1"
    ):
        asyncio.run(
            walk_back(
                parse_target(installed.url),
                "0041_time_ordered_keys",
                check=False,
            )
        )


@pytest.mark.slow
def test_a_dry_run_says_what_has_no_place_in_the_older_schema(
    installed: TestDatabase, tmp_path: Path
) -> None:
    execute(
        installed,
        "INSERT INTO suppressions (tenant_id, kind, value_hash, entry_hash)"
        " SELECT id, 'email', '\\x01', '\\x02' FROM tenants",
    )

    settings = {"DATABASE_URL": installed.url, "SCRAPERSKY_DATA_DIR": tmp_path}
    said = THIS.run("migrate", "--to", "0.3.0", "--check", **settings).stdout
    done = THIS.run("migrate", "--to", "0.3.0", "--json", **settings).stdout
    again = THIS.run("migrate", "--to", "0.3.0", **settings).stdout

    assert "values of public.suppressions.entry_hash: 1\n" in said
    assert orjson.loads(done)["lost"]["values of public.suppressions.entry_hash"] == 1
    assert again == "Nothing to do: the database is at 0041_time_ordered_keys.\n"


@pytest.mark.slow
def test_a_table_in_use_is_said_in_words(installed: TestDatabase) -> None:
    with psycopg.connect(installed.dsn) as reader:
        reader.execute("SELECT 1 FROM suppressions")

        with pytest.raises(SchemaMismatch, match="A table is in use"):
            asyncio.run(
                walk_back(
                    parse_target(installed.url),
                    "0041_time_ordered_keys",
                    check=True,
                )
            )
