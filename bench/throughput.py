"""How many pages a second become contacts, and what each of them costs.

    python bench/throughput.py                    600 sites, every case
    python bench/throughput.py --quick            50 sites, one process, 0 and 10 ms
    python bench/throughput.py --statements       also the statements that take longest

Everything before page curation is done once, and every case begins with a copy of that
database: the pages that rules chose are queued, and page curation is all that is left to
do. It fetches each page of the demo town politely (robots.txt, the ledger of hosts, but a
delay of 0), reads it in a child process, stores contacts, people and evidence behind the
suppression list, and chooses what to read next. Workers are processes as in production,
PostgreSQL has its default, durable configuration. A longer way to the database is a proxy
on loopback that hands over every byte later. "crawler alone" fetches the same pages and
"crawler and readers" also reads them, without a database. The last line is JSON.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(1, str(ROOT / "packages/curation-sdk/tests"))

import curation_sdk  # noqa: E402 - needs the path set above
from bench.pipeline import MAX_SECONDS, Watch, a_database, migrate  # noqa: E402
from contact_extraction.contact_page import read_contact_page  # noqa: E402
from scrapersky.crawler import Crawler, MemoryLedger, Sandbox  # noqa: E402
from scrapersky.demo.services import TownResolver  # noqa: E402
from scrapersky.errors import FetchError  # noqa: E402
from scrapersky.observability.log import configure_logs  # noqa: E402
from scrapersky.pipeline.parsers import WARM as PARSERS  # noqa: E402
from sdk_tests.rig.cluster import Cluster, running_cluster  # noqa: E402
from simulated_town.process import town_process  # noqa: E402
from tests.acceptance.rig import PREFIXES, Desk, Order, a_crew, a_desk  # noqa: E402

STAGE = "page_curation"
PREFIX = "PAGE_CURATION_SCHEDULER"
CONCURRENT_PAGES = 50
BEFORE = """
SELECT (SELECT count(*) FROM curation.claim)
  + (SELECT count(*) FROM place_searches WHERE status IN ('Queued', 'InProgress'))
  + (SELECT count(*) FROM places_staging WHERE deep_scan_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM local_businesses
     WHERE domain_extraction_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM domains WHERE status IN ('pending', 'processing')
     OR sitemap_analysis_status IN ('queued', 'processing'))
  + (SELECT count(*) FROM sitemap_files
     WHERE sitemap_import_status IN ('Queued', 'Processing'))
"""
"""What is open in the stages before page curation."""
OPEN = """
SELECT (SELECT count(*) FROM curation.claim) + (SELECT count(*) FROM pages
  WHERE page_processing_status IN ('Queued', 'Processing'))
