"""A server as the product wants one, for commands that refuse one that may forget."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from tests.cli.rig import create_database, database_of
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home


@pytest.fixture(scope="session")
def durable_server(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """Run a server that keeps what it was told, with a migrated database."""
    home = scratch / f"durable-{time.monotonic_ns()}"
    with EmbeddedPostgres(prepare_home(home, migrated=True)) as server:
        yield server


@pytest.fixture
def installed(durable_server: EmbeddedPostgres) -> TestDatabase:
    """Give a migrated database of the durable server."""
    return new_database(durable_server, DATABASE)


@pytest.fixture
def bare_database(durable_server: EmbeddedPostgres) -> TestDatabase:
    """Give a database of the durable server with nothing in it."""
    return new_database(durable_server, "template0")


@pytest.fixture
def home(scratch: Path) -> Path:
    """Give a data directory with a place for files."""
    directory = scratch / f"home-{time.monotonic_ns()}"
    (directory / "imports").mkdir(parents=True)
    return directory


def new_database(server: EmbeddedPostgres, template: str) -> TestDatabase:
    """Make a database as a copy of another."""
    name = f"durable_{time.monotonic_ns()}"
    create_database(server, name, f'TEMPLATE "{template}"')
    return database_of(server, name)
