"""Decisions: exactly what the list shows, counted first, in whole chunks, undoable."""

import asyncio
from typing import Any

import pytest

from scrapersky.records import Domain, Page, Place
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAKE = """
INSERT INTO domains (tenant_id, domain, title)
SELECT :tenant, 'site' || n || '.de', CASE WHEN n % 2 = 0 THEN 'Bakery' ELSE 'Bar' END
FROM generate_series(1, :count) AS n
"""


async def test_a_decision_by_filter_changes_what_the_list_shows(desk: Desk) -> None:
    await desk.run(MAKE, tenant=desk.tenant, count=40)
    await desk.run(MAKE, tenant=desk.other, count=40)
    meant = {
        "filter": [{"field": "domain", "comparison": "contains", "value": "1"}],
        "q": "bakery",
        "status": "Selected",
    }
    shown = await desk.get("/domains", {"filter": "domain:contains:1", "q": "bakery"})

    dry = await desk.post("/domains/status", {**meant, "dry_run": True})
    untouched = await desk.scalar(
        "SELECT count(*) FROM domains WHERE sitemap_curation_status <> 'New'"
    )
    done = await desk.post("/domains/status", meant)
    again = await desk.post("/domains/status", meant)

    count = shown["total"]["count"]
    assert dry["matched"] == count == 5
    assert (dry["changed"], dry["action_id"], untouched) == (0, None, 0)
    assert (done["matched"], done["changed"], done["queued"]) == (count, count, count)
    assert (again["changed"], again["skipped"]) == (0, {"the stage has it already": 5})
    chosen = await desk.run(
        "SELECT id, tenant_id FROM domains WHERE sitemap_curation_status = 'Selected'"
    )
    assert {str(row.id) for row in chosen} == {item["id"] for item in shown["items"]}
    assert {row.tenant_id for row in chosen} == {desk.tenant}


async def test_a_decision_is_undone_by_its_handle(desk: Desk) -> None:
    place = await desk.add(Place, source="osm", source_place_id="1", status="Maybe")

    done = await desk.post(
        "/places/staging/status", {"ids": [str(place)], "status": "Selected"}
    )
    await desk.post(f"/actions/{done['action_id']}/undo")

    record = (await desk.get(f"/places/staging/{place}"))["record"]
    assert (record["status"], record["deep_scan_status"]) == ("Maybe", None)


async def test_a_stage_that_is_done_runs_again_only_by_force(desk: Desk) -> None:
    domain = await desk.add(Domain, domain="a.de", sitemap_analysis_status="submitted")
    asked = {"ids": [str(domain)], "status": "Selected"}

    first = await desk.post("/domains/status", asked)
    forced = await desk.post("/domains/status", {**asked, "force": True})

    assert (first["changed"], first["queued"]) == (1, 0)
    assert (forced["changed"], forced["queued"]) == (1, 1)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"ids": [], "filter": [], "status": "New"}, 422),
        ({"status": "New"}, 422),
        ({"ids": [], "q": "x", "status": "New"}, 422),
        ({"filter": [], "status": "Nonsense"}, 422),
        ({"filter": [], "status": "Processing"}, 409),
        ({"filter": [], "status": "Complete"}, 409),
        ({"filter": [{"field": "tenant_id", "value": "x"}], "status": "New"}, 422),
        ({"filter": [{"field": "url", "sql": "x"}], "status": "New"}, 422),
        ({"filter": [], "status": "New", "tenant_id": "x"}, 422),
        ({"ids": ["not an id"], "status": "New"}, 422),
        ({"filter": [], "status": "New", "force": "perhaps"}, 422),
    ],
)
async def test_what_cannot_be_decided_changes_nothing(
    desk: Desk, asked: dict[str, Any], status: int
) -> None:
    domain = await desk.add_domain()
    await desk.add(Page, domain_id=domain, url="https://a.de/", page_type="unknown")

    await desk.post("/pages/status", asked, status=status)

    assert await desk.scalar("SELECT count(*) FROM curation_actions") == 0


async def test_one_foreign_id_spoils_the_whole_decision(desk: Desk) -> None:
    mine = await desk.add_domain()
    theirs = await desk.add_domain(tenant=desk.other)

    await desk.post(
        "/domains/status",
        {"ids": [str(mine), str(theirs)], "status": "Selected"},
        status=422,
    )

    assert (
        await desk.scalar(
            "SELECT count(*) FROM domains WHERE sitemap_curation_status = 'New'"
        )
        == 2
    )


@pytest.mark.slow
async def test_a_long_decision_shows_how_far_it_is_and_blocks_no_reader(
    desk: Desk,
) -> None:
    await desk.run(MAKE, tenant=desk.tenant, count=12_000)
    seen: list[int] = []

    async def watch() -> None:
        while True:
            actions = await desk.get("/actions")
            seen.extend(each["changed"] for each in actions["items"])
            await desk.get("/domains", {"limit": 1})

    watching = asyncio.create_task(watch())
    done = await desk.post("/domains/status", {"filter": [], "status": "Archived"})
    watching.cancel()

    assert (done["matched"], done["changed"]) == (12_000, 12_000)
    assert {5_000, 10_000} & set(seen)
