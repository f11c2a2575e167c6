"""The change feed and webhooks: what writing the log costs, and how late changes are heard.

    python -m bench.reach [--quick]

`feed_cost` is the share that the log adds to the processor time of claiming and settling, here and
in PostgreSQL: the engine works items of `domains` with a stage that does nothing, with and without
the log's trigger, by turns. That is the dearest case: whatever a stage does makes the share
smaller. `feed_us_a_change` is what one entry costs. A follower then reads what
is written at a steady rate, and ten endpoints receive it: one is dead, one is slow. Those eight
that are well are waited for until nothing is left to send, so that what is missed then is lost.
"""

import argparse
import asyncio
import json
import math
import os
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

import curation_sdk
from scrapersky.changes.reader import head_cursor, read_changes
from scrapersky.changes.watch import ChangeWatch
from scrapersky.crawler import CrawlerPolicy
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.records import Domain
from scrapersky.records.status import DomainStatus
from scrapersky.scheduler.webhook import POOL_SIZE
from scrapersky.webhooks.delivery import webhook_subscriber
from scrapersky.webhooks.sender import WebhookSender
from tests.webhooks.conftest import CIPHER, LOOPBACK, Office
from tests.webhooks.receiver import receiving

CHANGED_ROWS = 3_000
MIB = 1024 * 1024
INSERT = text(
    "INSERT INTO domains (tenant_id, domain, status)"
    " SELECT :t, md5(random()::text || n) || '.bv', 'completed'"
    " FROM generate_series(1, :n) n RETURNING id"
)
QUEUE = text("UPDATE domains SET status = 'pending'")
UNDELIVERED = text(
    """SELECT count(*) FROM webhook_endpoints e WHERE id = ANY(:endpoints) AND :wanted >
      (SELECT coalesce(sum(event_count), 0) FROM webhook_deliveries d
        WHERE d.endpoint_id = e.id AND state = 'delivered')"""
)
LONGEST_WAIT = 60.0
"""Seconds for endpoints to take what was written."""


@curation_sdk.stage(
    "reach",
    claims=Domain.status,
    error=Domain.error,
    tenant=Domain.tenant_id,
    priority=Domain.priority,
    queued=DomainStatus.PENDING,
    processing=DomainStatus.PROCESSING,
    done=DomainStatus.COMPLETED,
    failed=DomainStatus.ERROR,
    batch=100,
)
async def settle(_domain: Domain, _tools: object) -> curation_sdk.Outcome:
    """Do nothing: what is left is claiming and settling."""
    return curation_sdk.Done()


def processor_seconds(server: psutil.Process) -> float:
    """Sum the processor time of this process and of the server's processes, to the nanosecond."""
    tasks = (
        task
        for pid in (os.getpid(), *(each.pid for each in server.children()))
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat")
    )
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


@dataclass(frozen=True)
class Turn:
    """What settling all rows took."""

    wall: float
    processor: float


async def turn(engine: AsyncEngine, server: psutil.Process, *, logged: bool) -> Turn:
    """Settle items, with or without the log."""
    await enable_log(engine, enabled=False)
    async with engine.begin() as connection:
        await connection.execute(QUEUE)
    await enable_log(engine, enabled=logged)
    async with curation_sdk.Worker(engine, [settle]) as worker:
        began, used = time.perf_counter(), processor_seconds(server)
        await worker.drain("reach", within=timedelta(minutes=2))
        found = Turn(time.perf_counter() - began, processor_seconds(server) - used)
    await enable_log(engine, enabled=True)
    return found


async def enable_log(engine: AsyncEngine, *, enabled: bool) -> None:
    word = "ENABLE" if enabled else "DISABLE"
    async with engine.begin() as connection:
        await connection.execute(text(f"ALTER TABLE domains {word} TRIGGER log_update"))


async def server_of(engine: AsyncEngine) -> psutil.Process:
    async with engine.connect() as connection:
        pid = await connection.scalar(text("SELECT pg_backend_pid()"))
    parent = psutil.Process(pid).parent()
    assert parent
    return parent


