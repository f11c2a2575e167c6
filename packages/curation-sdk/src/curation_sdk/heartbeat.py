"""Heartbeat: renew leases, cancel items past their timeout, rescue abandoned items."""

import asyncio
import math
import time
from collections.abc import Mapping

from curation_sdk import statements
from curation_sdk.background import BackgroundTasks
from curation_sdk.connection import WorkerConnection
from curation_sdk.execution import StageRun
from curation_sdk.reap import Reaper


class Heartbeat:
    """The background tasks of a worker that run at fixed intervals."""

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        connection: WorkerConnection,
        background: BackgroundTasks,
        reaper: Reaper,
    ) -> None:
        self._runs = runs
        self._connection = connection
        self._background = background
        self._reaper = reaper
        self._looked_at: dict[str, float] = {}

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
            rows = await self._connection.fetch(
                statements.HEARTBEAT,
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
            # At once: whoever was killed here was most likely the one before us.
            await self._reaper.reap_dead(known)
            await self._look_for_unclaimed()
            await asyncio.sleep(every)
            await self._reaper.reap(known)

    async def look_for_abandoned(self, run: StageRun) -> None:
        """Look now for rows of one stage whose worker may have vanished.

        Those that no worker ever claimed are abandoned after the timeout of an item.
        """
        self._looked_at[run.stage.name] = time.monotonic()
        await self._reaper.reap_dead([run.queue])
        await self._reaper.reap([run.queue])
        await self._requeue_unclaimed(run)

    async def _look_for_unclaimed(self) -> None:
        """Look for rows in work that nobody has claimed: at the start, then now and then."""
        now = time.monotonic()
        for name, run in self._runs.items():
            after = run.stage.timeout.total_seconds()
            if now - self._looked_at.get(name, -math.inf) > after / 2:
                self._looked_at[name] = now
                await self._requeue_unclaimed(run)

    async def _requeue_unclaimed(self, run: StageRun) -> None:
        try:
            await self._reaper.requeue_abandoned(
                run.queue, run.stage.timeout.total_seconds()
            )
        except Exception as error:  # noqa: BLE001 - a table too large to look through
            self._background.report("look for rows without a claim", error)

    def is_watching(self, run: StageRun) -> bool:
        """Return whether an expired claim of a stage waits for its second look."""
        return self._reaper.is_watching(run.stage.name)

    async def watch_timeouts(self) -> None:
        """Cancel items that run past their stage's timeout."""
        shortest = min(run.stage.timeout.total_seconds() for run in self._runs.values())
        pause = min(max(shortest / 10, 0.01), 0.5)
        while True:
            began = time.monotonic()
            await asyncio.sleep(pause)
            late = max(time.monotonic() - began - pause, 0.0)
            for run in self._runs.values():
                run.slow.lag += late
                run.check_timeouts()
                run.make_room()
