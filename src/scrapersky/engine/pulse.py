"""Pulse: signs of life for what is in hand, an end for what is late, rescue for others'."""

import asyncio
import time
from collections.abc import Mapping

from scrapersky.engine import sql
from scrapersky.engine.lane import Lane
from scrapersky.engine.reap import Reaper
from scrapersky.engine.work import StageRun


class Pulse:
    """The duties of a worker that are only a matter of time."""

    def __init__(
        self, runs: Mapping[str, StageRun], lane: Lane, reaper: Reaper
    ) -> None:
        self._runs = runs
        self._lane = lane
        self._reaper = reaper

    async def beat(self) -> None:
        """Extend the leases of everything in hand; stop work on what was lost."""
        shortest = min(run.queue.lease for run in self._runs.values())
        while True:
            await asyncio.sleep(shortest / 5)
            now = time.monotonic()
            due = [
                (run, held)
                for run in self._runs.values()
                for held in run.held.values()
                if now - held.beat > run.queue.lease / 5
            ]
            if not due:
                continue
            rows = await self._lane.fetch(
                sql.HEARTBEAT,
                [run.stage.name for run, _ in due],
                [held.item for _, held in due],
                [held.fence for _, held in due],
                [run.queue.lease for run, _ in due],
            )
            for _, held in due:
                held.beat = now
            for name, item, fence in rows:
                self._runs[name].lose(item, fence)

    async def rescue(self) -> None:
        """Look for claims of workers that vanished."""
        known = [run.queue for run in self._runs.values()]
        every = min(max(min(queue.lease for queue in known) / 6, 0.1), 10.0)
        while True:
            await asyncio.sleep(every)
            await self._reaper.reap(known)

    async def watch_timeouts(self) -> None:
        """Cancel items that run past their stage's timeout."""
        shortest = min(run.stage.timeout.total_seconds() for run in self._runs.values())
        while True:
            await asyncio.sleep(min(max(shortest / 10, 0.01), 0.5))
            for run in self._runs.values():
                run.check_timeouts()
