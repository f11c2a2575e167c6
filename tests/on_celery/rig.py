"""Real brokers and real Celery workers, which a test starts, kills and starts again."""

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from celery import Celery

from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.stages import PIPELINE
from sdk_tests.rig.port import free_port
from sdk_tests.rig.program import needed
from sdk_tests.rig.waiting import wait_until

STAGE = "domain_extraction"
ALONE = {
    f"{stage.settings.prefix}_ENABLED": "false"
    for stage in PIPELINE
    if stage.name != STAGE
}
"""One stage that asks nobody: it reads and writes the database alone."""
QUEUED = """
INSERT INTO local_businesses (tenant_id, name, website, domain_extraction_status)
SELECT (SELECT id FROM tenants ORDER BY created_at LIMIT 1), 'Shop ' || n,
  'https://shop-' || n || '.test/', 'Queued' FROM generate_series(%s::int, %s::int) n
"""


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Program:
    """A process and all that it starts, which end together."""

    command: list[str]
    folder: Path
    environment: dict[str, str]
    is_up: Callable[[], bool] = lambda: True
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        with (self.folder / "out.log").open("ab") as out:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], **self.environment},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(self.is_up, self.command[0])

    def family(self) -> list[psutil.Process]:
        if self.process is None or not psutil.pid_exists(self.process.pid):
            return []
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def kill(self) -> None:
        """End it and all that it started, as a power cut does."""
        for one in self.family():
            # A child may end with its parent, before its turn comes.
            with suppress(psutil.NoSuchProcess):
                one.kill()
        if self.process is not None:
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            finally:
                self.kill()


def redis(folder: Path) -> tuple[Program, str]:
    port = free_port()
    command = [
        needed("redis-server", package="redis-server"),
        *("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", "."),
    ]
    broker = Program(command, folder, {}, lambda: answers(port))
    return broker, f"redis://127.0.0.1:{port}/0"


def rabbitmq(folder: Path) -> tuple[Program, str]:
    needed("rabbitmq-server", package="rabbitmq-server")
    port = free_port()
    environment = {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "ERL_EPMD_PORT": str(free_port()),
    }
    # The one on the path changes to a user of its own.
    command = ["/usr/lib/rabbitmq/bin/rabbitmq-server"]
    broker = Program(command, folder, environment, lambda: answers(port))
    return broker, f"amqp://guest:guest@127.0.0.1:{port}//"


BROKERS = {"redis": redis, "rabbitmq": rabbitmq}


@dataclass
class Fleet:
    """A broker, Celery workers and the database that they share."""

    database: Target
    broker: Program
    environment: dict[str, str]
    workers: list[Program] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def add_worker(self, folder: Path, *words: str) -> None:
        folder.mkdir()
        command = self.command(
            *("worker", "-E", "--concurrency", "2", "-n", f"{folder.name}@test"), *words
        )
        self.workers.append(Program(command, folder, self.environment))
        self.workers[-1].start()

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "celery", "-A", "scrapersky.celery", *words]

    def hint(self, count: int) -> None:
        """Send hints that nobody has asked for."""
        with Celery(broker=self.environment["CELERY_BROKER_URL"]) as sender:
            for _ in range(count):
                sender.send_task(f"scrapersky.{STAGE}", queue=f"scrapersky.{STAGE}")

    def lose_messages(self) -> None:
        """Delete every message that waits."""
        with (
            Celery(broker=self.environment["CELERY_BROKER_URL"]) as sender,
            sender.connection_for_write() as connection,
        ):
            for queue in ("scrapersky", f"scrapersky.{STAGE}"):
                # A broker that has just come back may not have the queue yet.
                with suppress(*connection.channel_errors):
                    connection.default_channel.queue_purge(queue)

    def kill_somebody(self) -> None:
        """Kill a child of a worker, or a worker with all its children, which comes back."""
        worker = self.chance.choice(self.workers)
        children = worker.family()[1:]
        if children and self.chance.random() < 0.5:
            with suppress(psutil.NoSuchProcess):
                self.chance.choice(children).kill()
        else:
            worker.kill()
            worker.start()

    def restart_broker(self, seconds: float) -> None:
        """Kill the broker with all its messages; it is back after a while."""
        self.broker.kill()
        time.sleep(seconds)
        self.broker.start()

    def query(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database.dsn, autocommit=True) as connection:
            found = connection.execute(statement, values)
            return found.fetchall() if found.description else []


@contextmanager
def a_safe_database(folder: Path) -> Iterator[Target]:
    """Give a migrated database that forgets nothing: workers refuse any other."""
    with EmbeddedPostgres(folder) as server:
        target = parse_target(server.url)

        async def migrated() -> None:
            engine = connect(target)
            await upgrade(engine)
            await engine.dispose()

        asyncio.run(migrated())
        yield target


@contextmanager
def a_fleet(name: str, folder: Path, scratch: Path) -> Iterator[Fleet]:
    """Start a broker and two workers, one of them with the clock; end all of it."""
    with (
        a_safe_database(scratch / f"celery-{free_port()}") as target,
        fleet_of(name, target, folder) as fleet,
    ):
        fleet.query("INSERT INTO tenants (name, slug) VALUES ('ours', 'ours')")
        yield fleet


@contextmanager
def fleet_of(name: str, target: Target, folder: Path) -> Iterator[Fleet]:
    place = folder / "broker"
    place.mkdir()
    broker, url = BROKERS[name](place)
    environment = {
        **ALONE,
        "DATABASE_URL": target.dsn,
        "CELERY_BROKER_URL": url,
        "CELERY_LOOK_SECONDS": "0.5",
        "REAP_INTERVAL_MINUTES": "0.05",
        "DOMAIN_EXTRACTION_SCHEDULER_LEASE_SECONDS": "5",
        "SCRAPERSKY_DATA_DIR": str(folder / "data"),
        "C_FORCE_ROOT": "1",
    }
    fleet = Fleet(target, broker, environment)
    try:
        broker.start()
        fleet.add_worker(folder / "first", "--beat")
        fleet.add_worker(folder / "second")
        yield fleet
    finally:
        for program in (*fleet.workers, broker):
            program.kill()
