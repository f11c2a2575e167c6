"""The API's role on servers of all kinds: made once, by whoever may, or asked for."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio
from sqlalchemy import text

from scrapersky.api.tenancy import (
    acting_for,
    bypass_rls,
    connect_as_api,
    is_slow_under_policies,
)
from scrapersky.cli.roles import run as grant
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import ROLE, EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.db.roles import (
    administrators_part,
    app_rights,
    reader_rights,
    renew_rights,
)
from scrapersky.errors import DatabaseUnsuitable
from scrapersky.records.check import check_database
from scrapersky.settings import SYSTEM_USER_ID
from tests.db.prepared import prepare_home

API = "scrapersky_api"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cluster-copies"),  # of one cluster
]


@pytest.fixture(scope="module")
def cluster(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """A server of its own, on which nobody has migrated anything yet."""
    hasty = {"fsync": "off", "full_page_writes": "off"}
    home = prepare_home(scratch / "roles")
    with EmbeddedPostgres(home, options=hasty) as server:
        rules = server.data / "pg_hba.conf"
        rules.write_text(f"local all all trust\n{rules.read_text()}")
        asyncio.run(run(server, "SELECT pg_reload_conf()"))
        yield server


def place(cluster: EmbeddedPostgres, database: str, user: str = ROLE) -> str:
    return f"postgresql://{user}@/{database}?host={cluster.socket_dir}"


async def run(
    cluster: EmbeddedPostgres, *statements: str, url: str | None = None
) -> None:
    connection = await asyncpg.connect(url or place(cluster, "postgres"))
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
print("ready", flush=True)
asyncio.run(upgrade(connect(parse_target(sys.argv[1]), statement_timeout=None)))
"""


async def test_many_databases_of_one_server_migrate_at_once(
    cluster: EmbeddedPostgres,
) -> None:
    names = [f"crowd{number}" for number in range(2)]
    await run(cluster, *(f"CREATE DATABASE {name}" for name in names))

    # Alembic migrates one database at a time in a process.
    other = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        MIGRATE,
        place(cluster, names[0]),
        stdout=asyncio.subprocess.PIPE,
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"ready\n"
    await migrated(cluster, names[1])

    assert await other.wait() == 0
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
    await expect_users_who_own_nothing(known, "plain", "plain")


async def expect_lists_without_policies(
    cluster: EmbeddedPostgres, database: str, owner: str
) -> None:
    """Without a superuser lists are read as the owner, whom the API's engine can become."""
    target = parse_target(place(cluster, database, owner))
    engine = connect_as_api(target, pool_size=1)
    try:
        with acting_for(UUID(int=0)), bypass_rls(needed=True):
            assert await is_slow_under_policies(engine)
            async with engine.connect() as connection:
                assert await connection.scalar(text("SELECT current_user")) == owner
    finally:
        await engine.dispose()


async def expect_users_who_own_nothing(
    cluster: EmbeddedPostgres, database: str, owner: str
) -> None:
    """What `scrapersky roles` prints, run by whom it says, and what it is for."""
    app, reader = "quay-app", "quay reader"
    await run(cluster, *administrators_part(app, reader))
    target = parse_target(place(cluster, database, owner))
    await said_by_doctor(cluster, database, "lacks SELECT on alembic_version and")
    await grant(target, app_rights(app))
    await said_by_doctor(cluster, database, None)
    engine = connect(target, pool_size=1)
    tenants = [uuid4(), uuid4()]
    try:
        async with engine.begin() as connection:
            for tenant in tenants:
                await connection.execute(
                    text(
                        "INSERT INTO tenants (id, name, slug) VALUES (:id, :name, :name)"
                    ),
                    {"id": tenant, "name": str(tenant)},
                )
                await connection.execute(
                    text("INSERT INTO domains (tenant_id, domain) VALUES (:id, :name)"),
                    {"id": tenant, "name": f"{tenant}.example"},
                )
            await connection.run_sync(renew_rights)
    finally:
        await engine.dispose()
    await grant(target, reader_rights(reader, ["domains"], tenants[0]))
    await expect_rows_of_all(cluster, database, "quay-app", count=2)
    await expect_rows_of_all(cluster, database, "quay%20reader", count=1)
    for undo, cause in (
        ("REVOKE UPDATE ON hosts FROM", "lacks UPDATE on hosts: .* belong to plain"),
        (
            'DROP POLICY "every row for quay-app" ON domains --',
            r"hides rows.*\(domains\)",
        ),
        (f"REVOKE {API} FROM", "may not take on the role"),
    ):
        as_whom = ROLE if API in undo else owner
        await run(cluster, f'{undo} "{app}"', url=place(cluster, database, as_whom))
        await said_by_doctor(cluster, database, cause)
        await grant(target, app_rights(app))


async def said_by_doctor(
    cluster: EmbeddedPostgres, database: str, cause: str | None
) -> None:
    engine = connect(parse_target(place(cluster, database, "quay-app")), pool_size=1)
    try:
        if cause is None:
            await check_database(engine, SYSTEM_USER_ID)
            return
        with pytest.raises(DatabaseUnsuitable, match=cause):
            await check_database(engine, SYSTEM_USER_ID)
    finally:
        await engine.dispose()


async def expect_rows_of_all(
    cluster: EmbeddedPostgres, database: str, user: str, *, count: int
) -> None:
    """See so many rows as this user, who can change no table and read no secret."""
    connection = await asyncpg.connect(place(cluster, database, user))
    try:
        assert await connection.fetchval("SELECT count(*) FROM domains") == count
        for refused in (
            "DROP TABLE pages",
            "UPDATE alembic_version SET version_num = 0",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(refused)
        if count == 1:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute("SELECT password_hash FROM users")
    finally:
        await connection.close()


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
