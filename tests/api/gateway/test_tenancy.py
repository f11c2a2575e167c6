"""Tenants in the database: a forgotten filter shows nothing, whoever asks."""

import asyncio
import random
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import DBAPIError

from scrapersky.api import tenancy
from scrapersky.api.tenancy import (
    STATEMENT_TIMEOUT,
    acting_for,
    bypass_rls,
    connect_as_api,
    is_slow_under_policies,
    statement_timeout,
)
from scrapersky.db.connection import parse_target
from scrapersky.errors import TenantUnknown
from scrapersky.records import METADATA, Domain, Page
from tests.api.gateway.rig import House
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

TABLES = [
    table
    for part in METADATA
    for table in part.sorted_tables
    # One number for all: how far the cursors of the change log were moved by a restore.
    if table.fullname != "change_epochs"
]


async def as_api(
    house: House, statement: str, tenant: str = ""
) -> list[tuple[object, ...]]:
    async with house.engine.connect() as connection:
        await connection.execute(text("SET LOCAL ROLE scrapersky_api"))
        if tenant:
            await connection.execute(
                text("SELECT set_config('scrapersky.tenant_id', :id, true)"),
                {"id": tenant},
            )
        return [tuple(row) for row in await connection.execute(text(statement))]


async def fill(house: House, tenant: UUID) -> UUID:
    """Give a tenant one row at least in what the API shows most."""
    name = f"{uuid4().hex}.example"
    domain = await house.add(Domain, tenant, domain=name)
    page = await house.add(Page, tenant, domain_id=domain, url=f"https://{name}/")
    await house.run(
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, tries, deaths) "
        "VALUES ('page_curation', :item, 1, 'gave_up', 1, 0)",
        item=str(page),
    )
    await house.run(
        "INSERT INTO curation.attempt (stage, item, fence, tries, outcome) "
        "VALUES ('page_curation', :item, 1, 1, 'gave_up')",
        item=str(page),
    )
    await house.run(
        "INSERT INTO curation.claim (stage, item, tries) VALUES ('page_curation', :item, 1)",
        item=str(page),
    )
    return domain


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.fullname)
async def test_without_a_tenant_every_table_is_empty(
    house: House, table: object
) -> None:
    await fill(house, house.home)
    name = table.fullname  # type: ignore[attr-defined]

    is_readable = await house.scalar(
        "SELECT has_any_column_privilege('scrapersky_api', CAST(:name AS regclass), "
        "'SELECT')",
        name=name,
    )

    if is_readable:
        assert await as_api(house, f"SELECT count(*) FROM {name}") == [(0,)]
    else:
        with pytest.raises(DBAPIError, match="permission denied"):
            await as_api(house, f"SELECT count(*) FROM {name}")


async def test_every_table_is_under_a_policy_or_closed(house: House) -> None:
    open_tables = await house.run(
        "SELECT c.oid::regclass::text FROM pg_class c "
        "WHERE c.relkind IN ('r', 'p') AND NOT c.relrowsecurity "
        "AND c.relnamespace IN ('public'::regnamespace, 'curation'::regnamespace)"
    )
    without = await house.run(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a "
        "ON a.attrelid = c.oid AND a.attname = 'tenant_id' WHERE c.relkind IN ('r', 'p') "
        "AND has_table_privilege('scrapersky_api', c.oid, 'SELECT') "
        "AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)"
    )

    assert [row[0] for row in open_tables] == ["alembic_version"]
    assert without == []


@pytest.mark.parametrize("column", ["users.password_hash", "api_keys.secret_hash"])
async def test_the_api_cannot_read_what_secrets_are_checked_with(
    house: House, column: str
) -> None:
    table, _, name = column.partition(".")

    with pytest.raises(DBAPIError, match="permission denied"):
        await as_api(house, f"SELECT {name} FROM {table}", str(house.home))


async def test_the_api_cannot_leave_its_role(house: House) -> None:
    is_member = await house.scalar(
        "SELECT pg_has_role('scrapersky_api', oid, 'MEMBER') FROM pg_roles "
        "WHERE rolname = current_user"
    )
    rights = await house.run(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolcanlogin "
        "FROM pg_roles WHERE rolname = 'scrapersky_api'"
    )

    assert is_member is False
    assert tuple(rights[0]) == (False,) * 5


async def test_a_tenant_sees_its_own_rows_only(house: House) -> None:
    mine, theirs = await fill(house, house.home), await fill(house, house.other)

    found = await as_api(house, "SELECT id, tenant_id FROM domains", str(house.other))
    letters = await as_api(
        house, "SELECT d.item FROM curation.dead_letter d", str(house.other)
    )
    own_pages = await as_api(house, "SELECT id::text FROM pages", str(house.other))

    assert (theirs, house.other) in found
    assert mine not in {row[0] for row in found}
    assert {row[1] for row in found} == {house.other}
    assert {row[0] for row in letters} == {row[0] for row in own_pages}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE domains SET title = 'mine' WHERE id = :theirs RETURNING id",
        "DELETE FROM domains WHERE id = :theirs RETURNING id",
        (
            "DELETE FROM curation.dead_letter WHERE item IN (SELECT id::text FROM pages "
            "WHERE domain_id = :theirs) RETURNING item"
        ),
    ],
)
async def test_rows_of_others_cannot_be_changed(house: House, statement: str) -> None:
    theirs = await fill(house, house.other)
    api = house.app.state.engine

    with acting_for(house.home):
        async with api.begin() as connection:
            changed = (
                await connection.execute(text(statement), {"theirs": theirs})
            ).all()

    assert changed == []


