"""The API's role on servers of all kinds: made once, by whoever may, or asked for."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy import text

from scrapersky.api.middleware.tenancy import (
    acting_for,
    connect_as_api,
    is_slow_under_policies,
    naming_its_tenant,
)
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
    await expect_lists_without_policies(known, "plain", "plain")
    await expect_a_reader_of_one_view(known, "plain", "plain")


async def expect_lists_without_policies(
    cluster: EmbeddedPostgres, database: str, owner: str
) -> None:
    """Without a superuser lists are read as the owner, whom the API's engine can become."""
    target = parse_target(place(cluster, database, owner))
    engine = connect_as_api(target, pool_size=1)
    try:
        with acting_for(UUID(int=0)), naming_its_tenant(needed=True):
            assert await is_slow_under_policies(engine)
            async with engine.connect() as connection:
                assert await connection.scalar(text("SELECT current_user")) == owner
    finally:
        await engine.dispose()


async def expect_a_reader_of_one_view(
    cluster: EmbeddedPostgres, database: str, owner: str
) -> None:
    """The statements of docs/how-to/deploy.md, and what they are for."""
    guide = (Path(__file__).parents[2] / "docs/how-to/deploy.md").read_text()
    given = guide.partition("```sql\n")[2].partition("```")[0]
    role, *statements = [one.strip() for one in given.split(";") if one.strip()]
    await run(cluster, role)
    connection = await asyncpg.connect(place(cluster, database, owner))
    tenant = await connection.fetchval("SELECT id FROM tenants")
    for statement in statements:
        await connection.execute(statement.replace("TENANT", str(tenant)))
    await connection.close()
    reader = await asyncpg.connect(place(cluster, database, "reports"))
    try:
        assert await reader.fetch("SELECT * FROM reports.contacts") == []
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reader.fetch("SELECT * FROM public.contacts")
    finally:
        await reader.close()


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
