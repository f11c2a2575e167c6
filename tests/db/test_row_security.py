"""The API's role on servers of all kinds: made once, by whoever may, or asked for."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import ROLE, EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.errors import DatabaseUnsuitable

API = "scrapersky_api"


@pytest.fixture(scope="module")
def cluster(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """A server of its own, on which nobody has migrated anything yet."""
    hasty = {"fsync": "off", "full_page_writes": "off"}
    with EmbeddedPostgres(scratch / "roles", options=hasty) as server:
        rules = server.data / "pg_hba.conf"
        rules.write_text(f"local all all trust\n{rules.read_text()}")
        asyncio.run(run(server, "SELECT pg_reload_conf()"))
        yield server


def place(cluster: EmbeddedPostgres, database: str, user: str = ROLE) -> str:
    return f"postgresql://{user}@/{database}?host={cluster.socket_dir}"


async def run(cluster: EmbeddedPostgres, *statements: str) -> None:
    connection = await asyncpg.connect(place(cluster, "postgres"))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest_asyncio.fixture
async def known(cluster: EmbeddedPostgres) -> EmbeddedPostgres:
    """The server, with the API's role on it, as a migration leaves it behind."""
    there = f"SELECT FROM pg_roles WHERE rolname = '{API}'"
    await run(
        cluster,
        f"DO $$ BEGIN IF NOT EXISTS ({there}) THEN CREATE ROLE {API} NOLOGIN; "
        "END IF; END $$",
    )
    return cluster


async def migrated(cluster: EmbeddedPostgres, database: str, user: str = ROLE) -> None:
    engine = connect(
        parse_target(place(cluster, database, user)), statement_timeout=None
    )
    try:
        await upgrade(engine)
    finally:
        await engine.dispose()


async def seen(cluster: EmbeddedPostgres, database: str, user: str) -> tuple[int, int]:
    """Count tenants as this user, and as the API without a tenant."""
    connection = await asyncpg.connect(place(cluster, database, user))
    mine = await connection.fetchval("SELECT count(*) FROM tenants")
    async with connection.transaction():
        await connection.execute(f"SET LOCAL ROLE {API}")
        theirs = await connection.fetchval("SELECT count(*) FROM tenants")
    await connection.close()
    return mine, theirs


MIGRATE = """
import asyncio, sys
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
asyncio.run(upgrade(connect(parse_target(sys.argv[1]), statement_timeout=None)))
"""


async def test_many_databases_of_one_server_migrate_at_once(
    cluster: EmbeddedPostgres,
) -> None:
    names = [f"crowd{number}" for number in range(2)]
    await run(cluster, *(f"CREATE DATABASE {name}" for name in names))

    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", MIGRATE, place(cluster, name)
        )
        for name in names
    ]

    assert [await process.wait() for process in started] == [0, 0]
    assert [await seen(cluster, name, ROLE) for name in names] == [(1, 0)] * 2


async def test_a_user_who_may_not_make_roles_is_told_what_to_do(
    known: EmbeddedPostgres,
) -> None:
    await run(known, "CREATE ROLE plain LOGIN", "CREATE DATABASE plain OWNER plain")

    with pytest.raises(
        DatabaseUnsuitable, match="may not create or take on"
    ) as refusal:
        await migrated(known, "plain", "plain")

    assert f'GRANT {API} TO "plain"' in str(refusal.value.hint)
    await run(known, f"GRANT {API} TO plain")
    await migrated(known, "plain", "plain")
    assert await seen(known, "plain", "plain") == (1, 0)


async def test_a_user_who_may_make_roles_needs_nobody(
    known: EmbeddedPostgres,
) -> None:
    await run(
        known,
        "CREATE ROLE maker LOGIN CREATEROLE",
        "CREATE DATABASE made OWNER maker",
        f"GRANT {API} TO maker WITH ADMIN OPTION, SET FALSE",
    )

    await migrated(known, "made", "maker")

    assert await seen(known, "made", "maker") == (1, 0)
