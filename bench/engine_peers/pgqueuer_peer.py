"""PgQueuer, driven as its own benchmark drives it: one queue manager, drain mode."""

import time

import asyncpg
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job
from pgqueuer.domain.types import QueueExecutionMode


async def prepare(dsn: str, items: int) -> None:
    """Install its schema and queue `items` jobs."""
    connection = await asyncpg.connect(dsn)
    queries = Queries.from_asyncpg_connection(connection)
    await queries.install()
    step = 1000
    for start in range(0, items, step):
        count = min(step, items - start)
        await queries.enqueue(["no_op"] * count, [None] * count, [0] * count)
    await connection.execute("VACUUM ANALYZE pgqueuer")
    await connection.close()


async def drain(dsn: str, batch: int) -> float:
    """Work everything that is queued; return the seconds it took."""
    connection = await asyncpg.connect(dsn)
    manager = QueueManager(Queries.from_asyncpg_connection(connection))

    @manager.entrypoint("no_op")
    async def no_op(job: Job) -> None:
        pass

    started = time.perf_counter()
    await manager.run(batch_size=batch, mode=QueueExecutionMode.drain)
    seconds = time.perf_counter() - started
    await connection.close()
    return seconds


async def finished(dsn: str) -> int:
    """Count the jobs its log calls successful."""
    connection = await asyncpg.connect(dsn)
    count: int = await connection.fetchval(
        "SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'"
    )
    await connection.close()
    return count
