"""Pauses: stop a stage from claiming while it is paused, and pause one that broke."""

import asyncio
from collections.abc import Mapping

from curation_sdk import statements
from curation_sdk.background import MAX_PAUSE_SECONDS, BackgroundTasks
from curation_sdk.claim_gate import Obstacle
from curation_sdk.connection import WorkerConnection
from curation_sdk.events import Event, Events, Paused, Resumed
from curation_sdk.execution import StageRun
from curation_sdk.settlement import Broken

STATE_POLL_SECONDS = 0.5


class Backpressure:
    """Watches the states of stages in the database, and pauses a stage that broke."""

    def __init__(
        self,
        runs: Mapping[str, StageRun],
        connection: WorkerConnection,
        background: BackgroundTasks,
        events: Events[Event],
    ) -> None:
        self._runs = runs
        self._connection = connection
        self._background = background
        self._events = events
        self._storing: dict[str, asyncio.Task[None]] = {}

    async def watch_states(self) -> None:
        """Watch the pauses of every stage."""
        while True:
            await self._look_at_pauses()
            await asyncio.sleep(STATE_POLL_SECONDS)

    def pause(self, run: StageRun, broken: Broken) -> None:
        """Pause a stage whose work has reported that no item can succeed now."""
        if run.gate.reason(Obstacle.PAUSED) is not None:
            return
        run.gate.close(Obstacle.PAUSED, broken.why)
        self._events.emit(Paused(run.stage.name, broken.why))
        run.give_back_ready(broken.why)
        task = self._background.start(self._store_pause(run, broken))
        self._storing[run.stage.name] = task
        task.add_done_callback(lambda _: self._storing.pop(run.stage.name, None))

    async def pauses_stored(self, within: float) -> None:
        """Wait until every pause is in the database, or the time is over."""
        if self._storing:
            await asyncio.wait(tuple(self._storing.values()), timeout=within)

    async def _store_pause(self, run: StageRun, broken: Broken) -> None:
        seconds = None
        if broken.resume_after is not None:
            seconds = broken.resume_after.total_seconds()
        while True:
            try:
                await self._connection.fetch(
                    statements.PAUSE, run.stage.name, broken.why, seconds
                )
            except Exception as error:  # noqa: BLE001 - until it is stored
                self._background.report("pause", error)
                await asyncio.sleep(MAX_PAUSE_SECONDS)
            else:
                return

    async def _look_at_pauses(self) -> None:
        before = {
            name: run.gate.reason(Obstacle.PAUSED) for name, run in self._runs.items()
        }
        rows = await self._connection.fetch(statements.STATES, list(self._runs))
        for row in rows:
            run = self._runs[row["name"]]
            known = run.gate.reason(Obstacle.PAUSED)
            if known != before[row["name"]] or row["name"] in self._storing:
                # It broke meanwhile; the database does not know of the pause yet.
                continue
            if row["paused"] and known is None:
                run.gate.close(Obstacle.PAUSED, row["paused_why"] or "paused")
                self._events.emit(Paused(run.stage.name, row["paused_why"]))
                run.give_back_ready("the stage was paused")
            elif not row["paused"] and known is not None:
                run.gate.open(Obstacle.PAUSED)
                self._events.emit(Resumed(run.stage.name))
