"""A connection that is kept open for one kind of statement, and reopened when it breaks.

A worker needs two, however many items it has in hand: one that claims and one that
settles. Nothing here depends on session state, so a pooler may sit in between.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
from sqlalchemy import (
    URL,
    CursorResult,
    Executable,
    ScalarResult,
    TextClause,
    make_url,
)
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from curation_sdk.compat import pool_capacity
from curation_sdk.errors import ContractViolation, CurationSdkError

STATEMENT_TIMEOUT = timedelta(seconds=8)
CONNECT_TIMEOUT_SECONDS = 5.0
"""Seconds that opening a connection may take, including the driver's own queries.

With the timeout of a statement, this bounds how long a silent connection blocks a worker.
"""
ADDRESS_HINT = "Write the address as postgresql://user:password@host/database."
CANCEL_TIMEOUT_SECONDS = 2.0
"""Seconds for which the server is asked to cancel what a lost connection still does."""
# If this process hangs in the middle, the server must release the row locks as soon as the
# client would have given up. LOCAL: behind a pooler, others use the same connection later.
IDLE_TIMEOUT = timedelta(seconds=8)
BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 8000"
TRANSIENT_CLASSES = ("08", "40", "53", "55", "57", "58")
"""Connection, rollback, resources, object state, intervention, system errors."""
ENDS_TRANSACTION = re.compile(
    r"\s*(COMMIT|END|ABORT|ROLLBACK(?!\s+((WORK|TRANSACTION)\s+)?TO\b))\b",
    re.IGNORECASE,
)
"""Statements that end a transaction; not those that go back to a savepoint."""


AtEnd: TypeAlias = Callable[["Transaction", list[Any]], Awaitable[None]]


class Transaction:
    """An open transaction, as an effect gets it; only the SDK commits it."""

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
        refuse_end(statement)
        async with asyncio.timeout(STATEMENT_TIMEOUT.total_seconds()):
            return await self._driver.fetch(statement, *arguments)

    async def execute(
        self,
        statement: Executable,
        parameters: Any = None,  # noqa: ANN401 - as SQLAlchemy takes them
    ) -> CursorResult[Any]:
        """Execute a SQLAlchemy statement."""
        refuse_end(statement)
        async with asyncio.timeout(STATEMENT_TIMEOUT.total_seconds()):
            return await self._connection.execute(statement, parameters)

    async def scalars(
        self,
        statement: Executable,
        parameters: Any = None,  # noqa: ANN401 - as SQLAlchemy takes them
    ) -> ScalarResult[Any]:
        """Execute a SQLAlchemy statement and return the first column of its rows."""
        async with asyncio.timeout(STATEMENT_TIMEOUT.total_seconds()):
            return await self._connection.scalars(statement, parameters)

    @contextlib.contextmanager
    def until_dropped_as_idle(self, limit: asyncio.Timeout) -> Iterator[None]:
        """End a time limit early if the server drops the transaction for being idle.

        Whoever keeps it open without a statement waits for something else, perhaps for
        what the transaction itself has locked.
        """
        loop, began = asyncio.get_running_loop(), time.monotonic()

        def dropped(_driver: object) -> None:
            idle = IDLE_TIMEOUT.total_seconds() * 0.9
            if time.monotonic() - began > idle and limit.when() is not None:
                limit.reschedule(loop.time())

        self._driver.add_termination_listener(dropped)
        try:
            yield
        finally:
            self._driver.remove_termination_listener(dropped)

    def wake(self, *stages: str) -> None:
        """Notify the workers of these stages, after the commit, that rows were queued."""
        self.wakes.update(stages)

    def at_end(self, act: AtEnd, value: object) -> None:
        """Run `act` once before the commit, with the values that all effects passed.

        Items that settle together share a transaction, so work that is the same for
        each of them can be done once for all.
        """
        self._at_end.setdefault(act, []).append(value)

    async def end(self) -> None:
        """Run what effects have passed to `at_end`; the SDK calls it before it commits."""
        while self._at_end:
            act = next(iter(self._at_end))
            await act(self, self._at_end.pop(act))

    @property
    def has_ended(self) -> bool:
        """Whether an effect has ended it, in a way that nobody could refuse."""
        return not (self._driver.is_closed() or self._driver.is_in_transaction())


def refuse_end(statement: object) -> None:
    """Raise for a statement that would end the transaction of an effect."""
    said = statement.text if isinstance(statement, TextClause) else statement
    if isinstance(said, str) and ENDS_TRANSACTION.match(said):
        raise ended_by_effect()


def ended_by_effect() -> ContractViolation:
    """Return what is wrong with a COMMIT or ROLLBACK of an effect."""
    return ContractViolation(
        "An effect ended the transaction that it was given.",
        hint="Leave the commit to the SDK; raise to take back what was written.",
    )


class WorkerConnection:
    """A connection of the pool, checked out until it breaks or is closed."""

    def __init__(
        self, engine: AsyncEngine, *, timeout: timedelta = STATEMENT_TIMEOUT
    ) -> None:
        self._engine = engine
        self._timeout = timeout.total_seconds()
        self._lock = asyncio.Lock()
        self._connection: AsyncConnection | None = None
        self._driver: asyncpg.Connection[Any] | None = None

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Execute one statement as a transaction of its own and return its rows."""
        async with self._lock:
            driver = await self._open()
            try:
                # Not the driver's own timeout: it waits until the server has cancelled,
                # and a half-open connection never answers.
                async with asyncio.timeout(self._timeout):
                    return await driver.fetch(statement, *arguments)
            except asyncpg.PostgresError as error:
                if driver.is_closed() or is_lost(error):
                    await self._drop()
                raise
            except BaseException:
                await self._drop()
                raise

    @contextlib.asynccontextmanager
    async def transaction(self, *first: str) -> AsyncIterator[Transaction]:
        """Open a transaction; commit it at the end, or roll it back on any error.

        Statements that are known before, without parameters, are sent together with BEGIN.
        """
        async with self._lock:
            driver = await self._open()
            assert self._connection is not None  # noqa: S101 - for the type checker
            try:
                async with asyncio.timeout(self._timeout):
                    await driver.execute("; ".join((BEGIN, *first)))
                yield Transaction(self._connection, driver)
                async with asyncio.timeout(self._timeout):
                    await driver.execute("COMMIT")
            except Exception as error:
                if is_lost(error):
                    # A connection that is lost would not answer a ROLLBACK either.
                    await self._drop()
                else:
                    await self._roll_back(driver)
                raise
            except BaseException:
                await self._drop()
                raise

    async def close(self) -> None:
        """Return the connection to the pool."""
        async with self._lock:
            connection, self._connection, self._driver = self._connection, None, None
            if connection is not None:
                with contextlib.suppress(Exception):
                    await connection.close()

    async def _open(self) -> "asyncpg.Connection[Any]":
        if self._driver is not None and not self._driver.is_closed():
            return self._driver
        await self._drop()
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            return await self._connect()

    async def _connect(self) -> "asyncpg.Connection[Any]":
        connection = await self._engine.connect()
        try:
            # BEGIN and COMMIT are sent through the driver, so that SQLAlchemy and
            # asyncpg can write in the same transaction.
            connection = await connection.execution_options(
                isolation_level="AUTOCOMMIT"
            )
            driver = await driver_beneath(connection)
        except BaseException:
            await connection.close()
            raise
        self._connection, self._driver = connection, driver
        return driver

    async def _roll_back(self, driver: "asyncpg.Connection[Any]") -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await driver.execute("ROLLBACK")
        except Exception:  # noqa: BLE001
            # The server rolls back by itself when the connection ends.
            await self._drop()

    async def _drop(self) -> None:
        connection, driver = self._connection, self._driver
        self._connection = self._driver = None
        try:
            if driver is not None and not driver.is_closed():
                await cut(driver)
        finally:
            if connection is not None:
                with contextlib.suppress(Exception):
                    await connection.invalidate()
                with contextlib.suppress(Exception):
                    await connection.close()


