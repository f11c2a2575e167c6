"""Whether hostile sites harm healthy ones: both go through the pipeline at once.

    python bench/mixed.py            1,000 healthy and 1,000 hostile sites, real time-outs
    python bench/mixed.py --quick    100 and 100, shorter time-outs, not without kills
    python bench/mixed.py --kills 0  another number of kills
    python bench/mixed.py --workers 4    so many workers instead of one
    python bench/mixed.py --timeline FILE    also write what became of every claim

First the healthy sites alone, then the same beside the hostile ones, then that again while
the application is killed three times and started anew. The quick run does only the first
and the last, and kills once: three kills would leave it two seconds each time. The
application is an API and one worker or more beside it, as `scrapersky up` starts them, which are
killed together; PostgreSQL and the sites have processes of their own; all of it is on
loopback. A healthy site is
complete when all that was found there alone is found. Meanwhile the API is asked for
lists and counts, ten times a second. The time from a kill until the next application is
ready does not count, and neither do questions asked meanwhile. Memory and processor time
are those of the application and its children alone, the latter from when it is ready.
"Stolen" is what the host of a virtual machine took of its processors: times of runs can
be compared only where it is small. The last line is one object of JSON, of the run with
kills.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

import httpx
import psutil
from sqlalchemy import insert

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(1, str(ROOT / "packages/curation-sdk/tests"))

import curation_sdk  # noqa: E402 - needs the path set above
from bench.mixed_world.hostile import ENDING, hostile_names  # noqa: E402
from bench.pipeline import (  # noqa: E402
    MIGRATED,
    Watch,
    migrate,
    seconds_of,
    stolen_since,
)
from scrapersky.records import Domain  # noqa: E402
from sdk_tests.rig.cluster import Cluster, running_cluster  # noqa: E402
from sdk_tests.rig.port import free_port  # noqa: E402
from simulated_town.business import SiteKind  # noqa: E402
from simulated_town.process import TownProcess, town_process  # noqa: E402
from simulated_town.town import TownEndpoint  # noqa: E402
from tests.acceptance.rig import PREFIXES, Desk, a_desk  # noqa: E402

MIB = 1 << 20
MAX_SECONDS = 3_600.0
QUESTIONS = (
    "/api/v3/domains?limit=50", "/api/v3/stages", "/api/v3/pages?limit=50",
    "/api/v3/contacts?limit=50", "/health/ready",
)  # fmt: skip
OPEN = f"""
SELECT (SELECT count(*) FROM domains d WHERE d.domain NOT LIKE '%{ENDING}'
    AND (status IN ('pending', 'processing')
      OR sitemap_analysis_status IN ('queued', 'processing')))
  + (SELECT count(*) FROM sitemap_files s JOIN domains d ON d.id = s.domain_id
     WHERE d.domain NOT LIKE '%{ENDING}'
       AND sitemap_import_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM pages p JOIN domains d ON d.id = p.domain_id
     WHERE d.domain NOT LIKE '%{ENDING}'
       AND page_processing_status IN ('Queued', 'Processing'))
"""
"""How much of the healthy sites is not over."""
FOUND = f"""
SELECT d.domain, d.status::text, d.verdict, (SELECT count(*) FROM pages p
    WHERE p.domain_id = d.id AND p.page_processing_status = 'Complete'),
  (SELECT string_agg(c.email, ' ' ORDER BY c.email) FROM contacts c
   WHERE c.domain_id = d.id)
FROM domains d WHERE d.domain NOT LIKE '%{ENDING}'
"""
"""What is known of every healthy site in the end."""
HOSTILE_LEFT = f"""
SELECT count(*) FROM domains d WHERE d.domain LIKE '%{ENDING}'
  AND (status IN ('pending', 'processing')
    OR sitemap_analysis_status IN ('queued', 'processing'))
"""

TIMELINE = """
SELECT a.stage, coalesce(d.domain, s.domain, p.domain), a.item, a.outcome, a.why, a.worker,
  extract(epoch FROM a.claimed_at)::float8, extract(epoch FROM a.settled_at)::float8,
  extract(epoch FROM a.due_at)::float8
FROM curation.attempt a
LEFT JOIN domains d ON d.id::text = a.item
LEFT JOIN (SELECT f.id, o.domain FROM sitemap_files f JOIN domains o ON o.id = f.domain_id) s
  ON s.id::text = a.item
