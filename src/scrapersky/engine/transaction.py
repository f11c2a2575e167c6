"""What an effect may do: write, in the one transaction that also settles its item."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
from sqlalchemy import CursorResult, Executable, ScalarResult
from sqlalchemy.ext.asyncio import AsyncConnection

STATEMENT_PATIENCE = timedelta(seconds=8)
"""How long one statement may be silent before its connection counts as half-open."""


AtEnd: TypeAlias = Callable[["Transaction", list[Any]], Awaitable[None]]


class Transaction:
    """An open transaction; the engine alone commits it."""

    __slots__ = ("_at_end", "_connection", "_driver", "wakes")

    def __init__(
        self, connection: AsyncConnection, driver: "asyncpg.Connection[Any]"
    ) -> None:
        self._connection = connection
        self._driver = driver
        self._at_end: dict[AtEnd, list[Any]] = {}
        self.wakes: set[str] = set()

    @property
    def driver(self) -> "asyncpg.Connection[Any]":
        """The raw asyncpg connection, for COPY and unnest on hot paths."""
        return self._driver

    @property
    def connection(self) -> AsyncConnection:
        """The SQLAlchemy connection, for functions that take one; never commit it."""
        return self._connection

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Execute a statement as the driver takes it ($1, $2 ...); return its rows."""
        async with asyncio.timeout(STATEMENT_PATIENCE.total_seconds()):
            return await self._driver.fetch(statement, *arguments)

    async def execute(
        self,
        statement: Executable,
        parameters: Any = None,  # noqa: ANN401 - as SQLAlchemy takes them
    ) -> CursorResult[Any]:
        """Execute a SQLAlchemy statement."""
        async with asyncio.timeout(STATEMENT_PATIENCE.total_seconds()):
            return await self._connection.execute(statement, parameters)

    async def scalars(
        self,
        statement: Executable,
        parameters: Any = None,  # noqa: ANN401 - as SQLAlchemy takes them
    ) -> ScalarResult[Any]:
        """Execute a SQLAlchemy statement and return the first column of its rows."""
        async with asyncio.timeout(STATEMENT_PATIENCE.total_seconds()):
            return await self._connection.scalars(statement, parameters)

    def wake(self, *stages: str) -> None:
        """Tell workers of these stages, after the commit, that rows were queued."""
        self.wakes.update(stages)

    def at_end(self, act: AtEnd, value: object) -> None:
        """Let `act` run once before the commit, with the values that all effects gave.

        Items that settle together share a transaction: what is the same work for each
        of them is done once for all.
        """
        self._at_end.setdefault(act, []).append(value)

    async def end(self) -> None:
        """Run what effects have left for the end."""
        while self._at_end:
            act = next(iter(self._at_end))
            await act(self, self._at_end.pop(act))
