from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.records.audit import Actor
from scrapersky.settings import SYSTEM_USER_ID
from tests.conftest import TestDatabase


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


@pytest.fixture
async def actor(engine: AsyncEngine) -> Actor:
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    return Actor(tenant, SYSTEM_USER_ID, "Ada")
