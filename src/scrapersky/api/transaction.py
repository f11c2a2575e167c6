"""The one transaction of a request: it commits before the first byte of the answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

FIRST_ERROR: Final = 400


@dataclass(slots=True)
class RequestTransaction:
    """Begins with the first statement; ends with the answer, one way or the other.

    What led to a good answer is committed before the answer is sent, what led to an
    error is rolled back. A route that works in chunks commits between them.
    """

    _engine: AsyncEngine | None = field(default=None, init=False)
    _connection: AsyncConnection | None = field(default=None, init=False)
    _before: list[Callable[[], Awaitable[None]]] = field(
        default_factory=list, init=False
    )
    _after: list[Callable[[], None]] = field(default_factory=list, init=False)

    async def join(self, engine: AsyncEngine) -> AsyncConnection:
        """Return the connection of this request, which is in the transaction."""
        if self._connection is None:
            self._connection = await engine.connect()
            self._engine = engine
        if engine is not self._engine:
            raise RuntimeError("A request works in one transaction, on one engine.")
        return self._connection

    def before_commit(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do this as the last thing in the transaction, unless it is rolled back."""
        self._before.append(act)

    def after_commit(self, act: Callable[[], None]) -> None:
        """Do this once others can see what was done, and not if it was rolled back."""
        self._after.append(act)

    async def end(self, status: int) -> None:
        """End with an answer of this status; what it answers is committed then."""
        if status >= FIRST_ERROR:
            await self.abandon()
            return
        before, self._before = self._before, []
        for act in before:
            await act()
        await self.commit()
        after, self._after = self._after, []
        for call in after:
            call()

    async def commit(self) -> None:
        """Commit what there is, and give the connection back."""
        await self._leave(is_good=True)

    async def abandon(self) -> None:
        """Roll back what there is, and give the connection back."""
        await self._leave(is_good=False)

    async def _leave(self, *, is_good: bool) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if is_good:
                await connection.commit()
        finally:
            # What is not committed, also because the request was cancelled, is rolled
            # back with it.
            await asyncio.shield(connection.close())
