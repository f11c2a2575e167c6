"""Changes of many rows in short steps, each a transaction of its own."""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.transaction import committed
from scrapersky.kit.stopping import IsStopping, never

FIRST_CHUNK: Final = 500
LARGEST_CHUNK: Final = 5_000
UNHURRIED: Final = timedelta(milliseconds=300)
"""A step that takes longer is followed by a smaller one: none may take a second."""


async def stepwise(
    engine: AsyncEngine,
    statements: Sequence[str],
    values: Mapping[str, Any],
    is_stopping: IsStopping = never,
) -> int:
    """Run each statement until it finds nothing, never holding rows for long.

    A statement changes `:chunk` rows at most; what it has changed it does not find again,
    so that whoever is stopped goes on there. Returns how many rows were changed.
    """
    total, chunk = 0, FIRST_CHUNK
    for statement in statements:
        while not is_stopping():
            started = time.monotonic()
            step = partial(take_step, text(statement), {**values, "chunk": chunk})
            count = await committed(engine, step)
            total += count
            if count < chunk:
                break
            is_slow = time.monotonic() - started > UNHURRIED.total_seconds()
            chunk = max(1, chunk // 2) if is_slow else min(2 * chunk, LARGEST_CHUNK)
    return total


async def take_step(
    statement: TextClause, values: Mapping[str, Any], connection: AsyncConnection
) -> int:
    """Run a statement; return how many rows it changed."""
    step = await connection.execute(statement, values)
    return len(step.all()) if step.returns_rows else step.rowcount
