"""How fast a search becomes contacts: the whole pipeline over the demo town.

    python bench/pipeline.py            1,000 businesses, a few minutes
    python bench/pipeline.py --quick    a small town, under a minute

In the quick run one town and one worker serve every part, in the full run each part has
its own. The town is a process of its own, PostgreSQL is a throw-away one with its default,
durable configuration that also keeps the times of commits, and workers are processes
as in production, with a delay of 0 between requests to a site. The last line is one
object of JSON.
"""

import argparse
import asyncio
import csv
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import psutil
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk"))

import curation_sdk
from curation_sdk.claim import Claimer, select_list
from curation_sdk.connection import WorkerConnection
from curation_sdk.statements import Statements, statements_of
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.records import Domain, PlaceSearch, SitemapFile
from scrapersky.stages import PIPELINE, registry_of
from scrapersky.stages.wf7_page_curation import curate_page
from sdk_tests.rig.cluster import Cluster, running_cluster
from simulated_town.addresses import ARCHIVE_HOST
from simulated_town.process import TownProcess, town_process
from simulated_town.town import TownEndpoint
from tests.acceptance.rig import Desk, Order, WorkerProcesses, a_crew, a_desk

MAX_SECONDS = 1_200.0
STAGES = tuple(stage.name for stage in PIPELINE)
MEBI = 1024 * 1024
MIGRATED = "migrated"
RECORDS = (
    "place_searches, places_staging, local_businesses, domains, sitemap_files, pages,"
    " contacts, curation.attempt, curation.dead_letter"
)
WARM_ITEMS = 3
"""Claims that are not counted: plans and caches are made."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything one run does."""

    town: int = 1_000
    crews: tuple[int, ...] = (1, 2)
    latencies: int = 12
    archive: int = 50_000
    imports: int = 5
    depths: tuple[int, ...] = (10_000, 1_000_000)
    claims: int = 60


QUICK = Plan(
    town=25, crews=(1,), latencies=2, imports=1, depths=(10_000, 40_000), claims=23
)  # fmt: skip


@dataclass
class Watch:
    """CPU and memory of the processes that do the work, sampled while they do."""

    pids: list[int]
    server: int
    peak: int = 0
    first: int = 0
    began: dict[str, float] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to count."""
        self.began = self._seconds()
        self.first = self.peak = self._memory()

    def look(self) -> None:
        """Take a sample of the memory."""
        self.peak = max(self.peak, self._memory())

    def cpu(self) -> dict[str, float]:
        """Return CPU seconds since the start, by who spent them."""
        now = self._seconds()
        return {name: now[name] - self.began[name] for name in now}

    def _memory(self) -> int:
        """Sum what belongs to the workers alone, parsing children included."""
        total = 0
        for process in self.tree(self.pids):
            try:
                total += process.memory_full_info().uss
            except psutil.Error:
                continue
        return total

    def _seconds(self) -> dict[str, float]:
        return {
            "workers": sum(map(seconds_of, self.tree(self.pids))),
            "postgres": sum(map(seconds_of, self.tree([self.server]))),
        }

    @staticmethod
    def tree(pids: list[int]) -> Iterator[psutil.Process]:
        for pid in pids:
            try:
                process = psutil.Process(pid)
                yield process
                yield from process.children(recursive=True)
            except psutil.Error:
                continue


def stolen_since(before: Any) -> float:
    """Return the share of the processors' time that others on the host had."""
    now = psutil.cpu_times()
    took = getattr(now, "steal", 0.0) - getattr(before, "steal", 0.0)
    return float(took / (sum(now) - sum(before)))


