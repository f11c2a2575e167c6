"""How the work of a process stops: all of it at the same time, and recorded."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from curation_sdk import Worker
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.schedule import JobSchedule

SETTLE_TIME: Final = timedelta(seconds=3)
"""What a job gets beyond the grace until it is cut off: as a worker, to settle."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """How a process stops once it is asked to: all of it at the same time."""

    stopping: asyncio.Event
    grace: timedelta

    async def stop_all(self, worker: Worker | None, schedule: JobSchedule) -> None:
        """Stop the work of the process: jobs between two steps, or when time is up."""
        await self.stopping.wait()
        await asyncio.gather(
            self.stop_worker(worker), schedule.stop(self.grace + SETTLE_TIME)
        )

    async def stop_worker(self, worker: Worker | None) -> None:
        """Finish what is in hand, or hand it back."""
        await self.stopping.wait()
        if worker is not None:
            await worker.stop(grace=self.grace)


@asynccontextmanager
async def running(
    worker: Worker | None,
    eager: Iterable[str],
    schedule: JobSchedule,
    drains: DrainLog,
    shutdown: Shutdown,
) -> AsyncIterator[None]:
    """Work until the block ends, also with an error; then stop all of it, and record that."""
    stopped = asyncio.create_task(shutdown.stop_all(worker, schedule), name="shutdown")
    working = asyncio.create_task(run(worker, eager), name="worker")
    try:
        yield
    finally:
        shutdown.stopping.set()
        await stopped
        await working
        # What was done since the last tick belongs to the record too.
        await drains.close()


async def run(worker: Worker | None, eager: Iterable[str]) -> None:
    """Work until stopped, where there is anything to work."""
    if worker is not None:
        await worker.run(eager)
