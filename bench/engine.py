"""How fast the engine is, beside its peers, on one machine and in one run.

    python bench/engine.py            the whole table, about ten minutes
    python bench/engine.py --quick    smaller counts, under a minute

Everything runs on one throw-away PostgreSQL with its default configuration, durable
(fsync and synchronous_commit on), all clients on the unix socket and on one kind of
event loop. Rounds are interleaved, so that noise of the machine hits everyone alike,
and medians are taken over the rounds. The last line is one object of JSON.
"""

import argparse
import asyncio
import gc
import itertools
import json
import logging
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

from bench.engine_peers import (
    bare,
    old_loop,
    ours,
    pgqueuer_peer,
    procrastinate_peer,
    side,
)
from sdk_tests.rig.cluster import Cluster, running_cluster

BATCHES = (10, 100, 1000)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything one run does."""

    items: int = 20_000
    rounds: int = 3
    old_items: int = 2_000
    procrastinate_seconds: float = 6.0
    procrastinate_concurrencies: tuple[int, ...] = (1, 10, 30, 100)
    latency_samples: int = 300
    table_sizes: tuple[int, ...] = (10_000, 1_000_000, 5_000_000)
    claims_timed: int = 60
    snapshot_items: int = 100_000
    snapshot_rounds: int = 3
    scaling_items: int = 60_000
    scaling_rounds: int = 3
    in_flight: int = 10_000
    looked_at_items: int = 400_000


QUICK = Plan(
    items=3_000,
    rounds=2,
    old_items=200,
    procrastinate_seconds=1.0,
    procrastinate_concurrencies=(10,),
    latency_samples=60,
    table_sizes=(10_000, 200_000),
    claims_timed=40,
    snapshot_items=8_000,
    snapshot_rounds=1,
    scaling_items=20_000,
    scaling_rounds=1,
    looked_at_items=40_000,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed drain."""

    rate: float
    client_us: float
    server_us: float


@dataclass
class Bench:
    """The server, and the databases that come and go on it."""

    cluster: Cluster
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    _names: Iterator[int] = field(default_factory=itertools.count)

    @contextmanager
    def database(self) -> Iterator[str]:
        """Give an empty database; drop it after, so that no run pays for another."""
        name = self.cluster.create_database(f"bench_{next(self._names)}")
        try:
            yield name
        finally:
            self.cluster.drop_database(name)

    def settle_down(self) -> None:
        """Let no checkpoint or garbage of the preparation fall into the timed part."""
        self.cluster.execute("CHECKPOINT")
        gc.collect()

    def timed(
        self, items: int, drain: Callable[[], Coroutine[Any, Any, float]]
    ) -> Sample:
        """Drain once and count what it cost both sides."""
        self.settle_down()
        client, server = time.process_time(), self.server_seconds()
        seconds = self.run(drain())
        client = time.process_time() - client
        server = self.server_seconds() - server
        return Sample(items / seconds, client / items * 1e6, server / items * 1e6)

    def server_seconds(self) -> float:
        """Return the CPU seconds of every process the server has or had."""
        # A backend that is just ending is in neither count: let it end first.
        time.sleep(0.2)
        postmaster = psutil.Process(self.cluster.pid)
        total = postmaster.cpu_times()
        # A backend that ended is in the postmaster's count of its children.
        seconds = (
            total.user + total.system + total.children_user + total.children_system
        )
        for child in postmaster.children(recursive=True):
            try:
                times = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            seconds += times.user + times.system
        return float(seconds)


Engine = Callable[[Bench, int, int], Sample]


def time_ours(bench: Bench, items: int, batch: int) -> Sample:
    with bench.database() as name:
        url = bench.cluster.url(name)
        bench.run(ours.prepare(url, items))
        sample = bench.timed(items, lambda: ours.drain(url, batch))
        expect(bench.run(ours.finished(url)), items)
    return sample


def time_pgqueuer(bench: Bench, items: int, batch: int) -> Sample:
    with bench.database() as name:
        dsn = bench.cluster.dsn(name)
        bench.run(pgqueuer_peer.prepare(dsn, items))
        sample = bench.timed(items, lambda: pgqueuer_peer.drain(dsn, batch))
        expect(bench.run(pgqueuer_peer.finished(dsn)), items)
    return sample


def time_bare_row(bench: Bench, items: int, batch: int) -> Sample:
    return time_bare(bench, items, batch, shape="row")


