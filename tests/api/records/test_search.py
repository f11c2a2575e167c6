"""Searches: priced before they run, steered while they run, compared when run again."""

from typing import Any
from uuid import uuid4

import pytest

from scrapersky.records import Place, PlaceSearch, PlaceSearchHit
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

DENTISTS = {"business_type": "dentists", "location": "Austin, TX", "limit": 10}


async def test_sources_say_what_they_need(desk: Desk) -> None:
    sources = {source["name"]: source for source in await desk.get("/sources")}

    assert sources["osm"]["is_ready"]
    assert "OpenStreetMap" in sources["osm"]["attribution"]
    assert not sources["google"]["is_ready"]
    assert "GOOGLE_MAPS_API_KEY" in sources["google"]["needs"]
    assert sources["google"]["needs_budget"]


async def test_a_search_is_estimated_and_queued(desk: Desk) -> None:
    estimate = await desk.post("/searches/estimate", DENTISTS)
    made = await desk.post("/searches", DENTISTS, status=201)

    record = made["record"]
    assert estimate["currency"] == "USD"
    assert float(estimate["price_low"]) == 0
    assert (record["status"], record["location"]) == ("Queued", "Austin, TX")
    assert record["params"] == {"limit": 10}
    assert (await desk.get("/searches"))["total"]["count"] == 1


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"location": None}, 422),
        ({"source": "nowhere"}, 422),
        ({"source": "google"}, 422),
        ({"source": "file", "file": "../../etc/passwd"}, 422),
        ({"area": {"box": [1, 2]}}, 422),
        ({"area": {"circle": ["NaN", 0, 1]}}, 422),
        ({"radius_m": -1}, 422),
        ({"limit": 0}, 422),
        ({"budget": "1e400"}, 422),
        ({"status": "Completed"}, 422),
        ({"tenant_id": str(uuid4())}, 422),
    ],
)
async def test_a_search_that_cannot_be_asked_is_not_kept(
    desk: Desk, changes: dict[str, Any], status: int
) -> None:
    answer = await desk.client.post("/api/v3/searches", json={**DENTISTS, **changes})

    assert answer.status_code == status or (
        changes.get("source") in {"google", "nowhere"} and answer.status_code < 500
    ), answer.text
    assert await desk.scalar("SELECT count(*) FROM place_searches") == 0


async def test_a_search_is_paused_resumed_and_cancelled(desk: Desk) -> None:
    made = await desk.post("/searches", DENTISTS, status=201)
    path = f"/searches/{made['record']['id']}"
    await desk.run(
        "INSERT INTO curation.claim (stage, item, fence, tries) VALUES"
        " ('place_search', :item, 1, 1)",
        item=made["record"]["id"],
    )
    await desk.run("UPDATE place_searches SET status = 'InProgress'")

    paused = await desk.post(f"{path}/pause")
    claims = await desk.scalar("SELECT count(*) FROM curation.claim")
    resumed = await desk.post(f"{path}/resume", {"budget": "2.50"})
    cancelled = await desk.post(f"{path}/cancel")
    await desk.post(f"{path}/pause", status=409)
    await desk.post(f"{path}/explode", status=422)

    assert (paused["record"]["status"], claims) == ("Paused", 0)
    assert resumed["record"]["status"] == "Queued"
    assert float(resumed["record"]["budget"]) == 2.5
    assert cancelled["record"]["status"] == "Cancelled"


async def test_a_search_run_again_says_what_is_new_changed_and_gone(
    desk: Desk,
) -> None:
    first = (await desk.post("/searches", DENTISTS, status=201))["record"]["id"]
    await desk.run("UPDATE place_searches SET status = 'Completed'")
    again = await desk.post(f"/searches/{first}/rerun", status=201)
    second = again["record"]["id"]
    await desk.run("UPDATE place_searches SET status = 'Completed'")
    for name, hits in {
        "Gone": {first: "a"},
        "Same": {first: "a", second: "a"},
        "Changed": {first: "a", second: "b"},
        "New": {second: "a"},
    }.items():
        place = await desk.add(Place, source="osm", source_place_id=name, name=name)
        for search, seen in hits.items():
            await desk.run(
                f"INSERT INTO {PlaceSearchHit.__tablename__} (search_id, place_id,"
                " tenant_id, facts_hash) VALUES (:s, :p, :t, :h)",
                s=search,
                p=place,
                t=desk.tenant,
                h=seen,
            )

    changes = (await desk.get(f"/searches/{second}"))["changes"]

    assert changes["previous_id"] == first
    assert {
        name: [link["label"] for link in changes[name]]
        for name in ("new", "changed", "gone")
    } == {"new": ["New"], "changed": ["Changed"], "gone": ["Gone"]}


async def test_searches_of_others_are_not_there(desk: Desk) -> None:
    theirs = await desk.add(
        PlaceSearch, tenant=desk.other, business_type="x", location="y", source="osm"
    )

    await desk.get(f"/searches/{theirs}", status=404)
    for step in ("cancel", "pause", "resume", "rerun"):
        await desk.post(f"/searches/{theirs}/{step}", status=404)
    assert await desk.scalar("SELECT status::text FROM place_searches") == "Queued"


async def test_a_view_is_kept_replaced_and_deleted(desk: Desk) -> None:
    query = {"filter": ["rating:at_least:4"], "q": "bakery", "sort": "-rating"}
    view = {"name": "Good", "kind": "places", "query": query}

    await desk.post("/views", view, status=201)
    query["sort"] = "name"
    kept = await desk.post("/views", view, status=201)
    (shown,) = await desk.get("/views", {"kind": "places"})
    await desk.send("DELETE", f"/views/{kept['id']}", status=204)

    assert shown["query"] == {**query, "columns": []}
    assert await desk.get("/views") == []
    await desk.send("DELETE", f"/views/{kept['id']}", status=404)


@pytest.mark.parametrize(
    "view",
    [
        {"name": "", "kind": "places", "query": {}},
        {"name": "x", "kind": "secrets", "query": {}},
        {"name": "x", "kind": "places", "query": {"sort": "tenant_id"}},
        {"name": "x", "kind": "places", "query": {"filter": ["raw:known"]}},
        {"name": "x", "kind": "places", "query": {"filter": ["rating:at_least:x"]}},
    ],
)
async def test_a_view_that_could_not_be_shown_is_not_kept(
    desk: Desk, view: dict[str, Any]
) -> None:
    await desk.post("/views", view, status=422)
