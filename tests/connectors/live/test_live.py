"""Real accounts, for whoever has one: without a key in the environment nothing is collected here.

Use a sandbox or a test account, never one that people work in: the tests make fields and records,
change them, and delete the records again.

    LIVE_HUBSPOT_KEY       a service key that may read and write contacts, companies and schemas
    LIVE_PIPEDRIVE_TOKEN   the API token of a user
    LIVE_BREVO_KEY         an API key, and LIVE_BREVO_LIST, the number of an empty list
    LIVE_MAUTIC_KEY        user:password in Base64, and LIVE_MAUTIC_URL, the address of the server
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest

from scrapersky.connectors.brevo import BrevoConnector
from scrapersky.connectors.hubspot import HubspotConnector
from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.mautic import MauticConnector
from scrapersky.connectors.pipedrive import PipedriveConnector
from scrapersky.connectors.protocol import (
    Connector,
    ConnectorContext,
    CrmKind,
    CrmRecord,
    RecordWrite,
)
from scrapersky.connectors.session import CrmSession, CrmTransport
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.errors import CrmCannot
from tests.connectors.conformance import ConformanceTarget, ConnectorConformance
from tests.connectors.rig import OwnMetering

ResultT = TypeVar("ResultT")
TAG = uuid4().hex[:8]
"""In every value, so that two runs do not meet."""
LAG = 40.0


class RealClock:
    """The time, and waiting for it."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Account:
    """A real account, and what the tests made in it."""

    of: type[Connector]
    credential: str
    options: dict[str, str] = field(default_factory=dict)
    begun: dict[CrmKind, str] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Connector]:
        defaults = {one.name: one.default for one in self.of.info.options}
        given = {**defaults, **self.options}
        clock, transport = RealClock(), CrmTransport(CrawlerPolicy())
        metering = OwnMetering(self.of.meters(given), clock.now)
        session = CrmSession(
            "", {}, transport, metering, clock, secrets=(self.credential,)
        )
        try:
            folder = Path("unused")
            yield self.of(ConnectorContext(session, given, self.credential, folder))
        finally:
            await transport.close()

    async def begin(self) -> None:
        async with self.open() as connector:
            for kind in CrmKind:
                made = await connector.make_fields(kind, own_fields())
                self.options |= {f"field:{kind}:{n}": code for n, code in made.items()}
                page = await connector.changes(kind, None, ())
                self.begun[kind] = page.cursor

    def apart(self, work: Callable[[Connector], Awaitable[ResultT]]) -> ResultT:
        """Do something with a connector of its own, as another hand would."""

        async def run() -> ResultT:
            async with self.open() as connector:
                return await work(connector)

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(run())).result()

    async def all(self, connector: Connector, kind: CrmKind) -> dict[str, CrmRecord]:
        """Return every record that changed since the test began."""
        found: dict[str, CrmRecord] = {}
        cursor, has_more = self.begun[kind], True
        while has_more:
            page = await connector.changes(kind, cursor, ())
            found |= {one.id: one for one in page.records}
            cursor, has_more = page.cursor, page.has_more
        return found

    def count(self, kind: CrmKind, our_id: UUID) -> int:
        async def counted(connector: Connector) -> int:
            records = (await self.all(connector, kind)).values()
            return sum(one.our_id == our_id for one in records)

        time.sleep(LAG)
        return self.apart(counted)

    def edit(self, kind: CrmKind, their_id: str, values: Mapping[str, str]) -> None:
        async def edited(connector: Connector) -> None:
            own = (await connector.read(kind, [their_id], ()))[their_id].our_id
            assert own is not None
            record = RecordWrite(
                kind=kind, our_id=own, values=values, their_id=their_id
            )
            await connector.write(kind, [record])

        self.apart(edited)

    async def clean(self, ours: set[UUID]) -> None:
        """Erase what the test made, and nothing else that changed meanwhile."""
        async with self.open() as connector:
            for kind in CrmKind:
                for one in (await self.all(connector, kind)).values():
                    if one.our_id in ours:
                        with suppress(CrmCannot):
                            await connector.erase(kind, one.id)


@dataclass
class LiveTarget(ConformanceTarget):
    """A target that remembers what is made in it."""

    ours: set[UUID] = field(default_factory=set)

    def record(self, kind: CrmKind, at: int = 0, **more: Any) -> RecordWrite:
        record = super().record(kind, at, **more)
        self.ours.add(record.our_id)
        return record


def given(*names: str) -> bool:
    """Say whether the environment has all of these: only then is a class collected."""
    return all(os.environ.get(name) for name in names)


async def on(account: Account) -> AsyncIterator[ConformanceTarget]:
    await account.begin()
    async with account.open() as connector:
        target = LiveTarget(
            connector,
            account.count,
            account.edit,
            wait=lambda: time.sleep(LAG),
            values={
                CrmKind.COMPANY: {"name": f"{TAG} Ltd", "domain": f"{TAG}.example"},
                CrmKind.PERSON: {
                    "name": f"{TAG} Person",
                    "last_name": f"{TAG} Person",
                    "email": f"{uuid4().hex}@{TAG}.example",
                },
            },
        )
        yield target
    await asyncio.sleep(LAG)
    await account.clean(target.ours)


class TestLiveHubspot(ConnectorConformance):
    __test__ = given("LIVE_HUBSPOT_KEY")

    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        key = os.environ["LIVE_HUBSPOT_KEY"]
        async for target in on(Account(HubspotConnector, key)):
            yield target


class TestLivePipedrive(ConnectorConformance):
    __test__ = given("LIVE_PIPEDRIVE_TOKEN")

    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        token = os.environ["LIVE_PIPEDRIVE_TOKEN"]
        async for target in on(Account(PipedriveConnector, token)):
            yield target


class TestLiveBrevo(ConnectorConformance):
    __test__ = given("LIVE_BREVO_KEY", "LIVE_BREVO_LIST")

    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        key, number = (os.environ[f"LIVE_BREVO_{one}"] for one in ("KEY", "LIST"))
        async for target in on(Account(BrevoConnector, key, {"list_id": number})):
            yield target


class TestLiveMautic(ConnectorConformance):
    __test__ = given("LIVE_MAUTIC_KEY", "LIVE_MAUTIC_URL")

    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        key, url = (os.environ[f"LIVE_MAUTIC_{one}"] for one in ("KEY", "URL"))
        async for target in on(Account(MauticConnector, key, {"base_url": url})):
            yield target
