"""People's data after the database was away."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.records.process import ProcessRole
from tests.api.records.rig import AT_REST, Desk
from tests.conftest import TestDatabase, TestServer

ADA = "ada@a.bv"


@pytest_asyncio.fixture
async def served(database: TestDatabase) -> AsyncIterator[Desk]:
    """An API of its own: its connections are killed."""
    target = parse_target(database.url)
    settings = load_settings(AT_REST, dotenv=None).settings
    app = create_app(settings, target, role=ProcessRole.SERVE)
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


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/people/erase", {"email": ADA}),
        ("/people/export", {"email": ADA}),
        ("/suppressions", {"values": [ADA]}),
    ],
)
async def test_an_erasure_got_503_ten_minutes_after_the_database_was_back(
    served: Desk,
    database: TestDatabase,
    postgres_server: TestServer,
    path: str,
    body: dict[str, object],
) -> None:
    await served.add_contact(ADA)
    await asyncio.gather(*(served.get("/contacts") for _ in range(4)))
    await asyncio.gather(
        *(served.post("/people/export", {"email": ADA}) for _ in range(3))
    )

    postgres_server.end_sessions(database.name)
    answer = await served.client.post(f"/api/v3{path}", json=body)

    assert answer.status_code in {200, 201}, answer.text
