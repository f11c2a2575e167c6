"""The town, open for visitors."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from datetime import timedelta
from typing import Final

from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.demo.business import SiteKind
from scrapersky.demo.log import RequestLog
from scrapersky.demo.nameserver import running_nameserver
from scrapersky.demo.plan import TownPlan, plan_town
from scrapersky.demo.register import JSON, Register
from scrapersky.demo.resolver import (
    ARCHIVE_HOST,
    LOOPBACK,
    TownResolver,
    demo_policy,
    town_resolver,
)
from scrapersky.demo.server import Ask, Stream, TownServer
from scrapersky.demo.sites.render import render_site
from scrapersky.demo.sites.reply import TEXT, XML, Reply, Site
from scrapersky.demo.sites.sitemap import big_url_set
from scrapersky.demo.source import DemoSource
from scrapersky.demo.truth import Truth, truth_of

DEFAULT_SIZE: Final = 300
DEFAULT_DELAY: Final = timedelta(milliseconds=50)
USER_AGENT: Final = "ScraperSky-demo"
VISITS: Final = "/visits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """All that another process needs to visit a town or to know its truth."""

    port: int
    dns_port: int
    """Where, on loopback, the town's DNS says who takes mail."""
    size: int = DEFAULT_SIZE
    seed: int = 1
    trouble: bool = True
    impostors: bool = False

    @property
    def plan(self) -> TownPlan:
        """The town that is visited."""
        return plan_town(
            self.size,
            seed=self.seed,
            trouble=self.trouble,
            impostors=self.impostors,
        )

    @property
    def truth(self) -> Truth:
        """What is true in it."""
        return truth_of(self.plan)

    @property
    def resolver(self) -> TownResolver:
        """Its name service."""
        return town_resolver(self.plan)

    @property
    def address(self) -> str:
        """Where its server is, for `curl -x` and for the source of places."""
        return f"http://{LOOPBACK}:{self.port}"

    def policy(self, *, host_delay: timedelta = DEFAULT_DELAY) -> CrawlerPolicy:
        """Return the rules for a crawler that may visit it."""
        return demo_policy(self.port, host_delay=host_delay)

    def source(self) -> DemoSource:
        """Return its source of places; close it after use."""
        return DemoSource(self.address, user_agent=USER_AGENT)


@dataclass(frozen=True, slots=True)
class Town:
    """A running town: how to visit it, what is true in it, and who came."""

    invitation: Invitation
    plan: TownPlan
    truth: Truth
    resolver: TownResolver
    policy: CrawlerPolicy
    source: DemoSource
    log: RequestLog

    @staticmethod
    @asynccontextmanager
    async def open(
        *,
        size: int = DEFAULT_SIZE,
        seed: int = 1,
        trouble: bool = True,
        impostors: bool = False,
        archive: int = 0,
        host_delay: timedelta = DEFAULT_DELAY,
        port: int = 0,
    ) -> AsyncIterator["Town"]:
        """Build a town and serve it on loopback until the block ends.

        `archive` is how many URLs the sitemap of the town's archive names; 0 leaves
        the archive out. Without `trouble` no site makes its readers wait. `impostors`
        are websites that pass for businesses which have none.
        """
        plan = plan_town(size, seed=seed, trouble=trouble, impostors=impostors)
        resolver = town_resolver(plan)
        async with (
            town_server(plan, archive).running(port) as server,
            running_nameserver(plan, resolver.addresses) as dns_port,
        ):
            invited = Invitation(
                port=server.port,
                dns_port=dns_port,
                size=size,
                seed=seed,
                trouble=trouble,
                impostors=impostors,
            )
            async with invited.source() as source:
                yield Town(
                    invited,
                    plan,
                    truth_of(plan),
                    resolver,
                    invited.policy(host_delay=host_delay),
                    source,
                    server.log,
                )


def town_server(plan: TownPlan, archive: int) -> TownServer:
    """Make the server of a town; it does not run yet."""
    register = Register(plan)

    def ask_town(ask: Ask) -> Reply | Stream | None:
        if ask.host == LOOPBACK and ask.path == VISITS:
            return visits_answer(server.log)
        if ask.host == LOOPBACK:
            return register.answer(ask.path, ask.query)
        if ask.host == ARCHIVE_HOST:
            return archive_answer(ask.path, archive)
        return None

    server = TownServer(lambda host: find_site(plan, host), ask_town)
    return server


def visits_answer(log: RequestLog) -> Reply:
    """Answer who was visited how, for those in other processes."""
    return Reply(json.dumps([astuple(r) for r in log.records()]).encode(), JSON)


def find_site(plan: TownPlan, host: str) -> tuple[str, Site | str] | None:
    """Return a host's domain and its site, or the host the site lives at."""
    domain = host.removeprefix("www.")
    owners = plan.owners.get(domain)
    if not owners or owners[0].kind is SiteKind.NO_SUCH_NAME:
        return None
    home = owners[0].host
    if home is not None and host != home:
        return domain, home
    return domain, render_site(owners)


def archive_answer(path: str, urls: int) -> Reply | Stream | None:
    """Answer for the archive: a sitemap of any length, written while it is sent."""
    if not urls:
        return None
    origin = f"http://{ARCHIVE_HOST}"
    match path:
        case "/robots.txt":
            text = f"User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n"
            return Reply(text.encode(), TEXT)
        case "/sitemap.xml":
            return Stream(big_url_set(origin, urls), XML)
        case _:
            return Reply(b"<!DOCTYPE html><title>Town archive</title><h1>Archive</h1>")
