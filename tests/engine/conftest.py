"""A database with the engine installed and a small model to queue."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from scrapersky.engine import install
from tests.conftest import TestDatabase
from tests.engine.desk import Base, Desk


@pytest.fixture
async def engine(empty_database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(empty_database.url)
    await install(made)
    async with made.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    yield made
    await made.dispose()


@pytest.fixture
def desk(engine: AsyncEngine, empty_database: TestDatabase) -> Desk:
    return Desk(engine, empty_database.dsn)
