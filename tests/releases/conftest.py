"""A server that keeps what was written, as releases ask for, and databases on it."""

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
    home = prepare_home(scratch / f"releases-{time.monotonic_ns()}", migrated=True)
    with EmbeddedPostgres(home) as running:
        yield running


@pytest.fixture
def current_database(durable_server: EmbeddedPostgres) -> TestDatabase:
    """Give a database with the schema of today."""
    name = f"current_{time.monotonic_ns()}"
    create_database(durable_server, name, f'TEMPLATE "{DATABASE}"')
    return database_of(durable_server, name)


@pytest.fixture
def bare_database(durable_server: EmbeddedPostgres) -> TestDatabase:
    """Give a database with nothing in it."""
    name = f"bare_{time.monotonic_ns()}"
    create_database(durable_server, name, "TEMPLATE template0")
    return database_of(durable_server, name)
