"""A tenant with leads and connections, and what a process does that keeps them true."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.reader import head_cursor
from scrapersky.changes.subscriber import Lease
from scrapersky.changes.watch import Follower
from scrapersky.connectors.account import (
    CONNECTIONS,
    ConnectorTools,
    SchemaMemory,
)
from scrapersky.connectors.folder import FolderConnector
from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.meter import WaitingClock
from scrapersky.connectors.outbox import queue_companies, queue_contacts
from scrapersky.connectors.protocol import Connector, ConnectorContext, CrmKind
from scrapersky.connectors.registry import CONNECTORS
from scrapersky.connectors.session import CrmTransport
from scrapersky.connectors.work import ConnectionWork
from scrapersky.crawler import CrawlerPolicy
from scrapersky.crawler.guard import parse_networks
from scrapersky.errors import SubscriptionTaken
from scrapersky.kit.cipher import Cipher
from scrapersky.records import SyncConnection
from tests.connectors.plain_crm import PlainCrm

CIPHER = Cipher(["an encryption key of the tests, long enough"])
LOOPBACK = parse_networks(["127.0.0.0/8"])


@dataclass(slots=True)
class FakeClock:
    """A clock that does not wait."""

    time: datetime = field(
        default_factory=lambda: datetime(2026, 11, 18, 8, tzinfo=UTC)
    )
    slept: float = 0.0

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.time += timedelta(seconds=seconds)


@dataclass(slots=True)
class SalesDesk:
    """One tenant, its leads, its connections, and work on them."""

    engine: AsyncEngine
    tenant: UUID
    folder: Path
    clock: WaitingClock = field(default_factory=FakeClock)
    connectors: dict[str, type[Connector]] = field(
        default_factory=lambda: {**CONNECTORS}
    )
    transport: CrmTransport | None = None
    memories: dict[UUID, SchemaMemory] = field(default_factory=dict)

    @property
    def tools(self) -> ConnectorTools:
        if self.transport is None:
            self.transport = CrmTransport(CrawlerPolicy(), LOOPBACK)
        return ConnectorTools(
            self.connectors, self.transport, lambda: CIPHER, self.folder, self.clock
        )

    async def run(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            result = await connection.execute(text(statement), values)
            return result.all() if result.returns_rows else result.rowcount

    async def one(self, statement: str, **values: Any) -> Any:
        (row,) = await self.run(statement, **values)
        return row

    async def connect(
        self, connector: str = "folder", secret: str | None = None, **values: Any
    ) -> UUID:
        """Store a connection as the API does, with the own fields under their names."""
        sync_id = uuid4()
        own = {one.name: one.name for one in own_fields()}
        async with self.engine.connect() as connection:
            cursor = await head_cursor(connection, self.tenant)
            given = {
                "fields": {kind.value: own for kind in CrmKind},
                "account_id": str(sync_id),
                **values,
            }
            if secret is not None:
                given["secret"] = CIPHER.encrypt(secret.encode(), str(sync_id))
            await connection.execute(
                insert(SyncConnection).values(
                    id=sync_id,
                    tenant_id=self.tenant,
                    cursor=str(cursor),
                    connector=connector,
                    name="test",
                    account_name="test",
                    **given,
                )
            )
            await connection.commit()
        return sync_id

    async def add_company(
        self, name: str, domain: str | None = None, **values: Any
    ) -> UUID:
        given = {"phone": None, "city": None, **values}
        site = None
        if domain is not None:
            site = await self.domain(domain)
        row = await self.one(
            "INSERT INTO companies (tenant_id, name, domain_id, phone, city, seen_at)"
            " VALUES (:t, :n, :d, :phone, :city, '2026-11-01') RETURNING id",
            t=self.tenant, n=name, d=site, **given,
        )  # fmt: skip
        return UUID(str(row.id))

    async def domain(self, name: str) -> UUID:
        found = await self.run("SELECT id FROM domains WHERE domain = :d", d=name)
        if found:
            return UUID(str(found[0].id))
        row = await self.one(
            "INSERT INTO domains (tenant_id, domain, status) VALUES (:t, :d, 'completed')"
            " RETURNING id",
            t=self.tenant, d=name,
        )  # fmt: skip
        return UUID(str(row.id))

    async def add_contact(
        self,
        email: str,
        name: str | None = None,
        company: UUID | None = None,
        domain: str = "",
    ) -> UUID:
        site = await self.domain(domain or email.rpartition("@")[2])
        row = await self.one(
            "INSERT INTO contacts (tenant_id, domain_id, email, name) VALUES (:t, :d, :e, :n)"
            " RETURNING id",
            t=self.tenant, d=site, e=email, n=name,
        )  # fmt: skip
        await self.run(
            "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,"
            " method, confidence, robots, seen_at) VALUES (:t, :c, 'email', :e, :u, '', 'mailto',"
            " .9, 'allowed', '2026-11-02')",
            t=self.tenant, c=row.id, e=email, u=f"https://{domain or 'site.example'}/contact",
        )  # fmt: skip
        if company is not None:
            await self.run(
                "UPDATE companies SET email_contact_id = :c WHERE id = :k",
                c=row.id,
                k=company,
            )
        return UUID(str(row.id))

    async def add_shared_address(self) -> tuple[list[UUID], list[UUID]]:
        """Give two companies one address, each in a contact of its own."""
        companies, contacts = [], []
        for name in ("first", "second"):
            company = await self.add_company(name.title(), f"{name}.example")
            contacts.append(
                await self.add_contact(
                    "info@shared.example", None, company, domain=f"{name}.example"
                )
            )
            companies.append(company)
        return companies, contacts

    async def push(self, sync_id: UUID, *companies: UUID) -> None:
        async with self.engine.begin() as connection:
            await queue_companies(connection, self.tenant, sync_id, companies)

    async def push_contacts(self, sync_id: UUID, *contacts: UUID) -> None:
        async with self.engine.begin() as connection:
            await queue_contacts(connection, self.tenant, sync_id, contacts)

    async def lease(self, sync_id: UUID) -> Lease:
        token = uuid4()
        await self.run(
            "UPDATE sync_connections SET lease = :l, leased_until = now() + interval '1 hour'"
            " WHERE id = :id AND is_active",
            l=token, id=sync_id,
        )  # fmt: skip
        table = CONNECTIONS
        return Lease(
            self.engine, table, sync_id, self.tenant, token, Follower(self.tenant)
        )

    async def work(self, sync_id: UUID) -> timedelta | None:
        """Do what a process does that gets the lease of the connection."""
        lease = await self.lease(sync_id)
        memory = self.memories.setdefault(sync_id, SchemaMemory())
        return await ConnectionWork(lease, self.tools, memory).work()

    async def work_until_idle(self, sync_id: UUID) -> None:
        """Work again and again, as if every pause had passed."""
        for _ in range(30):
            try:
                after = await self.work(sync_id)
            except SubscriptionTaken:
                return
            if after is not None:
                await self.clock.sleep(after.total_seconds())
            open_ = await self.run(
                "UPDATE sync_records SET next_at = now() WHERE connection_id = :c"
                " AND state IN ('queued', 'sending', 'unknown') RETURNING id",
                c=sync_id,
            )
            if not open_:
                return
        raise AssertionError("it never comes to an end")

    async def poll(self, sync_id: UUID) -> None:
        """Work when their changes are due again."""
        await self.run(
            "UPDATE sync_connections SET polled_at = NULL WHERE id = :c", c=sync_id
        )
        await self.work(sync_id)

    async def states(self, sync_id: UUID) -> dict[str, list[str]]:
        rows = await self.run(
            "SELECT kind, state FROM sync_records WHERE connection_id = :c ORDER BY id",
            c=sync_id,
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row.kind, []).append(row.state)
        return found

    async def record(self, sync_id: UUID, record: UUID) -> Any:
        return await self.one(
            "SELECT * FROM sync_records WHERE connection_id = :c AND record_id = :r",
            c=sync_id, r=record,
        )  # fmt: skip

    async def connection(self, sync_id: UUID) -> Any:
        async with self.engine.connect() as connection:
            query = select(CONNECTIONS).where(CONNECTIONS.c.id == sync_id)
            return (await connection.execute(query)).one()

    def files(self, sync_id: UUID) -> FolderConnector:
        """Return the folder of a connection as its connector sees it."""
        context = ConnectorContext(None, {}, "", self.folder / str(sync_id))  # type: ignore[arg-type]
        return FolderConnector(context)


@dataclass(slots=True)
class CrmDesk:
    """A tenant that is connected to a small CRM."""

    desk: SalesDesk
    crm: PlainCrm
    sync_id: UUID

    async def leads(self, count: int) -> tuple[list[UUID], list[UUID]]:
        companies, contacts = [], []
        for at in range(count):
            company = await self.desk.add_company(
                f"Company {at}", f"c{at}.example", city="Austin"
            )
            contact = await self.desk.add_contact(
                f"p{at}@c{at}.example", f"Pat {at}", company
            )
            companies.append(company)
            contacts.append(contact)
        return companies, contacts
