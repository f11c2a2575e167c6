"""Transactions: the caller's or one of its own, in chunks, and tried again.

A function that takes a `Database` works in the caller's transaction when it is given a
connection, and in one of its own when it is given an engine.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from curation_sdk.control import Database, transaction
from scrapersky.db.connection import driver_error, sqlstate_of

__all__ = [
    "Database",
    "commit_chunk",
    "retry_after_disconnect",
    "run_in_transaction",
    "transaction",
]

RECONNECT_PAUSES_SECONDS: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
"""Seconds: a server that was killed, or handed over to its replica, is back by then."""
RETRY_PAUSES_SECONDS = (0.02, 0.1, 0.3, 1.0, 2.0)
ROLLED_BACK = ("40P01", "40001")
"""Deadlock and serialization failure: nothing was done, and it may be tried again."""
OUT_OF_REACH: Final = ("57P01", "57P02", "57P03", "08003", "08006")
"""The server ends, or begins: it may be asked again soon."""
MAX_LOGGED_CHARACTERS: Final = 500
ResultT = TypeVar("ResultT")

log = structlog.get_logger(__name__)


async def commit_chunk(database: Database) -> None:
    """End a chunk of work that is too much for one transaction: the named exception.

    The caller's transaction is committed and the next statement begins another; the last
    chunk is left to the caller, so that an audit line or a kept answer commits with it.
    On an engine every chunk has committed by itself.
    """
    if isinstance(database, AsyncConnection):
        await database.commit()


async def run_in_transaction(
    database: Database, act: Callable[[AsyncConnection], Awaitable[ResultT]]
) -> ResultT:
    """Act in a transaction, again if PostgreSQL rolled it back for another's.

    A stage that stores the results of many items at once holds many rows, and takes
    them in another order than a person's decision does. In the caller's transaction only
    what was done here is rolled back and tried again.
    """
    for pause in RETRY_PAUSES_SECONDS:
        try:
            return await run_once(database, act)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in ROLLED_BACK:
                raise
            log_rollback(error)
        await asyncio.sleep(pause)
    return await run_once(database, act)


def log_rollback(error: DBAPIError) -> None:
    """Log which statement PostgreSQL rolled back, and for whom."""
    cause = error.orig.__cause__ if error.orig is not None else None
    log.warning(
        "transaction.rolled_back",
        why=type(cause).__name__,
        detail=getattr(cause, "detail", None),
        statement=str(error.statement)[:MAX_LOGGED_CHARACTERS],
    )


async def run_once(
    database: Database, act: Callable[[AsyncConnection], Awaitable[ResultT]]
) -> ResultT:
    """Act once: in a transaction of its own, or as a part of the caller's."""
    if not isinstance(database, AsyncConnection):
        async with database.begin() as connection:
            return await act(connection)
    if database.in_transaction():
        async with database.begin_nested():
            return await act(database)
    try:
        return await act(database)
    except DBAPIError:
        # Nothing was done before it, so there is nothing that a savepoint would keep.
        await database.rollback()
        raise


async def retry_after_disconnect(
    connection: AsyncConnection, act: Callable[[], Awaitable[ResultT]]
) -> ResultT:
    """Act, again from the beginning where the connection was lost meanwhile.

    Only for what may be done twice: of a commit nobody can say whether it was heard.
    """
    for pause in RECONNECT_PAUSES_SECONDS:
        try:
            return await act()
        except (DBAPIError, OSError) as error:
            if not is_lost(error):
                raise
            log.warning("transaction.connection_lost", why=type(error).__name__)
        # With the next statement it takes another connection from the pool.
        await connection.rollback()
        await asyncio.sleep(pause)
    return await act()


def is_lost(error: DBAPIError | OSError) -> bool:
    """Return whether there was no connection any more, or could be none.

    A statement that takes too long would take as long again.
    """
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = driver_error(error)
    if isinstance(cause, TimeoutError):
        return cause.errno is not None  # the system gave up, not we
    return isinstance(cause, OSError) or sqlstate_of(error) in OUT_OF_REACH
