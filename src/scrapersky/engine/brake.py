"""Brake: what keeps a stage from claiming, and lets it go on: pauses and full queues."""

import asyncio
from collections.abc import Mapping

from scrapersky.engine import sql
from scrapersky.engine.duty import LONGEST_PAUSE, Duties
from scrapersky.engine.events import Event, Paused, Resumed
from scrapersky.engine.lane import Lane
from scrapersky.engine.queue import Queue, literal
from scrapersky.engine.verdict import Broken
from scrapersky.engine.work import StageRun
from scrapersky.kit.events import Events

LOOK_AT_STATES = 0.5


class Brake:
    """Looks at the stages' states in the database, and pauses a stage that broke."""

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        lane: Lane,
        duties: Duties,
        events: Events[Event],
    ) -> None:
        self._runs = runs
        self._lane = lane
        self._duties = duties
        self._events = events
        self.fed: dict[str, Queue] = {}

    async def look_at_states(self) -> None:
        """Follow the pauses of every stage, and the depth of the queues it fills."""
        while True:
            await self._look_at_pauses()
            for run in self._runs.values():
                await self._look_downstream(run)
            await asyncio.sleep(LOOK_AT_STATES)

    def pause(self, run: StageRun, broken: Broken) -> None:
        """Stop a stage whose work said that no item can succeed now."""
        if run.paused is not None:
            return
        run.paused = broken.why
        run.changed.set()
        self._events.emit(Paused(run.stage.name, broken.why))
        run.give_back_ready(broken.why)
        self._duties.start(self._tell_pause(run, broken))

    async def _tell_pause(self, run: StageRun, broken: Broken) -> None:
        seconds = None
        if broken.resume_after is not None:
            seconds = broken.resume_after.total_seconds()
        while True:
            try:
                await self._lane.fetch(sql.PAUSE, run.stage.name, broken.why, seconds)
            except Exception as error:  # noqa: BLE001 - until it is told
                self._duties.trouble("pause", error)
                await asyncio.sleep(LONGEST_PAUSE)
            else:
                return

    async def _look_at_pauses(self) -> None:
        asked_at = {name: run.paused for name, run in self._runs.items()}
        rows = await self._lane.fetch(sql.STATES, list(self._runs))
        for row in rows:
            run = self._runs[row["name"]]
            if run.paused != asked_at[row["name"]]:
                # It broke while we asked; the answer is older than that.
                continue
            if row["paused"] and run.paused is None:
                run.paused = row["paused_why"] or "paused"
                self._events.emit(Paused(run.stage.name, row["paused_why"]))
                run.give_back_ready("the stage was paused")
            elif not row["paused"] and run.paused is not None:
                run.paused = None
                self._events.emit(Resumed(run.stage.name))
                run.wake.set()

    async def _look_downstream(self, run: StageRun) -> None:
        mark = run.stage.high_water
        if mark is None:
            return
        choked = False
        for name in run.stage.feeds:
            queue = self.fed[name]
            rows = await self._lane.fetch(
                f"SELECT count(*) FROM (SELECT 1 FROM {queue.table} m"  # noqa: S608 - quoted
                f" WHERE m.{queue.status} = {literal(queue.queued)}"
                f" LIMIT {mark}) waiting"
            )
            choked = choked or rows[0][0] >= mark
        if run.choked and not choked:
            run.wake.set()
        run.choked = choked
