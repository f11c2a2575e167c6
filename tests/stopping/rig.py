"""Processes that are asked to stop in the middle of something long."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.cli.rig import CLEAN, COMMAND, execute
from tests.conftest import TestDatabase

GRACE: Final = 3
"""What the processes of these tests are given, in seconds."""
MARGIN: Final = 12
"""What deploy/ waits for beyond the grace before it kills."""
STEP: Final = 1.0
"""Milliseconds for which each row is made to take longer."""
SLOW_DOWN = """CREATE OR REPLACE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_sleep(TG_ARGV[0]::float8 / 1000);
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"""


@dataclass(frozen=True, slots=True)
class House:
    """A database, a data directory, and processes that work on them."""

    home: Path
    database: TestDatabase
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Return what every process of the test is given."""
        return CLEAN | {
            "SCRAPERSKY_DATA_DIR": str(self.home),
            "DATABASE_URL": self.database.url,
            "SHUTDOWN_GRACE_SECONDS": str(GRACE),
            **self.settings,
        }

    def of_database(self, name: str) -> "House":
        """Return the same for another database of the server."""
        own = self.database
        url, dsn = (text.replace(own.name, name) for text in (own.url, own.dsn))
        return replace(self, database=TestDatabase(url, dsn, name))

    def empty(self, name: str) -> "House":
        """Make a database with nothing in it."""
        name = f"{self.database.name}_{name}"
        self.run(f'CREATE DATABASE "{name}"')
        return self.of_database(name)

    def ask(self, question: str) -> int:
        """Return the number that a query gives."""
        found: int = execute(self.database, question)[0][0]
        return found

    def text(self, question: str) -> str:
        """Return the word that a query gives."""
        found: str = execute(self.database, question)[0][0]
        return found

    def run(self, *statements: str) -> None:
        """Execute some statements."""
        for statement in statements:
            execute(self.database, statement)

    def wait_for(self, question: str) -> None:
        """Wait until a query says yes."""
        wait_until(lambda: bool(self.ask(question)), question)

    @contextmanager
    def slowly(self, table: str, event: str, each: float = STEP) -> Iterator[None]:
        """Let every row of a table take longer to write, so that a job has a middle."""
        self.run(
            SLOW_DOWN,
            f"CREATE TRIGGER slowly BEFORE {event} ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION slow_down({each})",
        )
        try:
            yield
        finally:
            self.run(f"DROP TRIGGER slowly ON {table}")

    @contextmanager
    def running(self, *command: str, **more: str) -> Iterator["Running"]:
        """Run a command; what it says goes to a file, so that it never waits for us."""
        said = self.home / f"said-{time.monotonic_ns()}"
        with said.open("wb") as out:
            process = subprocess.Popen(
                [COMMAND, *command],
                env=self.environment | more,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
            )
        running = Running(process, said, f"scrapersky {command[0]}")
        try:
            yield running
        finally:
            # With what it has started, so that nothing outlives the test.
            with_all = os.getpgid(process.pid) if process.poll() is None else None
            if with_all is not None:
                os.killpg(with_all, signal.SIGKILL)
            process.wait()

    @contextmanager
    def serving(self, *command: str, **more: str) -> Iterator["Running"]:
        """Run what serves until it is stopped, and go on when it does."""
        port = free_port()
        with self.running(*command, PORT=str(port), **more) as running:
            wait_until(running.is_ready, f"{command} runs")
            yield replace(running, port=port)


@dataclass(frozen=True, slots=True)
class Running:
    """A process, and what it has said."""

    process: "subprocess.Popen[bytes]"
    output: Path
    name: str
    port: int = 0

    @property
    def words(self) -> str:
        """What it has said so far."""
        return self.output.read_text()

    def is_ready(self) -> bool:
        """Say whether it serves."""
        assert self.process.poll() is None, self.words
        return "is running" in self.words

    def stop(self, what: str, expected: int = 0) -> None:
        """Ask it to stop in the middle of something, and see that it does in time."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(GRACE + MARGIN)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not hear it: {what}") from None
        took = time.monotonic() - began
        assert code == expected, self.words
        assert "Traceback" not in self.words, self.words
        print(f"\n{self.name}: {what}: {took:.1f} s")

    def wait(self) -> None:
        """Let it end by itself."""
        assert self.process.wait(HUNG) == 0, self.words

    def kill(self) -> None:
        """End it as the system does when memory is short."""
        self.process.kill()
        self.process.wait()
