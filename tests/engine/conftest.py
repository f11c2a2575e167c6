"""A database with the engine installed and a small model to queue."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from scrapersky.db.connection import connect, parse_target
from scrapersky.engine import install
from tests.conftest import TestDatabase, TestServer, a_database
from tests.engine.desk import Base, Desk


@pytest.fixture(scope="session")
def desk_template(postgres_server: TestServer) -> str:
    """Lay out one database, from which that of every test is cloned."""
    postgres_server.run('CREATE DATABASE "template_desk" TEMPLATE template0')
    asyncio.run(lay_out(postgres_server.database("template_desk").url))
    return "template_desk"


async def lay_out(url: str) -> None:
    # Never through a pooler: it would keep a connection, and the clone be refused.
    made = connect(parse_target(url))
    await install(made)
    async with made.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await made.dispose()


@pytest.fixture
def desk_database(
    postgres_server: TestServer, desk_template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, desk_template)


@pytest.fixture
async def engine(desk_database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(desk_database.url)
    yield made
    await made.dispose()


@pytest.fixture
def desk(engine: AsyncEngine, desk_database: TestDatabase) -> Desk:
    return Desk(engine, desk_database.dsn)