def seconds_of(process: psutil.Process) -> float:
    """Return the CPU seconds of a process and of those of its children that ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    ended = times.children_user + times.children_system
    return float(times.user + times.system + ended)


async def migrate(cluster: Cluster) -> None:
    """Make the database that all others are copies of."""
    engine = connect(parse_target(cluster.url(cluster.create_database(MIGRATED))))
    await upgrade(engine)
    await engine.dispose()


@contextmanager
def a_database(cluster: Cluster, name: str) -> Iterator[str]:
    cluster.execute(f'CREATE DATABASE "{name}" TEMPLATE "{MIGRATED}"')
    try:
        yield cluster.url(name)
    finally:
        cluster.drop_database(name)


@dataclass(frozen=True, slots=True)
class Line:
    """A town, workers that may visit it, and who orders and watches them."""

    town: TownProcess
    desk: Desk
    crew: WorkerProcesses
    server: int
    imports: Path

    def watch(self) -> Watch:
        """Look at the workers and at PostgreSQL."""
        return Watch([member.pid or 0 for member in self.crew.members], self.server)

    async def clear(self) -> None:
        """Forget every record, so that the next part begins as the first did."""
        async with self.desk.engine.begin() as connection:
            await connection.execute(text(f"TRUNCATE {RECORDS} CASCADE"))


@asynccontextmanager
async def a_line(
    cluster: Cluster, name: str, *, size: int, crew: int = 1, archive: int = 0
) -> AsyncIterator[Line]:
    """Open a town and let workers of a new database wait for something to do."""
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (home / "imports").mkdir()
        url = stack.enter_context(a_database(cluster, name))
        town = await stack.enter_async_context(
            town_process(size=size, trouble=False, archive=archive)
        )
        desk = await stack.enter_async_context(a_desk(url))
        settings = {"SCRAPERSKY_DATA_DIR": str(home)}
        order = Order(url, town.endpoint, slowest=30, environment=settings)
        workers = stack.enter_context(a_crew(order, crew))
        # Their parsing children load their libraries.
        await asyncio.sleep(2)
        yield Line(town, desk, workers, cluster.pid, home / "imports")


# From a search to contacts


async def time_town(line: Line) -> dict[str, Any]:
    """Run the whole pipeline over the town once."""
    watch = line.watch()
    watch.start()
    seconds = await ride(line.desk, watch)
    return await report(line.desk, line.town.endpoint, watch, seconds)


async def ride(desk: Desk, watch: Watch) -> float:
    """Search, work, validate; return how long it took."""
    began = time.monotonic()
    await desk.search()
    while await desk.open():
        watch.look()
        await asyncio.sleep(0.5)
        if time.monotonic() - began > MAX_SECONDS:
            raise SystemExit("the pipeline did not finish")
        await desk.validate()
    return time.monotonic() - began


async def report(
    desk: Desk, endpoint: TownEndpoint, watch: Watch, seconds: float
) -> dict[str, Any]:
    """Say what a run came to."""
    rows = await desk.rows(
        "SELECT stage, count(*), extract(epoch FROM max(settled_at) - min(claimed_at))"
        " FROM curation.attempt WHERE outcome = 'done' GROUP BY 1"
    )
    compared = await desk.compare(endpoint)
    cpu = watch.cpu()
    dead = await desk.rows("SELECT count(*) FROM curation.dead_letter")
    return {
        "seconds": seconds,
        "stages": {
            name: {"records": count, "per_second": count / max(float(span), 0.001)}
            for name, count, span in rows
        },
        "cpu_workers": cpu["workers"],
        "cpu_postgres": cpu["postgres"],
        "memory": watch.peak / MEBI,
        "dead": dead[0][0],
        "true": sum(t.true for t in compared.scores),
        "found": sum(t.found for t in compared.scores),
        "wrong": sum(len(t.wrong) for t in compared.scores),
    }


# One record through all stages


async def time_one_record(
    line: Line, plan: Plan
) -> tuple[list[float], list[tuple[str, float, float]]]:
    """Send one business after the other through an idle system."""
    files = write_searches(line.imports, line.town.endpoint)
    times, timelines = [], []
    # The first one is not counted: plans and caches are made.
    for file in files[: plan.latencies + 1]:
        seconds, timeline = await one_record(line.desk, file)
        times.append(seconds)
        timelines.append(timeline)
    middle = times.index(statistics.median_low(times[1:]), 1)
    return times[1:], timelines[middle]


def write_searches(directory: Path, endpoint: TownEndpoint) -> list[str]:
    """Write a file of one place for every business that has contacts on a site."""
    names = []
    for business in endpoint.plan.businesses:
        if business.host is None or not business.mailboxes:
            continue
        name = f"{business.number}.csv"
        with (directory / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "website"])
            writer.writerow([business.name, f"http://{business.host}/"])
        names.append(name)
    return names


async def one_record(
    desk: Desk, file: str
) -> tuple[float, list[tuple[str, float, float]]]:
    """Search for one business and wait until its contacts are validated."""
    began = time.monotonic()
    async with desk.engine.begin() as connection:
        made = await connection.execute(
            insert(PlaceSearch)
            .values(
                tenant_id=desk.actor.tenant_id,
                business_type="",
                source="file",
                params={"file": file},
            )
            .returning(PlaceSearch.id, PlaceSearch.created_at)
        )
        search = made.one()
    await curation_sdk.control.wake(desk.engine, "place_search")
    while await desk.open():
        await asyncio.sleep(0.02)
        await desk.validate()
        if time.monotonic() - began > MAX_SECONDS:
            raise SystemExit("a record did not arrive")
    seconds = time.monotonic() - began
    rows = await desk.rows(
        "SELECT stage, extract(epoch FROM min(claimed_at) - :t0)::float,"
        " extract(epoch FROM max(settled_at) - :t0)::float FROM curation.attempt"
        " WHERE claimed_at >= :t0 GROUP BY 1",
        t0=search.created_at,
    )
    await asyncio.sleep(0.3)
    return seconds, sorted(rows, key=lambda row: STAGES.index(row[0]))


# A sitemap of 50,000 URLs


async def time_import(line: Line, plan: Plan) -> dict[str, float]:
    """Import a very long sitemap several times, each into an empty table."""
    whole, stored, grown = [], [], []
    watch = line.watch()
    await one_import(line, watch)  # children grow, caches fill
    for _ in range(plan.imports):
        watch.start()
        seconds, storing = await one_import(line, watch)
        whole.append(seconds)
        stored.append(storing)
        grown.append((watch.peak - watch.first) / MEBI)
    return {
        "seconds": statistics.median(whole),
        "storing": statistics.median(stored),
        "grown": max(grown),
    }


IMPORTED = """
SELECT extract(epoch FROM pg_xact_commit_timestamp(p.xmin) - a.claimed_at)::float,
  extract(epoch FROM pg_xact_commit_timestamp(p.xmin) - p.created_at)::float
