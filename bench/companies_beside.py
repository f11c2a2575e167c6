"""What the stages keep of their throughput while companies are matched beside them.

A worker reads contact pages in child processes, claims and settles them in the same
PostgreSQL, and matches companies in the same process, as it does in production. Half of
the time the matcher waits, by turns, so that whatever else the machine does falls on both
alike. Every group of 100 records is one company, listed again and again.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import BigInteger, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/contact-extraction/tests")
)

from contact_extraction.contact_page import read_contact_page
from curation_sdk import Done, Outcome, Worker, queue_index, stage
from curation_sdk.control import wake
from extraction_tests.business_pages import business_page
from scrapersky.companies.matching import MatchingRun, match_companies
from scrapersky.crawler import Sandbox
from scrapersky.db.connection import Target, connect
from scrapersky.scheduler.housekeeping import Throttle

STAGE = "reading"
COMPANY_RECORDS = 100
PAGE_COUNT, PAGE_SIZE = 20, 10_000
QUEUED_PAGES = 5_000
AT_ONCE = 8
ADD_GROUPS = """
INSERT INTO places_staging (tenant_id, source, source_place_id, name, phone, latitude,
  longitude, seen_at)
SELECT (SELECT id FROM tenants), 'group', 'g' || n % $1::int || '-' || n / $1,
  'Salon ' || md5((n % $1)::text), '+4989' || 10000000 + n % $1,
  40 + (n % $1) * 0.003, 30, now()
FROM generate_series(0, $1::int * $2::int - 1) AS n"""
"""Record by record of all groups in turn: no two of a group come together."""
WHOLE_GROUPS = """
SELECT count(*) FROM (SELECT m.company_id FROM company_members m
  JOIN places_staging p ON p.id = m.place_id WHERE p.source = 'group'
  GROUP BY m.company_id HAVING count(*) = $1
    AND count(DISTINCT split_part(p.source_place_id, '-', 1)) = 1) AS whole"""
REFILL = """INSERT INTO bench_page (id, status)
  SELECT n, 'queued' FROM generate_series(1, :items) AS n
  ON CONFLICT (id) DO UPDATE SET status = 'queued' WHERE bench_page.status = 'done'"""


class Base(DeclarativeBase):
    """The table of this benchmark."""


class BenchPage(Base):
    """A page to be read."""

    __tablename__ = "bench_page"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str]
    error: Mapped[str | None]


queue_index(BenchPage.status, "queued", order_by=BenchPage.id)


@dataclass
class Gate:
    """Lets the matcher work or wait, and knows which."""

    way: Throttle
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    waits: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, worked: float) -> None:
        await self.way(worked)
        if not self.is_open.is_set():
            self.waits.set()
            await self.is_open.wait()
            self.waits.clear()


@dataclass
class Pipeline:
    """A stage that reads pages, and how many it has read."""

    engine: AsyncEngine
    worker: Worker
    read: list[int]

    async def rate(self, seconds: float) -> float:
        """Return how many pages a second are read for so long."""
        async with self.engine.begin() as connection:
            await connection.execute(text(REFILL), {"items": QUEUED_PAGES})
            await wake(connection, STAGE)
        await asyncio.sleep(0.5)
        before, began = self.read[0], time.perf_counter()
        await asyncio.sleep(seconds)
        return (self.read[0] - before) / (time.perf_counter() - began)


@asynccontextmanager
async def a_pipeline(target: Target) -> AsyncIterator[Pipeline]:
    """Read pages until the block ends."""
    engine = connect(target, pool_size=4)
    pages = [business_page(seed, PAGE_SIZE) for seed in range(PAGE_COUNT)]
    read = [0]
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with Sandbox(
        warm=[(read_contact_page, (b"<p>", "http://a.example/", None, None))]
    ) as sandbox:

        async def work(item: BenchPage, _tools: Any) -> Outcome:
            html, url = pages[item.id % PAGE_COUNT]
            await sandbox.run(read_contact_page, html.encode(), url, None, None)
            read[0] += 1
            return Done()

        await sandbox.warm_up()
        declare = stage(
            STAGE,
            claims=BenchPage.status,
            error=BenchPage.error,
            order_by=BenchPage.id,
            queued="queued",
            processing="processing",
            done="done",
            failed="failed",
            batch=AT_ONCE,
            concurrency=AT_ONCE,
        )
        async with Worker(engine, [declare(work)]) as worker:
            running = asyncio.create_task(worker.run())
            yield Pipeline(engine, worker, read)
            await worker.stop()
            await running
    await engine.dispose()


async def add_groups(dsn: str, groups: int) -> None:
    """Store records of which a hundred each are one company."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(ADD_GROUPS, groups, COMPANY_RECORDS)
    await connection.execute("ANALYZE places_staging")
    await connection.close()


async def whole_groups(dsn: str) -> int:
    """Count the groups that are one company, and nobody else's."""
    connection = await asyncpg.connect(dsn)
    found = await connection.fetchval(WHOLE_GROUPS, COMPANY_RECORDS)
    await connection.close()
    return int(found)


async def beside(
    target: Target, seconds: float, rounds: int | None
) -> tuple[MatchingRun, dict[str, float]]:
    """Match everything, and say what a pipeline beside it keeps.

    So many rounds of both by turns, the matcher for `seconds` and nobody as long; without
    a number of rounds until all is matched.
    """
    matcher = connect(target, name="scrapersky-matcher", pool_size=1)
    shares: list[float] = []
    alone: list[float] = []
    began = time.perf_counter()
    async with a_pipeline(target) as pipeline:
        gate = Gate(Throttle(lambda: pipeline.worker.in_hand, asyncio.Event()))
        await pipeline.rate(1.0)
        matching = asyncio.create_task(match_companies(matcher, give_way=gate))
        while not matching.done() and len(shares) != rounds:
            waits = asyncio.create_task(gate.waits.wait())
            await asyncio.wait([waits, matching], return_when=asyncio.FIRST_COMPLETED)
            waits.cancel()
            before = await pipeline.rate(seconds)
            gate.is_open.set()
            during = await pipeline.rate(seconds)
            gate.is_open.clear()
            if not matching.done():
                shares.append(during / before)
                alone.append(before)
    # What is left when the rounds are over is matched without a pipeline.
    gate.is_open.set()
    run = await matching
    await matcher.dispose()
    return run, {
        "pipeline_kept": round(statistics.median(shares), 3),
        "pipeline_kept_lowest": round(min(shares), 3),
        "pipeline_kept_highest": round(max(shares), 3),
        "pipeline_rounds": len(shares),
        "pipeline_pages_per_second": round(statistics.median(alone), 1),
        "beside_minutes": round((time.perf_counter() - began) / 60, 1),
    }
