"""Releases as trees of sources, and their commands as processes on one database."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sdk_tests.rig.waiting import wait_until
from tests.cli.rig import CLEAN

REPOSITORY: Final = Path(__file__).parents[2]
SOURCES: Final = ("src", "packages/curation-sdk/src")
START: Final = "from scrapersky.cli import main; main()"


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