FROM curation.attempt a, (SELECT xmin, created_at FROM pages ORDER BY created_at LIMIT 1) p
WHERE a.stage = 'sitemap_import' AND a.outcome = 'done'
"""
"""Rows are stamped when the transaction that stores them begins to; its end is the
commit, with the rules' decisions, on disk."""


async def one_import(line: Line, watch: Watch) -> tuple[float, float]:
    """Import the archive; return the seconds from claim to commit, and of storing."""
    await line.clear()
    desk = line.desk
    async with desk.engine.begin() as connection:
        domain = await connection.scalar(
            insert(Domain)
            .values(
                tenant_id=desk.actor.tenant_id, domain=ARCHIVE_HOST, status="completed"
            )
            .returning(Domain.id)
        )
        await connection.execute(
            insert(SitemapFile).values(
                tenant_id=desk.actor.tenant_id,
                domain_id=UUID(str(domain)),
                url=f"http://{ARCHIVE_HOST}/sitemap.xml",
                sitemap_type="standard",
                sitemap_import_status="Queued",
            )
        )
    await curation_sdk.control.wake(desk.engine, "sitemap_import")
    deadline = time.monotonic() + MAX_SECONDS
    while time.monotonic() < deadline:
        watch.look()
        await asyncio.sleep(0.05)
        rows = await desk.rows(IMPORTED)
        if rows:
            return rows[0][0], rows[0][1]
    raise SystemExit("the import did not finish")


# A deep queue


