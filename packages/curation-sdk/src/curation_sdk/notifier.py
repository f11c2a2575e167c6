"""Notify other workers that rows were queued, and listen for their notifications."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import asyncpg

from curation_sdk import statements
from curation_sdk.connection import WorkerConnection

NOTIFY_INTERVAL_SECONDS = 0.01
PROBE_INTERVAL_SECONDS = 5.0


class Notifier:
    """Sends wake-ups for many settles at once, and listens for those of others."""

    def __init__(
        self, connection: WorkerConnection, wake: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._wake = wake
        self._stages: set[str] = set()
        self._some = asyncio.Event()

    def announce(self, stages: Iterable[str]) -> None:
        """Have every worker of these stages look for rows soon, this one at once."""
        for name in stages:
            self._wake(name)
            self._stages.add(name)
        self._some.set()

    async def send(self) -> None:
        """Send what was announced."""
        while True:
            await self._some.wait()
            self._some.clear()
            # NOTIFY takes a global lock at commit, so it is sent apart from the
            # transactions that write, and for many of them at once.
            names, self._stages = self._stages, set()
            await self._connection.fetch(statements.NOTIFY, sorted(names))
            await asyncio.sleep(NOTIFY_INTERVAL_SECONDS)

    async def listen(self, dsn: str, stages: Iterable[str]) -> None:
        """Wake a stage whenever a notification says that rows were queued for it."""
        connection: asyncpg.Connection[Any] = await asyncpg.connect(
            dsn, timeout=5, statement_cache_size=0
        )
        try:
            await connection.add_listener("curation", self._on_notification)
            for name in stages:
                self._wake(name)
            while not connection.is_closed():
                await asyncio.sleep(PROBE_INTERVAL_SECONDS)
                async with asyncio.timeout(PROBE_INTERVAL_SECONDS):
                    await connection.execute(statements.PROBE)
        finally:
            connection.terminate()

    def _on_notification(
        self, _connection: object, _pid: int, _channel: str, payload: object
    ) -> None:
        self._wake(str(payload))
