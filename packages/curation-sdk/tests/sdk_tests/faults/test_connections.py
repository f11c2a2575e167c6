"""Few connections, however many ask: a burst degrades, it never deadlocks."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Done, Outcome, Stage, Worker, history
from curation_sdk.connection import WorkerConnection
from curation_sdk.control import wake
from sdk_tests.desk import Desk
from sdk_tests.faults.scenario import Field, orchard
from sdk_tests.rig.checker import inspect
from sdk_tests.rig.cluster import Cluster, running_cluster
from sdk_tests.rig.connect import connect
from sdk_tests.rig.fleet import wait_for
from sdk_tests.rig.orchard import Seed, Weather, stages
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG

CALLERS = size(60, 200)
POOL = 5
HELD = size(600, 2000)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as server:
        yield server


@pytest.fixture
def field(cluster: Cluster) -> Iterator[Field]:
    # The context manager lays out tables with a loop of its own, before the test's.
    with orchard(size(100, 300), cluster) as laid_out:
        yield laid_out


async def test_a_pool_of_five_serves_many_more_callers(field: Field) -> None:
    database = connect(field.url, pool_size=POOL, pool_timeout=HUNG)
    lease = timedelta(seconds=10)
    async with Worker(database, stages(lease=lease), tools=Weather()) as worker:
        running = asyncio.ensure_future(worker.run())

        callers = (ask_twice(database, n + 1) for n in range(CALLERS))
        await asyncio.wait_for(asyncio.gather(*callers), HUNG)
        await asyncio.to_thread(
            wait_for, lambda: not field.has_work(), seconds=HUNG, what="the end"
        )
        await worker.stop()
        await running
    await database.dispose()
    assert inspect(field.dsn).is_exact


async def test_a_worker_needs_three_connections_however_much_it_holds(
    field: Field,
) -> None:
    field.sow(HELD - field.seeds)
    database = connect(field.url, pool_size=2)
    everyone, gate = asyncio.Event(), asyncio.Event()
    begun = 0

    async def wait(_seed: Seed, _weather: Weather) -> Outcome:
        nonlocal begun
        begun += 1
        if begun == HELD:
            everyone.set()
        await gate.wait()
        return Done()

    [sow, _] = stages(lease=timedelta(seconds=30), concurrency=HELD, batch=HELD // 4)
    waiting: Stage[Any, Any] = sow.configured(work=wait)
    worker = Worker(database, [waiting], listen_dsn=field.dsn)
    running = asyncio.ensure_future(worker.run())
    await asyncio.wait_for(everyone.wait(), HUNG)

    observer = await asyncpg.connect(field.dsn)
    connections = await observer.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid()"
    )

    await observer.close()
    gate.set()
    await worker.stop()
    await running
    await database.dispose()
    assert connections <= 3


async def test_a_statement_that_was_given_up_went_on_waiting_in_the_server(
    desk: Desk,
) -> None:
    await desk.open(1)
    waiting = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    connection = WorkerConnection(desk.engine)

    async with desk.connection() as other:
        await other.execute("BEGIN; SELECT FROM ticket FOR UPDATE")
        statement = asyncio.ensure_future(
            connection.fetch("UPDATE ticket SET title = 'late'")
        )
        await desk.until(waiting, 1)
        statement.cancel()
        await asyncio.wait([statement])

        assert statement.cancelled()
        await desk.until(waiting, 0)


async def ask_twice(database: AsyncEngine, number: int) -> None:
    """Ask as a request does: one statement after the other, never two at once."""
    await history(database, "sow", number)
    async with database.connect() as connection:
        await connection.execute(text("SELECT pg_sleep(0.005)"))
    await wake(database, "sow")
