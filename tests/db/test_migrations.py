"""Migrations are the only way the schema changes, and they agree with the models."""

import asyncio
import time
from collections.abc import AsyncIterator
from importlib import import_module
from uuid import UUID

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.queue import queue_of
from curation_sdk.statements import PURGE, requeue_orphans
from scrapersky.configuration import load_settings
from scrapersky.db import connection as connecting
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import alembic_config, downgrade, upgrade
from scrapersky.db.revision import revisions
from scrapersky.db.schema import check_schema, differences
from scrapersky.errors import SchemaMismatch
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.privacy.retention import RETENTION_RULES as RETENTION
from scrapersky.records import METADATA
from scrapersky.scheduler.prepare import prepare
from scrapersky.stages import PIPELINE
from tests.conftest import TestDatabase


@pytest.fixture
async def empty(empty_database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(empty_database.url))
    yield engine
    await engine.dispose()


@pytest.fixture
async def migrated(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


async def execute(engine: AsyncEngine, *statements: str) -> None:
    async with engine.begin() as connection:
        for statement in statements:
            await connection.execute(text(statement))


@pytest.mark.slow
async def test_up_down_and_up_again_on_an_empty_database(migrated: AsyncEngine) -> None:
    assert await downgrade(migrated, "base") == revisions()
    assert await upgrade(migrated) == revisions()

    await check_schema(migrated, *METADATA)


KEYS = import_module("scrapersky.db.migrations.versions.0041_time_ordered_keys")


@pytest.mark.parametrize("key", ["time_ordered_uuid()", KEYS.BY_HAND])
async def test_keys_are_in_the_order_of_time(migrated: AsyncEngine, key: str) -> None:
    now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    made: list[UUID] = []
    async with migrated.connect() as connection:
        for _ in range(3):
            asked = await connection.execute(text(f"SELECT {now}, {key}, {now}"))
            before, one, after = asked.one()
            assert before - 1 <= one.int >> 80 <= after + 1, "milliseconds since 1970"
            made.append(one)
            time.sleep(0.003)  # noqa: ASYNC251 - the next has a later millisecond

    assert made == sorted(made)
    assert {one.version for one in made} == {7}
    assert len({one.int & (1 << 62) - 1 for one in made}) == 3, "the rest is random"


async def test_a_database_of_a_newer_server_could_not_be_written_on_an_older_one(
    migrated: AsyncEngine,
) -> None:
    body = "SELECT prosrc FROM pg_proc WHERE proname = 'time_ordered_uuid'"
    async with migrated.connect() as connection:
        written = await connection.scalar(text(body))

    assert "uuidv7" not in str(written)


def test_the_files_are_in_the_order_alembic_knows() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    known = [found.revision for found in script.walk_revisions()]

    assert revisions() == tuple(reversed(known))


async def test_a_downgrade_leaves_nothing_behind(migrated: AsyncEngine) -> None:
    await downgrade(migrated, "base")

    async with migrated.connect() as connection:
        left = await connection.scalars(
            text(
                "SELECT typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace "
                "WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
                "AND typname !~ 'alembic'"
            )
        )
        functions = await connection.scalar(
            text(
                "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            )
        )
    assert left.all() == []
    assert functions == 0


def compared(connection: Connection) -> list[object]:
    context = MigrationContext.configure(
        connection,
        opts={
            "compare_type": True,
            "include_schemas": True,
            # Indexes of words are made only where the server can make them.
            "include_object": lambda _o, name, kind, _r, _c: (
                name != "alembic_version" and not str(name).endswith("_words")
            ),
        },
    )
    return list(compare_metadata(context, list(METADATA)))  # type: ignore[arg-type]


async def test_models_and_migrations_agree(migrated: AsyncEngine) -> None:
    async with migrated.connect() as connection:
        assert await connection.run_sync(compared) == []


@pytest.mark.slow
async def test_many_processes_may_migrate_at_once(empty_database: TestDatabase) -> None:
    engines = [connect(parse_target(empty_database.url)) for _ in range(6)]

    applied = await asyncio.gather(*(upgrade(engine) for engine in engines))

    assert sorted(applied, key=len) == [(), (), (), (), (), revisions()]
    for engine in engines:
        await engine.dispose()


async def test_an_interrupted_migration_leaves_no_trace(empty: AsyncEngine) -> None:
    await execute(empty, "CREATE TABLE pages (id int)")

    with pytest.raises(Exception, match="pages"):
        await upgrade(empty)

    async with empty.connect() as connection:
        tables = await connection.scalars(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        )
    assert tables.all() == ["pages"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("ALTER TABLE pages DROP COLUMN title", "column pages.title is missing"),
        (
            "ALTER TABLE pages ALTER title TYPE varchar(9)",
            "column pages.title is character varying(9), not text",
        ),
        (
            "ALTER TABLE pages ALTER url DROP NOT NULL",
            "column pages.url is text, not text NOT NULL",
        ),
        ("DROP TABLE suppressions", "table suppressions is missing"),
        (
            "ALTER TYPE domain_status RENAME VALUE 'pending' TO 'Pending'",
            (
                "enum domain_status is ['Pending', 'processing', 'completed', 'error'], "
                "not ['pending', 'processing', 'completed', 'error']"
            ),
        ),
        ("DELETE FROM alembic_version", "it is at revision none, not at"),
    ],
)
async def test_a_schema_changed_by_hand_is_refused_and_named(
    migrated: AsyncEngine, damage: str, said: str
) -> None:
    await execute(migrated, damage)

    with pytest.raises(SchemaMismatch) as refusal:
        await check_schema(migrated, *METADATA)

    assert said in str(refusal.value)


async def test_an_old_version_was_not_ready_for_good_beside_a_newer_schema(
    migrated: AsyncEngine,
) -> None:
    await execute(
        migrated,
        "UPDATE alembic_version SET version_num = '9999_future'",
        "CREATE TABLE later (id int)",
        "ALTER TABLE pages ADD COLUMN later text, ADD COLUMN counted int NOT NULL DEFAULT 0",
        "ALTER TYPE task_status ADD VALUE 'Later' BEFORE 'Error'",
    )

    await check_schema(migrated, *METADATA)
    with pytest.raises(SchemaMismatch, match="9999_future, which this ScraperSky does"):
        await upgrade(migrated)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER TABLE pages DROP COLUMN title", "column pages.title is missing"),
        ("ALTER TABLE hosts ADD COLUMN must int NOT NULL", "hosts.must must be given"),
    ],
)
async def test_a_newer_schema_that_this_version_cannot_use_is_refused(
    migrated: AsyncEngine, change: str, said: str
) -> None:
    newer = "UPDATE alembic_version SET version_num = '9999_future'"
    await execute(migrated, newer, change)

    with pytest.raises(SchemaMismatch) as refusal:
        await check_schema(migrated, *METADATA)

    assert said in str(refusal.value)
    assert "9999_future" in str(refusal.value)


