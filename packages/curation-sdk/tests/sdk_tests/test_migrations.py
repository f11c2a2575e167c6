"""Migrations: from any older install, beside other people's work, to the same tables."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from curation_sdk import CurationSdkError, Worker, migrate, migrations, schema
from curation_sdk.migrations import LATEST, VERSIONS, downgrade, upgrade
from sdk_tests.conftest import Database
from sdk_tests.desk import Base, Desk, triage

OLD_INDEXES = (
    """CREATE INDEX claim_due ON curation.claim (stage, due_at)
      WHERE fence IS NULL AND deaths = 0""",
    """CREATE INDEX claim_suspect ON curation.claim (stage, due_at)
      WHERE fence IS NULL AND deaths > 0""",
)
WITHOUT_VERSIONS = (
    "DROP TABLE curation.version",
    "ALTER TABLE curation.attempt DROP COLUMN traceback",
)
ENVIRONMENT = """from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
"""
REVISION = """from alembic import op
from curation_sdk import migrations

revision, down_revision = "0001", None


def upgrade():
    migrations.upgrade(op.get_bind())
    op.execute("CREATE TABLE mine (id int)")


def downgrade():
    op.execute("DROP TABLE mine")
    migrations.downgrade(op.get_bind(), 0)
"""


@pytest.fixture
async def empty(empty_database: Database) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(empty_database.url)
    yield made
    await made.dispose()


async def execute(engine: AsyncEngine, *statements: str) -> None:
    async with engine.begin() as connection:
        for statement in statements:
            await connection.execute(text(statement))


async def version_of(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        return await connection.run_sync(migrations.current_version)


async def differences(engine: AsyncEngine) -> list[Any]:
    """Return how the tables differ from what the code believes them to be."""
    options = {
        "include_schemas": True,
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, _parents: (
            kind != "schema" or name == schema.SCHEMA
        ),
    }

    def compare(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts=options)
        found: list[Any] = compare_metadata(context, schema.metadata)
        return found

    async with engine.connect() as connection:
        return await connection.run_sync(compare)


async def test_nothing_becomes_the_tables_that_the_code_describes(
    empty: AsyncEngine,
) -> None:
    assert await migrate(empty) == LATEST

    assert await version_of(empty) == LATEST
    assert await differences(empty) == []
    assert await migrate(empty) == 0


async def test_the_very_first_install_is_brought_up_to_date(empty: AsyncEngine) -> None:
    await execute(empty, *VERSIONS[1].upgrade, *OLD_INDEXES)
    await execute(empty, "INSERT INTO curation.stage (name, queue) VALUES ('a', '{}')")
    assert await version_of(empty) == 1

    assert await migrate(empty) == LATEST - 1

    assert await differences(empty) == []
    async with empty.connect() as connection:
        assert await connection.scalar(text("SELECT name FROM curation.stage")) == "a"


@pytest.mark.parametrize("leftovers", [(), OLD_INDEXES], ids=["as it was", "older"])
async def test_an_install_from_before_versions_is_brought_up_to_date(
    empty: AsyncEngine, leftovers: tuple[str, ...]
) -> None:
    await execute(empty, "CREATE SCHEMA curation")
    async with empty.begin() as connection:
        await connection.run_sync(schema.metadata.create_all)
    await execute(empty, *WITHOUT_VERSIONS, *leftovers)
    assert await version_of(empty) < LATEST
    assert await differences(empty) != []

    await migrate(empty)

    assert await version_of(empty) == LATEST
    assert await differences(empty) == []


async def test_four_processes_that_start_together_migrate_once(
    empty: AsyncEngine,
) -> None:
    applied = await asyncio.gather(*(migrate(empty) for _ in range(4)))

    assert sorted(applied) == [0, 0, 0, LATEST]
    assert await differences(empty) == []


async def test_a_worker_goes_on_while_its_tables_are_migrated(
    desk: Desk, engine: AsyncEngine
) -> None:
    await desk.open(2000)
    async with desk.worker(triage()) as worker:
        async with engine.begin() as connection:
            await connection.run_sync(downgrade, LATEST - 1)
        draining = asyncio.create_task(
            worker.drain("triage", within=timedelta(minutes=2))
        )
        await desk.until("SELECT count(*) > 0 FROM curation.attempt", wanted=True)

        assert await migrate(engine) == 1

        assert await draining == 2000
    assert await desk.states() == {"Complete": 2000}
    assert await differences(engine) == []


async def test_a_migration_that_gets_no_lock_gives_way_and_is_tried_again(
    empty: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(empty)
    async with empty.begin() as connection:
        await connection.run_sync(downgrade, LATEST - 1)
    monkeypatch.setattr(migrations, "LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migrations, "LOCK_RETRY_SECONDS", 0.01)
    tries: list[int] = []
    refused = asyncio.Event()
    original = migrations.upgrade

    def counted(connection: Connection) -> int:
        tries.append(len(tries))
        if len(tries) == 2:
            refused.set()
        return original(connection)

    monkeypatch.setattr(migrations, "upgrade", counted)
    async with empty.connect() as reader:
        await reader.execute(text("SELECT count(*) FROM curation.attempt"))
        migrating = asyncio.create_task(migrate(empty))
        await refused.wait()
        await reader.rollback()

    assert await migrating == 1
    assert len(tries) > 1
    assert await version_of(empty) == LATEST


async def test_a_migration_that_never_gets_its_lock_says_so(
    empty: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await execute(empty, *VERSIONS[1].upgrade)
    monkeypatch.setattr(migrations, "LOCK_TIMEOUT", "20ms")
    monkeypatch.setattr(migrations, "LOCK_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(migrations, "MAX_LOCK_TRIES", 2)
    async with empty.connect() as reader:
        await reader.execute(text("SELECT count(*) FROM curation.claim"))

        with pytest.raises(Exception, match="lock timeout"):
            await migrate(empty)

    assert await version_of(empty) == 1


async def test_a_revision_of_your_own_alembic_migrates_in_its_transaction(
    empty: AsyncEngine, tmp_path: Path
) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "versions" / "0001_sdk.py").write_text(REVISION)
    config = Config()
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")

    async def alembic(act: Any, to: str) -> None:
        def run(connection: Connection) -> None:
            config.attributes["connection"] = connection
            act(config, to)

        async with empty.begin() as connection:
            await connection.run_sync(run)

    await alembic(command.upgrade, "head")
    assert await version_of(empty) == LATEST
    assert await differences(empty) == []
    assert await migrate(empty) == 0

    await alembic(command.downgrade, "base")
    assert await version_of(empty) == 0


@pytest.mark.parametrize("to", range(LATEST))
async def test_versions_are_taken_back_and_applied_again(
    empty: AsyncEngine, to: int
) -> None:
    await migrate(empty)

    async with empty.begin() as connection:
        await connection.run_sync(downgrade, to)
    assert await version_of(empty) == to
    async with empty.begin() as connection:
        assert await connection.run_sync(upgrade) == LATEST - to

    assert await differences(empty) == []


async def test_a_database_newer_than_the_code_is_worked_as_it_is(
    desk: Desk, engine: AsyncEngine
) -> None:
    await execute(
        engine,
        f"INSERT INTO curation.version (version) VALUES ({LATEST + 1})",
        "ALTER TABLE curation.claim ADD COLUMN added_later text",
    )
    await desk.open(3)

    assert await migrate(engine) == 0
    assert await desk.drain(triage()) == 3


@pytest.mark.parametrize("found", [0, LATEST - 1])
async def test_a_worker_refuses_tables_that_are_missing_or_too_old(
    empty: AsyncEngine, found: int
) -> None:
    async with empty.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        await connection.run_sync(upgrade, found)

    with pytest.raises(CurationSdkError, match="tables") as refused:
        await Worker(empty, [triage()]).start()

    assert "curation_sdk.migrate(engine)" in str(refused.value.hint)
