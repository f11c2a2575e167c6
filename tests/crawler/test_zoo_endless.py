"""Sites without an end are left after a few pages, links followed as they come."""

from collections import deque
from collections.abc import AsyncIterator

import pytest

from scrapersky.crawler import Crawler, SiteBudget
from scrapersky.errors import Trap
from scrapersky.extraction.page_list import list_linked_pages
from scrapersky.kit.urls import Url, parse_url
from tests.zoo.rig import Rig
from tests.zoo.run import make_crawler


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with Rig("loopback", 1.0) as rig:
        yield rig


async def crawl(crawler: Crawler, start: str, *, most: int = 700) -> int:
    """Follow every link the budget admits; return how many pages that were."""
    budget = SiteBudget()
    first = parse_url(start)
    waiting: deque[tuple[Url, int]] = deque([(budget.admit(first), 0)])
    fetched = 0
    while waiting and fetched < most:
        url, hops = waiting.popleft()
        answer = await crawler.fetch(url)
        fetched += 1
        try:
            budget.saw(url, answer.body)
        except Trap:
            continue
        found = list_linked_pages(answer.body, str(url), answer.charset.name)
        for text in found.urls:
            target = parse_url(text)
            if not budget.is_new(target):
                continue
            try:
                waiting.append((budget.admit(target, hops=hops + 1), hops + 1))
            except Trap:
                continue
    return fetched


# /, /contact and /about are linked from every page of the zoo.
@pytest.mark.parametrize(
    ("slug", "most"),
    [
        ("endless-calendar", 53),
        ("endless-session", 13),
        pytest.param("endless-path", 80, marks=pytest.mark.long),
        pytest.param("endless-honeypot", 500, marks=pytest.mark.long),
    ],
)
async def test_a_site_without_end_is_left(rig: Rig, slug: str, most: int) -> None:
    async with make_crawler(rig) as crawler:
        pages = await crawl(crawler, f"{rig.lane.origin(slug)}/")

    assert 2 < pages <= most
