"""A connection that died while nobody used it is not handed to anybody."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.compat.asyncpg import socket_of
from scrapersky.db import connection as db_connection
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import ROLE
from sdk_tests.rig.proxy import FaultProxy, fault_proxy
from tests.conftest import TestDatabase, TestServer

SIZE = 3


@pytest_asyncio.fixture
async def proxy(postgres_server: TestServer) -> AsyncIterator[FaultProxy]:
    """Stand between us and the server, as a firewall does."""
    place = f"{postgres_server.socket_dir}/.s.PGSQL.{postgres_server.port}"
    async with fault_proxy(socket=place) as found:
        yield found


@pytest_asyncio.fixture
async def engine(
    proxy: FaultProxy, empty_database: TestDatabase
) -> AsyncIterator[AsyncEngine]:
    place = f"{ROLE}@127.0.0.1:{proxy.port}/{empty_database.name}"
    engine = connect(parse_target(f"postgresql://{place}"), pool_size=SIZE)
    yield engine
    await engine.dispose()


async def use_all(engine: AsyncEngine) -> list[Any]:
    """Use every connection of the pool at the same time."""
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(engine.connect()) for _ in range(SIZE)
        ]
        return [await one.scalar(text("SELECT pg_backend_pid()")) for one in opened]


async def driver_of(connection: AsyncConnection) -> Any:
    return (await connection.get_raw_connection()).driver_connection


async def test_a_request_met_a_connection_that_had_died_ten_minutes_ago(
    engine: AsyncEngine, postgres_server: TestServer, empty_database: TestDatabase
) -> None:
    before, is_over = await use_all(engine), asyncio.Event()
    async with engine.connect() as connection:
        driver = await driver_of(connection)
        driver.add_termination_listener(lambda _: is_over.set())

    postgres_server.end_sessions(empty_database.name)
    await is_over.wait()
    after = [*await use_all(engine), *await use_all(engine)]

    assert not set(before) & set(after)


async def test_a_request_met_a_connection_that_was_just_being_closed(
    empty_database: TestDatabase, postgres_server: TestServer
) -> None:
    # Without a proxy, which would have to run before the connection ends.
    engine = connect(parse_target(empty_database.url), pool_size=SIZE)
    before = await use_all(engine)

    postgres_server.end_sessions(empty_database.name)
    after = await use_all(engine)

    assert not set(before) & set(after)
    await engine.dispose()


async def test_a_connection_that_a_firewall_had_forgotten_kept_a_request_waiting(
    engine: AsyncEngine, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_connection, "TRUSTED_FOR", timedelta(0))
    monkeypatch.setattr(db_connection, "PING_TIMEOUT", timedelta(seconds=0.1))
    before = await use_all(engine)

    proxy.hold_all()
    monkeypatch.setattr(db_connection, "PING_TIMEOUT", timedelta(seconds=0.2))
    first = await use_all(engine)
    monkeypatch.setattr(db_connection, "PING_TIMEOUT", timedelta(seconds=30))
    second = await use_all(engine)

    assert not set(before) & set(first)
    assert set(first) == set(second)


async def test_a_connection_in_use_a_moment_ago_is_not_asked_first(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(db_connection, "TRUSTED_FOR", timedelta(hours=1))
    async with engine.connect() as connection:
        (await driver_of(connection)).add_query_logger(
            lambda record: asked.append(record.query)
        )

    async with engine.connect() as connection:
        await connection.scalar(text("SELECT 2"))
    trusted = asked[:]
    monkeypatch.setattr(db_connection, "TRUSTED_FOR", timedelta(0))
    async with engine.connect() as connection:
        await connection.scalar(text("SELECT 2"))

    assert "SELECT 1" not in trusted
    assert asked.count("SELECT 1") == 1


async def test_nobody_noticed_that_the_other_end_had_gone_without_a_word(
    engine: AsyncEngine,
) -> None:
    async with engine.connect() as connection:
        found = socket_of(await driver_of(connection))
        assert found is not None
        kept = found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        idle = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        silent = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert (kept, idle, silent) == (1, 20, 15_000)
