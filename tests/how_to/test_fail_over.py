"""The page about failing over, followed with two servers, a worker and an API."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import psycopg
import pytest

from sdk_tests.rig.cluster import (
    BINARIES,
    a_home,
    new_directory,
    run_as_server,
    server_identity,
)
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.how_to.guide import Shell, Step, steps_of
from tests.how_to.running import RunningProcess, running

PAGE = "fail-over-to-a-replica.md"
DATABASE = "scrapersky"
REPEATED = (409, 503)
"""It is still being done, and: the database is away."""
DONE = """SELECT item, count(*) FROM curation.attempt
    WHERE stage = 'place_search' AND outcome = 'done' GROUP BY item"""
COUNT_DONE = """SELECT count(*) FROM curation.attempt
    WHERE stage = 'place_search' AND outcome = 'done'"""


@dataclass(frozen=True, slots=True)
class DatabaseHost:
    """A host of PostgreSQL: its directory, its port, and a shell of its user."""

    home: Path
    port: int
    shell: Shell

    @property
    def pid(self) -> int:
        return int((self.home / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def conninfo(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={DATABASE}"

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """Kill the server; its sessions notice its end."""
        os.kill(self.pid, signal.SIGKILL)

    def remove(self) -> None:
        """End what a failed test has left running, and delete its files."""
        self.shell.type("pg_ctl stop --mode=immediate || true")
        shutil.rmtree(self.home, ignore_errors=True)


class Installation:
    """Two hosts of PostgreSQL, one of ScraperSky, and whoever looks after them."""

    def __init__(self, place: Path, db1: DatabaseHost, db2: DatabaseHost) -> None:
        (place / "imports").mkdir()
        self.db1, self.db2 = db1, db2
        both = f"127.0.0.1:{db1.port},127.0.0.1:{db2.port}"
        self.settings: dict[str, object] = {
            "DATABASE_URL": f"postgresql://postgres@{both}/{DATABASE}",
            "SCRAPERSKY_DATA_DIR": place,
            "PLACE_SEARCH_SCHEDULER_LEASE_SECONDS": 5,
        }
        self.place = place
        path = f"{BINARIES}:{os.environ['PATH']}"
        self.operator = Shell(place, None, **self.settings)
        for shell in (self.operator, db1.shell, db2.shell):
            shell.type(f"export DB1='{db1.conninfo}' DB2='{db2.conninfo}' PATH={path}")
        self.operator.type(f"export PATH={self.operator.environment['PATH']}:{path}")

    def follow(self, heading: str, shell: Shell) -> list[str]:
        """Do what stands below a heading; return what each step printed."""
        return [shell.follow(step) for step in steps_of(PAGE, heading)]

    def write_file(self, name: str) -> str:
        """Write a file with one place in it, to be searched."""
        file = self.place / "imports" / name
        file.write_text(f"id,name\n{name},Business {name}\n")
        return name


class Client(Thread):
    """Asks for one search after the other, and repeats what was answered 503."""

    def __init__(self, installation: Installation, api: RunningProcess) -> None:
        super().__init__(daemon=True)
        self.installation, self.api = installation, api
        self.acknowledged: list[str] = []
        self.surprises: list[str] = []
        self.is_refused = Event()
        self.is_over = Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            self.search()

    def search(self) -> str:
        """Ask for a search until it is acknowledged; return its id."""
        file = self.installation.write_file(f"{len(self.acknowledged)}.csv")
        asked = {
            "json": {"source": "file", "file": file},
            "headers": {"Idempotency-Key": str(uuid4())},
        }
        while (answer := self.api.ask("POST", "/api/v3/searches", **asked)).is_error:
            if answer.status_code not in REPEATED:
                self.surprises.append(answer.text)
            self.is_refused.set()
            time.sleep(0.1)
        self.acknowledged.append(answer.json()["record"]["id"])
        return self.acknowledged[-1]


@contextmanager
def repeating(client: Client) -> Iterator[Client]:
    """Let a client ask until the block ends, however it does."""
    client.start()
    try:
        yield client
    finally:
        client.is_over.set()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Give a primary server with a migrated database, and an empty host for its replica."""
    with ExitStack() as stack:
        hosts = []
        for _ in range(2):
            home, port = a_home(), free_port()
            path = {"PGDATA": home / "data", "PGPORT": port, "LC_ALL": "C"}
            shell = Shell(home, server_identity(), **path)
            shell.environment["PATH"] = f"{BINARIES}:{os.environ['PATH']}"
            hosts.append(DatabaseHost(home, port, shell))
            stack.callback(hosts[-1].remove)
        db1, db2 = hosts
        run_as_server("cp", "-a", f"{new_directory()}/data", str(db1.home / "data"))
        with (db1.home / "data" / "postgresql.conf").open("a") as file:
            file.write("unix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\n")
        db1.shell.type('pg_ctl start --log="$HOME/server.log"')
        db1.shell.type(f"createdb -h 127.0.0.1 -U postgres {DATABASE}")
        made = Installation(tmp_path, db1, db2)
        made.operator.type("scrapersky migrate")
        yield made


