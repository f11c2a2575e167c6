"""The test line itself: what it promises the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdk_tests.rig import scratch


@pytest.mark.xdist_group("together")
def test_the_tests_of_a_group_stay_together(request: pytest.FixtureRequest) -> None:
    # A group's name at the end of a test's is how workers say what belongs together;
    # without it each worker silently starts every shared server and browser anew.
    is_shared = os.environ.get("PYTEST_XDIST_WORKER") is not None

    assert request.node.nodeid.endswith("@together") == is_shared


def test_the_program_that_installs_the_others_was_any_from_the_index() -> None:
    root = Path(__file__).parents[1]
    start, lock = root / "scripts/environment.sh", root / "locks/uv.txt"

    assert "--require-hashes --only-binary :all: --requirement locks/uv.txt" in (
        start.read_text()
    )
    assert re.search(r"^uv==\d+\.\d+\.\d+ ", lock.read_text(), re.MULTILINE)
    assert lock.read_text().count("--hash=sha256:") > 1


def test_what_all_workers_need_is_made_once_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "roomy_directory", lambda: str(tmp_path))
    made: list[Path] = []

    def make(place: Path) -> None:
        made.append(place)
        place.mkdir()
        (place / "file").write_text("half")
        if len(made) == 1:
            raise OSError("the disk is full")
        (place / "file").write_text("whole")

    with pytest.raises(OSError, match="full"):
        scratch.made_once("thing", make)
    first, second = (scratch.made_once("thing", make) for _ in range(2))

    assert first == second
    assert (first / "file").read_text() == "whole"
    assert len(made) == 2


def test_a_killed_run_left_its_databases_in_memory_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        killed.wait()
    left = tmp_path / f"kind-{killed.pid}-abc"
    used = tmp_path / f"kind-{os.getpid()}-abc"
    (left / "data").mkdir(parents=True)
    used.mkdir()
    monkeypatch.setattr(scratch, "roomy_directory", lambda _room: str(tmp_path))

    made = scratch.scratch_directory("kind")

    assert {*tmp_path.iterdir()} == {used, made}


@pytest.mark.slow
def test_a_test_that_hung_stopped_the_others_with_it(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(
        "import socket, time, pytest\n"
        "def test_hangs():\n    one, other = socket.socketpair()\n    one.recv(1)\n"
        "@pytest.fixture\ndef slow():\n    time.sleep(60)\n"
        "def test_begins_never(slow): pass\n"
        "def test_is_well(): pass\n"
    )
    line = ("-p", "conftest", "-n", "2", "--dist", "loadgroup", "--stuck-after=1")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *line, tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1 failed, 1 passed, 1 error" in done.stdout, done
    assert "    one.recv(1)" in done.stdout
