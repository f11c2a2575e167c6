"""This engine: a stage that does nothing, on a plain model with a status column."""

import asyncio
import os
import time
from collections.abc import Callable, MutableMapping
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from typing import Any, Protocol

import asyncpg
import psutil
import uvloop
from sqlalchemy import BigInteger, DateTime, Text, func, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import Done, Outcome, Stage, Worker, migrate, queue_index, stage
from curation_sdk.control import wake
from curation_sdk.dashboard import Dashboard
from scrapersky.db.connection import connect, parse_target

LONG_TIMEOUT = timedelta(minutes=10)
SECONDS_BETWEEN_LOOKS = 5.0
"""How often the dashboard's page of all stages loads itself."""
LOOKER = "dashboard"
"""What PostgreSQL calls the connection of the process that has the dashboard open."""


class Base(DeclarativeBase):
    """The tables of this benchmark."""


class BenchItem(Base):
    """A record as a user of the engine has it: nothing in it is for the engine."""

    __tablename__ = "bench_item"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    queued_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.clock_timestamp()
    )


queue_index(BenchItem.status, "queued", order_by=BenchItem.queued_at)

DONE = Done()


async def no_op(_item: BenchItem, _tools: Any) -> Outcome:
    """Do nothing, as fast as a coroutine can."""
    return DONE


def no_op_stage(batch: int, **options: Any) -> Stage[BenchItem, Any]:
    """Declare the stage with this batch size."""
    work = options.pop("work", no_op)
    declare = stage(
        "no_op",
        claims=BenchItem.status,
        error=BenchItem.error,
        order_by=BenchItem.queued_at,
        queued="queued",
        processing="processing",
        done="done",
        failed="failed",
        batch=batch,
        **options,
    )
    return declare(work)


def engine_for(url: str) -> AsyncEngine:
    """Make the engine as the product makes it."""
    return connect(parse_target(url), pool_size=3)


async def prepare(url: str, items: int) -> None:
    """Create the tables and queue `items` records."""
    await lay_out(url)
    await fill(
        url, f"SELECT n, 'item ' || n, 'queued' FROM generate_series(1, {items}) n"
    )


