"""An annex: a small world of its own beside the real one, for names of one ending.

The demo town can be visited while everything else goes on as it does. It has a crawler
of its own, with its own rules and its own name service, and which crawler a URL gets
is decided once, by its ending, before anything is resolved. Neither follows a redirect
into the other's world: the real one's guard, resolver and proxy stay as they were, and
the annex's know no name but their own.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    Fetched,
    Resolver,
    RobotsVerdict,
)
from scrapersky.errors import AlreadyRunning, InvalidUrl
from scrapersky.kit.urls import Url, parse_url
from scrapersky.politeness import PostgresLedger
from scrapersky.providers.registry import Sources
from scrapersky.providers.source import PlaceSource
from scrapersky.stages.mail_server import MailServers, MailServersFound

HANDOVER = timedelta(seconds=2)
"""What a request may take beyond its own limit until everyone knows that it is over."""


@dataclass(frozen=True, slots=True)
class Annex:
    """What the small world is made of."""

    ending: str
    """Names end so, with the dot before it."""
    policy: CrawlerPolicy
    resolver: Resolver
    mail_servers: MailServers
    source: PlaceSource


@dataclass(frozen=True, slots=True)
class _Opened:
    annex: Annex
    crawler: Crawler


class Annexes:
    """The annex of this process, while it has one."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.sources: Sources | None = None
        self._engine = engine
        self._opened: _Opened | None = None

    @asynccontextmanager
    async def open(self, annex: Annex) -> AsyncIterator[None]:
        """Let the stages visit an annex until the block ends; one at a time."""
        if self._opened is not None:
            raise AlreadyRunning("There is an annex already.")
        async with AsyncExitStack() as stack:
            crawler = await stack.enter_async_context(
                open_crawler(self._engine, annex.policy, annex.resolver)
            )
            if self.sources is not None:
                stack.callback(self.sources.lend(annex.source))
            self._opened = _Opened(annex, crawler)
            try:
                yield
            finally:
                self._opened = None

    def crawler_for(self, url: str | Url) -> Crawler | None:
        """Return the annex's crawler if a URL names a host of it."""
        if self._opened is None:
            return None
        try:
            host = (parse_url(url) if isinstance(url, str) else url).host
        except InvalidUrl:
            return None
        return (
            self._opened.crawler if host.endswith(self._opened.annex.ending) else None
        )

    def mail_servers_for(self, domain: str) -> MailServers | None:
        """Return who knows about mail if a domain is of the annex."""
        if self._opened is None or not domain.endswith(self._opened.annex.ending):
            return None
        return self._opened.annex.mail_servers


class AnnexedCrawler(Crawler):
    """The crawler of the real world, which sends annex's URLs to the annex's."""

    def __init__(self, annexes: Annexes, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **options)
        self._annexes = annexes

    @override
    async def fetch(self, url: str | Url, **options: Any) -> Fetched:
        """Fetch a URL in the world it belongs to."""
        crawler = self._annexes.crawler_for(url)
        if crawler is None:
            return await super().fetch(url, **options)
        return await crawler.fetch(url, **options)

    @override
    async def robots(self, url: str | Url) -> RobotsVerdict:
        """Return what robots.txt says about a URL in the world it belongs to."""
        crawler = self._annexes.crawler_for(url)
        return await (crawler.robots(url) if crawler else super().robots(url))


class AnnexedMailServers:
    """Asks the DNS of the world that a domain belongs to."""

    def __init__(self, annexes: Annexes, real: MailServers) -> None:
        self._annexes = annexes
        self._real = real

    async def lookup(self, domain: str) -> MailServersFound:
        """Return who takes mail for a domain."""
        servers = self._annexes.mail_servers_for(domain) or self._real
        return await servers.lookup(domain)


@asynccontextmanager
async def open_crawler(
    engine: AsyncEngine,
    policy: CrawlerPolicy,
    resolver: Resolver | None,
    annexes: Annexes | None = None,
) -> AsyncIterator[Crawler]:
    """Open a crawler whose manners all processes share."""
    longest = policy.limits.total + HANDOVER
    async with PostgresLedger(
        engine, delay=policy.host_delay, longest_request=longest, lease=1.4 * longest
    ) as ledger:
        crawler = (
            Crawler(policy, ledger, resolver=resolver)
            if annexes is None
            else AnnexedCrawler(annexes, policy, ledger, resolver=resolver)
        )
        async with crawler:
            yield crawler
