"""The demo town beside the running system: found, read, and nothing else opened."""

import asyncio
from datetime import timedelta

import psutil
import pytest

from scrapersky.errors import BlockedAddress, FetchError, NoSuchHost
from scrapersky.records.status import Role
from scrapersky.scheduler.annex import ENDING, PRESENCE, presence_ledger
from sdk_tests.rig.waiting import HUNG
from tests.api.operations.rig import Served, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTACTS = "SELECT count(*) FROM contacts WHERE tenant_id = :tenant"


async def test_the_town_is_searched_and_read_beside_the_real_world(
    clean: Served,
) -> None:
    await clean.app.state.operations.town.close()
    await clean.run("DELETE FROM hosts")
    before = await clean.get("/demo")
    started = await clean.post("/demo", {"size": 12, "decide": True})
    again = await clean.post("/demo", {"size": 12})
    async with asyncio.timeout(HUNG):
        while not await clean.scalar(CONTACTS, tenant=clean.tenant):  # noqa: ASYNC110
            await asyncio.sleep(0.5)
    crawler = clean.app.state.background.tools.crawler

    # What another test of this module asked for may be noted a moment later.
    assert not await clean.run(
        "SELECT key FROM hosts WHERE key !~ '[.]bv$|[.]invalid$|^127[.]1[6-9]'"
    )
    assert (before["is_available"], before["is_running"]) == (True, False)
    assert started["is_running"]
    assert again["search_id"] == started["search_id"]
    with pytest.raises(NoSuchHost, match="not of this town"):
        await crawler.fetch("http://nobody-lives-here.bv/")
    for closed in ("http://127.16.0.2/", "http://127.0.0.1:8080/", "http://[::1]/"):
        with pytest.raises(BlockedAddress):
            await crawler.fetch(closed)


async def test_no_other_name_leads_into_the_town(clean: Served) -> None:
    await clean.post("/demo", {"size": 12})
    town = clean.app.state.operations.town.running.town
    crawler = clean.app.state.background.tools.crawler

    # The resolver of this machine is asked, and knows no such name.
    for url in ("http://facebook.com.invalid/", "http://harbour.bv.invalid/"):
        with pytest.raises(FetchError):
            await crawler.fetch(url)

    assert all(name.endswith((".bv", "127.0.0.1")) for name in town.log.sites)


def listening() -> set[int]:
    """Return the sockets of this process on which it answers others."""
    mine = psutil.Process().net_connections("inet")
    return {one.laddr.port for one in mine if one.status == psutil.CONN_LISTEN}


async def test_a_town_that_another_process_has_open_is_not_opened_twice(
    clean: Served,
) -> None:
    await clean.app.state.operations.town.close()
    ports = listening()
    async with presence_ledger(clean.engine) as other:
        await other.acquire(PRESENCE, url=ENDING, timeout=timedelta(seconds=20))
        refused = await clean.post("/demo", {"size": 12}, status=409)
        left = await clean.get("/demo")
        other.release(PRESENCE, delay=timedelta())
    ports_left = listening()
    opened = await clean.post("/demo", {"size": 12})

    assert ports_left == ports
    assert opened["is_running"]
    assert refused["type"].endswith("already-running")
    assert refused["detail"].startswith("The demo town is open in another process")
    assert refused["hint"] == "Use it there, or stop that process first."
    assert (left["is_running"], left["search_id"]) == (False, None)
    document = clean.app.openapi()["paths"]["/api/v3/demo"]["post"]["responses"]
    assert document["409"]["description"] == (
        "Another process of this system has the town open"
    )
    assert "application/problem+json" in document["409"]["content"]


async def test_only_operators_start_it(clean: Served) -> None:
    curator = await new_key(clean.engine, clean.tenant, Role.CURATOR)

    for key in (curator, clean.other_key):
        await clean.post("/demo", {}, key=key, status=404)
        assert not (await clean.get("/demo", key=key))["is_available"]
    await clean.post("/demo", {"size": 5}, status=422)
