"""Changes of many rows, a chunk at a time, each in a transaction of its own."""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.transaction import run_in_transaction
from scrapersky.kit.stopping import IsStopping, never

FIRST_CHUNK_ROWS: Final = 500
LARGEST_CHUNK_ROWS: Final = 5_000
CHUNK_TIME: Final = timedelta(milliseconds=300)
"""A chunk that takes longer is followed by a smaller one: none may take a second."""


async def change_in_chunks(
    engine: AsyncEngine,
    statements: Sequence[str],
    values: Mapping[str, Any],
    is_stopping: IsStopping = never,
) -> int:
    """Run each statement until it finds nothing, never holding rows for long.

    A statement changes `:chunk` rows at most; what it has changed it does not find again,
    so that whoever is stopped goes on there. Returns how many rows were changed.
    """
    total, rows = 0, FIRST_CHUNK_ROWS
    for statement in statements:
        while not is_stopping():
            started = time.monotonic()
            change = partial(change_chunk, text(statement), {**values, "chunk": rows})
            count = await run_in_transaction(engine, change)
            total += count
            if count < rows:
                break
            is_slow = time.monotonic() - started > CHUNK_TIME.total_seconds()
            rows = max(1, rows // 2) if is_slow else min(2 * rows, LARGEST_CHUNK_ROWS)
    return total


async def change_chunk(
    statement: TextClause, values: Mapping[str, Any], connection: AsyncConnection
) -> int:
    """Run a statement; return how many rows it changed."""
    changed = await connection.execute(statement, values)
    return len(changed.all()) if changed.returns_rows else changed.rowcount
