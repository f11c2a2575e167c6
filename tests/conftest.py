"""A real PostgreSQL for every test run, a database of its own for every test."""

import atexit
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import structlog

from scrapersky import settings
from scrapersky.db.embedded import (
    DATABASE,
    ROLE,
    EmbeddedPostgres,
    server_user,
    usable_binaries,
)
from sdk_tests.rig.scratch import scratch_directory
from tests.db.prepared import prepare_home

TEMPLATE = "template_migrated"
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

# The run must not depend on how the person who starts it has set up their shell.
for name in [*os.environ]:
    if name.startswith("SCRAPERSKY_") or name == "DATABASE_URL":
        del os.environ[name]

# Nor may it write where that person's own data is: keys, what connections sent, imports.
DATA = Path(tempfile.mkdtemp(prefix="scrapersky-data-"))
DATA.chmod(0o711)  # PostgreSQL passes through it as a user of its own
atexit.register(shutil.rmtree, DATA, ignore_errors=True)
os.environ["XDG_DATA_HOME"] = str(DATA / "of-a-user")
settings.SystemRoot = DATA / "of-root"


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """Where a test's own database is, for SQLAlchemy and for asyncpg."""

    __test__ = False

    url: str
    dsn: str
    name: str


@dataclass(frozen=True, slots=True)
class TestServer:
    """The PostgreSQL of this test process."""

    __test__ = False

    bin: Path
    socket_dir: Path
    admin: psycopg.Connection
    port: int = 5432

    def database(self, name: str) -> TestDatabase:
        place = f"{ROLE}@/{name}?host={self.socket_dir}"
        return TestDatabase(
            url=f"postgresql+asyncpg://{place}", dsn=f"postgresql://{place}", name=name
        )

    def run(self, *statements: str) -> None:
        """Execute administrative statements outside any test's database."""
        for statement in statements:
            self.admin.execute(statement.encode())

    def end_sessions(self, database: str) -> None:
        """End every session of a database, and return when all have ended."""
        mine = "FROM pg_stat_activity WHERE datname = %s"
        self.admin.execute(f"SELECT pg_terminate_backend(pid) {mine}", [database])
        while self.admin.execute(f"SELECT 1 {mine} LIMIT 1", [database]).fetchone():
            pass


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """Give a directory that the server's own OS user may pass through."""
    directory = scratch_directory("scrapersky-test")
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(scratch: Path) -> Iterator[TestServer]:
    """Run one PostgreSQL for this test process.

    It need not survive a power cut, so it does not wait for the disk; tests of
    durability start a server of their own.
    """
    hasty = {
        "fsync": "off",
        "full_page_writes": "off",
        "max_connections": "300",
        "max_wal_size": "128MB",
        # Databases live for a second: nothing in them is worth cleaning up.
        "autovacuum": "off",
    }
    home = prepare_home(scratch / "shared", migrated=True)
    with (
        EmbeddedPostgres(home, options=hasty) as server,
        # A session costs more than the statement that makes a database.
        psycopg.connect(
            user=ROLE, dbname="postgres", host=str(server.socket_dir), autocommit=True
        ) as admin,
    ):
        yield TestServer(usable_binaries(home, server_user()), server.socket_dir, admin)


@pytest.fixture
def empty_database(postgres_server: TestServer) -> Iterator[TestDatabase]:
    """Give a database with nothing in it."""
    yield from a_database(postgres_server, template="template0")


def a_database(server: TestServer, template: str) -> Iterator[TestDatabase]:
    name = f"test_{os.getpid()}_{next(COUNTER)}"
    # Copying files is twice as fast as writing every page to the log.
    server.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
    yield server.database(name)
    server.run(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def template(postgres_server: TestServer) -> str:
    """Name the migrated database, from which every other one is cloned."""
    postgres_server.run(f'ALTER DATABASE "{DATABASE}" RENAME TO "{TEMPLATE}"')
    return TEMPLATE


@pytest.fixture
def database(postgres_server: TestServer, template: str) -> Iterator[TestDatabase]:
    """Give a database with the schema of the product."""
    yield from a_database(postgres_server, template)
