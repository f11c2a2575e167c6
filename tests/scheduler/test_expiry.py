"""Lent content is forgotten in time; ids and decisions stay."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.kit.clock import utc_now
from scrapersky.models import Place
from scrapersky.scheduler.expiry import forget_expired_places
from tests.conftest import TestDatabase


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


async def add_place(engine: AsyncEngine, name: str, **values: Any) -> None:
    async with engine.begin() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
        given = {"source": "google", "source_place_id": name, "name": name, **values}
        await connection.execute(insert(Place).values(tenant_id=tenant, **given))


async def test_only_what_is_over_is_forgotten_and_the_decision_stays(
    engine: AsyncEngine,
) -> None:
    now = utc_now()
    old = {"expires_at": now - timedelta(days=1), "raw": {"x": 1}, "rating": 4.5}
    await add_place(engine, "old", **old, status="Not a Fit", categories=["dentist"])
    await add_place(engine, "fresh", expires_at=now + timedelta(days=1), raw={"x": 1})
    await add_place(engine, "free", raw={"x": 1})

    assert await forget_expired_places(engine) == 1
    assert await forget_expired_places(engine) == 0

    async with engine.connect() as connection:
        rows = await connection.execute(
            text(
                "SELECT source_place_id, name, raw IS NULL, rating, categories,"
                " status::text, expires_at IS NULL FROM places_staging ORDER BY 1"
            )
        )
        found = [tuple(row) for row in rows]
    assert found == [
        ("free", "free", False, None, [], "New", True),
        ("fresh", "fresh", False, None, [], "New", False),
        ("old", None, True, None, [], "Not a Fit", True),
    ]
