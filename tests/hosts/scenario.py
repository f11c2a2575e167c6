"""What is done to a fleet on several hosts, and what the database says after."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import psycopg

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.stages import PIPELINE
from sdk_tests.faults.scenario import Field, count_attempts, lay_out
from sdk_tests.rig.checker import inspect
from sdk_tests.rig.cluster import BINARIES, Cluster, a_home
from sdk_tests.rig.program import faketime_library
from sdk_tests.rig.waiting import wait_until
from tests.hosts.network import INSIDE, PUBLIC, Host, Network, run

PORT = 5432
LEASE = 2.0
DELAY = 1.0
TOLERANCE = 0.015
WORKERS = ("east", "west")
REPLICATED = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
STAGE = "domain_metadata"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table of hosts."""

    what: str
    items: int
    lost: int
    doubled: int
    stuck: int
    shares: Mapping[str, int]
    """How many items each host has done."""
    seen: Mapping[str, float] = field(default_factory=dict)
    """What else was counted, by name."""

    HEADER = (
        f"{'what':<46}{'items':>7}{'lost':>6}{'doubled':>9}{'stuck':>7}"
        f"{'east':>7}{'west':>7}  also"
    )

    def __str__(self) -> str:
        also = ", ".join(f"{name} {value:g}" for name, value in self.seen.items())
        return (
            f"{self.what:<46}{self.items:>7}{self.lost:>6}{self.doubled:>9}"
            f"{self.stuck:>7}{self.shares.get('east', 0):>7}"
            f"{self.shares.get('west', 0):>7}  {also}"
        )