def time_bare_side(bench: Bench, items: int, batch: int) -> Sample:
    return time_bare(bench, items, batch, shape="side")


def time_bare(bench: Bench, items: int, batch: int, *, shape: str) -> Sample:
    with bench.database() as name:
        dsn = bench.cluster.dsn(name)
        bench.run(bare.prepare(dsn, items))
        sample = bench.timed(items, lambda: bare.drain(dsn, batch, shape=shape))
        expect(bench.run(bare.finished(dsn)), items)
    return sample


def time_old_loop(bench: Bench, items: int, batch: int) -> Sample:
    with bench.database() as name:
        url = bench.cluster.url(name)
        bench.run(old_loop.prepare(url, items))
        return bench.timed(items, lambda: old_loop.drain(url, batch))


def time_procrastinate(bench: Bench, plan: Plan, concurrency: int) -> Sample:
    """Rate it on what it finishes in a few seconds; it is too slow for the whole."""
    at_most = plan.procrastinate_seconds
    with bench.database() as name:
        dsn = bench.cluster.dsn(name)
        bench.run(procrastinate_peer.prepare(dsn, int(1500 * at_most)))
        bench.settle_down()
        client, server = time.process_time(), bench.server_seconds()
        done, seconds = bench.run(
            procrastinate_peer.drain(dsn, concurrency, at_most=at_most)
        )
        client = (time.process_time() - client) / done * 1e6
        server = (bench.server_seconds() - server) / done * 1e6
    return Sample(done / seconds, client, server)


ENGINES: dict[str, Engine] = {
    "this engine": time_ours,
    "PgQueuer": time_pgqueuer,
    "bare script, lease in the row": time_bare_row,
    "bare script, lease beside": time_bare_side,
}


def expect(found: int, items: int) -> None:
    """Refuse to print a rate for work that was not done."""
    if found != items:
        raise RuntimeError(f"{found} of {items} items were finished")


def measure_throughput(bench: Bench, plan: Plan) -> dict[tuple[str, int], Sample]:
    """Time everyone at every batch size, round by round."""
    samples: dict[tuple[str, int], list[Sample]] = {}
    for _ in range(plan.rounds):
        for batch in BATCHES:
            for name, engine in ENGINES.items():
                sample = engine(bench, plan.items, batch)
                samples.setdefault((name, batch), []).append(sample)
        old = time_old_loop(bench, plan.old_items, 100)
        samples.setdefault(("old loop, a commit per item", 100), []).append(old)
    for _ in range(1 if plan is QUICK else 2):
        for concurrency in plan.procrastinate_concurrencies:
            sample = time_procrastinate(bench, plan, concurrency)
            samples.setdefault(("Procrastinate", concurrency), []).append(sample)
    return {key: middle(found) for key, found in samples.items()}


def middle(samples: list[Sample]) -> Sample:
    """Return the median of each figure."""
    return Sample(
        statistics.median(sample.rate for sample in samples),
        statistics.median(sample.client_us for sample in samples),
        statistics.median(sample.server_us for sample in samples),
    )