def engine_of(url: str | URL) -> AsyncEngine:
    """Make an engine from an address of any PostgreSQL driver, or of libpq."""
    try:
        given = make_url(url)
    except ArgumentError as error:
        # Without the text: it may hold a password.
        raise CurationSdkError(
            "This is not the address of a database.", hint=ADDRESS_HINT
        ) from error
    if given.get_backend_name() not in {"postgresql", "postgres"}:
        raise CurationSdkError(
            f"{given.get_backend_name()} is not PostgreSQL.",
            hint=ADDRESS_HINT,
        )
    query = dict(given.query)
    if "sslmode" in query:  # libpq's name
        query["ssl"] = query.pop("sslmode")
    return create_async_engine(given.set(drivername="postgresql+asyncpg", query=query))


def refuse_unusable_engine(engine: object, *, connections: int = 1) -> None:
    """Raise for an engine that the SDK cannot use, or with too few connections."""
    if not isinstance(engine, AsyncEngine):
        raise CurationSdkError(
            f"{engine!r} is not an AsyncEngine.",
            hint="Make it with create_async_engine('postgresql+asyncpg://...').",
        )
    if engine.dialect.driver != "asyncpg":
        raise CurationSdkError(
            f"The engine's driver is {engine.dialect.driver}; the SDK needs asyncpg.",
            hint="Make it with create_async_engine('postgresql+asyncpg://...'); the rest "
            "of the program may keep its own engine.",
        )
    capacity = pool_capacity(engine.pool)
    if capacity is not None and capacity < connections:
        raise CurationSdkError(
            f"The engine has a pool of {capacity} connections; this needs "
            f"a pool of at least {connections} connections.",
            hint="Pass a larger pool_size or max_overflow to create_async_engine.",
        )


