"""The demo in a workspace of its own; tests/page/test_story.py walks through the real one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from scrapersky.api.operations import workspace
from scrapersky.api.operations.demo_gateway import COOKIE
from scrapersky.db.connection import parse_target
from scrapersky.records.status import Role
from sdk_tests.rig.waiting import HUNG
from tests.api.operations.rig import Served, new_key
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

STANDING_IN = "tests.api.operations.standing_in"
DATABASES = (
    "SELECT datname FROM pg_database WHERE datname = current_database() || '_demo'"
)

NUMBERS = DATABASES.replace("datname", "oid", 1)


@pytest_asyncio.fixture(loop_scope="module")
async def home(clean: Served, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """Give a system whose demo is only a process that says it is there."""
    monkeypatch.setattr(workspace, "MODULE", STANDING_IN)
    yield clean
    await clean.app.state.operations.demo.close()


async def until(served: Served, field: str) -> dict[str, Any]:
    """Ask how the demo is until something is so."""
    async with asyncio.timeout(HUNG):
        while not (demo := await served.get("/demo"))[field]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return dict(demo)


async def test_the_demo_has_a_database_of_its_own_which_closing_it_drops(
    home: Served,
) -> None:
    before = await home.get("/demo")
    opening = await home.post("/demo", {"size": 12})
    opened = await until(home, "address")
    again = await home.post("/demo", {"size": 20})
    made = await home.run(DATABASES)
    await home.call("DELETE", "/demo", status=204)
    await home.app.state.operations.demo.close()
    after = await home.get("/demo")

    assert (before["is_available"], before["is_opening"]) == (True, False)
    assert (opening["is_opening"], opening["address"]) == (True, None)
    assert (opened["address"], opened["size"]) == ("http://127.0.0.1:9", 12)
    assert (again["is_running"], again["size"]) == (True, 12)
    assert len(made) == 1
    assert (after["is_running"], after["problem"]) == (False, None)
    assert await home.run(DATABASES) == []


async def test_a_town_that_was_just_closed_could_not_be_opened_for_seconds(
    home: Served,
) -> None:
    await home.post("/demo", {"size": 12})
    await until(home, "address")
    for size in (20, 30):
        await home.call("DELETE", "/demo", status=204)
        opening = await home.post("/demo", {"size": size})
        assert opening["is_opening"]
    opened = await until(home, "address")

    assert (opened["is_running"], opened["size"]) == (True, 30)
    assert len(await home.run(DATABASES)) == 1


@pytest.mark.slow
async def test_a_reset_town_is_opened_anew_in_a_fresh_database(home: Served) -> None:
    closed = await home.call("POST", "/demo/reset", status=409)
    await home.post("/demo", {"size": 12})
    first = await until(home, "address")
    (before,) = await home.run(NUMBERS)
    resetting = await home.post("/demo/reset")
    second = await until(home, "address")
    (after,) = await home.run(NUMBERS)
    await home.app.state.operations.demo.close()

    assert "not open" in closed["detail"]
    assert (resetting["is_opening"], resetting["address"]) == (True, None)
    assert second["size"] == 12
    assert second["started_at"] > first["started_at"]
    assert after != before
    assert (await home.get("/demo"))["is_running"] is False
    assert await home.run(DATABASES) == []


async def test_no_stage_crawler_or_source_of_the_product_knows_of_the_town(
    home: Served,
) -> None:
    tools = home.app.state.background.tools
    before = tools.crawler, [*tools.sources], tools.mail_servers
    await home.post("/demo", {"size": 12})
    await until(home, "address")

    assert (tools.crawler, [*tools.sources], tools.mail_servers) == before
    assert "demo" not in tools.sources


async def test_a_demo_that_does_not_start_says_so_and_leaves_nothing(
    home: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MODULE", "scrapersky.no_such_module")
    await home.post("/demo", {"size": 12})
    failed = await until(home, "problem")

    assert failed["problem"] == "The demo has ended by itself."
    assert not failed["is_opening"]
    assert await home.run(DATABASES) == []


async def test_a_demo_that_is_open_in_another_process_is_left_alone(
    home: Served, module_database: TestDatabase
) -> None:
    name = await home.scalar("SELECT current_database() || '_demo'")
    dsn = parse_target(module_database.url).dsn
    base = await asyncpg.connect(dsn)
    await base.execute(f'CREATE DATABASE "{name}"')
    other = await asyncpg.connect(dsn, database=name)
    try:
        await home.post("/demo", {"size": 12})
        refused = await until(home, "problem")
        assert await other.fetchval("SELECT 1") == 1
    finally:
        await other.close()
        await base.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        await base.close()

    assert refused["problem"].startswith("The demo town is open in another process")


async def test_only_who_may_open_the_demo_is_sent_on_to_it(home: Served) -> None:
    closed = await home.call("POST", "/demo/visit", status=409)
    await home.post("/demo", {"size": 12})
    await until(home, "address")
    token = home.app.state.operations.demo.token
    curator = await new_key(home.engine, home.tenant, Role.CURATOR)
    await home.call("POST", "/demo/visit", key=curator, status=404)
    await home.call("POST", "/demo/visit", status=204)
    ours = {"Cookie": f"scrapersky_session=mine; {COOKIE}={token}"}
    theirs = {"Cookie": f"{COOKIE}=guessed"}

    # The one that stands in for the demo answers nothing: that is said, and not by us.
    away = await home.client.get("/api/v3/kinds", headers=ours)
    asked = await home.client.get(
        "/api/v3/demo", headers={"X-API-Key": home.key} | ours
    )
    stranger = await home.client.get(
        "/api/v3/kinds", headers={"X-API-Key": home.key} | theirs
    )
    left = await home.client.delete("/api/v3/demo/visit", headers=ours)

    assert "not open" in closed["detail"]
    assert (away.status_code, asked.json()["is_visited"]) == (503, True)
    assert stranger.status_code == 200
    assert COOKIE in left.headers["set-cookie"]


async def test_only_operators_start_and_close_it(clean: Served) -> None:
    curator = await new_key(clean.engine, clean.tenant, Role.CURATOR)

    for key in (curator, clean.other_key):
        await clean.post("/demo", {}, key=key, status=404)
        await clean.call("DELETE", "/demo", key=key, status=404)
        assert not (await clean.get("/demo", key=key))["is_available"]
    await clean.post("/demo", {"size": 5}, status=422)
