"""Make the database that a release leaves behind, for tests of upgrades and of going back.

    python -m scripts.release_fixture                      # of this tree
    python -m scripts.release_fixture 0.3.0 --tree DIR     # of the sources of a release in DIR

The release's own code fills it: its demo town from the search to the contacts, then users, a
key and a domain that waits. It is kept as a backup: rows alone, for any PostgreSQL from 14 on.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scrapersky.cli.backup import save
from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.kit.build import version

ROOT: Final = Path(__file__).parents[1]
PLACE: Final = ROOT / "tests" / "db" / "releases"
KEY: Final = b"a database that anybody may read"
SIZE: Final = "12"
"""Businesses of the town: enough for every kind of row, few enough to be kept for ever."""
MAX_FIXTURE_BYTES: Final = 300_000
SOURCES: Final = (
    "src",
    "packages/contact-extraction/src",
    "packages/curation-sdk/src",
    "packages/simulated-town/src",
)
START: Final = "from scrapersky.cli import main; main()"
COMMANDS: Final = (
    ("tenant", "create", "Harbour Agency"),
    ("user", "create", "ada@harbour.example", "--role", "curator"),
    ("key", "create", "Nightly export"),
    ("submit", "{waiting}"),
)
WAITING: Final = "waits.example\n"
"""A file with a domain that nobody has looked at when the release ends."""


def place_of(release: str) -> Path:
    """Name the file in which the database of a release is kept."""
    return PLACE / f"{release}.backup"


def make(release: str, tree: Path = ROOT) -> None:
    """Fill a database with the code of a release, and keep it."""
    place = place_of(release)
    with TemporaryDirectory(prefix="scrapersky-release-") as found:
        data = Path(found) / "data"
        data.parent.chmod(0o755)  # the server may have a user of its own
        where = {"SCRAPERSKY_DATA_DIR": data, "PORT": free_port()}
        run(tree, "demo", "--size", SIZE, "--once", **where)
        with EmbeddedPostgres(data / "demo") as server:
            waiting = data / "waiting.txt"
            waiting.write_text(WAITING)
            for words in COMMANDS:
                filled = [word.format(waiting=waiting) for word in words]
                run(tree, *filled, SCRAPERSKY_DATA_DIR=data, DATABASE_URL=server.url)
            given = {"SCRAPERSKY_DATA_DIR": str(data)}
            settings = load_settings(given, dotenv=None).settings
            target = parse_target(server.url, pooler=False)
            manifest = asyncio.run(save(target, settings, place, KEY))
    place.chmod(0o644)
    size = place.stat().st_size
    print(f"{place}: release {release}, {manifest.revision}, {size:,} bytes.")
    if size > MAX_FIXTURE_BYTES:
        sys.exit(f"That is too large to be kept: at most {MAX_FIXTURE_BYTES:,}.")


def free_port() -> int:
    """Find a port for the demo: a developer's own ScraperSky may have the usual one."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def run(tree: Path, *words: str, **settings: object) -> None:
    """Run a command with the sources of a release and the libraries of this environment."""
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    sources = os.pathsep.join(str(tree / one) for one in SOURCES)
    subprocess.run(
        [sys.executable, "-c", START, *words],
        env=clean
        | {"PYTHONPATH": sources}
        | {name: str(value) for name, value in settings.items()},
        stdin=subprocess.DEVNULL,
        cwd="/",
        check=True,
    )


def main() -> None:
    """Make the fixture of a release."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("release", nargs="?", default=version())
    words.add_argument("--tree", type=Path, default=ROOT)
    given = words.parse_args()
    PLACE.mkdir(exist_ok=True)
    make(given.release, given.tree.resolve())


if __name__ == "__main__":
    main()