async def time_claims(cluster: Cluster, plan: Plan) -> dict[int, list[float]]:
    """Claim batches out of queues of different depth, by turns; give milliseconds.

    By turns, so that what else the machine does slows all of them alike.
    """
    with ExitStack() as databases:
        async with AsyncExitStack() as stack:
            claimers = {}
            for depth in plan.depths:
                url = databases.enter_context(a_database(cluster, f"depth_{depth}"))
                desk = await stack.enter_async_context(a_desk(url))
                await fill(url, desk, depth)
                engine = connect(parse_target(url), pool_size=2)
                stack.push_async_callback(engine.dispose)
                lane = WorkerConnection(engine)
                stack.push_async_callback(lane.close)
                claimers[depth] = await claimer_on(engine, lane)
            times: dict[int, list[float]] = {depth: [] for depth in plan.depths}
            for _ in range(plan.claims):
                for depth, claimer in claimers.items():
                    times[depth].append(await time_claim(claimer))
    return {depth: some[WARM_ITEMS:] for depth, some in times.items()}


async def fill(url: str, desk: Desk, depth: int) -> None:
    """Queue so many pages, of a thousand domains."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute(
            "INSERT INTO domains (tenant_id, domain, status)"
            " SELECT $1, 'd' || n || '.bv', 'completed'"
            " FROM generate_series(1, 1000) AS n",
            desk.actor.tenant_id,
        )
        await connection.execute(
            "INSERT INTO pages (tenant_id, domain_id, url, priority,"
            "  page_processing_status)"
            " SELECT $1, d.id, 'http://' || d.domain || '/' || n, n % 100, 'Queued'"
            " FROM domains d, generate_series(1, $2 / 1000) AS n",
            desk.actor.tenant_id, depth, timeout=600,
        )  # fmt: skip
        await connection.execute("VACUUM ANALYZE pages")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


async def claimer_on(engine: AsyncEngine, lane: WorkerConnection) -> Claimer:
    """Make what claims pages, as a worker has it."""
    return Claimer(curate_page, await statements_on(engine), lane, "bench")


async def statements_on(engine: AsyncEngine) -> Statements:
    """Write the statements by which workers claim and settle pages."""
    (ready,) = await registry_of(PIPELINE).check(engine, [curate_page])
    return statements_of(
        ready.queue, columns=select_list(curate_page, engine.dialect),
        keyed=ready.keyed,
    )  # fmt: skip


async def time_claim(claimer: Claimer) -> float:
    """Return the milliseconds of a claim of one batch."""
    began = time.perf_counter()
    batch = await claimer.next_batch()
    if len(batch) != curate_page.batch:
        raise SystemExit("a claim took less than a batch")
    return (time.perf_counter() - began) * 1000


# The report


def show_town(crew: int, size: int, run: dict[str, Any]) -> None:
    print(f"\n{size} businesses, {crew} worker process{'es' if crew > 1 else ''}")
    print(f"{'stage':22}{'records':>10}{'per second':>12}")
    for name in STAGES:
        if name in run["stages"]:
            found = run["stages"][name]
            print(f"{name:22}{found['records']:>10,}{found['per_second']:>12.1f}")
    print(
        f"{run['seconds']:.1f} s; CPU {run['cpu_workers']:.1f} s workers, "
        f"{run['cpu_postgres']:.1f} s PostgreSQL; peak memory {run['memory']:.0f} MB; "
        f"contacts found {run['found']} of {run['true']}, wrong {run['wrong']}; "
        f"dead letters {run['dead']}"
    )


def show_latency(times: list[float], timeline: list[tuple[str, float, float]]) -> None:
    print(f"\none record through all stages of an idle system, {len(times)} times")
    print(f"median {statistics.median(times):.2f} s, slowest {max(times):.2f} s")
    print(
        f"{'stage':22}{'claimed':>10}{'settled':>10}   (s after the search was queued)"
    )
    for name, claimed, settled in timeline:
        print(f"{name:22}{claimed:>10.3f}{settled:>10.3f}")


def main() -> None:
    """Run everything and print the tables and the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["town", "latency", "import", "claims"])
    chosen = parser.parse_args()
    with running_cluster(settings={"track_commit_timestamp": "on"}) as cluster:
        if chosen.quick:
            result = asyncio.run(run_quickly(cluster, QUICK))
        else:
            result = asyncio.run(run_fully(cluster, Plan(), chosen.only))
    print(json.dumps(result))


