"""Procrastinate: one worker in one process, as many jobs at once as it is set to."""

import asyncio
import contextlib
import time

import procrastinate
import psycopg


async def prepare(dsn: str, items: int) -> None:
    """Install its schema and queue `items` jobs."""
    app = make_app(dsn)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await app.tasks["no_op"].batch_defer_async(*({} for _ in range(items)))


async def drain(dsn: str, concurrency: int, *, at_most: float) -> tuple[int, float]:
    """Work for at most so many seconds; return how many jobs ended, and the seconds."""
    app = make_app(dsn)
    async with app.open_async():
        started = time.perf_counter()
        work = app.run_worker_async(
            wait=False,
            concurrency=concurrency,
            install_signal_handlers=False,
            delete_jobs="never",
        )
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work, at_most)
        seconds = time.perf_counter() - started
    return await finished(dsn), seconds


async def finished(dsn: str) -> int:
    """Count the jobs that succeeded."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        found = await connection.execute(
            "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'"
        )
        row = await found.fetchone()
        return int(row[0]) if row else 0


def make_app(dsn: str) -> procrastinate.App:
    """Build an app with one task that does nothing."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=dsn))

    @app.task(name="no_op")
    async def no_op() -> None:
        pass

    return app
