"""Releases as trees of sources, and their commands as processes on one database."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psycopg
import pytest
from alembic import command

from scrapersky.cli.backup import NOT_KEPT
from scrapersky.cli.opening import opened
from scrapersky.db import migrate
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.releases import Release
from scrapersky.db.rows import load_rows
from scripts.release_fixture import KEY, PLACE, SOURCES, START
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.cli.rig import CLEAN
from tests.conftest import TestDatabase

REPOSITORY: Final = Path(__file__).parents[2]
QUEUE: Final = """UPDATE local_businesses SET domain_extraction_status = 'Queued'
  WHERE id = (SELECT id FROM local_businesses WHERE domain_extraction_status = 'Completed'
    ORDER BY created_at, id LIMIT 1) RETURNING id"""
SETTLED: Final = (
    "SELECT domain_extraction_status::text FROM local_businesses WHERE id = %s"
)


@dataclass(frozen=True, slots=True)
class Running:
    """A process of a release."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for what the process is to do; fail with its last words if it has ended."""

        def is_so_or_over() -> bool:
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            return is_so()

        wait_until(is_so_or_over, what)


@dataclass(frozen=True, slots=True)
class Tree:
    """The sources of a release, run with the libraries of this environment."""

    place: Path

    def call(self, version: str) -> "Tree":
        """Let the tree have a version, as an installed one would."""
        info = self.place / "src" / f"scrapersky-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: scrapersky\nVersion: {version}\n"
        )
        return self

    def environment(self, **settings: object) -> dict[str, str]:
        """Return the environment in which Python finds this tree before any other."""
        found = os.pathsep.join(str(self.place / sources) for sources in SOURCES)
        given = {name: str(value) for name, value in settings.items()}
        return CLEAN | {"PYTHONPATH": found} | given

    def run(self, *words: str, **settings: object) -> subprocess.CompletedProcess[str]:
        """Run a command of the release to its end."""
        return subprocess.run(
            [sys.executable, "-c", START, *words],
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd="/",
        )

    @contextmanager
    def running(self, *words: str, log: Path, **settings: object) -> Iterator[Running]:
        """Keep a command of the release running while the block lasts."""
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", START, *words],
                env=self.environment(**settings),
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd="/",
            )
            try:
                yield Running(process, log)
            finally:
                process.terminate()
                process.wait(120)


THIS: Final = Tree(REPOSITORY)


def copy_of_this(place: Path) -> Tree:
    """Copy the sources of today, to be changed."""
    for sources in SOURCES:
        (place / sources).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", REPOSITORY / sources, place / sources], check=True)
    return Tree(place)


def sources_of(release: Release, place: Path) -> Tree:
    """Take the sources of a release out of the history."""
    assert release.commit is not None, f"{release.version} is not tagged"
    packed = subprocess.run(
        ["git", "-C", REPOSITORY, "archive", release.commit, "src", "packages"],
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        pytest.fail(
            f"The history does not reach back to {release.version} ({release.commit}): "
            f"fetch it whole (`git fetch --unshallow`). {packed.stderr.decode()}"
        )
    place.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", place], input=packed.stdout, check=True)
    return Tree(place).call(release.version)


async def load(database: TestDatabase, release: str) -> str:
    """Put what a release left behind into an empty database; return its revision."""
    engine = connect(parse_target(database.url), statement_timeout=None)
    try:
        with opened(PLACE / f"{release}.backup", KEY) as contents:
            revision = contents.about.revision
            async with engine.begin() as connection:
                await connection.run_sync(
                    migrate.apply, lambda config: command.upgrade(config, revision)
                )
                await load_rows(
                    connection, contents.tables, contents.sequences, without=NOT_KEPT
                )
        return revision
    finally:
        await engine.dispose()


ALONE = {
    "CONTACT_VALIDATION", "DEEP_SCAN", "DOMAIN", "DOMAIN_SITEMAP", "PAGE_CURATION",
    "PLACE_SEARCH", "SITEMAP_IMPORT",
}  # fmt: skip
QUIET: Final = {f"{stage}_SCHEDULER_ENABLED": "false" for stage in ALONE}
"""Settings under which only domain extraction works, which asks nobody on the web."""


def works(
    tree: Tree,
    database: TestDatabase,
    place: Path,
    *words: str,
    look: Callable[[httpx.Client], None] = lambda _: None,
) -> None:
    """Let a release serve lists and work a row on a database, with no other process."""
    place.mkdir()
    port = free_port()
    given = {
        "DATABASE_URL": database.url,
        "SCRAPERSKY_DATA_DIR": place / "data",
        "PORT": port,
    }
    with (
        tree.running(*words, log=place / "log", **given, **QUIET) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        psycopg.connect(database.dsn, autocommit=True) as connection,
    ):
        process.wait_until(lambda: is_ready(client), "it is ready")
        made = tree.run("key", "create", "Lists", **given)
        client.headers["Authorization"] = f"Bearer {made.stdout.split()[-1]}"
        for kind in ("contacts", "domains", "local-businesses"):
            listed = client.get(f"/api/v3/{kind}").raise_for_status().json()
            assert listed["items"], kind
        look(client)
        business = connection.execute(QUEUE).fetchone()
        process.wait_until(
            lambda: connection.execute(SETTLED, business).fetchone() == ("Completed",),
            "a row was worked",
        )


def is_ready(client: httpx.Client) -> bool:
    with suppress(httpx.TransportError):
        return client.get("/health/ready").status_code == 200
    return False
