"""One house a module: the application is started once, tests bring their own people."""

import logging
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
import structlog

from tests.api.gateway.held import watch_connections
from tests.api.gateway.rig import House, a_house
from tests.conftest import TestDatabase, TestServer, a_database


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    """Write no line for every request, where there are thousands."""
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING)
    )
    yield
    structlog.configure(wrapper_class=before)


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
    assert held.most <= 1, held.where


@pytest_asyncio.fixture(loop_scope="module")
async def house(started: House) -> House:
    started.fresh()
    return started
