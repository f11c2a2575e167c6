"""Quarantine: find the items that crash their workers, without blaming others.

The rule is in `crash_rule`; this is the part of a worker that tries suspects alone.
"""

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from curation_sdk import crash_rule
from curation_sdk.background import BackgroundTasks
from curation_sdk.claim import ClaimedItem
from curation_sdk.claim_gate import Obstacle
from curation_sdk.connection import WorkerConnection
from curation_sdk.execution import StageRun
from curation_sdk.outcome import Later
from curation_sdk.settlement import Returned
from curation_sdk.working import working_alone

MAX_ALONE_SECONDS = 10.0
"""Seconds a worker spends on items worked alone before it returns to the others."""
FIRST_TRIAL_SECONDS = 5.0
"""Seconds an item may take when it is first worked alone; each further time twice that."""
CLEARING_SECONDS = 5.0
"""Seconds that items in work get to end before one is worked alone."""
REST_FACTOR = 4.0
"""How many times as long as on items worked alone a worker then spends on all others."""
TICK_SECONDS = 0.005
CLEARING_REASON = "another item must be worked alone"


class Intake(Protocol):
    """What quarantine needs of the producer: which claims there are, and to start one item."""

    under_way: int

    def is_active(self, run: StageRun) -> bool:
        """Return whether claims are sent for a stage."""
        ...

    def accept(self, run: StageRun, found: list[ClaimedItem], asked: int) -> None:
        """Give claimed items to their stage."""
        ...


class Quarantine:
    """Works items whose next crash would condemn them, each as the only one in hand."""

    def __init__(
        self,
        runs: "Mapping[str, StageRun]",
        connection: WorkerConnection,
        background: BackgroundTasks,
        intake: Intake,
    ) -> None:
        self._runs = runs
        self._connection = connection
        self._background = background
        self._intake = intake
        self._is_busy = False
        self._not_before = 0.0
        self._timeouts: dict[tuple[str, str], float] = {}

    async def try_suspects(self, run: StageRun, *, most: int | None = None) -> int:
        """Work the suspects of a stage one after the other; return how many."""
        if self._is_busy or time.monotonic() < self._not_before:
            return 0
        self._is_busy = True
        began, tried = time.monotonic(), 0
        try:
            while self._intake.is_active(run) and tried != most:
                if time.monotonic() - began > MAX_ALONE_SECONDS:
                    break
                found = await run.claimer.next_suspect()
                if not found:
                    break
                for each in self._runs.values():
                    each.gate.close(Obstacle.ALONE, CLEARING_REASON)
                await self._work_alone(run, found[0])
                tried += 1
        finally:
            self._is_busy = False
            for each in self._runs.values():
                each.gate.open(Obstacle.ALONE)
        if tried:
            now = time.monotonic()
            self._not_before = now + REST_FACTOR * (now - began)
        return tried

    async def _work_alone(self, run: StageRun, held: ClaimedItem) -> None:
        run.hold(held)
        if await self._is_quiet(run, held) and await self._set_apart(run, held):
            with working_alone():
                self._intake.accept(run, [held], 1)
            await self._until_tried(run, held)
        elif run.holds(held):
            run.finish(held, Returned("it could not be tried alone"))

    async def _until_tried(self, run: StageRun, held: ClaimedItem) -> None:
        """Wait for an item worked alone, but not for ever: all others wait for it.

        It gets twice the time when it is next tried, so that one that crashes its
        worker late is found as well.
        """
        key = (run.stage.name, held.item)
        timeout = self._timeouts.pop(key, FIRST_TRIAL_SECONDS)
        deadline = time.monotonic() + timeout
        while run.holds(held) and self._intake.is_active(run):
            if key not in self._timeouts and time.monotonic() > deadline:
                self._timeouts[key] = 2 * timeout
                after = timedelta(seconds=REST_FACTOR * timeout)
                why = "it took too long to be worked alone"
                run.stop_items(Later(why, after), held)
            await asyncio.sleep(TICK_SECONDS)

    async def _is_quiet(self, run: StageRun, held: ClaimedItem) -> bool:
        """Wait until nothing else is in hand; return whether it is so.

        What does not end in time is returned to the queue: the whole worker waits.
        """
        deadline = time.monotonic() + CLEARING_SECONDS
        while run.holds(held) and self._intake.is_active(run):
            for each in self._runs.values():
                each.give_back_ready(CLEARING_REASON)
                if time.monotonic() > deadline:
                    each.stop_items(Returned(CLEARING_REASON))
            in_hand = sum(len(each.held) for each in self._runs.values())
            if in_hand == 1 and not self._intake.under_way:
                return True
            await asyncio.sleep(TICK_SECONDS)
        return False

    async def _set_apart(self, run: StageRun, held: ClaimedItem) -> bool:
        """Record that a crash from now on is this item's own."""
        try:
            rows = await self._connection.fetch(
                crash_rule.SET_APART, run.stage.name, held.item, held.fence
            )
        except Exception as error:  # noqa: BLE001 - the item is returned
            self._background.report("set an item apart", error)
            return False
        return bool(rows)
