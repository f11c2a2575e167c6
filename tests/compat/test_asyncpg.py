"""Transactions begin with what we add, in one round trip and not without it."""

from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from scrapersky.api.tenancy import (
    acting_for,
    change_scope,
    check_isolation,
    connect_as_api,
)
from scrapersky.compat.asyncpg import ENUMS
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import TenantUnknown
from tests.conftest import TestDatabase

WHO = text("SELECT current_user, current_setting('scrapersky.tenant_id')")


async def test_a_tenants_transaction_begins_in_one_round_trip(
    database: TestDatabase,
) -> None:
    engine = connect_as_api(parse_target(database.url), pool_size=1)
    tenant, asked = uuid4(), list[str]()

    with acting_for(tenant):
        async with engine.connect() as connection:
            raw = await connection.get_raw_connection()
            driver = raw.driver_connection
            assert isinstance(driver, asyncpg.Connection)
            driver.add_query_logger(lambda record: asked.append(record.query))
            found = (await connection.execute(WHO)).one()
            await connection.commit()
    await engine.dispose()

    assert tuple(found) == ("scrapersky_api", str(tenant))
    # The logger is not told of prepared statements.
    began, ended = asked
    assert began.startswith("BEGIN; SET LOCAL role = 'scrapersky_api'; SET LOCAL")
    assert ended == "COMMIT;"


async def test_a_request_that_only_asks_cannot_write(database: TestDatabase) -> None:
    engine = connect_as_api(parse_target(database.url), pool_size=1)
    change_scope(is_read_only=True)

    with acting_for(uuid4()):
        async with engine.connect() as connection:
            with pytest.raises(DBAPIError, match="read-only transaction"):
                await connection.execute(text("DELETE FROM contacts"))
    await engine.dispose()


async def test_an_engine_that_does_not_name_its_tenant_is_refused_at_the_start(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect_as_api(parse_target(database.url), pool_size=1)
    await check_isolation(engine)
    # As if the driver no longer began its transactions by way of `execute`.
    monkeypatch.setattr(
        "scrapersky.compat.asyncpg.PrefacedConnection.execute",
        asyncpg.Connection.execute,
    )

    with pytest.raises((TenantUnknown, DBAPIError)):
        await check_isolation(engine)
    await engine.dispose()


async def test_an_engine_asks_about_its_enums_once(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    driver: Any = asyncpg.Connection
    as_it_is = driver._Connection__execute

    async def counted(self: object, query: str, *more: Any, **named: Any) -> object:
        asked.append(query)
        return await as_it_is(self, query, *more, **named)

    monkeypatch.setattr(driver, "_Connection__execute", counted)
    engine = connect(parse_target(database.url), pool_size=2)
    status = text(
        "SELECT CAST('New' AS curation_status), CAST('{New}' AS curation_status[]),"
        " CAST(:given AS domain_status)"
    )
    async with engine.connect() as first, engine.connect() as second:
        for connection in (first, second, first):
            found = await connection.execute(status, {"given": "pending"})
            assert tuple(found.one()) == ("New", ["New"], "pending")
    await engine.dispose()

    assert asked.count(ENUMS) == 1
    assert not [query for query in asked if "typeinfo" in query]


async def test_types_that_can_change_are_asked_about_by_every_connection(
    empty_database: TestDatabase,
) -> None:
    engine = connect(parse_target(empty_database.url), pool_size=2)
    async with engine.connect() as first, engine.connect() as second:
        await first.execute(text("CREATE TYPE pair AS (a int)"))
        await first.commit()
        pair = await first.scalar(text("SELECT CAST(ROW(1) AS pair)"))
        assert tuple(pair) == (1,)
        await first.execute(text("ALTER TYPE pair ADD ATTRIBUTE b int"))
        await first.commit()

        pair = await second.scalar(text("SELECT CAST(ROW(1, 2) AS pair)"))
        assert tuple(pair) == (1, 2)
    await engine.dispose()
