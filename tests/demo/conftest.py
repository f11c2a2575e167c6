from collections.abc import AsyncIterator, Callable

import pytest

from simulated_town.plan import TownPlan, plan_town
from simulated_town.town import Town
from town_tests.rig import SIZE


@pytest.fixture(scope="session")
def plan() -> TownPlan:
    return plan_town(SIZE)


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[], Town]]:
    """Open a town, and say which only when asked.

    A loop that ends writes down what it returns: a whole town takes long to write.
    """
    async with Town.open(size=SIZE) as town:
        yield lambda: town


@pytest.fixture
def town(opened: Callable[[], Town]) -> Town:
    return opened()
