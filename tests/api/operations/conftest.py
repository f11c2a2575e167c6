"""One served application a module; a test begins with empty tables."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.api.operations.rig import Served, serving
from tests.conftest import TestDatabase, TestServer, a_database


@pytest.fixture(scope="module")
def module_database(
    postgres_server: TestServer, template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(module_database: TestDatabase) -> AsyncIterator[Served]:
    async with serving(module_database) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def clean(served: Served) -> Served:
    await served.empty()
    return served
