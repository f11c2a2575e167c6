"""Transactions that are tried again when PostgreSQL rolled them back for another's."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

PAUSES = (0.02, 0.1, 0.3, 1.0, 2.0)
ROLLED_BACK = ("40P01", "40001")
"""Deadlock and serialization failure: nothing was done, and it may be tried again."""
ResultT = TypeVar("ResultT")


async def committed(
    engine: AsyncEngine, act: Callable[[AsyncConnection], Awaitable[ResultT]]
) -> ResultT:
    """Act in a transaction of its own, again if PostgreSQL rolled it back for another's.

    A stage that stores the results of many items at once holds many rows, and takes
    them in another order than a person's decision does.
    """
    for pause in PAUSES:
        try:
            async with engine.begin() as connection:
                return await act(connection)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in ROLLED_BACK:
                raise
        await asyncio.sleep(pause)
    async with engine.begin() as connection:
        return await act(connection)