def measure_latency(bench: Bench, plan: Plan) -> dict[str, float]:
    """Queue single items into an idle worker; time from before the INSERT."""
    with bench.database() as name:
        url = bench.cluster.url(name)
        bench.run(ours.prepare(url, 0))
        bench.settle_down()
        found = bench.run(ours.start_latencies(url, plan.latency_samples))
    found.sort()
    return {
        "start_latency_ms_p50": round(found[len(found) // 2] * 1000, 2),
        "start_latency_ms_p99": round(found[int(len(found) * 0.99)] * 1000, 2),
    }


def measure_claims(bench: Bench, plan: Plan) -> dict[int, float]:
    """Time one claim of ten in tables of growing size, turn by turn."""
    with ExitStack() as stack:
        urls = {}
        for size in plan.table_sizes:
            name = stack.enter_context(bench.database())
            urls[size] = bench.cluster.url(name)
            bench.run(ours.prepare_table(urls[size], size))
        bench.settle_down()
        times = bench.run(ours.claim_times(urls, plan.claims_timed, batch=10))
    return {size: statistics.median(found) * 1000 for size, found in times.items()}


def measure_limited_claims(bench: Bench, plan: Plan) -> tuple[float, float]:
    """Time one claim of ten without limits and within a rate, turn by turn."""
    with bench.database() as free, bench.database() as limited:
        urls = [bench.cluster.url(name) for name in (free, limited)]
        for url in urls:
            bench.run(ours.prepare(url, 10 * (plan.claims_timed + 1)))
        bench.settle_down()
        times = side.limited_claim_times(urls[0], urls[1], plan.claims_timed, batch=10)
        found = bench.run(times)
    return statistics.median(found[0]) * 1000, statistics.median(found[1]) * 1000


def measure_old_snapshot(bench: Bench, plan: Plan) -> tuple[float, float]:
    """Drain with and without another session that holds an old snapshot."""
    clean: list[float] = []
    rotten: list[float] = []
    for _ in range(plan.snapshot_rounds):
        for held, rates in ((False, clean), (True, rotten)):
            with bench.database() as name:
                url, dsn = bench.cluster.url(name), bench.cluster.dsn(name)
                bench.run(ours.prepare(url, plan.snapshot_items))
                drain = drain_under_snapshot(url, dsn, 100, held=held)
                rates.append(bench.timed(plan.snapshot_items, drain).rate)
    return statistics.median(clean), statistics.median(rotten)


def drain_under_snapshot(
    url: str, dsn: str, batch: int, *, held: bool
) -> Callable[[], Coroutine[Any, Any, float]]:
    async def drain() -> float:
        if not held:
            return await ours.drain(url, batch)
        other = await asyncpg.connect(dsn)
        await other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        await other.fetchval("SELECT count(*) FROM pg_class")
        try:
            return await ours.drain(url, batch)
        finally:
            await other.close()

    return drain


def measure_scaling(bench: Bench, plan: Plan) -> dict[int, float]:
    """Drain one queue with one, two and four processes that start together."""
    rates: dict[int, list[float]] = {1: [], 2: [], 4: []}
    for _ in range(plan.scaling_rounds):
        for processes, found in rates.items():
            with bench.database() as name:
                url = bench.cluster.url(name)
                bench.run(ours.prepare(url, plan.scaling_items))
                bench.settle_down()
                seconds = drain_together(url, processes)
                expect(bench.run(ours.finished(url)), plan.scaling_items)
                found.append(plan.scaling_items / seconds)
    return {processes: statistics.median(found) for processes, found in rates.items()}


def drain_together(url: str, processes: int) -> float:
    """Return the seconds from the common start to the last end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bench.engine_peers.ours"])
    gate = context.Barrier(processes + 1)
    ends = context.SimpleQueue()
    children = [
        context.Process(target=ours.drain_at_the_gate, args=(url, 100, gate, ends))
        for _ in range(processes)
    ]
    for child in children:
        child.start()
    gate.wait()
    started = time.monotonic()
    last = max(ends.get() for _ in children)
    for child in children:
        child.join()
    return float(last - started)


def measure_memory(bench: Bench, plan: Plan) -> dict[str, float]:
    """Hold many items in flight in one process; read its memory and connections."""
    with bench.database() as name:
        url = bench.cluster.url(name)
        bench.run(ours.prepare(url, plan.in_flight))
        context = multiprocessing.get_context("spawn")
        answers = context.SimpleQueue()
        child = context.Process(
            target=ours.hold_in_flight, args=(url, plan.in_flight, answers)
        )
        child.start()
        held: dict[str, float] = answers.get()
        child.join()
    return held


def measure_dashboard(bench: Bench, plan: Plan) -> tuple[float, int, float]:
    """Drain while the dashboard is open; return its share of all CPU time, looks and rate."""
    items = plan.looked_at_items
    with bench.database() as name:
        url = bench.cluster.url(name)
        bench.run(ours.prepare(url, items))
        context = multiprocessing.get_context("spawn")
        is_ready, is_over = context.Event(), context.Event()
        answers = context.SimpleQueue()
        child = context.Process(
            target=ours.look_at_dashboard, args=(url, is_ready, is_over, answers)
        )
        child.start()
        is_ready.wait()
        sample = bench.timed(items, lambda: ours.drain(url, 100))
        is_over.set()
        looks, spent = answers.get()
        child.join()
    # The server's part of the looks is in its whole already.
    whole = (sample.client_us + sample.server_us) / 1e6 * items
    return spent / whole, looks, sample.rate


def print_table(samples: dict[tuple[str, int], Sample]) -> None:
    """Print every rate with its cost on both sides."""
    print(f"{'':<32}{'batch':>6}{'items/s':>10}{'client us':>11}{'server us':>11}")
    for (name, batch), sample in sorted(samples.items(), key=lambda pair: pair[0][1]):
        print(
            f"{name:<32}{batch:>6}{sample.rate:>10,.0f}"
            f"{sample.client_us:>11.1f}{sample.server_us:>11.1f}"
        )


def summarise(samples: dict[tuple[str, int], Sample]) -> dict[str, float]:
    """Return the ratios the goals are about."""
    mine = {batch: samples["this engine", batch] for batch in BATCHES}
    best = max(s.rate for (name, _), s in samples.items() if name == "Procrastinate")
    old = samples["old loop, a commit per item", 100].rate
    found: dict[str, float] = {}
    for batch, sample in mine.items():
        found[f"items_per_second_batch_{batch}"] = round(sample.rate)
        rival = samples["PgQueuer", batch].rate
        found[f"vs_pgqueuer_batch_{batch}"] = round(sample.rate / rival, 2)
        for short, name in (
            ("bare", "bare script, lease in the row"),
            ("bare_side", "bare script, lease beside"),
        ):
            limit = samples[name, batch].rate
            found[f"vs_{short}_batch_{batch}"] = round(sample.rate / limit, 2)
    top = max(sample.rate for sample in mine.values())
    found["vs_procrastinate"] = round(top / best, 1)
    found["vs_old_loop"] = round(mine[100].rate / old, 1)
    found["client_us_per_item"] = round(mine[1000].client_us, 1)
    found["server_us_per_item"] = round(mine[1000].server_us, 1)
    return found


def main() -> None:
    """Measure, print, and end with the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller counts")
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    options = parser.parse_args()
    plan = QUICK if options.quick else Plan()
    logging.disable(logging.CRITICAL)
    started = time.monotonic()
    run = uvloop.run if options.loop == "uvloop" else asyncio.run
    with running_cluster() as cluster:
        found = measure(Bench(cluster, run), plan)
    found["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(found))


def measure(bench: Bench, plan: Plan) -> dict[str, float]:
    """Take every figure."""
    version = bench.cluster.execute("SHOW server_version")[0][0]
    print(
        f"PostgreSQL {version}, default configuration, durable; {plan.items:,} items, "
        f"median of {plan.rounds} interleaved rounds\n"
    )
    samples = measure_throughput(bench, plan)
    print_table(samples)
    found = summarise(samples)

    found |= measure_latency(bench, plan)
    print(
        f"\nstart after an enqueue: p50 {found['start_latency_ms_p50']} ms, "
        f"p99 {found['start_latency_ms_p99']} ms"
    )

    costs = measure_claims(bench, plan)
    smallest = min(costs)
    for size, cost in costs.items():
        print(f"claim of 10 among {size:>9,} rows: {cost:.2f} ms")
        if size != smallest:
            name = f"claim_cost_{size // 1_000_000}m_vs_10k"
            name = name if size >= 1_000_000 else f"claim_cost_{size // 1000}k_vs_10k"
            found[name] = round(cost / costs[smallest], 2)

    free, limited = measure_limited_claims(bench, plan)
    found["limited_claim_cost"] = round(limited / free, 2)
    print(f"claim of 10 without limits: {free:.2f} ms, within a rate: {limited:.2f} ms")

    clean, rotten = measure_old_snapshot(bench, plan)
    found["old_snapshot_ratio"] = round(rotten / clean, 2)
    print(f"with an old snapshot held: {rotten:,.0f} items/s, clean {clean:,.0f}")

    rates = measure_scaling(bench, plan)
    for processes, rate in rates.items():
        print(f"{processes} worker process(es): {rate:,.0f} items/s")
        found[f"scaling_{processes}_processes"] = round(rate / rates[1], 2)

    share, looks, rate = measure_dashboard(bench, plan)
    found["dashboard_share"] = round(share, 4)
    print(
        f"the dashboard, loaded {looks} times beside {rate:,.0f} items/s: {share:.2%} of the"
        " processor time"
    )

    found |= measure_memory(bench, plan)
    print(
        f"{plan.in_flight:,} items in flight: {found['memory_mib_10k_in_flight']} MiB "
        f"over an idle process, {found['connections']:.0f} connections\n"
    )
    return found


if __name__ == "__main__":
    main()
