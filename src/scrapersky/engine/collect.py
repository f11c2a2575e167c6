"""Collect: results of several batches share one commit."""

import asyncio
import time
from collections.abc import Mapping

from scrapersky.engine.duty import Duties
from scrapersky.engine.settle import Settler
from scrapersky.engine.work import Batch, StageRun

MOST_SETTLED_AT_ONCE = 1_000
LINGER = 0.003
"""Seconds a settle waits for more items while they come thick and fast."""
ENOUGH = 200
"""Items that are worth a commit of their own."""


class Collector:
    """Takes what is finished, stage by stage, and has it settled in groups."""

    def __init__(
        self, runs: Mapping[str, StageRun], settler: Settler, duties: Duties
    ) -> None:
        self._runs = runs
        self._settler = settler
        self._duties = duties
        self._settling = False
        self.some_finished = asyncio.Event()

    @property
    def unsettled(self) -> int:
        """How many results are not in the database yet, or 1 while some are on the way."""
        waiting = sum(len(run.finished) for run in self._runs.values())
        return waiting + self._settling

    async def settle_finished(self) -> None:
        """Settle what is finished, as it comes."""
        last = 0.0
        while True:
            await self.some_finished.wait()
            if time.monotonic() - last < LINGER * 3 and self.unsettled < ENOUGH:
                # In a stream of small batches, several of them share one commit.
                await asyncio.sleep(LINGER)
            self.some_finished.clear()
            self._settling = True
            try:
                for run in self._runs.values():
                    batch, run.finished = run.finished, []
                    await self._settle(run, batch)
            finally:
                self._settling = False
                last = time.monotonic()

    async def _settle(self, run: StageRun, batch: Batch) -> None:
        for start in range(0, len(batch), MOST_SETTLED_AT_ONCE):
            part = batch[start : start + MOST_SETTLED_AT_ONCE]
            try:
                await self._settler.settle(run, part)
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self._duties.trouble("settle", error)
                # Hold them no longer: without a heartbeat the reaper sees them.
                run.release(part)
                run.note_settled(0)
