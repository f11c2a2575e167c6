"""How big the town of the tests is, and all of its pages, fetched once."""

import asyncio
import os
from typing import Final, TypeAlias

from simulated_town.business import Business, PageKind
from simulated_town.invent import NOTHING_TO_READ
from simulated_town.plan import TownPlan
from simulated_town.sites.dress import page_paths
from simulated_town.town import Town
from town_tests.visitor import Seen, Visitor

SIZE: Final = 300
READ: Final = SIZE if os.environ.get("TEST_WHOLE_SIZES") else 120
"""Of how many businesses every page is read: some of each kind there is to read."""
Served: TypeAlias = dict[str, dict[PageKind, Seen]]


async def fetch_all(plan: TownPlan) -> Served:
    """Fetch every page of every readable site, over sockets."""
    domains = [d for d in plan.domains if plan.owners[d][0].kind not in NOTHING_TO_READ]
    async with Town.open(size=READ) as town:
        read = [read_pages(town, plan.owners[domain][0]) for domain in domains]
        return dict(zip(domains, await asyncio.gather(*read), strict=True))


async def read_pages(town: Town, business: Business) -> dict[PageKind, Seen]:
    pages = {}
    async with Visitor(town.endpoint.port) as visitor:
        for kind, path in page_paths(business).items():
            url = f"http://{business.host}{path}"
            seen = await visitor.get(url)
            if seen.status in {429, 500}:
                seen = await visitor.get(url)
            assert seen.status == 200, url
            pages[kind] = seen
    return pages
