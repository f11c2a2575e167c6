"""A desk to work at: the API's client, the database behind it, and ready-made records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
from fastapi import FastAPI
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.records.listing import Plans
from scrapersky.records import Contact, Domain, Tenant
from scrapersky.stages import PIPELINE
from tests.api.emptying import empty_tables

AT_REST = {
    f"{stage.settings.prefix}_ENABLED": "false"
    for stage in PIPELINE
    if stage.name != "domain_extraction"
} | {"COMPANY_MATCHING_SCHEDULER_ENABLED": "false"}
"""All stages but one are at rest, so that a status stays what a test made it."""

EMPTIED = (
    "audit_log, batch_jobs, curation_actions, pages, sitemap_files, domains, "
    "local_businesses, places_staging, place_searches, saved_views, suppressions, value_samples, "
    "company_columns, uploaded_parts"
)


@dataclass(frozen=True, slots=True)
class Desk:
    """The API as the person at this machine sees it, and everything beneath."""

    engine: AsyncEngine
    client: httpx.AsyncClient
    app: FastAPI
    tenant: UUID
    other: UUID

    @classmethod
    async def open(
        cls, engine: AsyncEngine, client: httpx.AsyncClient, app: FastAPI
    ) -> "Desk":
        async with engine.begin() as connection:
            tenant = await connection.scalar(
                text("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
            )
            made = await connection.execute(
                insert(Tenant).values(name="Other", slug="other").returning(Tenant.id)
            )
        return cls(engine, client, app, UUID(str(tenant)), made.scalar_one())

    async def empty(self) -> None:
        await empty_tables(self.engine, EMPTIED)
        # What was expected of the lists of the test before is not true of this one's.
        self.app.state.plans = Plans()

    async def run(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            result = await connection.execute(text(statement), values)
            return result.all() if result.returns_rows else None

    async def scalar(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            return await connection.scalar(text(statement), values)

    async def add(
        self, model: Any, *, tenant: UUID | None = None, **values: Any
    ) -> UUID:
        owned = {"tenant_id": tenant or self.tenant, **values}
        async with self.engine.begin() as connection:
            made = await connection.execute(
                insert(model).values(owned).returning(model.id)
            )
            return UUID(str(made.scalar_one()))

    async def add_domain(self, name: str | None = None, **values: Any) -> UUID:
        return await self.add(Domain, domain=name or f"{uuid4().hex}.bv", **values)

    async def add_contact(
        self, email: str | None = None, *, domain: UUID | None = None, **values: Any
    ) -> UUID:
        tenant = values.get("tenant")
        domain = domain or await self.add_domain(tenant=tenant)
        if email is None and "phone" not in values:
            email = f"{uuid4().hex}@a.bv"
        return await self.add(Contact, domain_id=domain, email=email, **values)

    async def get(self, path: str, params: Any = None, *, status: int = 200) -> Any:
        answer = await self.client.get(f"/api/v3{path}", params=params)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def send(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Any:
        answer = await self.client.request(
            method, f"/api/v3{path}", json=json, headers=headers, **more
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def post(self, path: str, json: Any = None, **more: Any) -> Any:
        return await self.send("POST", path, json, **more)

    async def walk(self, path: str, params: dict[str, Any]) -> list[Any]:
        """Read a list to its end."""
        items: list[Any] = []
        cursor: str | None = None
        while True:
            page = await self.get(
                path, {**params, **({"cursor": cursor} if cursor else {})}
            )
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return items
