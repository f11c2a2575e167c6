"""A durable server, a home and a town in which guides for operators are followed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from tests.cli.rig import create_database, database_of
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home


@pytest.fixture(scope="module")
def durable_server(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """Run a server as the product wants one: it refuses one that may forget."""
    home = scratch / f"guide-{time.monotonic_ns()}"
    with EmbeddedPostgres(prepare_home(home, migrated=True)) as server:
        yield server


@pytest.fixture
def installed(durable_server: EmbeddedPostgres) -> TestDatabase:
    """Give a migrated database of the durable server."""
    name = f"guide_{time.monotonic_ns()}"
    create_database(durable_server, name, f'TEMPLATE "{DATABASE}"')
    return database_of(durable_server, name)


@pytest.fixture
def home(scratch: Path) -> Path:
    """Give a data directory with a place for files."""
    directory = scratch / f"home-{time.monotonic_ns()}"
    (directory / "imports").mkdir(parents=True)
    return directory
