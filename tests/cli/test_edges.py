"""The edges of the command line: no terminal, a parent that is gone, and nothing set up yet."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from cyclopts import App

from scrapersky.cli import app
from scrapersky.db.embedded import EmbeddedPostgres
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.cli.rig import CLEAN, COMMAND, run, run_here

BEFORE_THE_FIRST_UP = [
    ["stages", "--json"],
    ["workers", "--json"],
    ["dead-letters", "--json"],
    ["export", "contacts", "--out", "-"],
    ["leads", "--out", "-"],
    ["run", "x in y", "--out", "-", "--source", "file", "--file", "missing.csv"],
    ["completeness", str(UUID(int=1)), "--json"],
    ["searches", "run", str(UUID(int=1)), "--json"],
    ["submit", "-", "--json"],
    ["user", "list", "--json"],
    ["tenant", "list", "--json"],
    ["stages", "pause", "domain_metadata"],
    ["workers", "drain", "nobody"],
    ["dead-letters", "replay", "domain_metadata"],
    ["doctor", "--json"],
    ["config", "--json"],
    ["upgrade", "--check", "--json"],
    ["backup", "before.tar"],
    ["roles", "--apply"],
    ["dead-letters", "inspect", "domain_metadata", "x", "--json"],
    ["stages", "set", "domain_metadata", "--batch-size", "5", "--json"],
    ["sync", "credential", "mine", "-", "--json"],
    ["sync", "pause", "mine", "--json"],
    ["user", "disable", "ada@example.com", "--json"],
    ["bi", "revoke", "dashboards", "--json"],
]
TALKATIVE = {"up", "serve", "worker", "mcp", "docs", "roles", "adopt", "score"}
"""Commands that serve, print SQL or measure: what they say is for people."""
ALWAYS_JSON = {"score-sites"}


def test_what_some_commands_say_could_not_be_read_by_a_program() -> None:
    without = {
        name
        for name, command in commands_of(app)
        if "json" not in signature(command).parameters
    }

    assert without == TALKATIVE | ALWAYS_JSON


def commands_of(group: App, *before: str) -> Iterator[tuple[str, Any]]:
    for name in group:
        if name.startswith("-"):
            continue
        inner, path = group[name], (*before, name)
        if inner.default_command is not None:
            yield " ".join(path), inner.default_command
        yield from commands_of(inner, *path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["score", "/nowhere/pages.jsonl"], "/nowhere/pages.jsonl cannot be used"),
        (["docs", "--port", "99999"], "Must be <= 65535"),
        (["docs", "--port", "TAKEN"], "is taken by another program"),
        (["mcp", "--transport", "http", "--port", "TAKEN"], "is taken by another"),
    ],
)
def test_a_file_or_port_that_cannot_be_used_was_another_error(
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = [port if word == "TAKEN" else word for word in words]

        answer = run_here(monkeypatch, capsys)(*words)

    assert answer.returncode != 0
    assert said in answer.stderr


@pytest.mark.slow
def test_a_demo_without_a_terminal_stayed_open_for_ever(scratch: Path) -> None:
    home = scratch / f"demo-{time.monotonic_ns()}"

    answer = run(
        "demo", "--size", "6", "--json", SCRAPERSKY_DATA_DIR=home, PORT=free_port()
    )

    told = json.loads(answer.stdout)
    assert answer.returncode == 0, answer.stderr
    assert told["sites"] > 0
    assert told["scores"]["email"]["wrong"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["docs", "demo"])
def test_what_serves_outlived_whoever_had_started_it(
    scratch: Path, command: str
) -> None:
    port = free_port()
    words = {"docs": f"docs --port {port}", "demo": "demo --size 6 --stay"}[command]
    home = scratch / f"parent-{time.monotonic_ns()}"
    environment = {**CLEAN, "SCRAPERSKY_DATA_DIR": str(home), "PORT": str(port)}
    shell = subprocess.Popen(
        ["sh", "-c", f"{COMMAND} {words} & echo $!; wait"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with shell:
        assert shell.stdout
        child = int(shell.stdout.readline())
        try:
            if command == "docs":  # the site takes long to be made
                assert shell.stdout.readline().startswith("The documentation is at")
            else:
                wait_until(lambda: answers(port), command)
            shell.kill()
            shell.wait()
            wait_until(lambda: not is_alive(child), f"{command} to end")
            assert not answers(port)
        finally:
            if is_alive(child):
                os.kill(child, signal.SIGKILL)


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/").status_code < 500
    except httpx.TransportError:
        return False


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
@pytest.mark.parametrize("words", BEFORE_THE_FIRST_UP, ids=" ".join)
def test_before_the_first_up_a_command_says_what_to_do_instead_of_a_traceback(
    new_server: EmbeddedPostgres, words: list[str], tmp_path: Path
) -> None:
    answer = run(*words, SCRAPERSKY_DATA_DIR=tmp_path, DATABASE_URL=new_server.url)

    assert "Traceback" not in answer.stderr
    assert answer.returncode != 2, answer.stderr  # the words are right
    if answer.returncode != 0 and words[0] not in {"doctor", "upgrade"}:
        assert "What to do: " in answer.stderr, answer
    if "--json" in words and answer.stdout:
        json.loads(answer.stdout)


@pytest.fixture(scope="module")
def new_server(scratch: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(scratch / f"new-{time.monotonic_ns()}") as server:
        yield server