@pytest.mark.long
def test_the_primary_is_killed_and_every_row_is_done_exactly_once(
    installation: Installation,
) -> None:
    db1, db2 = installation.db1, installation.db2
    installation.follow("Make the replica", db2.shell)
    installation.follow("Decide what may be lost", installation.operator)
    with (
        running("serve", installation.settings) as api,
        running("worker", installation.settings),
        repeating(Client(installation, api)) as client,
    ):
        installation.operator.type(f"export API={api.address}/api/v3")
        wait_until(lambda: db1.ask(COUNT_DONE)[0][0] != 0, "work that is done")
        db1.kill()
        assert client.is_refused.wait(HUNG)
        before = set(client.acknowledged)

        installation.follow("Fence the old primary", db1.shell)
        installation.follow("Promote the replica", db2.shell)
        kept = {str(row[0]) for row in db2.ask("SELECT id FROM place_searches")}
        assert before
        assert before <= kept
        installation.follow("See that everything goes on", installation.operator)
        wait_until(lambda: len(client.acknowledged) > len(before) + 10, "more searches")
        client.is_over.set()
        client.join(HUNG)
        asked = len(client.acknowledged)
        wait_until(lambda: db2.ask(COUNT_DONE)[0][0] == asked, "all searches")

        installation.follow("Make the old primary a replica", db1.shell)
        wait_until(lambda: db1.ask(COUNT_DONE) == [(asked,)], "the same on the replica")
        assert api.is_ready()

    assert client.surprises == []
    assert sorted(db2.ask(DONE)) == sorted((one, 1) for one in client.acknowledged)
    assert db2.ask("SELECT count(*) FROM place_searches") == [(asked,)]
    assert db2.ask("SELECT count(*) FROM places_staging") == [(asked,)]


@pytest.mark.long
def test_what_an_asynchronous_replica_has_not_heard_of_is_named(
    installation: Installation,
) -> None:
    db1, db2 = installation.db1, installation.db2
    installation.follow("Make the replica", db2.shell)
    with (
        running("serve", installation.settings) as api,
        running("worker", installation.settings),
    ):
        installation.operator.type(f"export API={api.address}/api/v3")
        client = Client(installation, api)
        kept = client.search()
        wait_until(lambda: db1.ask(COUNT_DONE) == [(1,)], "the early search")
        wait_until(lambda: db2.ask(COUNT_DONE) == [(1,)], "the same on the replica")
        db2.shell.type("pg_ctl stop --mode=fast")
        lost = client.search()
        wait_until(lambda: db1.ask(COUNT_DONE) == [(2,)], "the late search")
        db1.kill()

        installation.follow("Fence the old primary", db1.shell)
        db2.shell.type('pg_ctl start --log="$HOME/server.log"')
        installation.follow("Promote the replica", db2.shell)
        installation.follow("See that everything goes on", installation.operator)
        on_db1, on_any = split_steps("See what was lost")
        for step in on_db1:
            db1.shell.follow(step)
        for step in on_any:
            installation.operator.follow(step)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            db1.ask("DELETE FROM place_searches")

        actions = (installation.place / "lost-actions.txt").read_text()
        attempts = (installation.place / "lost-attempts.txt").read_text()
        assert "searched" in actions
        assert lost in actions
        assert f"|place_search|{lost}|done" in attempts
        assert kept not in actions + attempts

        installation.follow("Make the old primary a replica", db1.shell)
    wait_until(lambda: db1.ask(COUNT_DONE) == [(1,)], "what both have")


def split_steps(heading: str) -> tuple[list[Step], list[Step]]:
    """Return the steps on `db1` below a heading, and those on any host."""
    steps = list(steps_of(PAGE, heading))
    return steps[:2], steps[2:]
