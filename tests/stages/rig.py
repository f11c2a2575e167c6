"""One line of the pipeline under test: the real engine, crawler and database.

The web is a server on loopback that says what a test wants; names of sites lead there.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from curation_sdk import Worker
from curation_sdk.history import History
from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    FetchLimits,
    MemoryLedger,
    Sandbox,
)
from scrapersky.curation.action import ActionResult
from scrapersky.curation.decision import Selection, decide
from scrapersky.curation.rule import save_rule
from scrapersky.db.connection import connect, parse_target
from scrapersky.demo.services import town_policy
from scrapersky.errors import NoSuchHost
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.mail_server import DnsMailServers, MailServers
from scrapersky.pipeline.tools import SiteLimits, Tools
from scrapersky.providers.registry import Sources
from scrapersky.providers.source import PlaceSource
from scrapersky.records import KINDS, Domain, Page, SitemapFile
from scrapersky.records.audit import Actor
from scrapersky.settings import SYSTEM_USER_ID
from scrapersky.stages import PIPELINE, registry_of
from simulated_town.addresses import TOWN_NETWORK
from simulated_town.log import TownLog
from simulated_town.server import StreamedReply, TownRequest, TownServer
from simulated_town.sites.reply import HTML, TEXT, XML, Reply
from tests.conftest import TestDatabase

IN_HASTE = replace(
    FetchLimits(),
    headers=timedelta(seconds=1),
    total=timedelta(seconds=5),
    rate_grace=timedelta(seconds=1),
)
NOT_FOUND = Reply(b"<title>Not found</title>", status=404)
WITHIN = timedelta(seconds=60)


@dataclass(slots=True)
class Web:
    """What every site answers, by host and path; what is not said is not found."""

    port: int = 0
    log: TownLog = field(default_factory=TownLog)
    says: dict[str, Reply | StreamedReply | list[Reply]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def page(self, place: str, body: str, **more: Any) -> None:
        """Let a place (`site.bv/path`) answer with a page."""
        self.says[place] = Reply(body.encode(), HTML, **more)

    def sitemap(self, place: str, *urls: str, lastmod: str | None = None) -> None:
        """Let a place answer with a sitemap that names these URLs."""
        day = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
        entries = "".join(f"<url><loc>{url}</loc>{day}</url>" for url in urls)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        body = f'<?xml version="1.0"?><urlset xmlns="{space}">{entries}</urlset>'
        self.says[place] = Reply(body.encode(), XML)

    def text(self, place: str, body: str) -> None:
        """Let a place answer with plain text."""
        self.says[place] = Reply(body.encode(), TEXT)

    def fails(self, place: str, *statuses: int, then: str | None = None) -> None:
        """Let a place answer with errors first, and then with a page, if any."""
        replies = [Reply(b"", status=status) for status in statuses]
        self.says[place] = [*replies, *([Reply(then.encode())] if then else ())]

    def answer(self, ask: TownRequest) -> Reply | StreamedReply:
        """Say what a test wants said."""
        place = f"{ask.host}{ask.path}"
        self.asked.append(place)
        said = self.says.get(place, NOT_FOUND)
        if isinstance(said, list):
            return said.pop(0) if len(said) > 1 else said[0]
        return said


class AnyName:
    """A resolver for which every name of the test exists, but for those it is told."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()

    async def resolve(self, host: str, port: int) -> list[str]:
        if host in self.unknown:
            raise NoSuchHost(host, "the name is not of this test")
        number = sum(ord(letter) * 7**n for n, letter in enumerate(host)) % 50_000
        return [str(ip_address(int(TOWN_NETWORK.network_address) + 1 + number))]


