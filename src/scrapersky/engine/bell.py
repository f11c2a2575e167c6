"""Bell: tell other workers that rows were queued, and hear it from them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import asyncpg

from scrapersky.engine import sql
from scrapersky.engine.lane import Lane

NOTIFY_EVERY = 0.01
PROBE_EVERY = 5.0


class Bell:
    """Sends wake-ups for many settles at once, and listens for those of others."""

    def __init__(self, lane: Lane, wake: Callable[[str], None]) -> None:
        self._lane = lane
        self._wake = wake
        self._stages: set[str] = set()
        self._some = asyncio.Event()

    def ring(self, stages: Iterable[str]) -> None:
        """Have every worker of these stages look for rows soon, this one at once."""
        for name in stages:
            self._wake(name)
            self._stages.add(name)
        self._some.set()

    async def notify(self) -> None:
        """Send what was rung."""
        while True:
            await self._some.wait()
            self._some.clear()
            # Notifying inside every transaction would take one global lock at each
            # commit; once in a while, apart from them, costs nobody anything.
            names, self._stages = self._stages, set()
            await self._lane.fetch(sql.NOTIFY, sorted(names))
            await asyncio.sleep(NOTIFY_EVERY)

    async def listen(self, dsn: str, stages: Iterable[str]) -> None:
        """Wake a stage whenever another worker, or anyone, rings for it."""
        connection: asyncpg.Connection[Any] = await asyncpg.connect(
            dsn, timeout=5, statement_cache_size=0
        )
        try:
            await connection.add_listener("curation", self._heard)
            for name in stages:
                self._wake(name)
            while not connection.is_closed():
                await asyncio.sleep(PROBE_EVERY)
                async with asyncio.timeout(PROBE_EVERY):
                    await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    def _heard(
        self, _connection: object, _pid: int, _channel: str, payload: object
    ) -> None:
        self._wake(str(payload))