@contextmanager
def a_database_on(
    host: Host, settings: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """Give a durable server that every host of the network may connect to."""
    own = {"listen_addresses": "*", **(settings or {})}
    cluster = Cluster(a_home(), PORT, own, elsewhere=host.as_server())
    try:
        cluster.initialise()
        with (cluster.data / "pg_hba.conf").open("a") as rules:
            for what in ("all", "replication"):
                rules.write(f"host {what} all {INSIDE}.0/24 trust\n")
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@contextmanager
def a_replica_on(
    host: Host, primary: Host, settings: Mapping[str, str]
) -> Iterator[Cluster]:
    """Give a streaming replica of the server on another host."""
    replica = Cluster(a_home(), PORT, dict(settings), elsewhere=host.as_server())
    try:
        run(
            *(*host.as_server(), str(BINARIES / "pg_basebackup")),
            *("--host", primary.address, "--port", str(PORT), "--username", "postgres"),
            *("--pgdata", str(replica.data), "--write-recovery-conf", "--no-sync"),
            *("--checkpoint", "fast"),
        )
        with (replica.data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{replica.home}'\n")
        replica.start()
        yield replica
    finally:
        replica.remove()


@contextmanager
def an_orchard(cluster: Cluster, seeds: int) -> Iterator[Field]:
    name = cluster.create_database("orchard")
    asyncio.run(lay_out(cluster.url(name)))
    orchard = Field(cluster, name)
    orchard.sow(seeds)
    yield orchard


@dataclass
class WorkerProcesses:
    """One worker of the orchard on each of the two hosts."""

    network: Network
    orchard: Field
    address: str
    folder: Path

    def start(
        self,
        *,
        pause: float,
        environment: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        url = f"postgresql+asyncpg://postgres@{self.address}:{PORT}/orchard"
        for name in WORKERS:
            words = (url, str(self.notes(name)), str(LEASE), str(pause))
            self.network[name].start(
                "-m",
                "tests.hosts.orchard_worker",
                *words,
                log=self.folder / f"{name}.log",
                environment=(environment or {}).get(name),
            )
        wait_until(self.is_at_work, "work on both")

    def is_at_work(self) -> bool:
        self.orchard.keep_busy()
        return set(shares(self.orchard)) == set(WORKERS)

    def notes(self, name: str) -> Path:
        return self.folder / f"{name}.done"

    def has_done_more(self, writer: "Writer") -> Callable[[], bool]:
        """Tell whether much more has been acknowledged than now."""
        done, written = self.acknowledged().total(), len(writer.acknowledged)
        return lambda: (
            self.acknowledged().total() > done + 50
            and len(writer.acknowledged) > written + 50
        )

    def acknowledged(self) -> Counter[tuple[str, int]]:
        """Return how often an item was acknowledged as done, by stage and item."""
        found: Counter[tuple[str, int]] = Counter()
        for name in WORKERS:
            for line in self.notes(name).read_text().splitlines():
                stage, item = line.split()
                found[stage, int(item)] += 1
        return found


def shares(orchard: Field) -> dict[str, int]:
    """Count what each host has done."""
    found = orchard.cluster.execute(
        "SELECT split_part(worker, '-', 1), count(*)::int FROM curation.attempt"
        " WHERE outcome = 'done' GROUP BY 1",
        database=orchard.database,
    )
    return {str(name): int(str(count)) for name, count in found}


def finished(what: str, orchard: Field, **seen: float) -> Line:
    """Wait for the end of all work, and write the line."""
    wait_until(lambda: not orchard.has_work(), "the end of all work")
    found = inspect(orchard.dsn)
    wrong = found.doubled + found.unearned
    seen |= {word: count_attempts(orchard, word) for word in ("rescued", "refused")}
    return Line(
        what, found.seeds * 2, found.lost, wrong, found.stuck, shares(orchard), seen
    )


def cut_off(network: Network, folder: Path) -> Line:
    """Pull the cable of a host that has work in hand, for four leases."""
    with (
        a_database_on(network["first"]) as cluster,
        an_orchard(cluster, 300) as orchard,
    ):
        WorkerProcesses(network, orchard, network["first"].address, folder).start(
            pause=0.3
        )
        cuts = 0
        # What was in hand may by chance have been settled just before the cut.
        while not count_attempts(orchard, "refused") and cuts < 5:
            cuts += 1
            wait_until(lambda: orchard_holds(orchard, "east"), "work in hand")
            network.cut("east")
            time.sleep(4 * LEASE)
            network.join("east")
            # It is of use again only when it gets something done.
            wait_until(more_by_east(orchard), "work after the cut")
        return finished("a host cut off for four leases, then back", orchard, cuts=cuts)


def orchard_holds(orchard: Field, host: str) -> bool:
    orchard.keep_busy()
    return bool(
        orchard.cluster.execute(
            "SELECT 1 FROM curation.claim WHERE fence IS NOT NULL"
            f" AND worker LIKE '{host}-%' LIMIT 1",
            database=orchard.database,
        )
    )


def more_by_east(orchard: Field) -> Callable[[], bool]:
    before = shares(orchard)["east"]

    def is_so() -> bool:
        orchard.keep_busy()
        return shares(orchard)["east"] > before

    return is_so


def wrong_clocks(network: Network, folder: Path) -> Line:
    """Set one host's clock a day back, and another's a day ahead."""
    library = str(faketime_library())
    clocks = {
        name: {
            "LD_PRELOAD": library,
            "FAKETIME": shift,
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        for name, shift in (("east", "-1d"), ("west", "+1d"))
    }
    with (
        a_database_on(network["first"]) as cluster,
        an_orchard(cluster, 300) as orchard,
    ):
        crew = WorkerProcesses(network, orchard, network["first"].address, folder)
        crew.start(pause=0.05, environment=clocks)
        return finished("clocks a day behind and a day ahead", orchard)


def power_cut(network: Network, folder: Path) -> Line:
    """End a host with all its work in hand."""
    with (
        a_database_on(network["first"]) as cluster,
        an_orchard(cluster, 300) as orchard,
    ):
        WorkerProcesses(network, orchard, network["first"].address, folder).start(
            pause=0.2
        )
        wait_until(lambda: orchard_holds(orchard, "west"), "work in hand")
        network["west"].end()
        return finished("a host without power for good", orchard)


def failover(network: Network, folder: Path, *, is_synchronous: bool) -> Line:
    """Lose the database's host while its replica was behind, and promote the replica."""
    with ExitStack() as stack:
        first, second = network["first"], network["second"]
        cluster = stack.enter_context(a_database_on(first))
        orchard = stack.enter_context(an_orchard(cluster, 100))
        replica = stack.enter_context(a_replica_on(second, first, cluster.settings))
        wait_until(lambda: cluster.execute(REPLICATED) == [(1,)], "the replica")
        if is_synchronous:
            cluster.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            cluster.execute("SELECT pg_reload_conf()")
        # An address of its own, which follows the database.
        shared = f"{INSIDE}.10"
        network.move(shared, "first")
        crew = WorkerProcesses(network, orchard, shared, folder)
        crew.start(pause=0.05)
        writer = Writer(orchard)
        writer.start()
        wait_until(lambda: len(writer.acknowledged) > 50, "acknowledged writes")
        network.cut("second")
        if is_synchronous:
            time.sleep(2)
        else:
            wait_until(crew.has_done_more(writer), "what the replica does not hear of")
        cluster.crash()
        writer.join()
        network.cut("first")
        network.join("second")
        replica.execute("SELECT pg_promote()")
        promoted = Field(replica, orchard.database)
        # Before a worker finds the new server: what it has forgotten is soon done again.
        done_before = crew.acknowledged()
        missing = forgotten(promoted, writer.acknowledged, done_before)
        first.ip("addr", "del", f"{shared}/32", "dev", "eth0")
        network.move(shared, "second")
        kind = "with" if is_synchronous else "without"
        line = finished(f"failover {kind} synchronous commit", promoted, **missing)
        again = sum(count - 1 for count in crew.acknowledged().values())
        acknowledged = len(writer.acknowledged) + len(done_before)
        seen = {"acknowledged": acknowledged, **missing, "done again": again}
        return replace(line, seen=seen)


class Writer(threading.Thread):
    """Queues seeds one by one, and notes which the database has acknowledged."""

    def __init__(self, orchard: Field) -> None:
        super().__init__()
        self.orchard = orchard
        self.acknowledged: list[int] = []

    def run(self) -> None:
        with (
            suppress(psycopg.Error),
            psycopg.connect(self.orchard.dsn, autocommit=True) as connection,
        ):
            for seed in range(100_000, 200_000):
                connection.execute("INSERT INTO seed (id) VALUES (%s)", [seed])
                self.acknowledged.append(seed)
                time.sleep(0.01)


def forgotten(
    orchard: Field, written: list[int], done: Counter[tuple[str, int]]
) -> dict[str, float]:
    """Count what was acknowledged and is not known any more."""
    with psycopg.connect(orchard.dsn) as connection:
        kept = {row[0] for row in connection.execute("SELECT id FROM seed")}
        settled = {
            (str(row[0]), int(row[1]))
            for row in connection.execute(
                "SELECT stage, item FROM curation.attempt WHERE outcome = 'done'"
            )
        }
    return {
        "writes forgotten": len(set(written) - kept),
        "work forgotten": len(set(done) - settled),
    }


SITES = {
    f"shop-{number}.example": f"{PUBLIC}.1.{number % 4 + 1}" for number in range(24)
}
QUEUED = """
INSERT INTO domains (tenant_id, domain, home_url)
SELECT (SELECT id FROM tenants LIMIT 1), name, 'http://' || name || '/'
FROM unnest(%s::text[]) name
"""
PRESENT = "SELECT count(*) FROM processes"
OPEN = "SELECT count(*) FROM domains WHERE status IN ('pending', 'processing')"
BAD = "SELECT count(*) FROM domains WHERE status NOT IN ('pending', 'processing', 'completed')"
DOUBLED = """
SELECT count(*) FROM (SELECT item FROM curation.attempt
  WHERE outcome = 'done' GROUP BY stage, item HAVING count(*) > 1) d
"""
BY_HOST = """
SELECT split_part(worker, '-', 1), count(*)::int FROM curation.attempt
WHERE outcome = 'done' GROUP BY 1
"""
TICKS = """
SELECT count(*), count(DISTINCT due_at) FROM scheduler_runs
WHERE job_id = 'reap_expired_claims' AND outcome = 'executed'
"""
REAPED = '"id":"reap_expired_claims","picked"'
"""How the line of a run begins in the log."""


def one_web(network: Network, folder: Path, *, skew: str | None) -> Line:
    """Let the product's own workers read the same few servers from two hosts."""
    web, diary = network["web"], folder / "visits"
    for address in sorted(set(SITES.values())):
        web.ip("addr", "add", f"{address}/32", "dev", "eth0")
    web.start("-m", "tests.hosts.websites", str(diary), log=folder / "web.log")
    with a_database_on(network["first"]) as cluster:
        cluster.create_database("scrapersky")
        asyncio.run(migrated(cluster.url("scrapersky")))
        with psycopg.connect(cluster.dsn("scrapersky"), autocommit=True) as connection:
            connection.execute("INSERT INTO tenants (name, slug) VALUES ('o', 'o')")

            def ask(query: str) -> list[tuple[object, ...]]:
                return connection.execute(query.encode()).fetchall()

            for name in WORKERS:
                start_product(network[name], network["first"].address, folder, skew)
            wait_until(lambda: ask(PRESENT) == [(len(WORKERS),)], "both workers")
            connection.execute(QUEUED, [list(SITES)])
            wait_until(lambda: ask(OPEN) == [(0,)], "every site")
            wait_until(lambda: int(str(ask(TICKS)[0][0])) > 3, "a few ticks")
            for name in WORKERS:
                network[name].stop()
            ((ticks, due),) = ask(TICKS)
            ((doubled,),), ((lost,),), ((stuck,),) = map(ask, (DOUBLED, BAD, OPEN))
            by_host = {str(name): int(str(count)) for name, count in ask(BY_HOST)}
    ran = sum((folder / f"{name}.log").read_text().count(REAPED) for name in WORKERS)
    visits = [json.loads(line) for line in diary.read_text().splitlines()]
    return Line(
        f"one web, two hosts{f', one clock {skew}' if skew else ''}",
        len(SITES),
        int(str(lost)),
        int(str(doubled)),
        int(str(stuck)),
        by_host,
        {
            "requests": len(visits),
            "visitors": len({visit[2] for visit in visits}),
            "handovers": handovers(visits),
            "shortest gap": round(min(gaps(visits, 0) + gaps(visits, 1)), 3),
            "ticks": int(str(due)),
            "recorded": int(str(ticks)),
            "ran": ran,
        },
    )


async def migrated(url: str) -> None:
    engine = connect(parse_target(url))
    await upgrade(engine)
    await engine.dispose()


def start_product(host: Host, database: str, folder: Path, skew: str | None) -> None:
    """Run `scrapersky worker` on a host, with one stage and a clock that may be wrong."""
    own = folder / host.name
    own.mkdir()
    host.knows(SITES, own)
    off = {
        f"{stage.settings.prefix}_ENABLED": "false"
        for stage in PIPELINE
        if stage.name != STAGE
    }
    clock = {
        "LD_PRELOAD": str(faketime_library()),
        "FAKETIME": skew or "+0",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    host.start(
        "-c",
        "from scrapersky.cli import main; main()",
        "worker",
        log=folder / f"{host.name}.log",
        environment={
            **off,
            **(clock if skew and host.name == "west" else {}),
            "DATABASE_URL": f"postgresql://postgres@{database}:{PORT}/scrapersky",
            "SCRAPERSKY_DATA_DIR": str(own),
            "DOMAIN_SCHEDULER_BATCH_SIZE": "3",
            "DOMAIN_SCHEDULER_CONCURRENCY": "3",
            "CRAWLER_HOST_DELAY_SECONDS": str(DELAY),
            "REAP_SCHEDULER_INTERVAL_MINUTES": "0.05",
            "LOG_LEVEL": "debug",
            "LOG_FORMAT": "json",
        },
    )


def gaps(visits: list[list[object]], place: int) -> list[float]:
    """Return the seconds between requests to one host, or to one address."""
    found = []
    for key in {visit[place] for visit in visits}:
        own = sorted(
            (float(str(v[3])), float(str(v[4]))) for v in visits if v[place] == key
        )
        found += [after[0] - before[1] for before, after in pairwise(own)]
    return found


def handovers(visits: list[list[object]]) -> int:
    """Count how often a server was asked by one host just after the other."""
    count = 0
    for address in {visit[1] for visit in visits}:
        own = sorted(
            (visit for visit in visits if visit[1] == address), key=lambda v: str(v[3])
        )
        count += sum(before[2] != after[2] for before, after in pairwise(own))
    return count
