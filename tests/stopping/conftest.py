"""A server that keeps what it is told, and a database of its own for every test."""

from pathlib import Path

import pytest

from tests.conftest import TestDatabase
from tests.durable import durable_server, installed
from tests.stopping.rig import House

__all__ = ["durable_server", "installed"]
HERE = "tests/stopping/"


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE):
            item.add_marker(pytest.mark.xdist_group(f"stopping-{item.path.stem}"))


@pytest.fixture
def house(installed: TestDatabase, scratch: Path) -> House:
    """Give a migrated database, and a directory for its processes."""
    home = scratch / installed.name
    home.mkdir()
    return House(home, installed)
