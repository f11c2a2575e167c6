"""Two databases: the old system's, and one of ours that adopts it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.adopt.old_system import small_town
from tests.cli.rig import Answer, Command, run_here
from tests.conftest import TestDatabase, TestServer, a_database
from tests.durable import durable_server, home, installed

__all__ = ["durable_server", "home", "installed"]
HERE = "tests/adopt/"


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE):
            item.add_marker(pytest.mark.xdist_group(f"adopt-{item.path.stem}"))


@dataclass(frozen=True, slots=True)
class Adopter:
    """An installation of ours that is told to adopt an old database."""

    ours: TestDatabase
    old: TestDatabase
    home: Path
    command: Command

    def adopt(self, *options: str, url: str | None = None) -> Answer:
        """Run the command."""
        return self.run("adopt", url or self.old.dsn, *options)

    def run(self, *words: str) -> Answer:
        """Run any command on our database."""
        return self.command(
            *words, DATABASE_URL=self.ours.url, SCRAPERSKY_DATA_DIR=self.home
        )


@pytest.fixture
def old(postgres_server: TestServer) -> Iterator[TestDatabase]:
    """Give a database of the old system with one business in it."""
    for database in a_database(postgres_server, template="template0"):
        small_town(database)
        yield database


@pytest.fixture
def adopter(
    installed: TestDatabase,
    old: TestDatabase,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Adopter:
    """Give an installation with nothing in it, and an old database."""
    return Adopter(installed, old, home, run_here(monkeypatch, capsys))
