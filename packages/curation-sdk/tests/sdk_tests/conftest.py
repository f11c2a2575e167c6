"""A real PostgreSQL for every test process, and a database of its own for every test."""

import asyncio
import functools
import itertools
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from curation_sdk import migrate
from sdk_tests.desk import Base, Desk
from sdk_tests.rig.cluster import Cluster, running_cluster
from sdk_tests.rig.connect import connect

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
    hasty = {
        "fsync": "off",
        "full_page_writes": "off",
        "max_connections": "300",
        # Databases live for a second: nothing in them is worth cleaning up.
        "autovacuum": "off",
    }
    with running_cluster(settings=hasty) as cluster:
        yield cluster


@pytest.fixture
def empty_database(postgres_server: Cluster) -> Iterator[Database]:
    """Give a database with nothing in it."""
    yield from a_database(postgres_server, "template0")


@pytest.fixture(scope="session")
def desk_template(postgres_server: Cluster) -> str:
    """Lay out one database, from which that of every test is cloned."""
    administer(postgres_server, 'CREATE DATABASE "template_desk" TEMPLATE template0')
    asyncio.run(lay_out(postgres_server.url("template_desk")))
    return "template_desk"


@pytest.fixture
def desk_database(postgres_server: Cluster, desk_template: str) -> Iterator[Database]:
    yield from a_database(postgres_server, desk_template)


@pytest.fixture
async def engine(desk_database: Database) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(desk_database.url)
    yield made
    await made.dispose()


@pytest.fixture
def desk(engine: AsyncEngine, desk_database: Database) -> Desk:
    return Desk(engine, desk_database.dsn)


def a_database(server: Cluster, template: str) -> Iterator[Database]:
    name = f"test_{os.getpid()}_{next(COUNTER)}"
    # Copying files is quicker than logging every page of the template; 14 knows no other way.
    strategy = "STRATEGY file_copy" if major_version(server.binaries) > 14 else ""
    administer(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}" {strategy}')
    yield Database(server.url(name), server.dsn(name), name)
    administer(server, f'DROP DATABASE "{name}" WITH (FORCE)')


@functools.cache
def major_version(binaries: Path) -> int:
    said = subprocess.run(
        [binaries / "postgres", "--version"], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"\d+", said)
    assert found is not None
    return int(found[0])


async def lay_out(url: str) -> None:
    # Never through a pooler: it would keep a connection, and the clone be refused.
    made = connect(url)
    await migrate(made)
    async with made.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await made.dispose()


def administer(server: Cluster, statement: str) -> None:
    """Execute a statement outside any test's database."""

    async def execute() -> None:
        connection = await asyncpg.connect(server.dsn())
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(execute())