"""
WARM_ITEMS = 20
"""Pages that are not counted: parsers are loaded, statements prepared."""
SETTLED = """
SELECT count(*), extract(epoch FROM max(settled_at))::float8
FROM curation.attempt WHERE stage = 'page_curation' AND outcome = 'done'
"""
OTHERWISE = """
SELECT outcome || coalesce(': ' || why, ''), count(*) FROM curation.attempt
WHERE stage = 'page_curation' AND outcome <> 'done' GROUP BY 1 ORDER BY 2 DESC LIMIT 20
"""
"""What became of attempts that did not end well; most of them are made again."""
STATEMENTS = """
SELECT coalesce(sum(s.calls), 0) FROM pg_stat_statements s
JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = '{name}'
"""
LONGEST_STATEMENTS = """
SELECT s.calls, s.total_exec_time + s.total_plan_time, s.query FROM pg_stat_statements s
JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = '{name}'
ORDER BY 2 DESC LIMIT 30
"""
FOUND = "SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM people)"


@dataclass(frozen=True, slots=True)
class Case:
    """So many processes, so far from the database."""

    processes: int = 1
    round_trip: float = 0.0
    """Milliseconds that a round trip takes longer than it would."""

    @property
    def name(self) -> str:
        some = "process" if self.processes == 1 else "processes"
        return f"page curation, {self.processes} {some}, {self.round_trip:g} ms"

    @property
    def key(self) -> str:
        return f"{self.processes}_processes_{self.round_trip:g}_ms"


@dataclass(frozen=True, slots=True)
class Result:
    """What a case came to."""

    pages: int
    seconds: float
    worker_ms: float
    postgres_ms: float = 0.0
    statements: float = 0.0
    found: tuple[int, int] = (0, 0)
    otherwise: dict[str, int] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return self.pages / max(self.seconds, 0.001)

    @property
    def per_core(self) -> float:
        """Pages a second that one core could do, were it never idle."""
        return 1000 / (self.worker_ms + self.postgres_ms)


CASES = (
    Case(), Case(2), Case(1, 1.0), Case(1, 10.0), Case(2, 10.0),
)  # fmt: skip
QUICK = (Case(), Case(1, 10.0))


def settings_with(*enabled: str) -> dict[str, str]:
    """Return the environment of workers that run some stages only."""
    return {f"{prefix}_ENABLED": str(prefix in enabled).lower() for prefix in PREFIXES}


@contextmanager
def a_wire(port: int, milliseconds: float) -> Iterator[int]:
    """Return a port of the database that is so far away."""
    if not milliseconds:
        yield port
        return
    command = [sys.executable, "-m", "bench.delayed", str(port), str(milliseconds)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.communicate()


async def prepare(url: str, order: Order) -> list[str]:
    """Do everything before page curation; return the pages that are queued for it."""
    async with a_desk(url) as desk:
        with a_crew(order, 1):
            await curation_sdk.control.pause(desk.engine, STAGE, why="not yet")
            await desk.search()
            began = time.monotonic()
            while (await desk.rows(BEFORE))[0][0]:
                await asyncio.sleep(0.25)
                if time.monotonic() - began > MAX_SECONDS:
                    raise SystemExit("the stages before did not finish")
        rows = await desk.rows(
            "SELECT url FROM pages WHERE page_processing_status = 'Queued' ORDER BY id"
        )
        return [row[0] for row in rows]


async def measure(
    cluster: Cluster, case: Case, name: str, endpoint: Any, *, show: bool
) -> Result:
    """Let workers curate every page that is queued and will be."""
    with a_wire(cluster.port, case.round_trip) as port:
        order = Order(
            cluster.tcp_url(name, port=port),
            endpoint,
            slowest=30,
            environment=settings_with(PREFIX),
        )
        async with a_desk(cluster.url(name)) as desk:
            with a_crew(order, case.processes) as crew:
                pids = [member.pid or 0 for member in crew.members]
                watch = Watch(pids, cluster.pid)
                await curation_sdk.control.resume(desk.engine, STAGE)
                await curation_sdk.control.wake(desk.engine, STAGE)
                first = await until_warm(desk, WARM_ITEMS * len(pids))
                watch.start()
                cluster.execute("SELECT pg_stat_statements_reset()")
                await until_idle(desk)
                cpu = watch.cpu()
                (calls,) = cluster.execute(STATEMENTS.format(name=name))[0]
            last = (await desk.rows(SETTLED))[0]
            found = (await desk.rows(FOUND))[0]
            otherwise = {row[0]: row[1] for row in await desk.rows(OTHERWISE)}
            pages, seconds = last[0] - first[0], last[1] - first[1]
    if show:
        show_statements(cluster, name, pages)
    return Result(
        pages,
        seconds,
        cpu["workers"] / pages * 1000,
        cpu["postgres"] / pages * 1000,
        int(str(calls)) / pages,
        (found[0], found[1]),
        otherwise,
    )


async def until_warm(desk: Desk, pages: int) -> tuple[Any, ...]:
    """Wait until so many pages are settled; return what is known of them."""
    while True:
        settled = (await desk.rows(SETTLED))[0]
        if settled[0] >= pages:
            return settled
        await asyncio.sleep(0.1)


async def until_idle(desk: Desk) -> None:
    """Wait until nothing is queued or in work."""
    began = time.monotonic()
    while (await desk.rows(OPEN))[0][0]:
        await asyncio.sleep(0.3)
        if time.monotonic() - began > MAX_SECONDS:
            raise SystemExit("page curation did not finish")


def show_statements(cluster: Cluster, name: str, pages: int) -> None:
    """Print the statements that took longest in the server."""
    print(f"\n{'calls/page':>10}{'ms/page':>9}  statement")
    for calls, spent, query in cluster.execute(LONGEST_STATEMENTS.format(name=name)):
        words = " ".join(str(query).split())[:110]
        print(f"{calls / pages:>10.3f}{spent / pages:>9.3f}  {words}")  # type: ignore[operator]


# The same pages without a database


def crawl_alone(order: Order, urls: Sequence[str], pipe: Pipe, *, reads: bool) -> None:
    """Fetch pages, and read them if told so; report how long that took."""
    configure_logs("WARNING", "console")
    pipe.send(asyncio.run(crawl(order, urls, reads=reads)))


async def crawl(order: Order, urls: Sequence[str], *, reads: bool) -> tuple[Any, ...]:
    """Fetch every page once; return how many, how long, and the processor's time."""
    queue, done = iter(urls), 0
    ledger = MemoryLedger(lambda: datetime.now(UTC))

    async def work(crawler: Crawler, sandbox: Sandbox) -> None:
        nonlocal done
        for url in queue:
            try:
                page = await crawler.fetch(url)
                if reads:
                    body, charset = page.body, page.charset.name
                    await sandbox.run(read_contact_page, body, url, charset, None)
            except FetchError:
                continue
            done += 1

    async with (
        Crawler(
            order.policy, ledger, resolver=TownResolver(order.endpoint.addresses)
        ) as crawler,
        Sandbox(warm=PARSERS) as sandbox,
    ):
        if reads:
            await sandbox.warm_up()
        watch = Watch([multiprocessing.current_process().pid or 0], 0)
        watch.start()
        began = time.monotonic()
        workers = (work(crawler, sandbox) for _ in range(CONCURRENT_PAGES))
        await asyncio.gather(*workers)
        return done, time.monotonic() - began, watch.cpu()["workers"]