LEFT JOIN (SELECT f.id, o.domain FROM pages f JOIN domains o ON o.id = f.domain_id) p
  ON p.id::text = a.item
ORDER BY a.settled_at
"""
"""When each item was claimed and settled, by whom, with what result, and when it is due again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a run is, and how patient."""

    sites: int = 1_000
    delay: float = 1.0
    limits: dict[str, float] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    beside: bool = True
    kills: int = 3
    workers: int = 1


QUICK = Plan(
    sites=100,
    delay=0.05,
    limits={"dns": 1, "connect": 1, "headers": 2, "total": 4, "rate_grace": 2},
    environment={
        **{f"{prefix}_LEASE_SECONDS": "2" for prefix in PREFIXES},
        **{f"{prefix}_SLOW_AFTER_SECONDS": "1" for prefix in PREFIXES[3:7]},
    },
    beside=False,
    kills=1,
)


@dataclass(slots=True)
class Run:
    """What one run came to."""

    name: str
    seconds: float = 0.0
    found: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    """Seconds in which the API answered."""
    refused: int = 0
    """Answers of the API that were not success."""
    memory: list[int] = field(default_factory=list)
    """Bytes of the application and its children, as the run went on."""
    hostile_left: int = 0
    cpu: float = 0.0
    """Seconds of processor time."""
    stolen: float = 0.0
    """The share of the processors' time that the machine did not get."""

    @property
    def peak_memory(self) -> int:
        """Return the most bytes it had at any moment."""
        return max(self.memory)

    @property
    def peak_by_third(self) -> list[int]:
        """Return the most bytes in the first, second and last third of the run."""
        third = -(-len(self.memory) // 3)
        return [
            max(self.memory[start : start + third])
            for start in range(0, len(self.memory), third)
        ]

    @property
    def p95(self) -> float:
        """Return milliseconds in which 95 of 100 questions were answered."""
        return statistics.quantiles(self.waits, n=20)[-1] * 1000

    def missed(self, alone: "Run") -> list[str]:
        """Return the sites of which something else was found than alone, or less."""
        return [
            n for n, reported in alone.found.items() if not self.has_found(n, reported)
        ]

    def has_found(self, name: str, reported: tuple[Any, ...]) -> bool:
        """Return whether a site is known as well as that; a page more does not matter."""
        status, verdict, pages, emails = self.found.get(name, (None, None, 0, None))
        return (status, verdict, emails) == (
            reported[0],
            reported[1],
            reported[3],
        ) and (pages >= reported[2])

    def complete(self, alone: "Run") -> float:
        """Return the share of sites of which the same was found as alone."""
        return 1 - len(self.missed(alone)) / len(alone.found)


@dataclass
class House:
    """The application: processes that may be killed and started anew."""

    order: dict[str, Any]
    workers: int = 1
    processes: list[Process] = field(default_factory=list)
    away: float = 0.0
    """Seconds in which it was killed and not yet ready again."""
    cpu: float = 0.0
    """Seconds of processor time, as far as they were counted."""
    counted: float = 0.0
    """What the process that runs now had used when it was last counted."""

    async def restart(self) -> None:
        """Kill it as the system does when memory is short, and start it anew."""
        began = time.monotonic()
        await self.kill()
        await self.start()
        self.away += time.monotonic() - began

    async def start(self) -> None:
        """Start, and return when all are ready."""
        orders = [{**self.order, "is_worker": False}]
        for _ in range(self.workers):
            worker = {"is_worker": True, "api_port": free_port()}
            orders.append({**self.order, **worker})
        self.processes = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.mixed_world.house", json.dumps(order)),
                cwd=ROOT,
                stdin=DEVNULL,
            )
            for order in orders
        ]
        async with httpx.AsyncClient() as client:
            for order in orders:
                await self.wait_for(client, order["api_port"])
        self.counted = self.used()

    async def wait_for(self, client: httpx.AsyncClient, port: int) -> None:
        """Return when the process at a port is ready."""
        while True:
            with suppress(httpx.HTTPError):
                answer = await client.get(f"http://127.0.0.1:{port}/health/ready")
                if answer.is_success:
                    return
            if not self.is_up:
                raise SystemExit("the application did not start")
            await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """End it at once."""
        if self.is_up:
            self.count()
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.kill()
        for process in self.processes:
            await process.wait()

    def count(self) -> None:
        """Add the processor time since it was last counted."""
        used = self.used()
        self.cpu += used - self.counted
        self.counted = used

    def used(self) -> float:
        """Return the processor time of the processes and their children."""
        return sum(map(seconds_of, Watch.tree(self.pids)))

    @property
    def pids(self) -> list[int]:
        """Which processes it is."""
        return [process.pid for process in self.processes]

    @property
    def address(self) -> str:
        """Where the API is."""
        return f"http://127.0.0.1:{self.order['api_port']}"

    @property
    def is_up(self) -> bool:
        """Whether it should answer."""
        found = [process.returncode is None for process in self.processes]
        return bool(found) and all(found)


