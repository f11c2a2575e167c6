"""A database with the ledger's tables, and ledgers on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.models.base import Base
from scrapersky.models.host import Host, HostOutcome, HostRobots
from scrapersky.politeness import PostgresLedger
from tests.conftest import TestDatabase


async def create_tables(engine: AsyncEngine) -> None:
    tables = [
        Base.metadata.tables[one.__tablename__]
        for one in (Host, HostOutcome, HostRobots)
    ]
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all, tables=tables)


@pytest.fixture
async def engine(empty_database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(empty_database.url), pool_size=10)
    await create_tables(engine)
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