async def test_any_newer_process_migrated_what_others_stood_on(
    migrated: AsyncEngine, database: TestDatabase
) -> None:
    await downgrade(migrated, revisions()[-2])
    settings = load_settings({"DATABASE_URL": database.url}, dotenv=None).settings
    target = parse_target(database.url)

    # Of this server we know that it may forget: that is not the question here.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connecting, "DURABLE", ())
        with pytest.raises(SchemaMismatch, match="this ScraperSky needs") as refusal:
            await prepare(target, settings, print)

    assert "scrapersky migrate" in (refusal.value.hint or "")


@pytest.mark.slow
async def test_a_migration_waits_for_a_table_in_use_and_then_goes_on(
    migrated: AsyncEngine, database: TestDatabase
) -> None:
    reader = connect(parse_target(database.url))

    async with reader.connect() as connection:
        await connection.execute(text("SELECT 1 FROM pages"))
        going = asyncio.create_task(downgrade(migrated, "base"))
        await asyncio.sleep(2.5)
        assert not going.done()

    assert await going == revisions()
    await reader.dispose()


async def test_plain_sql_keeps_updated_at(migrated: AsyncEngine) -> None:
    await execute(migrated, "UPDATE tenants SET name = 'Renamed'")

    async with migrated.connect() as connection:
        is_touched = await connection.scalar(
            text("SELECT bool_and(updated_at > created_at) FROM tenants")
        )
        touched = await connection.scalars(
            text("SELECT event_object_table FROM information_schema.triggers")
        )
    assert is_touched
    expected = {
        table.name
        for table in METADATA[0].sorted_tables
        if {"created_at", "updated_at"} <= set(table.columns.keys())
    }
    assert set(touched.all()) >= expected


