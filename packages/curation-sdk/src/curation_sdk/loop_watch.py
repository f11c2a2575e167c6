"""A thread that renews the leases of a worker whose event loop is blocked.

Work that never awaits keeps heartbeats from being sent, and a worker without heartbeats
counts as dead. Its process is alive: the thread says so, and says which line blocks it.
"""

import asyncio
import threading
import time
import traceback
from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import statements
from curation_sdk.compat import connect_apart, frame_of_thread
from curation_sdk.execution import StageRun
from curation_sdk.log import get_logger

INTERVALS_PER_LEASE = 5
BLOCKED_SHARE = 0.4
"""The share of a lease for which the event loop may stand still before it counts as blocked."""
CONNECT_TIMEOUT_SECONDS = 5.0

log = get_logger(__name__)


class LoopWatch:
    """Watches one event loop from a thread, for as long as its worker runs."""

    def __init__(self, runs: Mapping[str, StageRun], engine: AsyncEngine) -> None:
        self._runs = runs
        self._engine = engine
        self._turned_at = time.monotonic()
        self._ended = threading.Event()
        self._watched = threading.get_ident()
        self._is_logged = False

    def start(self) -> None:
        """Watch the event loop that runs in the calling thread."""
        self._watched = threading.get_ident()
        self._turned_at = time.monotonic()
        threading.Thread(
            target=self._watch, name="curation-sdk-loop-watch", daemon=True
        ).start()

    def end(self) -> None:
        """Watch no more."""
        self._ended.set()

    async def turn(self) -> None:
        """Say, again and again, that the event loop turns."""
        while True:
            self._turned_at = time.monotonic()
            await asyncio.sleep(self._shortest_lease() / INTERVALS_PER_LEASE)

    def _shortest_lease(self) -> float:
        return min(run.queue.lease for run in self._runs.values())

    def _watch(self) -> None:
        while not self._ended.wait(self._shortest_lease() / INTERVALS_PER_LEASE):
            blocked = time.monotonic() - self._turned_at
            if blocked < self._shortest_lease() * BLOCKED_SHARE:
                self._is_logged = False
                continue
            self._report(blocked)
            try:
                asyncio.run(self._renew_leases(blocked))
            except Exception as error:  # noqa: BLE001 - the leases expire, as without it
                log.warning("worker.fault", doing="renew leases", why=repr(error))

    def _report(self, blocked: float) -> None:
        if self._is_logged:
            return
        self._is_logged = True
        frame = frame_of_thread(self._watched)
        where = traceback.extract_stack(frame)[-1] if frame else None
        log.error(
            "worker.blocked",
            seconds=round(blocked, 1),
            where=f"{where.filename}:{where.lineno} in {where.name}" if where else None,
            hint="Await what takes long, or call it with asyncio.to_thread or @in_thread.",
        )

    async def _renew_leases(self, blocked: float) -> None:
        """Renew what has not run past its stage's timeout meanwhile."""
        due = [
            (run, held)
            for run in self._runs.values()
            if blocked < run.stage.timeout.total_seconds()
            for held in tuple(run.held.values())
        ]
        if not due:
            return
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            driver = await connect_apart(self._engine)
        try:
            await driver.fetch(
                statements.HEARTBEAT,
                [run.stage.name for run, _ in due],
                [held.item for _, held in due],
                [held.fence for _, held in due],
                [run.queue.lease for run, _ in due],
            )
        finally:
            driver.terminate()
