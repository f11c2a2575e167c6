import asyncio
from collections.abc import AsyncIterator
from typing import TypeAlias

import pytest

from scrapersky.demo.business import Business, PageKind
from scrapersky.demo.invent import NOTHING_TO_READ
from scrapersky.demo.plan import TownPlan, plan_town
from scrapersky.demo.sites.dress import page_paths
from scrapersky.demo.town import Town
from tests.demo.visitor import Seen, Visitor

SIZE = 300
Served: TypeAlias = dict[str, dict[PageKind, Seen]]


@pytest.fixture(scope="session")
def plan() -> TownPlan:
    return plan_town(SIZE)


@pytest.fixture(scope="session")
def served(plan: TownPlan) -> Served:
    """Every page of every readable site, fetched once, over sockets."""
    return asyncio.run(fetch_all(plan))


async def fetch_all(plan: TownPlan) -> Served:
    domains = [d for d in plan.domains if plan.owners[d][0].kind not in NOTHING_TO_READ]
    async with Town.open(size=SIZE) as town:
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
async def town() -> AsyncIterator[Town]:
    async with Town.open(size=SIZE, archive=50_000) as town:
        yield town


@pytest.fixture
async def visitor(town: Town) -> AsyncIterator[Visitor]:
    async with Visitor(town.invitation.port) as visitor:
        yield visitor