async def refuse_autocommit(connection: AsyncConnection) -> None:
    """Raise if a statement on this connection did not begin a transaction."""
    if not (await driver_beneath(connection)).is_in_transaction():
        raise CurationSdkError(
            "The engine's connections are in AUTOCOMMIT: each statement would commit "
            "by itself.",
            hint="Leave out isolation_level='AUTOCOMMIT'.",
        )


async def driver_beneath(connection: AsyncConnection) -> "asyncpg.Connection[Any]":
    """Return the driver's connection that SQLAlchemy's uses."""
    raw = await connection.get_raw_connection()
    driver: asyncpg.Connection[Any] | None = raw.driver_connection
    assert driver is not None  # noqa: S101 - for the type checker
    return driver


async def cut(driver: "asyncpg.Connection[Any]") -> None:
    """Close a connection, and have the server cancel what it still does for it.

    The server would not notice: a statement that waits for a lock goes on waiting when its
    client is gone, with all it has locked itself, and the client that tries again adds
    another one, until all connections are in use.
    """
    try:
        async with asyncio.timeout(CANCEL_TIMEOUT_SECONDS):
            await driver.close()
    except Exception:  # noqa: BLE001 - it is lost anyway
        driver.terminate()


def is_lost(error: BaseException) -> bool:
    """Return whether the connection is lost, so that a COMMIT may or may not have happened."""
    cause = root_of(error)
    if isinstance(cause, asyncpg.PostgresError):
        code = str(cause.sqlstate or "")
        return code.startswith("08") or code in {"57P01", "57P02", "57P03", "57P05"}
    return isinstance(
        cause,
        (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError),
    )


def is_transient(error: BaseException) -> bool:
    """Return whether the same statement may succeed later, so that no item is at fault."""
    cause = root_of(error)
    if isinstance(error, PoolTimeout) or is_lost(cause):
        return True
    if isinstance(cause, asyncpg.PostgresError):
        return str(cause.sqlstate or "").startswith(TRANSIENT_CLASSES)
    return False


def root_of(error: BaseException) -> BaseException:
    """Return the driver's error that SQLAlchemy has wrapped."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig.__cause__ or error.orig
    return error


def why_not_asked(error: BaseException) -> str:
    """Say why a database did not answer a dashboard or a shell."""
    cause = root_of(error)
    if isinstance(cause, asyncpg.UndefinedTableError):
        return "This database has no queues yet: python -m curation_sdk migrate"
    return f"The database cannot be asked: {cause}"
