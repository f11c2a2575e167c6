"""One database for all tests of companies; each test is a tenant of its own."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.companies.matching import match_tenant
from scrapersky.db.connection import connect, parse_target
from scrapersky.records import Contact, Domain, LocalBusiness, Place, Tenant, User
from scrapersky.records.audit import Actor
from tests.conftest import TestDatabase, TestServer, a_database

COMPANIES = """SELECT * FROM companies WHERE tenant_id = :tenant ORDER BY name, id"""
MEMBERS = """SELECT m.company_id, p.source_place_id, m.score, m.reasons, m.id
  FROM company_members m JOIN places_staging p ON p.id = m.place_id
  WHERE m.tenant_id = :tenant"""
QUESTIONS = (
    """SELECT * FROM company_pairs WHERE tenant_id = :tenant AND verdict IS NULL"""
)
HERE = {"latitude": 48.1374, "longitude": 11.5755}


@dataclass(frozen=True, slots=True)
class Trade:
    """The companies of one tenant, and what sources say about them."""

    engine: AsyncEngine
    actor: Actor
    colleague: Actor

    async def add(self, model: Any, **values: Any) -> UUID:
        given = {"tenant_id": self.actor.tenant_id, **values}
        async with self.engine.begin() as connection:
            made = await connection.execute(
                insert(model).values(given).returning(model.id)
            )
            return UUID(str(made.scalar_one()))

    async def place(self, key: str, name: str, **values: Any) -> UUID:
        """Store what a source says of a place; its key is its id at the source."""
        given = {"source": "test", "source_place_id": key, **HERE, **values}
        return await self.add(Place, name=name, **given)

    async def business(self, place_id: UUID, name: str, **values: Any) -> UUID:
        return await self.add(LocalBusiness, place_id=place_id, name=name, **values)

    async def domain(self, name: str, **values: Any) -> UUID:
        return await self.add(
            Domain, **{"domain": name, "verdict": "own_site", **values}
        )

    async def contact(self, domain_id: UUID, **values: Any) -> UUID:
        return await self.add(Contact, domain_id=domain_id, **values)

    async def match(self) -> int:
        return await match_tenant(self.engine, self.actor.tenant_id)

    async def rows(self, query: str, **values: Any) -> list[Any]:
        given = {"tenant": self.actor.tenant_id, **values}
        async with self.engine.begin() as connection:
            result = await connection.execute(text(query), given)
            return [*result.all()] if result.returns_rows else []

    async def companies(self) -> list[Any]:
        return await self.rows(COMPANIES)

    async def groups(self) -> set[frozenset[str]]:
        """Return which places are one company, by their ids at the source."""
        found: dict[UUID, set[str]] = {}
        for row in await self.rows(MEMBERS):
            found.setdefault(row.company_id, set()).add(row.source_place_id)
        return {frozenset(keys) for keys in found.values()}

    async def company_of(self, key: str) -> UUID:
        rows = await self.rows(MEMBERS)
        found = {row.source_place_id: row.company_id for row in rows}
        return UUID(str(found[key]))

    async def questions(self) -> list[Any]:
        return await self.rows(QUESTIONS)


@pytest.fixture(scope="session")
def companies_database(
    postgres_server: TestServer, template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest.fixture
async def trade(companies_database: TestDatabase) -> AsyncIterator[Trade]:
    engine = connect(parse_target(companies_database.url))
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            insert(Tenant).values(name="A", slug=str(uuid4())).returning(Tenant.id)
        )
        people = insert(User).values(
            [{"tenant_id": tenant, "email": f"{n}@a.example"} for n in ("ada", "ben")]
        )
        ada, ben = (await connection.scalars(people.returning(User.id))).all()
    assert tenant is not None
    yield Trade(engine, Actor(tenant, ada, "Ada"), Actor(tenant, ben, "Ben"))
    await engine.dispose()