async def feed_cost(engine: AsyncEngine, turns: int) -> dict[str, float]:
    """Return the share that the log adds to settling, and settled items a second."""
    server = await server_of(engine)
    found: dict[bool, list[Turn]] = {True: [], False: []}
    entries = text("SELECT count(*) FROM record_changes")
    await turn(engine, server, logged=True)  # statements are prepared
    async with engine.connect() as connection:
        before = await connection.scalar(entries)
    for number in range(turns):
        # Whoever is second finds more dead rows: by turns.
        for logged in (True, False) if number % 2 else (False, True):
            found[logged].append(await turn(engine, server, logged=logged))
    async with engine.connect() as connection:
        written = (await connection.scalar(entries) - before) / turns
    # What else the machine does slows one turn or its neighbour: compared are neighbours.
    pairs = [
        (on.processor, off.processor)
        for on, off in zip(found[True], found[False], strict=True)
    ]
    ratios = sorted(on / off - 1 for on, off in pairs)
    added = statistics.median(on - off for on, off in pairs)
    # Between these the true median is, 19 times of 20.
    aside = math.ceil(0.98 * math.sqrt(len(ratios)))
    low, high = (
        ratios[max(0, len(ratios) // 2 - aside)],
        ratios[min(len(ratios) - 1, len(ratios) // 2 + aside)],
    )
    return {
        "feed_cost": round(statistics.median(ratios), 3),
        "feed_cost_from": round(low, 3),
        "feed_cost_to": round(high, 3),
        "feed_us_a_change": round(added / written * 1e6, 1),
        "settled_per_second": round(
            CHANGED_ROWS / min(each.wall for each in found[True])
        ),
    }


async def follow(
    engine: AsyncEngine, tenant: UUID, heard: dict[str, list[float]]
) -> None:
    watch = ChangeWatch(engine)
    async with engine.connect() as connection:
        cursor = await head_cursor(connection, tenant)
    with watch.following(tenant, "bench") as follower:
        while True:
            async with engine.connect() as connection:
                page = await read_changes(connection, tenant, cursor, 1_000)
            cursor, now = page.cursor, time.monotonic()
            for entry in page.entries:
                heard.setdefault(str(entry.record_id), []).append(now)
            if not page.more:
                await follower.wait(1)


async def write(
    engine: AsyncEngine, tenant: UUID, rate: int, seconds: float
) -> dict[str, float]:
    """Insert at a steady rate; return when each row was committed."""
    written: dict[str, float] = {}
    began, per_turn = time.monotonic(), max(1, rate // 20)
    turns = int(seconds * rate / per_turn)
    for number in range(turns):
        async with engine.begin() as connection:
            given = {"t": tenant, "n": per_turn}
            ids = [str(one) for one in await connection.scalars(INSERT, given)]
        now = time.monotonic()
        written |= dict.fromkeys(ids, now)
        await asyncio.sleep(max(0, began + (number + 1) * per_turn / rate - now))
    return written


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)] if values else float("inf")


async def measure_feed(office: Office, seconds: float) -> dict[str, Any]:
    heard: dict[str, list[float]] = {}
    task = asyncio.create_task(follow(office.engine, office.tenant, heard))
    await asyncio.sleep(0.5)
    written = await write(office.engine, office.tenant, 200, seconds)
    await asyncio.sleep(2)
    task.cancel()
    late = [heard[one][0] - at for one, at in written.items() if one in heard]
    return {
        "feed_p99_ms": round(1000 * p99(late), 1),
        "missed": len(written.keys() - heard.keys()),
        "doubled": sum(len(times) > 1 for times in heard.values()),
    }


async def measure_webhooks(office: Office, seconds: float) -> dict[str, Any]:
    async with receiving() as slow, receiving() as one, receiving() as two:
        slow.delay = 2
        urls = ["http://127.0.0.1:1/", slow.url, *(one.url, two.url) * 4]
        endpoints = [
            await office.add_endpoint(url, format="batch", events=["domain.created"])
            for url in urls
        ]
        async with delivering_process(office) as process:
            began = time.monotonic()
            half = asyncio.create_task(size_after(process, seconds / 2))
            written = await write(office.engine, office.tenant, 1_000, seconds)
            wrote = time.monotonic() - began
            await until_delivered(office, endpoints[2:], len(written))
            behind = time.monotonic() - began - wrote
            size, busy = process.memory_info().rss, sum(process.cpu_times()[:2])
            growth = size - await half
        counts = [Counter(receiver.records) for receiver in (one, two)]
        return {
            "webhook_events_per_second": round(len(written) / wrote),
            "webhook_behind_seconds": round(behind, 2),
            "webhook_cpu_ms_per_1000": round(1e6 * busy / (8 * len(written)), 1),
            "webhook_rss_mib": round(size / MIB, 1),
            "webhook_rss_growth_mib": round(growth / MIB, 1),
            "webhook_missed": sum(
                max(0, 4 - count[each]) for count in counts for each in written
            ),
            "webhook_doubled": sum(
                max(0, count[each] - 4) for count in counts for each in written
            ),
            "webhook_slow_received": len(slow.posted),
        }


@asynccontextmanager
async def delivering_process(office: Office) -> AsyncIterator[psutil.Process]:
    """Deliver in a process of its own, as a worker does."""
    url = office.engine.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "bench.reach", "--deliver", url]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    try:
        assert process.stdout
        await process.stdout.readline()
        yield psutil.Process(process.pid)
    finally:
        process.kill()
        await process.wait()


async def deliver(url: str) -> None:
    """Deliver until this process is ended."""
    engine = connect(parse_target(url), pool_size=POOL_SIZE)
    sender = WebhookSender(CrawlerPolicy(), LOOPBACK)
    print("ready", flush=True)
    await webhook_subscriber(engine, sender, lambda: CIPHER).run()


async def size_after(process: psutil.Process, seconds: float) -> int:
    """Return the bytes that a process holds after a while."""
    await asyncio.sleep(seconds)
    return int(process.memory_info().rss)


async def until_delivered(office: Office, endpoints: list[UUID], wanted: int) -> None:
    """Wait until each has taken all, or for as long as nobody would wait."""
    ends = time.monotonic() + LONGEST_WAIT
    given = {"endpoints": endpoints, "wanted": wanted}
    async with office.engine.connect() as connection:
        while await connection.scalar(UNDELIVERED, given) and time.monotonic() < ends:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.1)


async def measure(url: str, seconds: float, turns: int) -> dict[str, Any]:
    engine = connect(parse_target(url), pool_size=12)
    await upgrade(engine)
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            text("INSERT INTO tenants (name, slug) VALUES ('b', 'b') RETURNING id")
        )
    office = Office(engine, tenant)
    await office.add_domains(CHANGED_ROWS)
    found: dict[str, Any] = await feed_cost(engine, turns)
    found |= await measure_feed(office, seconds)
    found |= await measure_webhooks(office, seconds)
    found["missed"] += found["webhook_missed"]
    found["doubled"] += found["webhook_doubled"]
    await engine.dispose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--deliver", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.deliver:
        asyncio.run(deliver(given.deliver))
        return
    quick = given.quick
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home, EmbeddedPostgres(Path(home)) as server:
        found = asyncio.run(
            measure(server.url, 5 if quick else 30, 10 if quick else 40)
        )
    found["wall_seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
