"""The demo town beside the running system: found, read, and nothing else opened."""

import asyncio

import pytest

from scrapersky.errors import BlockedAddress, FetchError, NoSuchHost
from scrapersky.models.status import Role
from tests.api.operations.rig import Served, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTACTS = "SELECT count(*) FROM contacts WHERE tenant_id = :tenant"


async def test_the_town_is_searched_and_read_beside_the_real_world(
    clean: Served,
) -> None:
    before = await clean.get("/demo")
    started = await clean.post("/demo", {"size": 12, "decide": True})
    again = await clean.post("/demo", {"size": 12})
    async with asyncio.timeout(90):
        while not await clean.scalar(CONTACTS, tenant=clean.tenant):  # noqa: ASYNC110
            await asyncio.sleep(0.5)
    crawler = clean.app.state.background.tools.crawler

    assert not await clean.run(
        "SELECT key FROM hosts WHERE key !~ '[.]bv$|^127[.]1[6-9]'"
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
    town = clean.app.state.desk.town.running.town
    crawler = clean.app.state.background.tools.crawler

    # The resolver of this machine is asked, and knows no such name.
    for url in ("http://facebook.com.invalid/", "http://harbour.bv.invalid/"):
        with pytest.raises(FetchError):
            await crawler.fetch(url)

    assert all(name.endswith((".bv", "127.0.0.1")) for name in town.log.sites)


async def test_only_operators_start_it(clean: Served) -> None:
    curator = await new_key(clean.engine, clean.tenant, Role.CURATOR)

    for key in (curator, clean.other_key):
        await clean.post("/demo", {}, key=key, status=404)
        assert not (await clean.get("/demo", key=key))["is_available"]
    await clean.post("/demo", {"size": 5}, status=422)
