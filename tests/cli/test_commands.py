"""The command line as a person meets it: real processes, real signals."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import psutil
import pytest
from cyclopts import App

from scrapersky.cli import COMMANDS, app
from scrapersky.cli.up import usual_workers
from scrapersky.cli.worker_processes import ADDED_NICENESS
from scrapersky.db.embedded import is_alive, running_postmaster
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.cli.rig import CLEAN, COMMAND, Answer, Command
from tests.conftest import TestDatabase


@pytest.fixture
def nowhere(scratch: Path) -> Path:
    """A data directory that nobody has made yet."""
    return scratch / f"cli-{time.monotonic_ns()}"


@dataclass(frozen=True, slots=True)
class Life:
    """What was seen of a `scrapersky up`, until it had ended."""

    pid: int
    orphan: int
    """The database of the one killed before it."""
    processes: tuple[dict[str, Any], ...]
    nice: tuple[int, ...]
    is_live: bool
    """Whether its last process answered for itself."""
    beside: dict[str, Answer]
    """What commands said while it ran."""


@pytest.fixture(scope="module")
def lives() -> list[Life]:
    """What was seen of one, once somebody has asked for it."""
    return []


@pytest.fixture
def life(lives: list[Life], scratch: Path, port: int, command: Command) -> Life:
    """What was seen of one start that followed a kill and was stopped with Ctrl-C."""
    if not lives:
        with a_home(scratch) as home:
            lives.append(live(home, port, command))
    return lives[0]


@contextmanager
def a_home(scratch: Path) -> Iterator[Path]:
    directory = scratch / f"cli-{time.monotonic_ns()}"
    try:
        yield directory
    finally:
        pid = running_postmaster(directory / "postgres")
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def port() -> int:
    return free_port()


@contextmanager
def running(home: Path, port: int, *more: str) -> Iterator["subprocess.Popen[str]"]:
    environment = CLEAN | {"SCRAPERSKY_DATA_DIR": str(home), "PORT": str(port)}
    process = subprocess.Popen(
        [COMMAND, "up", *more],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "ScraperSky is running" in line:
                break
        wait_until_ready(port)
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + HUNG
    while True:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/health/ready"
            ) as answer:
                assert answer.status == 200
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def stop(
    process: "subprocess.Popen[str]", home: Path, request_to_stop: signal.Signals
) -> None:
    """Stop what runs, and see that it leaves nothing running."""
    database = running_postmaster(home / "postgres")
    process.send_signal(request_to_stop)
    _, said = process.communicate(timeout=HUNG)

    assert process.returncode == 0
    assert "Stopped." in said
    assert "Traceback" not in said
    assert database is not None
    assert not is_alive(database)


def live(home: Path, port: int, command: Command) -> Life:
    """Kill one with its database running, start the next, look at it, and stop it."""
    with running(home, port) as killed:
        killed.kill()
        killed.wait()
    orphan = running_postmaster(home / "postgres")
    assert orphan is not None

    def ask(*words: str, **settings: object) -> Answer:
        return command(*words, SCRAPERSKY_DATA_DIR=home, **settings)

    def listed() -> tuple[dict[str, Any], ...]:
        # Applications of other tests in this process may log meanwhile.
        found = json.loads(ask("workers", "--json").stdout.splitlines()[-1])
        # What the killed one started is listed until it has noticed.
        started = {child.pid for child in psutil.Process(process.pid).children()}
        ours = [one for one in found if one["pid"] in {process.pid, *started}]
        return tuple(sorted(ours, key=lambda one: one["role"]))

    with running(home, port) as process:
        beside = {
            "up": ask("up", PORT=free_port()),
            "migrate": ask("migrate", "--json"),
            "doctor": ask("doctor", "--json"),
        }
        (home / "run").chmod(0o755)
        beside["doctor of an open directory"] = ask("doctor", "--json")
        (home / "run").chmod(0o700)
        wait_until(lambda: len(listed()) == 1 + usual_workers(), "all are there")
        processes = listed()
        nice = tuple(psutil.Process(one["pid"]).nice() for one in processes)
        address = processes[-1]["address"] or f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(f"{address}/health/live") as answer:
            is_live = answer.status == 200
        wait_until_ready(port)
        stop(process, home, signal.SIGINT)
    return Life(process.pid, orphan, processes, nice, is_live, beside)


@pytest.mark.slow
def test_after_kill_9_the_next_start_recovers_and_ctrl_c_stops_all_it_started(
    life: Life,
) -> None:
    assert not is_alive(life.orphan)
    assert not any(is_alive(one["pid"]) for one in life.processes)


@pytest.mark.slow
def test_a_second_start_on_one_directory_gets_a_clear_answer(life: Life) -> None:
    second = life.beside["up"]

    assert second.returncode == 1
    assert "already runs on the data directory" in second.stderr
    assert str(life.pid) in second.stderr


@pytest.mark.slow
def test_commands_beside_a_running_one_use_its_database(life: Life) -> None:
    assert json.loads(life.beside["migrate"].stdout)["applied"] == []
    assert all(finding["ok"] for finding in json.loads(life.beside["doctor"].stdout))


def test_a_taken_port_is_said_in_words(
    nowhere: Path, port: int, command: Command
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        answer = command("up", SCRAPERSKY_DATA_DIR=nowhere, PORT=port)

    assert answer.returncode == 2
    assert f"Port {port} on 127.0.0.1 is taken" in answer.stderr
    assert f"PORT={port + 1}" in answer.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/d", "No database answers at"),
        (
            "postgresql://u:hunter2@no-such-host.invalid/d",
            "host of the database is not",
        ),
        ("mysql://u:hunter2@h/d", "ScraperSky needs PostgreSQL"),
    ],
)
def test_an_unusable_database_is_said_in_words_without_its_password(
    url: str, said: str, port: int, command: Command
) -> None:
    answer = command("up", DATABASE_URL=url, PORT=port)

    assert answer.returncode in {1, 2}
    assert said in answer.stderr
    assert "What to do:" in answer.stderr
    assert "hunter2" not in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_database_that_may_forget_is_refused(
    database: TestDatabase, command: Command
) -> None:
    answer = command("migrate", DATABASE_URL=database.url)

    assert answer.returncode == 1
    assert "fsync, full_page_writes = off" in answer.stderr


def test_an_unwritable_data_directory_is_said_in_words(
    scratch: Path, command: Command
) -> None:
    place = scratch / "not-a-directory"
    place.touch()

    answer = command("up", SCRAPERSKY_DATA_DIR=place / "inside")

    assert answer.returncode == 1
    assert "cannot be used" in answer.stderr
    assert "SCRAPERSKY_DATA_DIR" in answer.stderr


def test_a_misspelt_setting_stops_the_start(nowhere: Path, command: Command) -> None:
    answer = command("up", SCRAPERSKY_DATA_DIR=nowhere, DOMAIN_SCHEDULER_BATCHSIZE=1)

    assert answer.returncode == 2
    assert "Did you mean DOMAIN_SCHEDULER_BATCH_SIZE?" in answer.stderr
    assert not nowhere.exists()


def test_the_retired_scheduler_is_warned_about(command: Command) -> None:
    answer = command("config", SITEMAP_SCHEDULER_INTERVAL_MINUTES=1)

    assert answer.returncode == 0
    assert "SITEMAP_SCHEDULER_INTERVAL_MINUTES is ignored" in answer.stderr.replace(
        "\n", " "
    )


def test_config_shows_values_with_their_origin_and_masks_secrets(
    command: Command,
) -> None:
    answer = command("config", "--json", "--changed", PORT=9, JWT_SECRET="hunter2")

    assert json.loads(answer.stdout) == {
        "PORT": {"value": "9", "origin": "environment"},
        "JWT_SECRET": {"value": "********", "origin": "environment"},
    }


def test_doctor_says_how_to_fix_what_is_wrong(command: Command) -> None:
    answer = command("doctor", "--json", DATABASE_URL="postgresql://u@127.0.0.1:1/d")

    findings = {found["check"]: found for found in json.loads(answer.stdout)}
    assert answer.returncode == 1
    assert findings["disk"]["ok"]
    assert not findings["database"]["ok"]
    assert findings["database"]["fix"]


@pytest.mark.slow
def test_doctor_finds_a_directory_open_to_others(life: Life) -> None:
    answer = life.beside["doctor of an open directory"]

    findings = {found["check"]: found for found in json.loads(answer.stdout)}
    assert not findings["permissions"]["ok"]
    assert findings["permissions"]["fix"].startswith("chmod 700")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("upp",), 'There is no command "upp". Did you mean up?'),
        (("version", "of", "what"), "does not take these words: of what"),
        (("version", "--yaml"), "Unknown option"),
    ],
)
def test_wrong_words_exit_with_2_and_say_which(
    words: tuple[str, ...], answer: str, command: Command
) -> None:
    found = command(*words)

    assert found.returncode == 2
    assert answer in found.stderr
    assert "What to do:" in found.stderr


def test_version_says_what_it_stands_on(command: Command) -> None:
    assert set(json.loads(command("version", "--json").stdout)) == {
        "scrapersky", "build", "schema", "python", "embedded_postgres", "platform",
    }  # fmt: skip


def test_help_lists_every_command_with_a_sentence(command: Command) -> None:
    shown = command("--help").stdout

    for name in app.resolved_commands():
        if not name.startswith("-"):
            assert re.search(rf"\b{name}\b +[A-Z]", shown), name


@pytest.mark.slow
@pytest.mark.skipif(usual_workers() == 0, reason="this machine has one core")
def test_the_stages_have_a_process_of_their_own_that_ends_with_the_first(
    life: Life,
) -> None:
    first, second = life.processes
    assert life.nice[1] == life.nice[0] + ADDED_NICENESS, (
        "the stages give way to the API"
    )
    assert (first["role"], second["role"]) == ("serve", "worker")
    assert not first["stages"]
    assert second["stages"]
    assert life.is_live
    assert not is_alive(second["pid"])


LOAD_HELP = """
import contextlib, io, sys
from scrapersky.cli import COMMANDS, app

with contextlib.redirect_stdout(io.StringIO()) as shown:
    app.help_print([])
assert "dead-letters" in shown.getvalue()
print(sorted({"aiohttp", "fastapi", "sqlalchemy"} & sys.modules.keys()))
"""


def test_the_list_of_commands_loads_none_of_them() -> None:
    found = subprocess.run(
        [sys.executable, "-c", LOAD_HELP], capture_output=True, text=True, check=True
    )

    assert found.stdout == "[]\n"


def test_the_list_says_of_each_command_what_its_own_help_does() -> None:
    for path in (path for paths in COMMANDS.values() for path in paths):
        module, _, name = path.partition(":")
        declared = getattr(import_module(f"scrapersky.cli.{module}"), name)
        is_group = isinstance(declared, App)
        words = declared.help if is_group else cleandoc(declared.__doc__)
        listed = app[declared.name[0] if is_group else name.replace("_", "-")]

        assert listed.help
        assert words.startswith(listed.help), path


def test_submit_took_the_dash_of_its_help_for_an_option() -> None:
    _, bound, _ = app.parse_args(["submit", "-"], exit_on_error=False)

    assert bound.arguments == {"file": Path("-")}