async def run_quickly(cluster: Cluster, plan: Plan) -> dict[str, Any]:
    """Do a little of everything, on one line."""
    await migrate(cluster)
    line = a_line(cluster, "quick", size=plan.town, archive=plan.archive)
    async with line as open_line:
        # First, while no site is known: a record must not find robots.txt read.
        result = await run_latency(open_line, plan)
        await open_line.clear()
        result |= await run_town(open_line, plan.town)
        result |= await run_import(open_line, plan)
    return result | await run_claims(cluster, plan)


async def run_fully(cluster: Cluster, plan: Plan, only: str | None) -> dict[str, Any]:
    """Do everything, or one part, each on a line of its own."""
    await migrate(cluster)
    result: dict[str, Any] = {}
    if only in {None, "town"}:
        for crew in plan.crews:
            name = f"town_{crew}"
            async with a_line(cluster, name, size=plan.town, crew=crew) as line:
                result |= await run_town(line, plan.town)
    if only in {None, "latency"}:
        async with a_line(cluster, "latency", size=60) as line:
            result |= await run_latency(line, plan)
    if only in {None, "import"}:
        async with a_line(cluster, "archive", size=1, archive=plan.archive) as line:
            result |= await run_import(line, plan)
    if only in {None, "claims"}:
        result |= await run_claims(cluster, plan)
    return result


async def run_town(line: Line, size: int) -> dict[str, Any]:
    crew = len(line.crew.members)
    run = await time_town(line)
    show_town(crew, size, run)
    found = {
        "seconds": run["seconds"],
        "pages_per_second": run["stages"]["page_curation"]["records"] / run["seconds"],
        "cpu_seconds_workers": run["cpu_workers"],
        "cpu_seconds_postgres": run["cpu_postgres"],
        "memory_mb": run["memory"],
        "contacts_true": run["true"],
        "contacts_found_share": run["found"] / run["true"],
        "contacts_wrong": run["wrong"],
    }
    named = {f"{name}_{crew}_workers": round(v, 4) for name, v in found.items()}
    return {"businesses": size} | named


async def run_latency(line: Line, plan: Plan) -> dict[str, Any]:
    times, timeline = await time_one_record(line, plan)
    show_latency(times, timeline)
    return {
        "one_record_median_seconds": round(statistics.median(times), 3),
        "one_record_slowest_seconds": round(max(times), 3),
    }


async def run_import(line: Line, plan: Plan) -> dict[str, Any]:
    found = await time_import(line, plan)
    whole, storing = plan.archive / found["seconds"], plan.archive / found["storing"]
    print(f"\na sitemap of {plan.archive:,} URLs, {plan.imports} times")
    print(f"from claim to commit {found['seconds']:.2f} s: {whole:,.0f} URLs/s")
    print(f"into the table {found['storing']:.2f} s: {storing:,.0f} URLs/s")
    print(f"memory growth {found['grown']:.0f} MB")
    return {
        "import_urls_per_second": round(whole),
        "import_urls_per_second_into_the_table": round(storing),
        "import_memory_growth_mb": round(found["grown"], 1),
    }


async def run_claims(cluster: Cluster, plan: Plan) -> dict[str, Any]:
    found = await time_claims(cluster, plan)
    print("\na claim of one batch out of a queue of pages")
    for depth, some in found.items():
        low, high = statistics.quantiles(some, n=4)[0::2]
        print(
            f"{depth:>12,} queued: median {statistics.median(some):.2f} ms, "
            f"half of {len(some)} between {low:.2f} and {high:.2f}"
        )
    return {
        f"claim_ms_depth_{depth}": round(statistics.median(some), 3)
        for depth, some in found.items()
    }


if __name__ == "__main__":
    main()
