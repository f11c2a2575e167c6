"""One house a module: the application is started once, tests bring their own people."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.api.gateway.held import watch_connections
from tests.api.gateway.rig import House, a_house
from tests.conftest import TestDatabase, TestServer, a_database


@pytest.fixture(scope="module")
def module_database(
    postgres_server: TestServer, template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def started(module_database: TestDatabase) -> AsyncIterator[House]:
    """The house; whatever a module asks of it, no request held two connections."""
    async with a_house(module_database) as house:
        held = watch_connections(house.app)
        yield house
    assert held.most == 1, held.where


@pytest_asyncio.fixture(loop_scope="module")
async def house(started: House) -> House:
    started.fresh()
    return started
