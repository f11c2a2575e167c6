"""A database with a tenant, and the keys of its suppression list handed out."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records import Contact, Domain
from scrapersky.records.audit import Actor
from scrapersky.settings import SYSTEM_USER_ID
from tests.conftest import TestDatabase


@dataclass(frozen=True, slots=True)
class House:
    """One tenant's data in one hand."""

    engine: AsyncEngine
    actor: Actor

    async def add(self, model: Any, **values: Any) -> UUID:
        given = {"tenant_id": self.actor.tenant_id, **values}
        async with self.engine.begin() as connection:
            made = await connection.execute(
                insert(model).values(given).returning(model.id)
            )
            return UUID(str(made.scalar_one()))

    async def add_domain(self, name: str = "a.bv", **values: Any) -> UUID:
        return await self.add(Domain, domain=name, **values)

    async def add_contact(self, domain: UUID, **values: Any) -> UUID:
        """Store a contact with evidence for what it is known by."""
        contact = await self.add(Contact, domain_id=domain, **values)
        for field in ("email", "phone"):
            if values.get(field):
                await self.run(
                    "INSERT INTO contact_evidence (tenant_id, contact_id, field, value,"
                    " url, snippet, method, confidence, robots, seen_at) VALUES (:t, :c,"
                    " :f, :v, 'http://a.bv/', 'seen ' || :v, 'text', 1, 'allowed',"
                    " clock_timestamp())",
                    t=self.actor.tenant_id,
                    c=contact,
                    f=field,
                    v=values[field],
                )
        return contact

    async def rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        async with self.engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(query), values)]

    async def run(self, statement: str, **values: Any) -> None:
        async with self.engine.begin() as connection:
            await connection.execute(text(statement), values)


@pytest.fixture
async def house(database: TestDatabase) -> AsyncIterator[House]:
    engine = connect(parse_target(database.url), pool_size=10)
    await load_suppression_keys(engine)
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    yield House(engine, Actor(UUID(str(tenant)), SYSTEM_USER_ID, "Ada"))
    await engine.dispose()