@dataclass(slots=True)
class Line:
    """Everything a stage test needs in one hand."""

    engine: AsyncEngine
    worker: Worker
    web: Web
    names: AnyName
    ledger: MemoryLedger
    tools: Tools
    actor: Actor

    async def add(self, model: Any, **values: Any) -> UUID:
        """Store a row of this tenant and return its id."""
        given = {"tenant_id": self.actor.tenant_id, **values}
        async with self.engine.begin() as connection:
            made = await connection.execute(
                insert(model).values(given).returning(model.id)
            )
            return UUID(str(made.scalar_one()))

    async def add_domain(self, name: str = "a.bv", **values: Any) -> UUID:
        """Store a domain that lives at http."""
        given = {"domain": name, "home_url": f"http://{name}/", **values}
        return await self.add(Domain, **given)

    async def add_page(
        self, url: str, domain: UUID | None = None, **values: Any
    ) -> UUID:
        """Store a queued page, with a domain for it."""
        domain = domain or await self.add_domain(url.split("/")[2])
        given = {"page_processing_status": "Queued", **values}
        return await self.add(Page, domain_id=domain, url=url, **given)

    async def add_sitemap(
        self, url: str, domain: UUID | None = None, **values: Any
    ) -> UUID:
        """Store a queued sitemap, with a domain for it."""
        domain = domain or await self.add_domain(url.split("/")[2])
        given = {"sitemap_import_status": "Queued", "sitemap_type": "standard"}
        return await self.add(
            SitemapFile, domain_id=domain, url=url, **(given | values)
        )

    async def work(self, stage: str) -> int:
        """Drain a stage; tries that wait for later stay."""
        return await self.worker.drain(stage, within=WITHIN)

    async def work_again(self, stage: str) -> int:
        """Let the time of every waiting try come, and drain the stage."""
        async with self.engine.begin() as connection:
            await connection.execute(
                text("UPDATE curation.claim SET due_at = clock_timestamp()")
            )
        return await self.work(stage)

    async def row(self, model: Any, key: UUID) -> Any:
        """Return one row as it stands."""
        async with self.engine.connect() as connection:
            return (
                await connection.execute(select(model).where(model.id == key))
            ).one()

    async def rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        async with self.engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(query), values)]

    async def run(self, statement: str, **values: Any) -> None:
        """Change the database as anyone with SQL may."""
        async with self.engine.begin() as connection:
            await connection.execute(text(statement), values)

    async def story(self, stage: str, key: UUID) -> History:
        """Report what has happened to an item."""
        return await curation_sdk.history(self.engine, stage, key)

    async def outcomes(self, stage: str, key: UUID) -> list[str]:
        """Return what became of every attempt at an item, the first one first."""
        return [one.outcome for one in (await self.story(stage, key)).attempts]

    async def decide(
        self, kind: str, status: str, *ids: UUID, **how: Any
    ) -> ActionResult:
        """Decide as a person does."""
        return await decide(
            self.engine, self.actor, KINDS[kind], status, Selection(ids=ids), **how
        )

    async def rule(self, kind: str, *conditions: Mapping[str, Any]) -> UUID:
        """Let a rule select what satisfies the conditions."""
        return await save_rule(
            self.engine,
            self.actor,
            name=f"rule for {kind}",
            kind=kind,
            conditions=conditions,
            status=str(KINDS[kind].deciding.on),
        )


@asynccontextmanager
async def running_line(
    database: TestDatabase,
    sandbox: Sandbox,
    *,
    engine: AsyncEngine | None = None,
    sources: Mapping[str, PlaceSource] | None = None,
    mail_servers: MailServers | None = None,
    limits: SiteLimits | None = None,
    change: Callable[[Any], Any] = lambda stage: stage,
) -> AsyncIterator[Line]:
    """Give a line on a database; `change` may alter a stage's numbers."""
    web, names, ledger = Web(), AnyName(), MemoryLedger(now=utc_now)
    server = TownServer(lambda _: None, web.answer)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server.running())
        web.port, web.log = server.port, server.log
        if engine is None:
            engine = connect(parse_target(database.url), pool_size=10)
            stack.push_async_callback(engine.dispose)
        crawler = await stack.enter_async_context(
            Crawler(impatient(server.port), ledger, resolver=names)
        )
        tools = Tools(
            crawler=crawler,
            sandbox=sandbox,
            sources=Sources(sources or {}, {}, None),
            mail_servers=mail_servers or DnsMailServers(("127.0.0.1",), 9),
            database=engine,
            system_user_id=SYSTEM_USER_ID,
            limits=limits or SiteLimits(),
        )
        stages = tuple(change(stage) for stage in PIPELINE)
        async with engine.connect() as connection:
            tenant = await connection.scalar(text("SELECT id FROM tenants"))
        worker = Worker(engine, stages, tools=tools, registry=registry_of(stages))
        await stack.enter_async_context(worker)
        actor = Actor(tenant, SYSTEM_USER_ID, "Ada")
        yield Line(engine, worker, web, names, ledger, tools, actor)


def impatient(port: int) -> CrawlerPolicy:
    """Return rules under which only the test's web exists, and nobody waits for long."""
    return replace(town_policy(port, host_delay=timedelta()), limits=IN_HASTE)
