"""The town, open for visitors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Address
from typing import Final

from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.demo.business import SiteKind
from scrapersky.demo.log import RequestLog
from scrapersky.demo.plan import TownPlan, plan_town
from scrapersky.demo.register import Register
from scrapersky.demo.resolver import (
    ARCHIVE_HOST,
    TownResolver,
    demo_policy,
    town_resolver,
)
from scrapersky.demo.server import LOOPBACK, Ask, Stream, TownServer
from scrapersky.demo.sites.render import render_site
from scrapersky.demo.sites.reply import TEXT, XML, Reply, Site
from scrapersky.demo.sites.sitemap import big_url_set
from scrapersky.demo.source import DemoSource
from scrapersky.demo.truth import Truth, truth_of

DEFAULT_SIZE: Final = 300
DEFAULT_DELAY: Final = timedelta(milliseconds=50)
USER_AGENT: Final = "ScraperSky-demo"


@dataclass(frozen=True, slots=True)
class Town:
    """A running town: where it is, how to visit it, and what is true in it."""

    plan: TownPlan
    truth: Truth
    resolver: TownResolver
    policy: CrawlerPolicy
    source: DemoSource
    server: TownServer

    @property
    def log(self) -> RequestLog:
        """Every request the town was asked."""
        return self.server.log

    @property
    def address(self) -> str:
        """Where the town's server is, for `curl -x` and for the source of places."""
        return f"http://{LOOPBACK}:{self.server.port}"

    @staticmethod
    @asynccontextmanager
    async def open(
        *,
        size: int = DEFAULT_SIZE,
        seed: int = 1,
        trouble: bool = True,
        archive: int = 0,
        host_delay: timedelta = DEFAULT_DELAY,
    ) -> AsyncIterator["Town"]:
        """Build a town and serve it until the block ends.

        `archive` is how many URLs the sitemap of the town's archive names; 0 leaves
        the archive out. Without `trouble` no site makes its readers wait.
        """
        plan = plan_town(size, seed=seed, trouble=trouble)
        register = Register(plan)

        def ask_town(ask: Ask) -> Reply | Stream | None:
            if ask.host == LOOPBACK:
                return register.answer(ask.path, ask.query)
            if ask.host == ARCHIVE_HOST:
                return archive_answer(ask.path, archive)
            return None

        server = TownServer(lambda host: find_site(plan, host), ask_town)
        async with (
            server.running(),
            DemoSource(
                f"http://{LOOPBACK}:{server.port}", user_agent=USER_AGENT
            ) as source,
        ):
            yield Town(
                plan,
                truth_of(plan),
                town_resolver(plan),
                demo_policy(IPv4Address(LOOPBACK), server.port, host_delay=host_delay),
                source,
                server,
            )


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
