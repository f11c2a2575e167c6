import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from simulated_town.plan import TownPlan, plan_town
from simulated_town.town import Town
from town_tests.rig import READ, SIZE, Served, fetch_all
from town_tests.visitor import Visitor


@pytest.fixture(scope="session")
def plan() -> TownPlan:
    return plan_town(SIZE)


@pytest.fixture(scope="session")
def served() -> Served:
    return asyncio.run(fetch_all(plan_town(READ)))


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
    async with Visitor(town.endpoint.port) as visitor:
        yield visitor
