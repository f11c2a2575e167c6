from collections.abc import AsyncIterator

import pytest

from scrapersky.demo.plan import TownPlan, plan_town
from scrapersky.demo.town import Town
from tests.demo.visitor import Visitor

SIZE = 300


@pytest.fixture(scope="session")
def plan() -> TownPlan:
    return plan_town(SIZE)


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    async with Town.open(size=SIZE, archive=50_000) as town:
        yield town


@pytest.fixture
async def visitor(town: Town) -> AsyncIterator[Visitor]:
    async with Visitor(town) as visitor:
        yield visitor
