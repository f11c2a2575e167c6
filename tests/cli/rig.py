"""Commands in processes of their own, and in this one where the process proves nothing."""

import gc
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import structlog

from scrapersky.cli import main
from scrapersky.configuration import VARIABLES
from scrapersky.db.embedded import ROLE, EmbeddedPostgres
from sdk_tests.rig.waiting import HUNG
from tests.conftest import DATA, TestDatabase

COMMAND = Path(sys.executable).with_name("scrapersky")
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if name not in VARIABLES and not name.startswith("SCRAPERSKY_")
} | {"SCRAPERSKY_DATA_DIR": str(DATA / "of-a-command")}
"""No setting, but for where a command keeps its data unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Answer]


def run(*arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    environment = CLEAN | {name: str(value) for name, value in settings.items()}
    return subprocess.run(
        [COMMAND, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * HUNG,
        check=False,
        cwd="/",
    )


def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run commands in this process: most of the time of a short one is its start."""
    # Where no `.env` is.
    monkeypatch.chdir("/")

    def ask(*arguments: str, **settings: object) -> Answer:
        with monkeypatch.context() as patch:
            for name in VARIABLES:
                patch.delenv(name, raising=False)
            for name, value in settings.items():
                patch.setenv(name, str(value))
            patch.setattr("sys.argv", ["scrapersky", *arguments])
            # A logger that is kept goes on writing to where this command did.
            patch.setattr(structlog, "configure", configure_uncached)
            with as_if_the_process_ended(), pytest.raises(SystemExit) as ended:
                main()
        return Answer(int(ended.value.code or 0), *capsys.readouterr())

    return ask


configure = structlog.configure


def configure_uncached(**options: Any) -> None:
    configure(**options | {"cache_logger_on_first_use": False})


@contextmanager
def as_if_the_process_ended() -> Iterator[None]:
    """Do what the end of a command's process does: close, and forget how it logged."""
    root, logging_to = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    with warnings.catch_warnings():
        # That the words come from the command line looks odd to it in a test.
        warnings.filterwarnings("ignore", message="Cyclopts application")
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**logging_to)


def create_database(server: EmbeddedPostgres, name: str, more: str = "") -> None:
    with psycopg.connect(database_of(server, "postgres").dsn, autocommit=True) as c:
        c.execute(f'CREATE DATABASE "{name}" {more}'.encode())


def database_of(server: EmbeddedPostgres, name: str) -> TestDatabase:
    place = f"{ROLE}@/{name}?host={server.socket_dir}"
    return TestDatabase(f"postgresql+asyncpg://{place}", f"postgresql://{place}", name)


def execute(database: TestDatabase, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []
