"""What an effect may do: write, in the one transaction that also settles its item."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
from sqlalchemy import CursorResult, Executable, ScalarResult
from sqlalchemy.ext.asyncio import AsyncConnection

STATEMENT_PATIENCE = timedelta(seconds=10)
"""How long one statement may be silent before its connection counts as half-open."""


class Transaction:
    """An open transaction; the engine alone commits it."""

    __slots__ = ("_connection", "_driver", "wakes")

    def __init__(
        self, connection: AsyncConnection, driver: "asyncpg.Connection[Any]"
    ) -> None:
        self._connection = connection
        self._driver = driver
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
