"""The demo's workspace: a database and a process of its own, beside the real ones.

Nothing of the product knows that there is a town: the demo is another application, whose
whole world the town is. Closing it ends the process and drops the database.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Final

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.connection import Target, connect
from scrapersky.errors import AlreadyRunning
from scrapersky.kit.clock import utc_now

log = structlog.get_logger(__name__)

MODULE: Final = "scrapersky.cli.demo_workspace"
DSN: Final = "SCRAPERSKY_DEMO_DSN"
STOP_GRACE: Final = timedelta(seconds=10)
"""What it may take to end by itself; nothing in it is worth more."""
IN_USE = text("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = :name)")


@dataclass(frozen=True, slots=True)
class OpenDemo:
    """A workspace that is open, or about to be."""

    size: int
    seed: int
    decide: bool
    started_at: datetime = field(default_factory=utc_now)


class DemoWorkspace:
    """The one workspace of the demo, while there is one."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._task: asyncio.Task[None] | None = None
        self.demo: OpenDemo | None = None
        self.address: str | None = None
        """Where it is, as soon as it can be visited."""
        self.token = token_urlsafe()
        """What a browser shows that visits it."""
        self.problem: str | None = None
        """Why it could not be opened, or did not stay open."""

    @property
    def is_possible(self) -> bool:
        """Say whether a database can be made beside the real one."""
        return not self._target.behind_pooler

    @property
    def is_closing(self) -> bool:
        """Say whether the workspace is being taken down."""
        task = self._task
        return task is not None and not task.done() and task.cancelling() > 0

    def open(self, demo: OpenDemo) -> None:
        """Begin to open the workspace, unless there is one; after one that is being closed."""
        before = self._task if self.is_closing else None
        if self.demo is None or before is not None:
            self.demo, self.problem = demo, None
            run = self._run_after(before, demo) if before else self._run(demo)
            self._task = asyncio.create_task(run, name="demo workspace")

    def begin_to_close(self) -> None:
        """Have the process ended and the database dropped, if there are any."""
        # Once: what takes it down must not be cancelled itself.
        if self._task is not None and not self.is_closing:
            self.address = None
            self._task.cancel()

    def begin_again(self) -> None:
        """Have the workspace closed, and the same town opened anew."""
        before = self._task
        if self.demo is None or before is None or self.is_closing:
            return
        self.demo = replace(self.demo, started_at=utc_now())
        self.address = self.problem = None
        self._task = asyncio.create_task(
            self._run_after(before, self.demo), name="demo workspace"
        )
        before.cancel()

    async def _run_after(self, before: asyncio.Task[None], demo: OpenDemo) -> None:
        try:
            await asyncio.wait([before])
        except asyncio.CancelledError:
            # Whoever waits for us waits until the other one has taken everything down.
            await asyncio.wait([before])
            self._forget()
            raise
        await self._run(demo)

    async def close(self) -> None:
        """End the process and drop the database, if there are any."""
        self.begin_to_close()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, demo: OpenDemo) -> None:
        try:
            async with (
                own_database(self._target) as target,
                own_process(target, demo) as process,
            ):
                self.address = await address_of(process)
                await process.wait()
            self.problem = "The demo has ended by itself."
        except AlreadyRunning as error:
            self.problem = str(error)
        except (OSError, SQLAlchemyError) as error:
            log.warning("demo.failed", error=str(error))
            self.problem = "The demo could not get a database of its own."
        finally:
            self._forget()

    def _forget(self) -> None:
        """Say that there is none, unless the next one is on its way."""
        if asyncio.current_task() is self._task:
            self.demo = self.address = None


@asynccontextmanager
async def own_database(target: Target) -> AsyncIterator[Target]:
    """Make an empty database beside the real one, and drop it in the end."""
    name = f"{target.url.database}_demo"
    engine = connect(
        target, name="scrapersky-demo", pool_size=1, statement_timeout=None
    ).execution_options(isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            if await connection.scalar(IN_USE, {"name": name}):
                raise AlreadyRunning(
                    "The demo town is open in another process of this system.",
                    hint="Use it there, or close it first.",
                )
            # Left behind by a process that was killed.
            await drop(connection, name)
            await connection.execute(text(f'CREATE DATABASE "{name}"'))
        try:
            yield Target(target.url.set(database=name))
        finally:
            async with engine.connect() as connection:
                await drop(connection, name)
    finally:
        await engine.dispose()


async def drop(connection: AsyncConnection, name: str) -> None:
    """Drop a database, whoever is still connected."""
    await connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


@asynccontextmanager
async def own_process(target: Target, demo: OpenDemo) -> AsyncIterator[Process]:
    """Run the application in the town until the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        MODULE,
        *("--size", str(demo.size), "--seed", str(demo.seed)),
        *(["--decide"] if demo.decide else []),
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, DSN: target.dsn},
    )
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_GRACE.total_seconds()):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def address_of(process: Process) -> str | None:
    """Return where the workspace is, once it says so; None if it ends before that."""
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    port = (await process.stdout.readline()).strip()
    return f"http://127.0.0.1:{int(port)}" if port else None
