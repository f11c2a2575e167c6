"""What an upgrade would do is tried on samples, and is about what it then does."""

import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.upgrade import written
from scrapersky.db import migrate, trial
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.db.revision import MIGRATIONS, revisions
from scrapersky.db.trial import MissingRevision, try_revisions
from tests.conftest import TestDatabase
from tests.db.filled import OLD, fill

MISSING = revisions()[revisions().index(OLD) + 1 :]
CARELESS = f'''"""Lock everybody out."""

from alembic import op

revision = "9001_careless"
down_revision = "{revisions()[-1]}"


def upgrade() -> None:
    op.execute("ALTER TABLE pages ADD COLUMN long text "
        "GENERATED ALWAYS AS (repeat(url, 2)) STORED")
    op.create_index("ix_contacts_careless", "contacts", ["name"])
    op.execute("UPDATE domains SET title = domain")
'''
ROW_EACH = (
    "INSERT INTO domains (tenant_id, domain) SELECT id, 'a.bv' FROM tenants",
    "INSERT INTO pages (tenant_id, domain_id, url) SELECT tenant_id, id, 'u' FROM domains",
    """INSERT INTO contacts (tenant_id, domain_id, name, email)
    SELECT tenant_id, id, 'n', 'a@b.c' FROM domains""",
)
REAL = "SELECT count(*), max(updated_at) FROM contacts"
SCHEMAS = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'scrapersky%'"
SIZE = "SELECT pg_database_size(current_database())"


@pytest.fixture
async def old(empty_database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(empty_database.url), statement_timeout=None)
    await upgrade(engine, OLD)
    yield engine
    await engine.dispose()


async def put_in(database: TestDatabase, rows: int) -> None:
    connection = await asyncpg.connect(database.dsn)
    await fill(connection, rows)
    await connection.close()


async def tried(engine: AsyncEngine, *missing: str) -> list[MissingRevision]:
    async with engine.connect() as connection:
        return await connection.run_sync(try_revisions, missing)


async def value(engine: AsyncEngine, query: str) -> object:
    async with engine.connect() as connection:
        return tuple((await connection.execute(text(query))).one())


@pytest.mark.slow
async def test_no_revision_keeps_others_waiting(
    empty_database: TestDatabase, old: AsyncEngine
) -> None:
    await put_in(empty_database, 5_000)
    before = await value(old, REAL)

    steps = await tried(old, *MISSING)

    assert tuple(one.revision for one in steps) == MISSING
    touches = [touched for one in steps for touched in one.touches]
    assert [one for one in touches if "REWRITTEN" in one.effect] == []
    assert [one for one in touches if "writes wait" in one.effect] == []
    assert {one.table for one in touches if "in batches" in one.effect} >= {
        "contacts", "local_businesses", "places_staging", "login_sessions",
    }  # fmt: skip
    assert "curation.attempt" in {one.table for one in touches}
    assert await value(old, REAL) == before, "the real rows are as they were"
    assert await value(old, SCHEMAS) == (0,)


async def test_a_rewritten_table_was_called_locked_for_a_moment(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        for statement in ROW_EACH:
            await connection.execute(text(statement))
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / "versions" / "9001_careless.py").write_text(CARELESS, encoding="utf-8")
    for module in (migrate, trial):
        monkeypatch.setattr(module, "MIGRATIONS", folder)

    steps = await tried(engine, "9001_careless")
    await engine.dispose()

    assert [(one.table, one.effect, one.lock) for one in steps[0].touches] == [
        ("pages", "it is REWRITTEN, nobody reads or writes", "ACCESS EXCLUSIVE"),
        ("contacts", "an index is built, writes wait", "SHARE"),
        ("domains", "rows are changed at once", None),
    ]
    said = "\n".join(written("0000", steps, None, is_tried=True))
    assert "pages (1 rows" in said
    assert "REWRITTEN" in said
    assert "cannot be seen from here" in said


@pytest.mark.long
async def test_what_is_said_before_is_within_a_factor_of_two(
    empty_database: TestDatabase, old: AsyncEngine
) -> None:
    await put_in(empty_database, 50_000)
    size = await value(old, SIZE)

    steps = await tried(old, *MISSING)
    began = time.perf_counter()
    await upgrade(old)
    seconds = time.perf_counter() - began

    grown = (await value(old, SIZE))[0] - size[0]  # type: ignore[index]
    said = sum(one.seconds for one in steps), sum(one.disk for one in steps)
    print(f"\nsaid {said[0]:.1f} s, {said[1]:,} bytes; was {seconds:.1f} s, {grown:,}")
    assert 0.5 < said[0] / seconds < 2
    assert 0.5 < said[1] / grown < 2
