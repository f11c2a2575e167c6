"""Old and new are told apart, wherever a process says what it is."""

import socket
from pathlib import Path

import httpx
import orjson
import psycopg
import pytest

from scrapersky.kit.build import build, full_version, version
from scrapersky.settings import address_of
from sdk_tests.rig.port import free_port
from tests.conftest import TestDatabase
from tests.releases.rig import THIS, Tree, copy_of_this

LISTED = "SELECT pid, version FROM processes"


def said_by(tree: Tree) -> dict[str, str]:
    found: dict[str, str] = orjson.loads(tree.run("version", "--json").stdout)
    return found


@pytest.mark.slow
def test_old_and_new_processes_both_said_0_1_0(
    installed: TestDatabase, tmp_path: Path
) -> None:
    old = copy_of_this(tmp_path / "old").call("0.3.9")
    settings = {
        "DATABASE_URL": installed.url,
        "SCRAPERSKY_DATA_DIR": tmp_path / "data",
    }
    port = free_port()
    with (
        old.running("serve", log=tmp_path / "a", PORT=port, **settings) as first,
        THIS.running("worker", log=tmp_path / "b", **settings) as second,
        psycopg.connect(installed.dsn, autocommit=True) as connection,
    ):

        def listed() -> dict[int, str]:
            return dict(connection.execute(LISTED).fetchall())

        first.wait_until(lambda: first.process.pid in listed(), "the old one is listed")
        second.wait_until(lambda: second.process.pid in listed(), "the new one is too")
        found = listed()
        shown = THIS.run("workers", **settings).stdout
        ready = httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=60).json()

    was, now = found[first.process.pid], found[second.process.pid]
    assert was.startswith("0.3.9+")
    assert now == full_version() != was
    assert ready["version"] == was
    assert was in shown
    assert now in shown


@pytest.mark.slow
def test_two_builds_of_one_version_looked_the_same(tmp_path: Path) -> None:
    same = copy_of_this(tmp_path / "same").call(version())
    other = copy_of_this(tmp_path / "other").call(version())
    with (other.place / "src/scrapersky/errors.py").open("a") as file:
        file.write("# patched\n")

    assert said_by(same)["build"] == build()
    assert said_by(other)["scrapersky"] == version()
    assert said_by(other)["build"] != build()


def test_workers_were_listed_at_0_0_0_0() -> None:
    assert address_of("0.0.0.0", 8001) == f"http://{socket.gethostname()}:8001"
    assert address_of("::", 8001) == f"http://{socket.gethostname()}:8001"
    assert address_of("127.0.0.1", 8001) == "http://127.0.0.1:8001"
    assert address_of("fd00::1", 8001) == "http://[fd00::1]:8001"
