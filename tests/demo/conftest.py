import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import pytest

from scrapersky.demo.business import Business, PageKind
from scrapersky.demo.invent import NOTHING_TO_READ
from scrapersky.demo.plan import TownPlan, plan_town
from scrapersky.demo.sites.dress import page_paths
from scrapersky.demo.town import Town
from sdk_tests.rig.size import size
from tests.demo.visitor import Seen, Visitor

SIZE = 300
READ = size(120, 300)
"""Of how many businesses every page is read: some of each kind there is to read."""
Served: TypeAlias = dict[str, dict[PageKind, Seen]]


@pytest.fixture(scope="session")
def plan() -> TownPlan:
    return plan_town(SIZE)


@pytest.fixture(scope="session")
def read_plan() -> TownPlan:
    """The part of the town that is read."""
    return plan_town(READ)


@pytest.fixture(scope="session")
def served(read_plan: TownPlan) -> Served:
    """Every page of every readable site, fetched once, over sockets."""
    return asyncio.run(fetch_all(read_plan))


async def fetch_all(plan: TownPlan) -> Served:
    domains = [d for d in plan.domains if plan.owners[d][0].kind not in NOTHING_TO_READ]
    async with Town.open(size=READ) as town:
        read = [read_pages(town, plan.owners[domain][0]) for domain in domains]
        return dict(zip(domains, await asyncio.gather(*read), strict=True))


async def read_pages(town: Town, business: Business) -> dict[PageKind, Seen]:
    pages = {}
    async with Visitor(town.invitation.port) as visitor:
        for kind, path in page_paths(business).items():
            url = f"http://{business.host}{path}"
            seen = await visitor.get(url)
            if seen.status in {429, 500}:
                seen = await visitor.get(url)
            assert seen.status == 200, url
            pages[kind] = seen
    return pages


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[], Town]]:
    """Open a town, and say which only when asked.

    A loop that ends writes down what it returns: a whole town takes long to write.
    """
    async with Town.open(size=SIZE, archive=50_000) as town:
        yield lambda: town


@pytest.fixture
def town(opened: Callable[[], Town]) -> Town:
    return opened()


@pytest.fixture
async def visitor(town: Town) -> AsyncIterator[Visitor]:
    async with Visitor(town.invitation.port) as visitor:
        yield visitor
