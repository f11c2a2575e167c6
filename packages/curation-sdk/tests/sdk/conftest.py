"""A real PostgreSQL for every test process, and a database of its own for every test."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import asyncpg
import pytest
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from curation_sdk import migrate
from tests.sdk.desk import Base, Desk
from tests.sdk.rig.cluster import Cluster, running_cluster

COUNTER = itertools.count()

# With the values of every variable, as structlog writes them by itself, one traceback
# holds up the event loop for seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class Database:
    """Where a test's own database is, for SQLAlchemy and for asyncpg."""

    url: str
    dsn: str
    name: str


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Cluster]:
    """Run one PostgreSQL for this test process; it need not survive a power cut."""
    hasty = {"fsync": "off", "full_page_writes": "off", "max_connections": "300"}
    with running_cluster(settings=hasty) as cluster:
        yield cluster


@pytest.fixture
def empty_database(postgres_server: Cluster) -> Iterator[Database]:
    """Give a database with nothing in it."""
    name = f"test_{os.getpid()}_{next(COUNTER)}"
    administer(postgres_server, f'CREATE DATABASE "{name}" TEMPLATE template0')
    yield Database(postgres_server.url(name), postgres_server.dsn(name), name)
    administer(postgres_server, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
async def engine(empty_database: Database) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(empty_database.url)
    await migrate(made)
    async with made.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    yield made
    await made.dispose()


@pytest.fixture
def desk(engine: AsyncEngine, empty_database: Database) -> Desk:
    return Desk(engine, empty_database.dsn)


def administer(server: Cluster, statement: str) -> None:
    """Execute a statement outside any test's database."""

    async def execute() -> None:
        connection = await asyncpg.connect(server.dsn())
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(execute())
