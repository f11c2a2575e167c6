"""A served application: real sockets, a real database, keys of two tenants."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx
import orjson
from fastapi import FastAPI
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.app import create_app
from scrapersky.api.auth.credential import digest
from scrapersky.api.server import Server
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.records import ApiKey, Domain, Page, Place, Tenant
from scrapersky.records.status import Role
from scrapersky.stages import PIPELINE
from sdk_tests.rig.waiting import HUNG
from tests.api.emptying import empty_tables
from tests.conftest import TestDatabase

AT_REST = {f"{stage.settings.prefix}_INTERVAL_MINUTES": "600" for stage in PIPELINE} | {
    "COMPANY_MATCHING_SCHEDULER_INTERVAL_MINUTES": "600"
}
EMPTIED = (
    "audit_log, batch_jobs, curation_actions, selection_rules, domains, pages,"
    " contacts, contact_evidence, sitemap_files, batch_items,"
    " local_businesses, places_staging, place_searches, curation.claim,"
    " curation.attempt, curation.dead_letter"
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a client reads it."""

    name: str
    data: Any
    id: str | None


@dataclass(slots=True)
class Listener:
    """A client of the stream that reads every event it gets."""

    events: list[Event] = field(default_factory=list)
    comments: int = 0
    last_id: str | None = None
    status: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def read(self, answer: httpx.Response) -> None:
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            else:
                await self._take(fields)
                fields = {}
        self.ended.set()

    async def _take(self, fields: Mapping[str, str]) -> None:
        self.last_id = fields.get("id", self.last_id)
        if "data" in fields:
            data = orjson.loads(fields["data"])
            self.events.append(Event(fields["event"], data, fields.get("id")))
        async with self._news:
            self._news.notify_all()

    async def until(self, is_enough: Any) -> None:
        async with asyncio.timeout(HUNG), self._news:
            await self._news.wait_for(lambda: is_enough(self))

    def of(self, name: str) -> list[Any]:
        return [event.data for event in self.events if event.name == name]

    @property
    def changes(self) -> list[dict[str, Any]]:
        return [
            {"kind": reported["kind"], **change}
            for reported in self.of("records")
            for change in reported["changes"]
        ]

    @property
    def ids(self) -> set[str]:
        return {change["id"] for change in self.changes}


@dataclass(frozen=True, slots=True)
class Served:
    """The application on a port, its database, and two tenants with their keys."""

    app: FastAPI
    server: Server
    engine: AsyncEngine
    client: httpx.AsyncClient
    tenant: UUID
    other: UUID
    key: str
    other_key: str

    async def run(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            result = await connection.execute(text(statement), values)
            return result.all() if result.returns_rows else result.rowcount

    async def scalar(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            return await connection.scalar(text(statement), values)

    async def empty(self) -> None:
        await empty_tables(self.engine, EMPTIED)
        await self.run("UPDATE curation.stage SET paused_at = NULL, paused_why = NULL")
        # What was counted before the tables were emptied is still good for a second.
        self.app.state.operations.stats._paused.forget()
        self.app.state.operations.stats._tenants.clear()

    async def add(self, model: Any, tenant: UUID | None = None, **values: Any) -> UUID:
        rows = {"tenant_id": tenant or self.tenant, **values}
        async with self.engine.begin() as connection:
            made = await connection.execute(
                insert(model).values(rows).returning(model.id)
            )
            return UUID(str(made.scalar_one()))

    async def add_domain(self, tenant: UUID | None = None, **values: Any) -> UUID:
        # Not `pending`, which the stage would take at once.
        known = {"domain": f"{uuid4().hex}.bv", "status": "completed", **values}
        return await self.add(Domain, tenant, **known)

    async def add_page(self, tenant: UUID | None = None, **values: Any) -> UUID:
        if "domain_id" not in values:
            values["domain_id"] = await self.add_domain(tenant)
        return await self.add(Page, tenant, url=f"http://{uuid4().hex}.bv/", **values)

    async def add_places(self, count: int, tenant: UUID | None = None) -> list[UUID]:
        return [
            await self.add(
                Place,
                tenant,
                source="file",
                source_place_id=uuid4().hex,
                name=f"Place {n}",
            )
            for n in range(count)
        ]

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        status: int = 200,
        key: str | None = None,
        **more: Any,
    ) -> Any:
        headers = {"X-API-Key": key or self.key, **more.pop("headers", {})}
        answer = await self.client.request(
            method, f"/api/v3{path}", json=json, headers=headers, **more
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def get(self, path: str, **more: Any) -> Any:
        return await self.call("GET", path, **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> Any:
        return await self.call("POST", path, json, **more)

    @asynccontextmanager
    async def listening(
        self, key: str | None = None, last_id: str | None = None, **names: str
    ) -> AsyncIterator[Listener]:
        """Listen to the stream while the block runs."""
        headers = {"X-API-Key": key or self.key}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        listener = Listener()
        url = "/api/v3/events"
        async with self.client.stream(
            "GET", url, headers=headers, params=names, timeout=60
        ) as answer:
            listener.status = answer.status_code
            reading = asyncio.create_task(listener.read(answer))
            try:
                if answer.status_code == 200:
                    await listener.until(lambda heard: heard.of("stages"))
                yield listener
            finally:
                reading.cancel()
                await asyncio.wait({reading})


async def new_key(
    engine: AsyncEngine, tenant: UUID, role: Role = Role.ADMIN, **values: Any
) -> str:
    """Make an API key and return its secret."""
    prefix = f"ssk_{secrets.token_hex(5)}"
    secret = f"{prefix}_{secrets.token_urlsafe(32)}"
    scopes = ["read", "export", "curate", "administer", "operate"]
    row = {
        "tenant_id": tenant,
        "name": "test",
        "prefix": prefix,
        "secret_hash": digest(secret),
        "role": role,
        "scopes": scopes,
        **values,
    }
    async with engine.begin() as connection:
        await connection.execute(insert(ApiKey).values(row))
    return secret


@asynccontextmanager
async def serving(
    database: TestDatabase,
    settings: Mapping[str, str] | None = None,
    *,
    grace: int = 20,
) -> AsyncIterator[Served]:
    """Serve the application of a database on a free port."""
    target = parse_target(database.url)
    given = {**AT_REST, "API_RATE_PER_SECOND": "0", **(settings or {})}
    loaded = load_settings(given, dotenv=None).settings
    app = create_app(loaded, target)
    engine = connect(target)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = Server(app, grace=grace)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    try:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=30
        ) as client:
            while not server.started:
                await asyncio.sleep(0.02)
                assert not running.done(), running.result()
            async with engine.begin() as connection:
                tenant = await connection.scalar(
                    text("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
                )
                other = await connection.scalar(
                    insert(Tenant).values(name="O", slug="o").returning(Tenant.id)
                )
            assert isinstance(tenant, UUID)
            assert isinstance(other, UUID)
            yield Served(
                app, server, engine, client, tenant, other,
                await new_key(engine, tenant), await new_key(engine, other),
            )  # fmt: skip
    finally:
        server.should_exit = True
        await running
        await engine.dispose()
