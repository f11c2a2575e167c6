"""People's data after the database was away."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import event

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db import transaction as db_transaction
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import ROLE
from scrapersky.scheduler.app import serve
from sdk_tests.rig.proxy import fault_proxy
from tests.api.records.rig import AT_REST, Desk
from tests.conftest import TestDatabase, TestServer

ADA = "ada@a.bv"


@asynccontextmanager
async def serving(url: str, database: TestDatabase) -> AsyncIterator[Desk]:
    """An API of its own: its connections are killed."""
    settings = load_settings(AT_REST, dotenv=None).settings
    app = create_app(settings, parse_target(url), process=serve)
    engine = connect(parse_target(database.url))
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 40000))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        yield await Desk.open(engine, client, app)
    await engine.dispose()


@pytest_asyncio.fixture
async def served(database: TestDatabase) -> AsyncIterator[Desk]:
    async with serving(database.url, database) as desk:
        yield desk


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/people/erase", {"email": ADA}),
        ("/people/export", {"email": ADA}),
        ("/suppressions", {"values": [ADA]}),
    ],
)
@pytest.mark.slow
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


@pytest.mark.parametrize(
    "statement",
    [12, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 4, 30))],
)
async def test_an_erasure_was_left_half_done_when_the_database_went_away(
    served: Desk,
    database: TestDatabase,
    postgres_server: TestServer,
    statement: int,
) -> None:
    contact = await served.add_contact(ADA, notes=f"ask {ADA}")
    await served.add_contact("bob@a.bv", notes=f"knows {ADA}")
    counted = itertools.count(1)

    def end_at(*_: object) -> None:
        if next(counted) == statement:
            postgres_server.end_sessions(database.name)

    engine = served.app.state.system_engine.sync_engine
    event.listen(engine, "before_cursor_execute", end_at)
    answer = await served.client.post("/api/v3/people/erase", json={"email": ADA})

    left = await served.run("SELECT id, notes FROM contacts")
    assert next(counted) > statement
    assert answer.status_code == 200, answer.text
    assert contact not in {row.id for row in left}
    assert [ADA in row.notes for row in left] == [False]


async def test_whoever_asked_for_an_erasure_in_an_outage_is_told_to_ask_again(
    served: Desk, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_transaction, "RECONNECT_PAUSES_SECONDS", (0.01,))
    await served.add_contact(ADA)
    refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
    await served.run(
        f"{refuse} $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '57P03'; END $$"
    )
    await served.run(
        "CREATE TRIGGER refuse BEFORE INSERT ON audit_log EXECUTE FUNCTION refuse()"
    )

    refused = await served.client.post("/api/v3/people/erase", json={"email": ADA})
    await served.run("DROP FUNCTION refuse CASCADE")
    again = await served.client.post("/api/v3/people/erase", json={"email": ADA})

    assert refused.status_code == 503
    assert refused.json()["type"].endswith("/erasure-unfinished")
    assert "Send it again" in refused.json()["hint"]
    assert again.status_code == 200
    assert await served.scalar("SELECT count(*) FROM contacts") == 0


async def test_an_erasure_with_a_key_crashed_where_the_database_stayed_away(
    database: TestDatabase,
    postgres_server: TestServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(db_transaction, "RECONNECT_PAUSES_SECONDS", (0.01,))
    place = f"{postgres_server.socket_dir}/.s.PGSQL.{postgres_server.port}"
    asked: Any = {"json": {"email": ADA}, "headers": {"Idempotency-Key": "once"}}
    async with fault_proxy(socket=place) as proxy:
        url = f"postgresql://{ROLE}@127.0.0.1:{proxy.port}/{database.name}"
        async with serving(url, database) as desk:
            await desk.add_contact(ADA)

            def cut_off(_: object, __: object, statement: str, *___: object) -> None:
                if "INSERT INTO suppressions" in statement:
                    proxy.refusing = True
                    for link in list(proxy.links):
                        link.cut()

            engine = desk.app.state.system_engine.sync_engine
            event.listen(engine, "before_cursor_execute", cut_off)
            refused = await desk.client.post("/api/v3/people/erase", **asked)
            event.remove(engine, "before_cursor_execute", cut_off)
            proxy.refusing = False
            await desk.run("UPDATE idempotency_keys SET held_until = now()")
            again = await desk.client.post("/api/v3/people/erase", **asked)
            left = await desk.scalar("SELECT count(*) FROM contacts")

    assert refused.status_code == 503
    assert refused.json()["type"].endswith("/erasure-unfinished")
    assert again.status_code == 200, again.text
    assert left == 0
