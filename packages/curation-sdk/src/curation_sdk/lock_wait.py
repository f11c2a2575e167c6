"""A job function that waits for itself: one session wants what the other has locked.

The database sees no deadlock: the session that the function was given is idle, and waits for
the function, which waits for a statement of another session; or the other way round.
"""

import asyncio
import contextlib
from datetime import datetime
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import statements
from curation_sdk.compat import connect_apart
from curation_sdk.errors import ContractViolation
from curation_sdk.job_session import JobSession
from curation_sdk.outcome import Retry

LOOK_TIMEOUT_SECONDS = 5.0
END_TIMEOUT_SECONDS = 2.0
"""Seconds in which a statement ends whose function was cancelled."""
LOOK_PAUSE_SECONDS = 0.05


Holder = tuple[int, datetime]
"""A transaction: the server's process, and when it began."""


class LockWait:
    """Looks whether the session of a function that runs out of time waits, or is waited for."""

    def __init__(self, engine: AsyncEngine, session: JobSession) -> None:
        self._engine = engine
        self._session = session
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._look: asyncio.Task[None] | None = None
        self._others: dict[Holder, str] = {}

    @property
    def is_found(self) -> bool:
        """Whether the function was cancelled because of another transaction."""
        return bool(self._others)

    def look(self) -> None:
        """Cancel the function if another transaction and its session wait for each other."""
        self._look = asyncio.create_task(self._cancel_if_waiting())

    async def cause(self, item: str, name: str) -> ContractViolation | Retry:
        """Return why the function did not end, now that it was cancelled.

        A transaction that ends with it was its own.
        """
        if self._task is not None:
            self._task.uncancel()
        query = next(iter(self._others.values()))
        with contextlib.suppress(Exception):
            async with asyncio.timeout(END_TIMEOUT_SECONDS):
                while await self._are_open():  # noqa: ASYNC110 - the server sends no event
                    await asyncio.sleep(LOOK_PAUSE_SECONDS)
            return ContractViolation(
                f"{name} waited for itself: the session of item {item} and another session "
                f"of the function wanted the same row: {query}",
                hint="Write it with the session that the function was given, or commit "
                "the other one first.",
            )
        return Retry(
            f"ran out of time: the session of item {item} and another program wanted the "
            f"same row: {query}"
        )

    async def _cancel_if_waiting(self) -> None:
        pid = self._session.server_pid()
        if pid is None:
            return
        with contextlib.suppress(Exception):
            self._others = {
                (row["pid"], row["xact_start"]): row["query"]
                for row in await self._fetch(statements.WAITS, pid)
            }
        if self._others and self._task is not None and not self._session.has_returned:
            self._task.cancel()

    async def _are_open(self) -> bool:
        """Return whether the other transactions are all still open."""
        pids = [pid for pid, _ in self._others]
        rows = await self._fetch(statements.OPEN_TRANSACTIONS, pids)
        return self._others.keys() <= {(row["pid"], row["xact_start"]) for row in rows}

    async def _fetch(self, statement: str, argument: object) -> list[asyncpg.Record]:
        async with asyncio.timeout(LOOK_TIMEOUT_SECONDS):
            driver: asyncpg.Connection[Any] = await connect_apart(self._engine)
        try:
            return await driver.fetch(statement, argument)
        finally:
            driver.terminate()
