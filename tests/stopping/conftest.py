"""A server that keeps what it is told, and a database of its own for every test."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from tests.cli.rig import create_database, database_of
from tests.db.prepared import prepare_home
from tests.stopping.rig import House

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(f"stopping-{item.path.stem}"))


@pytest.fixture(scope="session")
def durable_server(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """Run a server as the product wants one: it refuses one that may forget."""
    home = scratch / f"stopping-{time.monotonic_ns()}"
    with EmbeddedPostgres(prepare_home(home, migrated=True)) as server:
        yield server


@pytest.fixture
def house(durable_server: EmbeddedPostgres, scratch: Path) -> House:
    """Give a migrated database, and a directory for its processes."""
    name = f"stopping_{time.monotonic_ns()}"
    create_database(durable_server, name, f'TEMPLATE "{DATABASE}"')
    home = scratch / name
    home.mkdir()
    return House(home, database_of(durable_server, name))
