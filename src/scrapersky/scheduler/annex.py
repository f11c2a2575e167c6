"""An annex: a small world of its own beside the real one, for names of one ending.

The demo town can be visited while everything else goes on as it does. It has a crawler
of its own, with its own rules and its own name service, and which crawler a URL gets
is decided once, by its ending, before anything is resolved. Neither follows a redirect
into the other's world: the real one's guard, resolver and proxy stay as they were, and
the annex's know no name but their own.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from curation_sdk import AnyStage, Later, Outcome
from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    Fetched,
    Resolver,
    RobotsVerdict,
)
from scrapersky.errors import AlreadyRunning, HostBusy, InvalidUrl
from scrapersky.kit.urls import Url, parse_url
from scrapersky.pipeline.mail_server import MailServers, MailServersFound
from scrapersky.politeness import PostgresLedger
from scrapersky.providers.registry import Sources
from scrapersky.providers.source import PlaceSource

ENDING: Final = ".bv"
"""What every name of an annex ends in; nobody can register such a name."""
SOURCE: Final = "demo"
"""What the source of places of an annex is called."""
PRESENCE: Final = f"annex:{ENDING}"
"""The turn that the process with the annex holds for as long as it has one."""
AT_ONCE = timedelta(seconds=0.2)
COME_BACK = timedelta(seconds=2)
LOOK_EVERY = 1.0
FOR_OTHERS = timedelta(seconds=3)
"""How long a fetch keeps its place while another process is at the host."""
HANDOVER = timedelta(seconds=2)
"""What a request may take beyond its own limit until everyone knows that it is over."""


@dataclass(frozen=True, slots=True)
class Annex:
    """What the small world is made of."""

    policy: CrawlerPolicy
    resolver: Resolver
    mail_servers: MailServers
    source: PlaceSource


@dataclass(frozen=True, slots=True)
class _Opened:
    annex: Annex
    crawler: Crawler


class Annexes:
    """The annex of this process, while it has one; one process at a time may.

    What belongs to it is worked there. Other processes that share the database see
    that somebody has it, and leave its items to that one.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.sources: Sources | None = None
        self._engine = engine
        self._opened: _Opened | None = None
        self._elsewhere = False
        self._looked_at = -LOOK_EVERY

    @asynccontextmanager
    async def open(self, annex: Annex) -> AsyncIterator[None]:
        """Let the stages visit an annex until the block ends; one at a time."""
        if self._opened is not None:
            raise AlreadyRunning("There is an annex already.")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._presence())
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
        if self._opened is None or not is_inside(url):
            return None
        return self._opened.crawler

    def mail_servers_for(self, domain: str) -> MailServers | None:
        """Return who knows about mail if a domain is of the annex."""
        if self._opened is None or not domain.endswith(ENDING):
            return None
        return self._opened.annex.mail_servers

    def aware(self, stage: AnyStage) -> AnyStage:
        """Return a stage that leaves the items of another process's annex to that one."""
        work = stage.work

        async def leave_or_work(item: Any, tools: Any) -> Outcome:  # noqa: ANN401
            if belongs(item) and await self._is_elsewhere():
                return Later("the demo town is open in another process", COME_BACK)
            return await work(item, tools)

        return stage.configured(work=leave_or_work)

    async def _is_elsewhere(self) -> bool:
        if self._opened is not None:
            return False
        if time.monotonic() - self._looked_at > LOOK_EVERY:
            self._looked_at = time.monotonic()
            with suppress(SQLAlchemyError, OSError):
                self._elsewhere = await presence_ledger(self._engine).is_held(PRESENCE)
        return self._elsewhere

    @asynccontextmanager
    async def _presence(self) -> AsyncIterator[None]:
        """Be the one process that has an annex; raise AlreadyRunning if another is."""
        async with presence_ledger(self._engine) as ledger:
            try:
                await ledger.acquire(PRESENCE, url=ENDING, timeout=AT_ONCE)
            except HostBusy as error:
                raise AlreadyRunning(
                    "The demo town is open in another process of this system.",
                    hint="Use it there, or stop that process first.",
                ) from error
            try:
                yield
            finally:
                ledger.release(PRESENCE, delay=timedelta())


def presence_ledger(engine: AsyncEngine) -> PostgresLedger:
    """Make the ledger that tells who has an annex; a dead one has it for 15 s more."""
    lease, reserve = timedelta(seconds=15), timedelta(seconds=5)
    return PostgresLedger(
        engine, lease=lease, longest_request=reserve, delay=timedelta()
    )


def belongs(item: object) -> bool:
    """Say whether only whoever has the annex can work a record."""
    if getattr(item, "source", None) == SOURCE:
        return True
    named = (getattr(item, name, None) for name in ("domain", "email"))
    url = getattr(item, "url", None)
    return any(isinstance(text, str) and text.endswith(ENDING) for text in named) or (
        isinstance(url, str) and is_inside(url)
    )


def is_inside(url: str | Url) -> bool:
    """Say whether a URL names a host of an annex."""
    try:
        return (parse_url(url) if isinstance(url, str) else url).host.endswith(ENDING)
    except InvalidUrl:
        return False


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
        engine,
        delay=policy.host_delay,
        longest_request=longest,
        lease=1.4 * longest,
        for_others=FOR_OTHERS,
    ) as ledger:
        crawler = (
            Crawler(policy, ledger, resolver=resolver)
            if annexes is None
            else AnnexedCrawler(annexes, policy, ledger, resolver=resolver)
        )
        async with crawler:
            yield crawler
