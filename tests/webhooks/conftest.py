"""A tenant with changes and endpoints, and the process that delivers to them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes import subscriber
from scrapersky.changes.reader import head_cursor
from scrapersky.crawler import CrawlerPolicy
from scrapersky.crawler.guard import parse_networks
from scrapersky.db.connection import connect, parse_target
from scrapersky.kit.cipher import Cipher
from scrapersky.records import WebhookEndpoint
from scrapersky.webhooks.delivery import webhook_subscriber
from scrapersky.webhooks.sender import WebhookSender
from scrapersky.webhooks.signature import SigningSecret, dump_secrets, new_secret
from sdk_tests.rig.waiting import HUNG
from tests.conftest import TestDatabase

CIPHER = Cipher(["an encryption key of the tests, long enough"])
LOOPBACK = parse_networks(["127.0.0.0/8"])


@dataclass(slots=True)
class Office:
    """One tenant, its endpoints, and processes that deliver."""

    engine: AsyncEngine
    tenant: UUID
    secrets: dict[UUID, SigningSecret] = field(default_factory=dict)

    async def run(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            result = await connection.execute(text(statement), values)
            return result.all() if result.returns_rows else result.rowcount

    async def add_endpoint(self, url: str, **values: Any) -> UUID:
        secret, endpoint = new_secret(), uuid4()
        self.secrets[endpoint] = secret
        async with self.engine.connect() as connection:
            cursor = await head_cursor(connection, self.tenant)
            given = {
                "events": ["*"],
                "format": "event",
                "ignored_actors": [],
                "schemes": ["v1"],
                **values,
            }
            await connection.execute(
                insert(WebhookEndpoint).values(
                    id=endpoint,
                    tenant_id=self.tenant,
                    cursor=str(cursor),
                    name="test",
                    url=url,
                    secrets=CIPHER.encrypt(dump_secrets([secret]), str(endpoint)),
                    **given,
                )
            )
            await connection.commit()
        return endpoint

    async def add_domains(self, count: int) -> list[str]:
        statement = text(
            "INSERT INTO domains (tenant_id, domain, status)"
            " SELECT :t, 'd' || n || substr(md5(random()::text), 1, 9) || '.bv',"
            " 'completed' FROM generate_series(1, :n) n RETURNING id"
        )
        async with self.engine.begin() as connection:
            given = {"t": self.tenant, "n": count}
            return [str(one) for one in await connection.scalars(statement, given)]

    async def rename(self, domain: str, title: str, actor: str = "someone") -> None:
        async with self.engine.begin() as connection:
            await connection.execute(
                text("SELECT set_config('scrapersky.actor', :a, true)"), {"a": actor}
            )
            await connection.execute(
                text("UPDATE domains SET title = :title WHERE id = CAST(:id AS uuid)"),
                {"title": title, "id": domain},
            )

    async def deliveries(self, endpoint: UUID) -> list[Any]:
        found: list[Any] = await self.run(
            "SELECT * FROM webhook_deliveries WHERE endpoint_id = :e ORDER BY position",
            e=endpoint,
        )
        return found

    async def endpoint(self, endpoint: UUID) -> Any:
        (row,) = await self.run(
            "SELECT * FROM webhook_endpoints WHERE id = :e", e=endpoint
        )
        return row

    @asynccontextmanager
    async def delivering(
        self, sender: WebhookSender | None = None
    ) -> AsyncIterator[None]:
        """Deliver while the block runs, as one process does."""
        sender = sender or WebhookSender(CrawlerPolicy(), LOOPBACK)
        task = asyncio.create_task(
            webhook_subscriber(self.engine, sender, lambda: CIPHER).run()
        )
        try:
            yield
        finally:
            task.cancel()
            async with asyncio.timeout(HUNG):
                await asyncio.wait({task})
            await sender.close()


@pytest.fixture
async def office(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Office]:
    monkeypatch.setattr(subscriber, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(subscriber, "CLAIM_SECONDS", 0.05)
    monkeypatch.setattr(subscriber, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(subscriber, "LINGER_SECONDS", 0.1)
    engine = connect(parse_target(database.url), pool_size=6)
    async with engine.begin() as connection:
        tenant = await connection.scalar(
            text(
                "INSERT INTO tenants (name, slug) VALUES ('hook', 'hook') RETURNING id"
            )
        )
    yield Office(engine, tenant)
    await engine.dispose()
