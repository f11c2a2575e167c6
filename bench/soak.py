"""Everything goes wrong for an hour: what is lost, doubled or stuck, and what grows.

    python bench/soak.py              one hour
    python bench/soak.py --minutes 5
    python bench/soak.py --quick      three quarters of a minute

Four `scrapersky worker` processes and, where Redis is installed, one of Celery with its
clock work the stage that turns businesses into domains. All reach PostgreSQL through a proxy.
Businesses are queued all the time, and one random fault follows another: workers are killed
or asked to stop; PostgreSQL is killed, restarted at once, or out of disk; connections are
reset, held half-open or refused, and answers to commits are swallowed; the broker is killed,
its messages are deleted, or doubled. One worker is spared by the faults that hit workers: its
memory and descriptors are measured, with the connections of all and the time of a claim in
PostgreSQL. Each is compared by its medians in the first and the last third of the run. Disks
run full only for root, on Linux. The last line is one object of JSON.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
from kombu.exceptions import ChannelError

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(1, str(ROOT / "packages/curation-sdk/tests"))

from scrapersky.db.connection import connect, parse_target  # noqa: E402 - needs the path
from scrapersky.db.migrate import upgrade  # noqa: E402
from sdk_tests.rig.cluster import Cluster, a_home  # noqa: E402
from sdk_tests.rig.port import free_port  # noqa: E402
from sdk_tests.rig.proxy import FaultProxy, fault_proxy  # noqa: E402
from tests.on_celery.rig import (  # noqa: E402
    ALONE,
    QUEUED,
    STAGE,
    Fleet,
    Program,
    redis,
)

MIB = 1 << 20
DATABASE = "scrapersky"
OWN_MOUNTS = "SOAK_HAS_MOUNTS"
DISK = 512 * MIB
TIMEOUT_SECONDS = 600.0
"""Seconds after the last fault in which all must come to its end."""
CURVE_POINTS = 60
BLOCKS = "▁▂▃▄▅▆▇█"
WORKER = [sys.executable, "-c", "from scrapersky.cli import main; main()", "worker"]
COUNTS = {
    "businesses": "SELECT count(*) FROM local_businesses",
    "lost": f"""SELECT count(*) FROM local_businesses b
        WHERE domain_extraction_status NOT IN ('Queued', 'Processing', 'Completed')
        OR domain_extraction_status = 'Completed' AND NOT EXISTS (SELECT FROM curation.attempt
          WHERE stage = '{STAGE}' AND item = b.id::text AND outcome = 'done')""",
    "domains": "SELECT count(*) FROM domains",
    "doubled": f"""SELECT count(*) FROM (SELECT item FROM curation.attempt
        WHERE stage = '{STAGE}' AND outcome = 'done' GROUP BY item HAVING count(*) > 1) d""",
    "stuck": """SELECT count(*) FROM local_businesses
        WHERE domain_extraction_status IN ('Queued', 'Processing')""",
    "claims_left": "SELECT count(*) FROM curation.claim",
    "dead_letters": "SELECT count(*) FROM curation.dead_letter",
    "rescued": "SELECT count(*) FROM curation.attempt WHERE outcome = 'rescued'",
    "refused": "SELECT count(*) FROM curation.attempt WHERE outcome = 'refused'",
}
CLAIMS = """SELECT sum(total_exec_time) / nullif(sum(calls), 0) FROM pg_stat_statements
WHERE query LIKE '%SKIP LOCKED%' AND query LIKE '%local_businesses%' AND rows > 0"""
SESSIONS = """SELECT count(*) FROM pg_stat_activity
WHERE application_name LIKE 'scrapersky%' AND client_port IS NOT NULL"""


@dataclass
class Curves:
    """What was measured again and again, by name."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def growth(self, name: str) -> float:
        """Return the last third as a multiple of the first."""
        values = self.values.get(name, [])
        third = len(values) // 3
        if not third:
            return 1.0
        first, last = values[:third], values[-third:]
        return statistics.median(last) / (statistics.median(first) or 1)

    def drawn(self, name: str) -> str:
        """Draw the curve in one line, from nothing to its highest point."""
        values = self.values.get(name, [0.0])
        step = max(1, len(values) // CURVE_POINTS)
        means = [
            statistics.mean(values[at : at + step])
            for at in range(0, len(values), step)
        ]
        most = max(means) or 1
        return "".join(BLOCKS[min(7, int(8 * mean / most))] for mean in means)


@dataclass
class Soak:
    """A fleet with all that can go wrong with it."""

    cluster: Cluster
    proxy: FaultProxy
    steady: Program
    workers: list[Program]
    celery: Fleet | None
    chance: random.Random
    queued: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever starts or ends a worker."""
    deaths: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    curves: Curves = field(default_factory=Curves)

    def faults(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return what may be done, by its name; Redis and full disks are not everywhere."""
        found: dict[str, Callable[[], Awaitable[None]]] = {
            "worker killed": self.kill_worker,
            "worker asked to stop": self.stop_worker,
            "PostgreSQL restarted at once": self.restart_database,
            "PostgreSQL killed": self.crash_database,
            "connections reset": self.cut_connections,
            "connections held half-open": self.hold_connections,
            "connections refused": self.refuse_connections,
            "answers to commits swallowed": self.swallow_answers,
        }
        if OWN_MOUNTS in os.environ:
            found["disk full"] = self.fill_disk
        if self.celery is not None:
            found |= {
                "Celery worker or child killed": self.kill_celery,
                "broker killed": self.kill_broker,
                "messages deleted": self.lose_messages,
                "messages doubled": self.double_messages,
            }
        return found

    async def kill_worker(self) -> None:
        async with self.turn:
            await asyncio.to_thread(start_again, self.chance.choice(self.workers))

    async def stop_worker(self) -> None:
        worker = self.chance.choice(self.workers)
        async with self.turn:
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(worker.stop)
            await asyncio.to_thread(start_again, worker)

    async def look_after(self) -> None:
        """Start again who has ended, as systemd or Docker do: without a database none starts."""
        celery = self.celery.workers if self.celery is not None else []
        while True:
            async with self.turn:
                for program in (self.steady, *self.workers, *celery):
                    if program.process is None or program.process.poll() is not None:
                        self.deaths[program.folder.name] += 1
                        await asyncio.to_thread(start_again, program)
            await asyncio.sleep(1)

    async def restart_database(self) -> None:
        await asyncio.to_thread(self.cluster.restart)

    async def crash_database(self) -> None:
        await asyncio.to_thread(self.cluster.crash)
        await asyncio.sleep(self.chance.uniform(0, 2))
        await asyncio.to_thread(self.cluster.start)

    async def cut_connections(self) -> None:
        for _ in range(self.chance.randint(1, 8)):
            self.proxy.cut_one()
            await asyncio.sleep(0.1)

    async def hold_connections(self) -> None:
        for _ in range(self.chance.randint(1, 4)):
            self.proxy.hold_one()
        await asyncio.sleep(self.chance.uniform(1, 8))
        self.proxy.release()

    async def refuse_connections(self) -> None:
        self.proxy.refusing = True
        for _ in range(4):
            self.proxy.cut_one()
        await asyncio.sleep(self.chance.uniform(1, 5))
        self.proxy.refusing = False

    async def swallow_answers(self) -> None:
        self.proxy.lose_commit_answer = 0.3
        await asyncio.sleep(2)
        self.proxy.lose_commit_answer = 0.0

    async def fill_disk(self) -> None:
        fill(self.cluster.home)
        await asyncio.sleep(self.chance.uniform(1, 3))
        resize(self.cluster.home, DISK)
        # Without room for its log the server ends; whoever looks after it starts it.
        if not await asyncio.to_thread(is_up, self.cluster):
            await asyncio.to_thread(self.cluster.restart)

    async def kill_celery(self) -> None:
        if self.celery is not None:
            async with self.turn:
                await asyncio.to_thread(self.celery.kill_somebody)

    async def kill_broker(self) -> None:
        if self.celery is not None:
            await asyncio.to_thread(
                self.celery.restart_broker, self.chance.uniform(0, 3)
            )

    async def lose_messages(self) -> None:
        if self.celery is not None:
            # A queue is made when its first message comes.
            with suppress(ChannelError):
                await asyncio.to_thread(self.celery.lose_messages)

    async def double_messages(self) -> None:
        if self.celery is not None:
            await asyncio.to_thread(self.celery.hint, 20)

    async def torment(self, ending: asyncio.Event) -> None:
        """Inject one random fault after the other; each of them comes in every round."""
        faults = self.faults()
        waiting: list[str] = []
        while not ending.is_set():
            waiting = waiting or self.chance.sample(sorted(faults), len(faults))
            name = waiting.pop()
            await faults[name]()
            self.injected[name] += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), self.chance.uniform(0.5, 4))

    async def feed(self, ending: asyncio.Event, per_second: int) -> None:
        """Queue businesses; what nobody acknowledged is looked for before it is repeated."""
        while not ending.is_set():
            first = self.queued + 1
            with suppress(psycopg.Error):
                await asyncio.to_thread(self.queue, first, first + per_second - 1)
                self.queued += per_second
            await asyncio.sleep(1)

    def queue(self, first: int, last: int) -> None:
        with self.session() as connection:
            known = connection.execute(
                "SELECT 1 FROM local_businesses WHERE name = %s", [f"Shop {first}"]
            ).fetchone()
            if known is None:
                connection.execute(QUEUED, [first, last])

    async def measure(self, ending: asyncio.Event, every: float) -> None:
        """Look at the worker that is spared, and at the database when it answers."""
        while not ending.is_set():
            family = self.steady.family()
            memory = descriptors = 0
            for process in family:
                with suppress(psutil.Error):
                    memory += process.memory_full_info().uss
                    descriptors += process.num_fds()
            self.curves.add("memory_mib", memory / MIB)
            self.curves.add("descriptors", descriptors)
            with suppress(psycopg.Error):
                await asyncio.to_thread(self.ask_database)
            with suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), every)

    def ask_database(self) -> None:
        with self.session() as connection:
            (sessions,) = connection.execute(SESSIONS.encode()).fetchone() or (0,)
            self.curves.add("connections", float(sessions))
            (claim,) = connection.execute(CLAIMS.encode()).fetchone() or (None,)
            if claim is not None:
                self.curves.add("claim_ms", float(claim))
            connection.execute("SELECT pg_stat_statements_reset()")

    def is_at_work(self) -> bool:
        """Tell whether the worker that is spared has done something."""
        assert self.steady.process is not None
        with self.session() as connection:
            done = connection.execute(
                "SELECT 1 FROM curation.attempt WHERE worker LIKE %s LIMIT 1",
                [f"%-{self.steady.process.pid}-%"],
            )
            return done.fetchone() is not None

    def session(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect beside the proxy."""
        return psycopg.connect(
            self.cluster.dsn(DATABASE), autocommit=True, connect_timeout=5
        )

    def counts(self) -> dict[str, int]:
        with self.session() as connection:
            return {
                name: int(
                    str((connection.execute(query.encode()).fetchone() or (0,))[0])
                )
                for name, query in COUNTS.items()
            }

    async def drained(self) -> bool:
        """Wait until everything has come to its end; tell whether it has."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < until:
            with suppress(psycopg.Error):
                left = await asyncio.to_thread(self.counts)
                if not left["stuck"] and not left["claims_left"]:
                    return True
            await asyncio.sleep(1)
        return False


def start_again(program: Program) -> None:
    program.kill()
    program.start()


def is_up(cluster: Cluster) -> bool:
    try:
        cluster.execute("CREATE TEMPORARY TABLE written AS SELECT 1")
    except psycopg.Error:
        return False
    return True


def fill(place: Path) -> None:
    """Leave the disk nothing; what is written meanwhile makes it try again."""
    for _ in range(20):
        with suppress(subprocess.CalledProcessError):
            resize(place, shutil.disk_usage(place).used)
            return


def resize(place: Path, size: int) -> None:
    """Give the disk so many bytes; one that has no more than it holds is full."""
    run("mount", "-o", f"remount,size={size}", str(place))


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@asynccontextmanager
async def a_cluster() -> AsyncIterator[Cluster]:
    home = a_home()
    if OWN_MOUNTS in os.environ:
        owner = home.stat()
        words = f"size={DISK},uid={owner.st_uid},gid={owner.st_gid},mode=755"
        run("mount", "-t", "tmpfs", "-o", words, "soak", str(home))
    settings = {
        "shared_preload_libraries": "pg_stat_statements",
        "max_wal_size": "64MB",
        "max_connections": "200",
    }
    cluster = Cluster(home, free_port(), settings)
    try:
        await asyncio.to_thread(cluster.initialise)
        await asyncio.to_thread(cluster.start)
        cluster.create_database(DATABASE)
        cluster.execute("CREATE EXTENSION pg_stat_statements", database=DATABASE)
        engine = connect(parse_target(cluster.url(DATABASE)))
        await upgrade(engine)
        await engine.dispose()
        cluster.execute(
            "INSERT INTO tenants (name, slug) VALUES ('ours', 'ours')",
            database=DATABASE,
        )
        yield cluster
    finally:
        if OWN_MOUNTS in os.environ:
            cluster.stop()
            run("umount", str(home))
        cluster.remove()


@asynccontextmanager
async def a_soak(seed: int, folder: Path) -> AsyncIterator[Soak]:
    """Start everything; end it all."""
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(a_cluster())
        proxy = await stack.enter_async_context(
            fault_proxy(port=cluster.port, seed=seed)
        )
        environment = {
            **ALONE,
            "DATABASE_URL": cluster.tcp_dsn(DATABASE, port=proxy.port),
            "REAP_SCHEDULER_INTERVAL_MINUTES": "0.05",
            # Nobody takes the domains further: their queue must not hold the stage back.
            "DOMAIN_SCHEDULER_HIGH_WATER": "1000000000",
            "DOMAIN_EXTRACTION_SCHEDULER_LEASE_SECONDS": "5",
            "SCRAPERSKY_DATA_DIR": str(folder / "data"),
            "LOG_LEVEL": "warning",
        }
        programs = []
        for name in ("steady", "second", "third", "fourth"):
            place = folder / name
            place.mkdir()
            program = Program(WORKER, place, environment)
            stack.callback(program.kill)
            await asyncio.to_thread(program.start)
            programs.append(program)
        celery = None
        if shutil.which("redis-server"):
            celery = await start_celery(stack, cluster, folder, environment)
        yield Soak(
            cluster, proxy, programs[0], programs[1:], celery, random.Random(seed)
        )


async def start_celery(
    stack: AsyncExitStack, cluster: Cluster, folder: Path, environment: dict[str, str]
) -> Fleet:
    place = folder / "broker"
    place.mkdir()
    broker, url = redis(place)
    stack.callback(broker.kill)
    await asyncio.to_thread(broker.start)
    own = {"CELERY_BROKER_URL": url, "CELERY_LOOK_SECONDS": "0.5", "C_FORCE_ROOT": "1"}
    fleet = Fleet(parse_target(cluster.dsn(DATABASE)), broker, {**environment, **own})
    await asyncio.to_thread(fleet.add_worker, folder / "celery", "--beat")
    stack.callback(fleet.workers[0].kill)
    return fleet


async def soak(seconds: float, seed: int, *, every: float, per_second: int) -> bool:
    """Run it all and print what came of it; tell whether everything held."""
    with tempfile.TemporaryDirectory(prefix="scrapersky-soak-") as name:
        async with a_soak(seed, Path(name)) as soaked:
            ending = asyncio.Event()
            began = time.monotonic()
            feeding = asyncio.create_task(soaked.feed(ending, per_second))
            while not await asyncio.to_thread(soaked.is_at_work):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
            looking = asyncio.create_task(soaked.look_after())
            tasks = [
                asyncio.create_task(soaked.torment(ending)),
                asyncio.create_task(soaked.measure(ending, every)),
            ]
            await asyncio.wait(
                tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            ending.set()
            await asyncio.gather(feeding, *tasks)
            last_fault = time.monotonic()
            await soaked.drained()
            recovery = time.monotonic() - last_fault
            looking.cancel()
            await asyncio.wait([looking])
            return report(soaked, last_fault - began, recovery)


def report(soaked: Soak, seconds: float, recovery: float) -> bool:
    """Print the tables, the curves and the line of JSON."""
    counts = soaked.counts()
    # Every business has a website of its own, so each must have made one domain.
    counts["lost"] += max(0, soaked.queued - counts["domains"])
    counts["deadlocks"] = len(soaked.cluster.deadlocks)
    print("\n".join(soaked.cluster.deadlocks))
    print("| fault | times |\n|---|---:|")
    for fault, times in sorted(soaked.injected.items()):
        print(f"| {fault} | {times} |")
    print("\n| counted after the end | |\n|---|---:|")
    for name, count in counts.items():
        print(f"| {name.replace('_', ' ')} | {count} |")
    print(
        "\n| measured | samples | least | median | most | last third / first | curve |"
    )
    print("|---|---:|---:|---:|---:|---:|---|")
    for name, values in soaked.curves.values.items():
        figures = (min(values), statistics.median(values), max(values))
        shown = " | ".join(f"{figure:.1f}" for figure in figures)
        print(
            f"| {name.replace('_', ' ')} | {len(values)} | {shown} "
            f"| {soaked.curves.growth(name):.2f} | {soaked.curves.drawn(name)} |"
        )
    found = {
        "seconds": round(seconds),
        "faults": soaked.injected.total(),
        **counts,
        "steady_worker_ended": soaked.deaths["steady"],
        "connections_most": max(soaked.curves.values.get("connections", [0.0])),
        "recovery_seconds": round(recovery, 1),
        **{
            f"{name}_growth": round(soaked.curves.growth(name), 2)
            for name in soaked.curves.values
        },
    }
    print(json.dumps(found))
    wrong = ("lost", "doubled", "stuck", "claims_left", "dead_letters", "deadlocks")
    return not any(counts[name] for name in wrong) and not soaked.deaths["steady"]


def main() -> None:
    """Read the options, take mounts of our own where we may, and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if sys.platform == "linux" and os.geteuid() == 0 and OWN_MOUNTS not in os.environ:
        os.environ[OWN_MOUNTS] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    seconds = 20 if options.quick else options.minutes * 60
    every = 1.0 if options.quick else 5.0
    held = asyncio.run(soak(seconds, options.seed, every=every, per_second=10))
    sys.exit(not held)


if __name__ == "__main__":
    main()
