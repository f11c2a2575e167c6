"""What robots.txt asks for over hours and days, by a clock that is moved."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrapersky.crawler import Crawler, CrawlerPolicy, MemoryLedger
from scrapersky.errors import ConfigurationError, RobotsDenied, RobotsUnreachable
from tests.crawler.rig import Site, a_crawler, a_site, answer

AWAY = answer(b"", status="500 Internal Server Error")
OPEN = answer(b"User-agent: *\nAllow: /", kind="text/plain")
SHUT = answer(b"User-agent: *\nDisallow: /private", kind="text/plain")
HOUR = timedelta(hours=1)
MONTH = timedelta(days=30)

Said = dict[str, bytes | Sequence[bytes]]


@dataclass(slots=True)
class Clock:
    """A clock that stands still until a test moves it."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 11, 15, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, by: timedelta) -> None:
        self.moment += by


@asynccontextmanager
async def a_timed_crawler(
    site: Site, clock: Clock, **how: Any
) -> AsyncIterator[Crawler]:
    ledger = MemoryLedger(clock)
    async with a_crawler(site, ledger=ledger, now=clock, **how) as crawler:
        yield crawler


def times_asked(site: Site) -> int:
    return site.paths().count("/robots.txt")


async def test_a_site_without_readable_rules_is_closed_for_an_hour() -> None:
    clock = Clock()
    said: Said = {"/robots.txt": [AWAY, OPEN], "/page": answer()}
    async with a_site(said) as site, a_timed_crawler(site, clock) as crawler:
        with pytest.raises(RobotsUnreachable) as closed:
            await crawler.fetch(site.url("/page"))
        clock.advance(HOUR - timedelta(seconds=1))
        with pytest.raises(RobotsUnreachable):
            await crawler.fetch(site.url("/page"))
        asked_before = times_asked(site)
        clock.advance(timedelta(seconds=1))
        fetched = await crawler.fetch(site.url("/page"))

    assert closed.value.retry_after == HOUR
    assert (asked_before, times_asked(site)) == (1, 2)
    assert fetched.status == 200
    assert site.paths().count("/page") == 1


async def test_rules_that_change_are_obeyed_when_the_old_ones_have_aged() -> None:
    clock = Clock()
    said: Said = {"/robots.txt": [OPEN, SHUT], "/private": answer()}
    async with a_site(said) as site, a_timed_crawler(site, clock) as crawler:
        await crawler.fetch(site.url("/private"))
        clock.advance(HOUR - timedelta(seconds=1))
        await crawler.fetch(site.url("/private"))
        asked_before = times_asked(site)
        clock.advance(timedelta(seconds=1))
        with pytest.raises(RobotsDenied):
            await crawler.fetch(site.url("/private"))

    assert (asked_before, times_asked(site)) == (1, 2)
    assert site.paths().count("/private") == 2


async def closed_for(
    crawler: Crawler, site: Site, clock: Clock, length: timedelta
) -> None:
    """Try every six hours, as the queue does, and be refused each time."""
    for _ in range(length // timedelta(hours=6)):
        with pytest.raises(RobotsUnreachable):
            await crawler.fetch(site.url("/page"))
        clock.advance(timedelta(hours=6))


async def test_an_operators_timeout_ends_after_thirty_days_and_not_before() -> None:
    clock = Clock()
    said: Said = {"/robots.txt": AWAY, "/page": answer()}
    async with (
        a_site(said) as site,
        a_timed_crawler(site, clock, robots_absence=MONTH) as crawler,
    ):
        await closed_for(crawler, site, clock, MONTH)
        fetched = await crawler.fetch(site.url("/page"))

    assert fetched.status == 200
    assert fetched.robots.allowed
    assert fetched.robots.rule == "the server answered 500"


async def test_without_the_operators_word_a_site_stays_closed() -> None:
    clock = Clock()
    async with (
        a_site({"/robots.txt": AWAY, "/page": answer()}) as site,
        a_timed_crawler(site, clock) as crawler,
    ):
        await closed_for(crawler, site, clock, 3 * MONTH)

    assert "/page" not in site.paths()


async def test_rules_read_in_between_begin_the_timeout_anew() -> None:
    clock = Clock()
    said: Said = {"/robots.txt": [AWAY, OPEN, AWAY], "/page": answer()}
    async with (
        a_site(said) as site,
        a_timed_crawler(site, clock, robots_absence=MONTH) as crawler,
    ):
        with pytest.raises(RobotsUnreachable):
            await crawler.fetch(site.url("/page"))
        clock.advance(timedelta(days=20))
        await crawler.fetch(site.url("/page"))
        clock.advance(timedelta(days=1))
        await closed_for(crawler, site, clock, timedelta(days=29))


def test_nobody_can_wait_less_than_thirty_days() -> None:
    with pytest.raises(ConfigurationError, match="30 days"):
        CrawlerPolicy(robots_absence=timedelta(days=29))
