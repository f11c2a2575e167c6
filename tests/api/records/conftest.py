"""One started application a module, its stages at rest; a tenant's data made per test."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from tests.api.records.rig import AT_REST, Desk
from tests.conftest import TestDatabase, TestServer, a_database


@pytest.fixture(scope="module")
def module_database(
    postgres_server: TestServer, template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(module_database: TestDatabase) -> AsyncIterator[Desk]:
    target = parse_target(module_database.url)
    app = create_app(load_settings(AT_REST, dotenv=None).settings, target)
    engine = connect(target)
    transport = httpx.ASGITransport(
        app, raise_app_exceptions=False, client=("127.0.0.1", 40000)
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        yield await Desk.open(engine, client, app)
    await engine.dispose()


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def clean(desk: Desk) -> None:
    await desk.empty()
