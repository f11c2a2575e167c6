"""The tutorial's commands are run as they stand on the page."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, text

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import DATABASE, ROLE, EmbeddedPostgres
from scrapersky.records import Contact, Domain
from tests.api.gateway.served import ALONE, serving
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home

PAGE = Path(__file__).parents[3] / "docs" / "tutorial" / "drive-it-with-curl.md"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("migrated-copies"),  # of one cluster
]
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def durable(scratch: Path) -> Iterator[TestDatabase]:
    """Give the database of a server that the command line accepts: it keeps its word."""
    home = prepare_home(scratch / f"tutorial-{os.getpid()}", migrated=True)
    with EmbeddedPostgres(home) as server:
        place = f"{ROLE}@/{DATABASE}?host={server.socket_dir}"
        yield TestDatabase(
            f"postgresql+asyncpg://{place}", f"postgresql://{place}", DATABASE
        )


async def furnish(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            text("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
        )
        domain = await connection.scalar(
            insert(Domain)
            .values(tenant_id=tenant, domain="tea.example")
            .returning(Domain.id)
        )
        await connection.execute(
            insert(Contact).values(
                tenant_id=tenant,
                domain_id=domain,
                email="a.first@tea.example",
                name="Ada First",
            )
        )
    await engine.dispose()


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_tutorial_works_as_it_is_written(
    durable: TestDatabase, tmp_path: Path
) -> None:
    asyncio.run(furnish(durable))
    blocks = COMMANDS.findall(PAGE.read_text())
    with serving(durable, "other", ALONE) as address:
        script = "\n".join(blocks).replace("http://127.0.0.1:8000", address.url)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "DATABASE_URL": durable.dsn,
                "HOME": str(tmp_path),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    reported = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, reported
    assert len(blocks) == 11
    assert '"accepted":2,"duplicates":0,"refused_count":1' in done.stdout
    assert "not a domain on the public internet" in done.stdout
    assert "problems/invalid-condition" in done.stdout
    exported = (tmp_path / "hubspot.csv").read_text(encoding="utf-8-sig")
    assert "a.first@tea.example,Ada,First" in exported
    assert (tmp_path / "contacts.xlsx").read_bytes().startswith(b"PK")
