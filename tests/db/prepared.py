"""Data directories with a cluster in them: made once in a test process, then copied."""

import asyncio
import subprocess
from pathlib import Path

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade


def prepare_home(scratch: Path, home: Path, *, migrated: bool = False) -> Path:
    """Copy a stopped cluster to this place: to make one takes ten times as long."""
    made = scratch / ("prepared-migrated" if migrated else "prepared")
    if not made.exists():
        if migrated:
            prepare_home(scratch, made)
        with EmbeddedPostgres(made) as server:
            if migrated:
                asyncio.run(migrate(server.url))
    home.parent.mkdir(parents=True, exist_ok=True)
    # With owners and modes: PostgreSQL refuses a cluster that others may read.
    subprocess.run(["cp", "-a", made, home], check=True)
    return home


async def migrate(url: str) -> None:
    """Bring the database of an address to the schema of today."""
    engine = connect(parse_target(url))
    await upgrade(engine)
    await engine.dispose()
