"""Data directories with a cluster in them: made once in a test run, then copied."""

import asyncio
import subprocess
from pathlib import Path

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from sdk_tests.rig.scratch import made_once


def prepare_home(home: Path, *, migrated: bool = False) -> Path:
    """Copy a stopped cluster to this place: to make one takes ten times as long."""
    name, make = ("migrated", make_migrated) if migrated else ("new", make_new)
    home.parent.mkdir(parents=True, exist_ok=True)
    copy(made_once(name, make), home)
    return home


def make_new(home: Path) -> None:
    """Make a cluster with an empty database."""
    with EmbeddedPostgres(home):
        pass


def make_migrated(home: Path) -> None:
    """Make a cluster whose database has the schema of today."""
    copy(made_once("new", make_new), home)
    with EmbeddedPostgres(home) as server:
        asyncio.run(migrate(server.url))


def copy(made: Path, home: Path) -> None:
    """Copy with owners and modes: PostgreSQL refuses a cluster that others may read."""
    subprocess.run(["cp", "-a", made, home], check=True)


async def migrate(url: str) -> None:
    """Bring the database of an address to the schema of today."""
    engine = connect(parse_target(url))
    await upgrade(engine)
    await engine.dispose()
