"""Workers beside `up`: as many as asked for, until it stops."""

import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky.cli import worker_processes
from scrapersky.cli.worker_processes import WorkerProcesses
from sdk_tests.rig.waiting import wait_until

STAY = "import time; time.sleep(600)"
SIGN = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1], str(os.getpid())).touch();"


def test_one_core_of_a_host_was_used_and_a_worker_that_ends_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(worker_processes, "RESTART_SECONDS", 0.0)
    said: list[str] = []
    command = [sys.executable, "-c", f"{SIGN} {STAY}", str(tmp_path)]
    with WorkerProcesses(2, said.append, grace=0, command=command) as running:
        wait_until(lambda: len([*tmp_path.iterdir()]) == 2, "two were started")
        first, *_ = running._workers
        first.kill()
        wait_until(lambda: len([*tmp_path.iterdir()]) == 3, "another was started")

    # Only now: the third may sign before it stands in the list.
    assert first not in running._workers
    assert all(worker.poll() is not None for worker in running._workers)
    assert said == ["A worker ended (-9). Starting another"]


def test_up_ignored_the_port_of_its_workers(tmp_path: Path) -> None:
    sign = "import os, pathlib, sys; pathlib.Path(sys.argv[1], os.environ['WORKER_PORT']).touch()"
    command = [sys.executable, "-c", f"{sign}; {STAY}", str(tmp_path)]

    with WorkerProcesses(2, print, grace=0, port=9001, command=command):
        wait_until(lambda: len([*tmp_path.iterdir()]) == 2, "two were started")

    assert {file.name for file in tmp_path.iterdir()} == {"9001", "9002"}


def test_a_worker_ends_with_whoever_started_it() -> None:
    orphan = (
        "import os, time; from scrapersky.cli.worker_processes import end_with;"
        "end_with(os.getppid() + 1); time.sleep(600)"
    )

    done = subprocess.run([sys.executable, "-c", orphan], check=False, timeout=120)

    assert done.returncode == -15