async def prepare_table(url: str, rows: int) -> None:
    """Create a table of so many rows: one in a hundred queued, a thousand at least."""
    await lay_out(url)
    every = min(100, rows // 1000)
    await fill(
        url,
        f"SELECT n, 'item ' || n, CASE WHEN n % {every} = 0 THEN 'queued' ELSE 'done' END"
        f" FROM generate_series(1, {rows}) n",
    )


async def lay_out(url: str) -> None:
    """Create the record's table and the engine's."""
    database = engine_for(url)
    async with database.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await migrate(database)
    await database.dispose()


async def fill(url: str, rows: str) -> None:
    """Insert rows and leave the statistics a running system would have."""
    connection = await asyncpg.connect(parse_target(url).dsn)
    await connection.execute(f"INSERT INTO bench_item (id, name, status) {rows}")
    await connection.execute("VACUUM ANALYZE bench_item")
    await connection.close()


async def drain(url: str, batch: int) -> float:
    """Work everything that is queued; return the seconds it took."""
    database = engine_for(url)
    async with Worker(database, [no_op_stage(batch)]) as worker:
        started = time.perf_counter()
        await worker.drain("no_op", within=LONG_TIMEOUT)
        seconds = time.perf_counter() - started
    await database.dispose()
    return seconds


async def finished(url: str) -> int:
    """Count the records that are done."""
    database = engine_for(url)
    async with database.connect() as connection:
        count = await connection.scalar(
            text("SELECT count(*) FROM bench_item WHERE status = 'done'")
        )
    await database.dispose()
    return int(count or 0)


async def start_latencies(url: str, samples: int) -> list[float]:
    """Queue one item at a time; return the seconds from before INSERT to work."""
    database = engine_for(url)
    target = parse_target(url)
    begun: asyncio.Queue[float] = asyncio.Queue()

    async def note(_item: BenchItem, _tools: Any) -> Outcome:
        begun.put_nowait(time.perf_counter())
        return DONE

    worker = Worker(database, [no_op_stage(10, work=note)], listen_dsn=target.dsn)
    running = asyncio.ensure_future(worker.run())
    writer = connect(target, pool_size=1)
    insert = text(
        "INSERT INTO bench_item (id, name, status) VALUES (:id, 'x', 'queued')"
    )
    found = []
    await asyncio.sleep(1.5)
    for number in range(samples):
        started = time.perf_counter()
        async with writer.begin() as connection:
            await connection.execute(insert, {"id": number + 1})
        await wake(writer, "no_op")
        found.append(await asyncio.wait_for(begun.get(), 10) - started)
        await asyncio.sleep(0.01)
    await worker.stop()
    await running
    await writer.dispose()
    await database.dispose()
    return found


async def claim_times(
    urls: dict[int, str], claims: int, *, batch: int
) -> dict[int, list[float]]:
    """Claim again and again, in one database after the other; return the seconds."""
    found: dict[int, list[float]] = {size: [] for size in urls}
    async with AsyncExitStack() as stack:
        claimers = {}
        for size, url in urls.items():
            database = engine_for(url)
            stack.push_async_callback(database.dispose)
            worker = await stack.enter_async_context(
                Worker(database, [no_op_stage(batch)])
            )
            claimers[size] = worker._runs["no_op"].claimer
            await claimers[size].next_batch()
        for _ in range(claims):
            for size, claimer in claimers.items():
                started = time.perf_counter()
                held = await claimer.next_batch()
                found[size].append(time.perf_counter() - started)
                if len(held) != batch:
                    raise RuntimeError(f"claimed {len(held)} instead of {batch}")
    return found


class Gate(Protocol):
    """Where processes wait until all are ready: a barrier, or what stands for it."""

    def wait(self) -> object:
        """Return when all are ready."""


class Ends(Protocol):
    """What takes the moments at which they ended: a queue, or what stands for it."""

    @property
    def put(self) -> Callable[[float], object]:
        """Take one."""


def drain_at_the_gate(url: str, batch: int, gate: Gate, ends: Ends) -> None:
    """Drain in a process of its own, from the moment that all are ready."""

    async def work() -> None:
        database = engine_for(url)
        async with Worker(database, [no_op_stage(batch)]) as worker:
            await asyncio.to_thread(gate.wait)
            await worker.drain("no_op", within=LONG_TIMEOUT)
            ends.put(time.monotonic())
        await database.dispose()

    uvloop.run(work())


def hold_in_flight(
    url: str, items: int, answers: "SimpleQueue[dict[str, float]]"
) -> None:
    """Have so many items in work at once; say what the process costs then."""

    async def work() -> None:
        database = engine_for(url)
        open_gate = asyncio.Event()
        everyone = asyncio.Event()
        begun = 0

        async def wait(_item: BenchItem, _tools: Any) -> Outcome:
            nonlocal begun
            begun += 1
            if begun == items:
                everyone.set()
            await open_gate.wait()
            return DONE

        declared = no_op_stage(1000, work=wait, concurrency=items)
        target = parse_target(url)
        async with Worker(database, [declared], listen_dsn=target.dsn) as worker:
            await asyncio.sleep(0.5)
            process = psutil.Process(os.getpid())
            idle = process.memory_info().rss
            draining = asyncio.ensure_future(worker.drain("no_op", within=LONG_TIMEOUT))
            await everyone.wait()
            busy = process.memory_info().rss
            watcher = await asyncpg.connect(target.dsn)
            connections = await watcher.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                " current_database() AND pid <> pg_backend_pid()"
            )
            await watcher.close()
            open_gate.set()
            await draining
        await database.dispose()
        answers.put(
            {
                "memory_mib_10k_in_flight": round((busy - idle) / 2**20, 1),
                "process_mib_10k_in_flight": round(busy / 2**20, 1),
                "connections": connections,
            }
        )

    uvloop.run(work())


def look_at_dashboard(
    url: str,
    is_ready: Event,
    is_over: Event,
    answers: "SimpleQueue[tuple[int, float]]",
) -> None:
    """Have the dashboard open until it is over; say how often it was loaded, and its CPU time.

    That is the time of this process and of its connections, from the first look on.
    """

    async def work() -> None:
        database = connect(parse_target(url), name=LOOKER, pool_size=1)
        dashboard, looks = Dashboard(database), 0
        is_ready.set()
        began = time.process_time()
        while not is_over.is_set():
            await look(dashboard)
            looks += 1
            await asyncio.to_thread(is_over.wait, SECONDS_BETWEEN_LOOKS)
        mine = time.process_time() - began
        async with database.connect() as connection:
            rows = await connection.scalars(
                text("SELECT pid FROM pg_stat_activity WHERE application_name = :name"),
                {"name": LOOKER},
            )
            times = [psutil.Process(pid).cpu_times() for pid in rows]
        answers.put((looks, mine + sum(one.user + one.system for one in times)))
        await database.dispose()

    uvloop.run(work())


async def look(dashboard: Dashboard) -> None:
    """Load the page of all stages."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message.get("status", 200) != 200:
            raise RuntimeError(f"the dashboard answered {message['status']}")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    await dashboard(scope, receive, send)
