"""A database with the ledger's tables, and ledgers on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.politeness import PostgresLedger
from tests.conftest import TestDatabase


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url), pool_size=10)
    yield engine
    await engine.dispose()


@pytest.fixture
async def ledgers(engine: AsyncEngine) -> AsyncIterator[list[PostgresLedger]]:
    """Two ledgers of two workers."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                PostgresLedger(
                    engine,
                    lease=timedelta(seconds=1.2),
                    longest_request=timedelta(seconds=0.4),
                    delay=timedelta(seconds=0.2),
                )
            )
            for _ in range(2)
        ]
