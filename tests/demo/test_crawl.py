"""Crawler and extraction together, without the pipeline: the town is read politely."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.discovery import page_links, sitemap_candidates
from contact_extraction.errors import BadSitemap
from contact_extraction.html import parse_page
from contact_extraction.page_type import rate_page
from contact_extraction.sitemap import parse_sitemap
from scrapersky.crawler.fetch import Crawler
from scrapersky.crawler.hosts import MemoryLedger
from scrapersky.crawler.result import FetchResult
from scrapersky.demo.services import TownResolver, town_policy
from scrapersky.errors import FetchError, HostBackoff, HostPaused
from simulated_town.town import Town
from simulated_town.truth import FactKind, SiteFact

DELAY = timedelta(milliseconds=50)
TRIES = 3
LIKELY = 0.5


class Reader:
    """Reads one site after the other, as the stages do, in the plainest way."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.found: list[SiteFact] = []

    async def read(self, domain: str) -> None:
        home = await self._get(f"http://{domain}/")
        if home is None or home.url.site != domain:
            return
        for url in await self._pages(domain, home):
            rating = rate_page(url)
            if rating.filtered is None and rating.score >= LIKELY:
                await self._read_page(domain, url)

    async def _pages(self, domain: str, home: FetchResult) -> set[str]:
        base, page = str(home.url), parse_page(home.body)
        robots = await self._get(f"{base}robots.txt")
        text = robots.body.decode("latin-1") if robots else ""
        waiting = [c.url for c in sitemap_candidates(base, robots=text, page=page)]
        urls = {base, *(link.url for link in page_links(page, base))}
        seen: set[str] = set()
        while waiting:
            url = waiting.pop()
            fetched = None if url in seen else await self._get(url)
            seen.add(url)
            if fetched is None:
                continue
            try:
                sitemap = parse_sitemap(fetched.body, url=url, site=domain)
            except BadSitemap:
                continue
            urls |= {entry.url for entry in sitemap.entries}
            waiting += [child.url for child in sitemap.sitemaps]
        return urls

    async def _read_page(self, domain: str, url: str) -> None:
        if (fetched := await self._get(url)) is None:
            return
        contacts = find_contacts(fetched.body, url)
        self.found += [
            *(SiteFact(domain, FactKind.EMAIL, e.address) for e in contacts.emails),
            *(SiteFact(domain, FactKind.PHONE, p.e164) for p in contacts.phones),
        ]

    async def _get(self, url: str) -> FetchResult | None:
        for _ in range(TRIES):
            try:
                fetched = await self._crawler.fetch(url)
            except (HostBackoff, HostPaused):
                await asyncio.sleep(2.1)
            except FetchError:
                return None
            else:
                if fetched.status == 200:
                    return fetched
                if fetched.status < 500:
                    return None
        return None


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    async with Town.open(size=300) as town:
        yield town


@pytest.mark.long
async def test_a_polite_reader_finds_the_truth_and_nothing_else(town: Town) -> None:
    ledger = MemoryLedger(lambda: datetime.now(UTC))
    async with Crawler(
        town_policy(town.endpoint.port, host_delay=DELAY),
        ledger,
        resolver=TownResolver(town.addresses),
        listeners=(),
    ) as crawler:
        reader = Reader(crawler)
        await asyncio.gather(*(reader.read(domain) for domain in town.plan.domains))

    kinds = (FactKind.EMAIL, FactKind.PHONE)
    comparison = town.truth.compare(reader.found, kinds)
    assert [score.wrong for score in comparison.scores] == [(), ()]
    assert min(score.share for score in comparison.scores) >= 0.99
    records = town.log.records()
    gaps = [r.shortest_gap for r in records if r.shortest_gap is not None]
    assert sum(record.overlaps for record in records) == 0
    # The server sees a request a little before the client has counted its answer.
    assert min(gaps) >= 0.9 * DELAY.total_seconds()
