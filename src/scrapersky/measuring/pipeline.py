"""Serve sites on loopback and run the real pipeline over them, as a user starts it.

Domains are submitted and the rules of a new tenant choose; nobody selects anything.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.contact_page import read_contact_page
from contact_extraction.measuring.corpus import TrueSite
from contact_extraction.measuring.outcome import Measurement, Outcome
from scrapersky.configuration import load_settings
from scrapersky.curation.batch import submit
from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.demo.services import TownResolver, town_policy
from scrapersky.measuring.outcome import read_outcomes
from scrapersky.measuring.site_files import PLAIN_HTML, site_of
from scrapersky.records.audit import Actor
from scrapersky.records.status import (
    DomainStatus,
    PageProcessingStatus,
    SitemapAnalysisStatus,
    SitemapImportStatus,
)
from scrapersky.scheduler.app import work
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.settings import SYSTEM_USER_ID
from simulated_town.addresses import number_hosts
from simulated_town.server import TownRequest, TownServer
from simulated_town.sites.reply import Reply, Site

POLL_SECONDS: Final = 0.25
CALM_POLLS: Final = 4
"""Looks in a row that must find nothing to do."""
HOST_DELAY: Final = timedelta(milliseconds=20)
PAGES_TIMED: Final = 400
TUNNEL: Final = "CONNECT"
"""Asked for by every https address; the server speaks no TLS, and the site sees nothing."""
OPEN: Final = f"""
SELECT (SELECT count(*) FROM domains
     WHERE status IN ('{DomainStatus.PENDING}', '{DomainStatus.PROCESSING}')
     OR sitemap_analysis_status IN ('{SitemapAnalysisStatus.QUEUED}',
       '{SitemapAnalysisStatus.PROCESSING}'))
  + (SELECT count(*) FROM sitemap_files
     WHERE sitemap_import_status IN ('{SitemapImportStatus.QUEUED}',
       '{SitemapImportStatus.PROCESSING}'))
  + (SELECT count(*) FROM pages
     WHERE page_processing_status IN ('{PageProcessingStatus.QUEUED}',
       '{PageProcessingStatus.PROCESSING}'))
"""  # noqa: S608 - our own labels


@dataclass(frozen=True, slots=True)
class SiteServer:
    """The sites, ready to be served."""

    sites: Mapping[str, Site]
    """By host."""

    def find(self, host: str) -> tuple[str, Site] | None:
        """Return the site at a host, with or without www."""
        bare = host.removeprefix("www.")
        return (bare, self.sites[bare]) if bare in self.sites else None

    def resolver(self) -> TownResolver:
        """Give every site an address of its own."""
        return TownResolver(number_hosts(self.sites))


def measure(sites: Sequence[TrueSite], *, timeout: float = 900.0) -> Measurement:
    """Run the pipeline over some sites; give up after `timeout` seconds."""
    street = SiteServer({site.host: site_of(site) for site in sites})
    with a_database() as target:
        return asyncio.run(run_pipeline(sites, street, target, timeout))


@contextmanager
def a_database() -> Iterator[Target]:
    """Run a throw-away PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="scrapersky-sites-") as home:
        Path(home).chmod(0o755)
        with EmbeddedPostgres(Path(home) / "pg") as server:
            yield parse_target(server.url, pooler=False)


async def run_pipeline(
    sites: Sequence[TrueSite], street: SiteServer, target: Target, timeout: float
) -> Measurement:
    """Submit every domain, wait until nothing is left to do, read what is stored."""
    server = TownServer(street.find, no_town)
    # Without a browser unless one is named: what it adds can be measured.
    browser = os.environ.get("CRAWLER_RENDER_BROWSER", "off")
    given = {
        "SCRAPERSKY_DATA_DIR": "/nonexistent",
        "CRAWLER_RENDER_BROWSER": browser,
    }
    settings = load_settings(given, dotenv=None)
    engine = connect(target, name="desk", pool_size=3)
    try:
        await upgrade(engine)
        async with server.running(0):
            services = ExternalServices(
                policy=town_policy(server.port, host_delay=HOST_DELAY),
                resolver=street.resolver(),
                sources={},
            )
            started = time.monotonic()
            async with work(settings.settings, target, services=services):
                await submit_all(engine, sites)
                is_finished = await work_is_over(engine, timeout)
            seconds = time.monotonic() - started
        async with engine.connect() as connection:
            outcomes = await read_outcomes(connection)
    finally:
        await engine.dispose()
    for site in sites:
        visits = server.log.sites.get(site.host, ())
        found = outcomes.setdefault(site.domain, Outcome(site.domain))
        found.asked = [
            f"{visit.status} {visit.path}" for visit in visits if visit.method != TUNNEL
        ]
    read = [
        (page.url, reply)
        for site in sites
        for page in outcomes[site.domain].pages
        if page.is_read and (reply := page_at(street, page.url)) is not None
    ]
    return Measurement(outcomes, seconds, cpu_ms(read), is_finished)


def no_town(_ask: TownRequest) -> Reply | None:
    """Answer nothing but the sites."""
    return None


async def submit_all(engine: AsyncEngine, sites: Sequence[TrueSite]) -> None:
    """Submit every domain in one batch, as a person does."""
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    actor = Actor(UUID(str(tenant)), SYSTEM_USER_ID, "measuring")
    await submit(engine, actor, "domains", [site.host for site in sites])


async def work_is_over(engine: AsyncEngine, timeout: float) -> bool:
    """Wait until nothing is left to do; False if that took too long."""
    calm, deadline = 0, time.monotonic() + timeout
    while time.monotonic() < deadline:
        async with engine.connect() as connection:
            left = int(await connection.scalar(text(OPEN)) or 0)
        calm = calm + 1 if left == 0 else 0
        if calm >= CALM_POLLS:
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


def page_at(street: SiteServer, url: str) -> Reply | None:
    """Return what a site answers at an address, if it is a page."""
    host, _, path = url.partition("://")[2].partition("/")
    found = street.find(host)
    if found is None:
        return None
    path = f"/{path.partition('?')[0]}"
    reply = found[1].replies.get(path) or found[1].invent(path)
    return reply if reply is not None and reply.type == PLAIN_HTML else None


def cpu_ms(pages: Sequence[tuple[str, Reply]]) -> float | None:
    """Read pages once more in this process; return the median CPU time of one."""
    step = max(1, len(pages) // PAGES_TIMED)
    times = []
    for url, reply in pages[::step]:
        began = time.process_time()
        read_contact_page(reply.body, url, None, None)
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times) if times else None