def queue_indexes(stage: AnyPipelineStage) -> list[str]:
    """Name the indexes that a stage's queue needs."""
    column = f"{stage.model.__tablename__}_{stage.claims.key}"
    return [f"{column}_queue", f"{column}_in_work"]


async def test_every_claimable_status_has_its_partial_indexes(
    migrated: AsyncEngine,
) -> None:
    async with migrated.connect() as connection:
        found = await connection.scalars(
            text(
                "SELECT indexname FROM pg_indexes WHERE indexname ~ '_(queue|in_work)$'"
            )
        )

    assert set(found.all()) == {
        name for stage in PIPELINE for name in queue_indexes(stage)
    }


async def test_rows_in_work_without_a_claim_were_looked_for_in_whole_tables(
    migrated: AsyncEngine,
) -> None:
    plans = {}
    async with migrated.begin() as connection:
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        for stage in PIPELINE:
            query = requeue_orphans(queue_of(stage, migrated.dialect))
            rows = await connection.exec_driver_sql(
                f"EXPLAIN {query}", (stage.name, "nobody has it", 0.0)
            )
            plans[stage.name] = "\n".join(rows.scalars())

    for stage in PIPELINE:
        _, in_work = queue_indexes(stage)
        assert f"using {in_work} " in plans[stage.name]


async def test_what_is_too_old_was_looked_for_in_whole_tables(
    migrated: AsyncEngine,
) -> None:
    rules = {rule.name: rule.purge[0] for rule in RETENTION}
    expected = {
        "settled_at": PURGE,
        "updated_at": rules["contacts"],
        "updated_at ": rules["people"],
        "gone_at": rules["gone pages"],
    }
    async with migrated.begin() as connection:
        for switch in ("enable_seqscan", "enable_sort"):
            await connection.execute(text(f"SET LOCAL {switch} = off"))
        for column, query in expected.items():
            written = query.replace("CAST(:age AS interval)", "interval '1 day'")
            for name in ("$1", "$2", ":chunk"):
                written = written.replace(name, "1000")
            lines = list(await connection.scalars(text(f"EXPLAIN {written}")))
            by_index = [line for line in lines if "Index Cond" in line]
            assert any(f"{column.strip()} < " in line for line in by_index), lines


async def test_a_matching_schema_has_no_differences(migrated: AsyncEngine) -> None:
    async with migrated.connect() as connection:
        assert await connection.run_sync(differences, METADATA) == []