def healthy_names(endpoint: TownEndpoint, count: int) -> dict[str, str]:
    """Return sites of the town and where they are at home."""
    names = {
        domain: f"http://{owners[0].host}/"
        for domain, owners in endpoint.plan.owners.items()
        if owners[0].kind is not SiteKind.NO_SUCH_NAME and owners[0].mailboxes
    }
    if len(names) < count:
        raise SystemExit(f"the town has only {len(names)} sites with contacts")
    return dict(list(names.items())[:count])


@asynccontextmanager
async def hostile_server() -> AsyncIterator[int]:
    """Serve the hostile sites in a process of their own; yield the port."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.mixed_world.hostile"),
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(await process.stdout.readline())
    finally:
        process.stdin.close()
        await process.wait()


@dataclass(frozen=True, slots=True)
class Street:
    """Where everything lives."""

    cluster: Cluster
    town: TownProcess
    hostile_port: int
    plan: Plan
    timeline: TextIO | None = None
    """Where to write what became of every claim."""

    async def run(
        self, name: str, *, hostile: int, kills: int = 0, alone: float = 0.0
    ) -> Run:
        """Send the sites through the pipeline; `alone` times the kills."""
        self.cluster.execute(f'CREATE DATABASE "{name}" TEMPLATE "{MIGRATED}"')
        async with AsyncExitStack() as stack:
            home = stack.enter_context(tempfile.TemporaryDirectory())
            url = self.cluster.url(name)
            desk = await stack.enter_async_context(a_desk(url))
            house = House(self.order(url, home), self.plan.workers)
            await house.start()
            stack.push_async_callback(house.kill)
            run = Run(name)
            asking = asyncio.create_task(ask(house, run))
            stack.callback(asking.cancel)
            began, counted = time.monotonic(), psutil.cpu_times()
            await self.queue(desk, hostile)
            marks = [began + alone * (n + 1) / (kills + 2) for n in range(kills)]
            await self.watch(house, desk, run, marks)
            run.seconds = time.monotonic() - began - house.away
            house.count()
            run.cpu = house.cpu
            run.stolen = stolen_since(counted)
            rows = await desk.rows(FOUND)
            run.found = {domain: tuple(rest) for domain, *rest in rows}
            run.hostile_left = (await desk.rows(HOSTILE_LEFT))[0][0]
            if self.timeline is not None:
                rows = await desk.rows(TIMELINE)
                lines = (json.dumps([name, *row]) + "\n" for row in rows)
                self.timeline.writelines(lines)
        self.cluster.drop_database(name)
        return run

    def order(self, url: str, home: str) -> dict[str, Any]:
        """Tell the application what to be."""
        endpoint = self.town.endpoint
        return {
            "url": url,
            "port": endpoint.port,
            "dns_port": endpoint.dns_port,
            "size": endpoint.size,
            "hostile_port": self.hostile_port,
            "api_port": free_port(),
            "delay": self.plan.delay,
            "limits": self.plan.limits,
            "environment": {
                "SCRAPERSKY_DATA_DIR": home,
                "API_RATE_PER_SECOND": "1000",
                **self.plan.environment,
            },
        }

    async def queue(self, desk: Desk, hostile: int) -> None:
        """Queue every site at once; keys are random, and so is their order."""
        names = healthy_names(self.town.endpoint, self.plan.sites)
        names |= {name: f"http://{name}/" for name in hostile_names(hostile)}
        rows = [
            {
                "tenant_id": desk.actor.tenant_id,
                "domain": domain,
                "home_url": url,
                "status": "pending",
            }
            for domain, url in names.items()
        ]
        async with desk.engine.begin() as connection:
            await connection.execute(insert(Domain), rows)
        await curation_sdk.control.wake(desk.engine, "domain_metadata")

    async def watch(
        self, house: House, desk: Desk, run: Run, kills: list[float]
    ) -> None:
        """Wait until the healthy sites are done; kill at the times given."""
        deadline = time.monotonic() + MAX_SECONDS
        run.memory.append(memory_of(house))
        while (await desk.rows(OPEN))[0][0]:
            if time.monotonic() > deadline:
                return
            if kills and time.monotonic() - house.away > kills[0]:
                kills.pop(0)
                await house.restart()
            run.memory.append(memory_of(house))
            await asyncio.sleep(0.4)


def memory_of(house: House) -> int:
    """Return what belongs to the application and its children alone."""
    watch = Watch(house.pids, 0)
    watch.look()
    return watch.peak


async def ask(house: House, run: Run) -> None:
    """Use the API like people who watch the work."""
    number = 0
    async with httpx.AsyncClient(base_url=house.address, timeout=30) as client:
        while True:
            await asyncio.sleep(0.1)
            if not house.is_up:
                continue
            number += 1
            began = time.monotonic()
            try:
                answer = await client.get(QUESTIONS[number % len(QUESTIONS)])
            except httpx.TransportError:
                continue  # it was killed meanwhile, or does not listen yet
            run.waits.append(time.monotonic() - began)
            run.refused += not answer.is_success


async def compare(
    cluster: Cluster, plan: Plan, timeline: TextIO | None
) -> dict[str, Any]:
    """Run the healthy sites alone, then beside the hostile ones."""
    async with AsyncExitStack() as stack:
        size = int(plan.sites * 1.7) + 20
        town, port, _ = await asyncio.gather(
            stack.enter_async_context(town_process(size=size, trouble=False)),
            stack.enter_async_context(hostile_server()),
            migrate(cluster),
        )
        street = Street(cluster, town, port, plan, timeline)
        alone = await street.run("alone", hostile=0)
        show(alone, alone)
        if plan.beside:
            show(await street.run("beside", hostile=plan.sites), alone)
        killed = await street.run(
            "killed", hostile=plan.sites, kills=plan.kills, alone=alone.seconds
        )
        show(killed, alone)
    print("\n".join(cluster.deadlocks), end="")
    return {
        "healthy_complete": round(killed.complete(alone), 4),
        "healthy_time_ratio": round(killed.seconds / alone.seconds, 3),
        "api_p95_ms": round(killed.p95, 1),
        "memory_growth_mb": round((killed.peak_memory - alone.peak_memory) / MIB, 1),
        "deadlocks": len(cluster.deadlocks),
    }


def show(run: Run, alone: Run) -> None:
    print(
        f"{run.name:<8}{run.seconds:7.1f} s  {run.seconds / alone.seconds:5.2f}x  "
        f"complete {run.complete(alone):7.2%}  API p95 {run.p95:6.1f} ms, "
        f"worst {max(run.waits) * 1000:6.0f} ms, refused {run.refused}  "
        f"processor {run.cpu:.1f} s  "
        f"memory {run.memory[0] / MIB:.0f}, then at most "
        f"{', '.join(f'{peak / MIB:.0f}' for peak in run.peak_by_third)} MiB  "
        f"hostile not done {run.hostile_left}  stolen {run.stolen:.0%}",
        flush=True,
    )
    for name in run.missed(alone)[:5]:
        print(f"        {name}: {run.found.get(name)}, alone {alone.found[name]}")


def main() -> None:
    """Run everything and print the table and the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sites", type=int, help="so many of each kind")
    parser.add_argument("--kills", type=int, help="so many kills")
    parser.add_argument("--workers", type=int, help="so many workers")
    parser.add_argument(
        "--timeline",
        type=argparse.FileType("w"),
        help="write a line of JSON for every claim: where did which site wait?",
    )
    chosen = parser.parse_args()
    plan = QUICK if chosen.quick else Plan()
    if chosen.sites:
        plan = replace(plan, sites=chosen.sites)
    if chosen.kills is not None:
        plan = replace(plan, kills=chosen.kills)
    if chosen.workers:
        plan = replace(plan, workers=chosen.workers)
    began = time.monotonic()
    with running_cluster() as cluster:
        result = asyncio.run(compare(cluster, plan, chosen.timeline))
    result["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
