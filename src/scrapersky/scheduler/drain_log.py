"""Records what eager stages do between two ticks, from the first claim to an empty queue."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from curation_sdk.events import Events
from scrapersky.kit.clock import utc_now
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.item_counter import Counts, ItemCounter
from scrapersky.scheduler.run_log import Run, RunLog

POLL_SECONDS: Final = 1.0
"""Seconds between two looks: more often no record changes, however short the work is."""
MAX_GAP_SECONDS: Final = 60.0
"""Seconds without work that do not end a record: there is no more than one a minute."""


@dataclass(slots=True)
class Drain:
    """The work of a stage between two ticks."""

    began: float
    last: float
    counts: Counts = field(default_factory=Counts)
    run_id: UUID | None = None
    saved: RunOutcome | None = None
    """What its record says; None if that has changed since."""


class DrainLog:
    """Follows the stages of this process and keeps a record of each drain."""

    def __init__(
        self, tally: ItemCounter, runs: RunLog, jobs: Mapping[str, str]
    ) -> None:
        self._tally = tally
        self._runs = runs
        self._jobs = jobs
        """The ids of the jobs, by stage."""
        self._drains: dict[str, Drain] = {}
        self._ticks: Counter[str] = Counter()
        self._writing = asyncio.Lock()
        self.ended: Events[Run] = Events()
        """Reports every drain that is over."""

    async def follow(self) -> None:
        """Look at every stage again and again, for as long as the process runs."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            # Cut off in the middle, a record could be begun and not known of.
            await asyncio.shield(self.look())

    async def look(self) -> None:
        """Record what has changed since the last look."""
        for stage in self._jobs:
            async with self._writing:
                if not self._ticks[stage]:
                    await self._look_at(stage)

    @asynccontextmanager
    async def tick(self, stage: str) -> AsyncIterator[None]:
        """Leave a stage to the record of a tick: what is done meanwhile belongs to that."""
        async with self._writing:
            if not self._ticks[stage]:
                await self._close(stage)
            self._ticks[stage] += 1
        try:
            yield
        finally:
            self._ticks[stage] -= 1

    async def close(self) -> None:
        """End every record: nothing is worked any more."""
        async with self._writing:
            for stage in self._jobs:
                await self._close(stage)

    async def _look_at(self, stage: str) -> None:
        drain, is_busy = self._current(stage), self._tally.is_busy(stage)
        if drain is None:
            return
        await self._save(stage, drain, is_over=not is_busy)
        if not is_busy and time.monotonic() - drain.last > MAX_GAP_SECONDS:
            self._report(stage)

    async def _close(self, stage: str) -> None:
        if (drain := self._current(stage)) is not None:
            await self._save(stage, drain, is_over=True)
            self._report(stage)

    def _current(self, stage: str) -> Drain | None:
        """Return the drain of a stage with all that was done since the last look."""
        drain, activity = self._drains.get(stage), self._tally.activity(stage)
        if activity is None:
            return drain
        if drain is None or activity.began - drain.last > MAX_GAP_SECONDS:
            self._report(stage)
            drain = self._drains[stage] = Drain(activity.began, activity.last)
        drain.last = activity.last
        drain.counts.add(activity.counts)
        if drain.saved is RunOutcome.EXECUTED:
            drain.saved = None
        return drain

    async def _save(self, stage: str, drain: Drain, *, is_over: bool) -> None:
        outcome = RunOutcome.EXECUTED if is_over else RunOutcome.RUNNING
        if drain.saved is outcome:
            return
        now = time.monotonic()
        if drain.run_id is None:
            ago = timedelta(seconds=now - drain.began)
            drain.run_id = await self._runs.begin_drain(self._jobs[stage], ago)
        if drain.run_id is not None and await self._runs.update_drain(
            drain.run_id,
            drain.counts,
            timedelta(seconds=now - drain.last) if is_over else None,
        ):
            drain.saved = outcome

    def _report(self, stage: str) -> None:
        """Forget a drain that is over, and say what it came to."""
        if (drain := self._drains.pop(stage, None)) is None:
            return
        now, then = utc_now(), time.monotonic()
        began = now - timedelta(seconds=then - drain.began)
        self.ended.emit(
            Run(
                self._jobs[stage],
                RunOutcome.EXECUTED,
                began,
                counts=drain.counts,
                started_at=began,
                finished_at=now - timedelta(seconds=then - drain.last),
            )
        )