@pytest.mark.slow
async def test_work_on_companies_could_not_be_undone_like_a_decision(
    migrated: AsyncEngine,
) -> None:
    await downgrade(migrated, "0052_origins_of_overrides")
    await execute(
        migrated,
        "INSERT INTO companies (tenant_id, name) SELECT id, 'Kunze' FROM tenants",
        "INSERT INTO company_actions (tenant_id, changed_count) SELECT id, 1 FROM tenants",
        "INSERT INTO company_changes (action_id, company_id, tenant_id, before, after)"
        """ SELECT a.id, c.id, c.tenant_id, '{"tags": []}', '{"tags": ["fair"]}'"""
        " FROM company_actions a, companies c",
    )
    moved = text(
        "SELECT a.kind, a.what, a.changed_count, h.after->'tags'->>0"
        " FROM curation_actions a JOIN curation_changes h ON h.action_id = a.id"
        " JOIN companies c ON c.id = h.record_id"
    )
    left = text("SELECT count(*) FROM company_actions JOIN company_changes ON true")

    await upgrade(migrated)
    async with migrated.connect() as connection:
        found = (await connection.execute(moved)).all()
        assert (await connection.scalar(left)) == 0
    await downgrade(migrated, "0052_origins_of_overrides")

    assert [tuple(row) for row in found] == [("companies", "worked", 1, "fair")]
    async with migrated.connect() as connection:
        assert (await connection.scalar(left)) == 1
        actions = await connection.scalar(text("SELECT count(*) FROM curation_actions"))
    assert actions == 0


async def test_numbers_stored_as_written_become_one_form_and_are_matched_again(
    migrated: AsyncEngine,
) -> None:
    await downgrade(migrated, "0041_time_ordered_keys")
    await execute(
        migrated,
        "INSERT INTO places_staging (tenant_id, source, source_place_id, licence, name,"
        " phone, raw) SELECT t.id, 'osm', v.*  FROM tenants t, (VALUES"
        " ('1', 'x', 'A', '+43 1 6000003', '{}'::jsonb),"
        " ('2', 'x', 'B', '01/600 00 03', '{\"tags\": {\"addr:country\": \"AT\"}}'),"
        " ('3', 'x', 'C', '01 6000003 ext. 12', '{}'),"
        " ('4', 'x', 'D', '+4316000003', '{}'),"
        " ('5', 'x', 'E', 'by appointment', '{}'),"
        " ('6', 'x', 'F', '0043 1 6000003', '{}')) AS v (i, l, n, p, r)",
        "INSERT INTO companies (tenant_id, name, phone) SELECT tenant_id, name, phone"
        " FROM places_staging",
        "INSERT INTO company_members (tenant_id, company_id, place_id, source, phone,"
        " is_matched) SELECT p.tenant_id, c.id, p.id, 'osm', p.phone, true"
        " FROM places_staging p JOIN companies c ON c.name = p.name",
        "INSERT INTO place_searches (tenant_id, source, business_type) SELECT id, 'osm',"
        " 'dentist' FROM tenants",
        "INSERT INTO place_search_hits (tenant_id, search_id, place_id, facts_hash)"
        " SELECT p.tenant_id, s.id, p.id, md5(CAST((p.name, p.address, p.categories,"
        " p.website, p.phone, p.business_status, p.moved_to) AS text))"
        " FROM places_staging p, place_searches s",
    )

    await upgrade(migrated)

    async with migrated.connect() as connection:
        found = await connection.execute(
            text(
                "SELECT p.phone, p.phone IS NOT DISTINCT FROM m.phone"
                " AND p.phone IS NOT DISTINCT FROM c.phone, m.is_matched,"
                " h.facts_hash = md5(CAST((p.name, p.address, p.categories, p.website,"
                " p.phone, p.business_status, p.moved_to) AS text))"
                " FROM places_staging p JOIN company_members m ON m.place_id = p.id"
                " JOIN companies c ON c.id = m.company_id"
                " JOIN place_search_hits h ON h.place_id = p.id ORDER BY p.name"
            )
        )
    assert [tuple(row) for row in found] == [
        ("+4316000003", True, False, True),
        ("+4316000003", True, False, True),
        ("01 6000003", True, False, True),
        ("+4316000003", True, True, True),
        (None, True, False, True),
        ("+4316000003", True, False, True),
    ]