def measure_alone(order: Order, urls: Sequence[str], *, reads: bool) -> Result:
    """Fetch the pages in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=crawl_alone, args=(order, urls, theirs), kwargs={"reads": reads}
    )
    process.start()
    pages, seconds, cpu = ours.recv()
    process.join()
    return Result(pages, seconds, cpu / pages * 1000)


# All of it


async def run(
    cluster: Cluster, sites: int, cases: Sequence[Case], *, show: bool
) -> dict[str, Result]:
    """Measure every case on a copy of the same database."""
    await migrate(cluster)
    cluster.execute("CREATE EXTENSION pg_stat_statements")
    results: dict[str, Result] = {}
    async with town_process(size=sites, trouble=False) as town:
        endpoint = town.endpoint
        with a_database(cluster, "prepared"):
            order = Order(
                cluster.url("prepared"),
                endpoint,
                slowest=30,
                environment=settings_with(*(p for p in PREFIXES if p != PREFIX)),
            )
            urls = await prepare(cluster.url("prepared"), order)
            for reads, name in (
                (False, "crawler alone"),
                (True, "crawler and readers"),
            ):
                results[name] = measure_alone(order, urls, reads=reads)
            for case in cases:
                copy = f"case_{case.key}"
                cluster.execute(f'CREATE DATABASE "{copy}" TEMPLATE "prepared"')
                try:
                    results[case.name] = await measure(
                        cluster, case, copy, endpoint, show=show
                    )
                finally:
                    cluster.drop_database(copy)
    return results


def show_table(results: dict[str, Result]) -> None:
    """Print what every case came to."""
    print(
        f"\n{'':<36}{'pages':>7}{'pages/s':>9}{'CPU ms/page':>13}{'PostgreSQL':>12}"
        f"{'statements':>12}{'pages/s a core':>16}"
    )
    for name, one in results.items():
        print(
            f"{name:<36}{one.pages:>7,}{one.per_second:>9.1f}{one.worker_ms:>13.2f}"
            f"{one.postgres_ms:>12.2f}{one.statements:>12.2f}{one.per_core:>16.1f}"
        )
        for what, count in one.otherwise.items():
            print(f"    {count} {what}")


def as_json(results: dict[str, Result]) -> dict[str, Any]:
    """Return the figures under names that do not change."""
    return {
        name.replace(", ", "_").replace(" ", "_"): {
            "pages": one.pages,
            "pages_per_second": round(one.per_second, 1),
            "worker_cpu_ms_per_page": round(one.worker_ms, 2),
            "postgres_cpu_ms_per_page": round(one.postgres_ms, 2),
            "statements_per_page": round(one.statements, 2),
            "contacts": one.found[0],
            "people": one.found[1],
            "otherwise": one.otherwise,
        }
        for name, one in results.items()
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sites", type=int)
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--round-trip", type=float, default=0.0, metavar="MS")
    chosen = parser.parse_args()
    sites = chosen.sites or (50 if chosen.quick else 600)
    cases: Sequence[Case] = QUICK if chosen.quick else CASES
    if chosen.processes:
        cases = (Case(chosen.processes, chosen.round_trip),)
    settings = {"shared_preload_libraries": "pg_stat_statements"}
    with running_cluster(settings=settings) as cluster:
        results = asyncio.run(run(cluster, sites, cases, show=chosen.statements))
    show_table(results)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"sites": sites, **as_json(results), "peak_mb": round(peak)}))


if __name__ == "__main__":
    main()