async def test_a_row_cannot_be_given_to_others_or_hung_on_theirs(house: House) -> None:
    theirs = await fill(house, house.other)
    attempts = (
        insert(Domain).values(tenant_id=house.other, domain="x.example"),
        insert(Page).values(tenant_id=house.home, domain_id=theirs, url="https://x/"),
    )

    for statement in attempts:
        with (
            acting_for(house.home),
            pytest.raises(DBAPIError, match="row-level security"),
        ):
            async with house.app.state.engine.begin() as connection:
                await connection.execute(statement)


async def test_a_row_cannot_be_moved_to_others(house: House) -> None:
    mine, theirs = await fill(house, house.home), await fill(house, house.other)

    for statement in (
        "UPDATE domains SET tenant_id = :other WHERE id = :mine",
        "UPDATE pages SET domain_id = :theirs WHERE domain_id = :mine",
    ):
        with (
            acting_for(house.home),
            pytest.raises(DBAPIError, match=r"row-level security|cannot change"),
        ):
            async with house.app.state.engine.begin() as connection:
                await connection.execute(
                    text(statement),
                    {"other": house.other, "mine": mine, "theirs": theirs},
                )


async def test_work_without_a_tenant_is_loud(house: House) -> None:
    with pytest.raises(TenantUnknown):
        async with house.app.state.engine.connect() as connection:
            await connection.execute(select(func.count()).select_from(Domain))
    with acting_for(house.home), pytest.raises(TenantUnknown):
        async with house.app.state.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")


async def test_a_connection_remembers_no_tenant(module_database: TestDatabase) -> None:
    engine = connect_as_api(parse_target(module_database.url), pool_size=1)
    with acting_for(uuid4()):
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
        async with engine.connect() as connection:
            raw = await connection.get_raw_connection()
            driver = raw.driver_connection
            assert driver is not None
            left = await driver.fetchval(
                "SELECT current_setting('scrapersky.tenant_id', true)"
            )
            role = await driver.fetchval("SELECT current_user")
    await engine.dispose()

    assert not left
    # Even outside of a transaction nothing of ours runs as anyone else.
    assert role == "scrapersky_api"


async def test_a_statement_may_take_seconds_unless_more_is_asked_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The product's, where other tests wait longer.
    monkeypatch.setattr(tenancy, "STATEMENT_TIMEOUT", STATEMENT_TIMEOUT)
    asked = text("SELECT current_setting('statement_timeout')")

    with acting_for(house.home):
        async with house.app.state.engine.connect() as connection:
            usual = await connection.scalar(asked)
            async with statement_timeout(timedelta(seconds=50), connection):
                meanwhile = await connection.scalar(asked)
        async with (
            statement_timeout(timedelta(seconds=40)),
            house.app.state.engine.connect() as connection,
        ):
            longer = await connection.scalar(asked)

    assert (usual, meanwhile, longer) == ("5s", "50s", "40s")


@pytest.mark.slow
@pytest.mark.parametrize("requests", [200, pytest.param(1_000, marks=pytest.mark.long)])
async def test_many_requests_of_two_tenants_leak_nothing(
    house: House, requests: int
) -> None:
    """Interleaved over few connections, some cut off in the middle."""
    await fill(house, house.home)
    await fill(house, house.other)
    owner = {
        str(row[0]): row[1]
        for row in await house.run("SELECT id, tenant_id FROM domains")
    }
    turns = random.Random(7)
    people = (house.admin, house.stranger)

    async def ask(number: int) -> list[str]:
        who = people[number % 2]
        asking = asyncio.create_task(house.get("/domains", who))
        if turns.random() < 0.1:
            await asyncio.sleep(turns.random() / 50)
            asking.cancel()
        try:
            answer: httpx.Response = await asking
        except asyncio.CancelledError:
            return []
        assert answer.status_code in {200, 503}, answer.text
        if answer.status_code == 503:
            return []
        return [
            item["id"]
            for item in answer.json()["items"]
            if owner[item["id"]] != who.tenant
        ]

    foreign: list[str] = []
    for start in range(0, requests, 50):
        found = await asyncio.gather(*(ask(n) for n in range(start, start + 50)))
        foreign += [item for items in found for item in items]

    assert foreign == []


async def test_lists_are_read_as_the_owner_only_where_policies_are_slow(
    house: House,
) -> None:
    comparison = "FUNCTION pg_catalog.enum_eq(anyenum, anyenum)"
    assert not await is_slow_under_policies(house.engine)
    await house.run(f"ALTER {comparison} NOT LEAKPROOF")
    try:
        assert await is_slow_under_policies(house.engine)
    finally:
        await house.run(f"ALTER {comparison} LEAKPROOF")


async def test_what_is_read_as_the_owner_writes_nothing_and_ends_with_its_block(
    house: House,
) -> None:
    domain = await fill(house, house.other)
    seen = select(func.count()).select_from(Domain).where(Domain.id == domain)
    change = text("UPDATE domains SET title = 'changed'")
    with acting_for(house.home):
        with bypass_rls(needed=True):
            async with house.app.state.engine.connect() as connection:
                assert await connection.scalar(seen) == 1
            async with house.app.state.engine.connect() as connection:
                with pytest.raises(DBAPIError, match="read-only"):
                    await connection.execute(change)
        async with house.app.state.engine.connect() as connection:
            assert await connection.scalar(seen) == 0
