"""PostgreSQL is killed under an API and two workers, and comes back: real processes all."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from scrapersky.db.embedded import (
    DATABASE,
    ROLE,
    EmbeddedPostgres,
    running_postmaster,
)
from scrapersky.observability.repeat import FAULTS
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.api.records.rig import AT_REST
from tests.cli.rig import CLEAN, COMMAND
from tests.db.prepared import prepare_home

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster-copies")]

AWAY = 20.0
"""Seconds: an outage shorter than 15 is none."""
ADA = {"email": "ada@a.bv"}


@pytest.fixture
def home(scratch: Path) -> Iterator[Path]:
    directory = prepare_home(scratch / f"outage-{time.monotonic_ns()}", migrated=True)
    yield directory
    pid = running_postmaster(directory / "postgres")
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


def ask(server: EmbeddedPostgres, query: str) -> list[Any]:
    place = str(server.socket_dir)
    with psycopg.connect(
        user=ROLE, dbname=DATABASE, host=place, autocommit=True
    ) as connection:
        found = connection.execute(query.encode())
        return found.fetchall() if found.description else []


def start(
    stack: ExitStack, command: str, server: EmbeddedPostgres, folder: Path, **more: str
) -> "subprocess.Popen[bytes]":
    """Start a process that logs into a file of its own, and end it with the stack."""
    settings = {
        **AT_REST,
        "DATABASE_URL": server.url,
        "LOG_FORMAT": "json",
        "SCRAPERSKY_DATA_DIR": str(folder),
        **more,
    }
    log = stack.enter_context((folder / f"{command}{len(more)}.log").open("wb"))
    process = subprocess.Popen([COMMAND, command], env=CLEAN | settings, stderr=log)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def faults_in(log: Path) -> Counter[str]:
    """Count the lines of each fault that a process has logged."""
    lines = [line for line in log.read_text().splitlines() if line.startswith("{")]
    events = [json.loads(line) for line in lines]
    return Counter(
        f"{one['event']} {one.get('doing', '')} {one.get('id', '')} "
        f"{one.get('error', one.get('why', ''))[:60]}"
        for one in events
        if one["event"] in FAULTS | {"worker.fault"}
    )


def test_an_outage_was_503_for_minutes_workers_called_gone_and_hundreds_of_lines(
    home: Path, tmp_path: Path
) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        server = EmbeddedPostgres(home)
        server.start()
        start(stack, "serve", server, tmp_path, PORT=str(port))
        worker = start(stack, "worker", server, tmp_path)
        client = stack.enter_context(httpx.Client(base_url=address, timeout=30))
        heard = "SELECT name FROM processes WHERE seen_at > clock_timestamp() - interval '7 s'"
        wait_until(lambda: len(ask(server, heard)) == 2, "both are there")
        # Every pool has connections in it.
        assert client.post("/api/v3/people/export", json=ADA).is_success
        assert client.get("/api/v3/contacts").is_success

        pid = running_postmaster(server.data)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until, refused = time.monotonic() + AWAY, 0
        while time.monotonic() < until:
            refused += client.get("/api/v3/contacts").status_code == 503
            client.get("/health/ready")
        server.stop()
        server = EmbeddedPostgres(home)
        stack.enter_context(server)
        first = client.post("/api/v3/people/erase", json=ADA)
        alerts = client.get("/api/v3/alerts", params={"over": True}).json()
        wait_until(lambda: len(ask(server, heard)) == 2, "both are back")
        wait_until(
            lambda: bool(
                ask(server, "SELECT rule FROM alerts WHERE rule = 'database_away'")
            ),
            "the outage is recorded",
        )
        states = {one["state"] for one in client.get("/api/v3/workers").json()}
        worker.kill()
        worker.wait()
        ask(server, "UPDATE processes SET seen_at = seen_at - interval '5 minutes',"
            " back_at = back_at - interval '5 minutes' WHERE role = 'worker'")  # fmt: skip
        ask(server, "UPDATE processes SET back_at = back_at - interval '5 minutes'")
        after = {
            one["role"]: one["state"] for one in client.get("/api/v3/workers").json()
        }

    assert refused > 5
    assert first.status_code == 200, first.text
    assert "process_gone" not in {one["rule"] for one in alerts}
    assert states == {"serving", "working"}
    assert after == {"serve": "serving", "worker": "gone"}
    for log in tmp_path.glob("*.log"):
        assert max(faults_in(log).values()) == 1, faults_in(log)
