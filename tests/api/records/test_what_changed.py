"""Schedules of searches, and what changed: whose it is, what it costs, who has looked."""

from uuid import UUID

import pytest

from scrapersky.records import Company, CompanyMember, Difference, Place, PlaceSearch
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
DENTISTS = {"business_type": "dentists", "location": "Austin, TX"}


async def a_search(desk: Desk) -> str:
    made = await desk.post("/searches", DENTISTS, status=201)
    await desk.run("UPDATE place_searches SET status = 'Completed'")
    return str(made["record"]["id"])


async def a_difference(desk: Desk, search: str | None = None) -> UUID:
    place = await desk.add(Place, source="osm", source_place_id="p1", name="Globex")
    if search is not None:
        await desk.run(
            "INSERT INTO place_search_hits (search_id, place_id, tenant_id)"
            " VALUES (:s, :p, :t)",
            s=search,
            p=place,
            t=desk.tenant,
        )
    company = await desk.add(Company, name="Globex")
    await desk.add(CompanyMember, company_id=company, place_id=place, source="osm")
    await desk.add(
        Difference,
        place_id=place,
        what="renamed",
        field="name",
        old_value="Acme",
        new_value="Globex",
        old_source="osm",
        new_source="osm",
    )
    return company


async def test_a_schedule_says_what_it_costs_and_when_it_runs_next(desk: Desk) -> None:
    search = await a_search(desk)

    before = await desk.get(f"/searches/{search}/schedule")
    given = {"every": "weekly", "budget": "2.50"}
    after = await desk.send("PUT", f"/searches/{search}/schedule", given)

    assert not before["is_scheduled"]
    assert after["every"] == "weekly"
    assert float(after["most_a_month"]) == 12.5
    assert after["estimate"]["currency"] == "USD"
    assert after["next_run_at"] is not None
    assert [run["id"] for run in after["runs"]] == [search]


async def test_a_schedule_could_not_be_paused_once_its_source_had_lost_its_key(
    desk: Desk,
) -> None:
    path = f"/searches/{await a_search(desk)}/schedule"
    await desk.run("UPDATE place_searches SET source = 'google'")
    given = {"every": "weekly", "budget": "2.50"}

    before = await desk.get(path)
    paused = await desk.send("PUT", path, given | {"is_paused": True})

    assert before["estimate"] is None
    assert "GOOGLE" in before["unavailable"] or "key" in before["unavailable"]
    assert paused["is_paused"]
    assert float(paused["most_a_month"]) == 12.5


async def test_a_schedule_is_paused_run_now_and_taken_away(desk: Desk) -> None:
    search = await a_search(desk)
    path = f"/searches/{search}/schedule"
    paused = {"every": "daily", "is_paused": True}

    assert (await desk.send("PUT", path, paused))["is_paused"]
    assert not (await desk.post(f"{path}/run"))["is_paused"]
    await desk.send("DELETE", path, status=204)

    assert not (await desk.get(path))["is_scheduled"]
    await desk.post(f"{path}/run", status=404)


async def test_a_run_is_listed_with_the_search_that_it_repeats(desk: Desk) -> None:
    search = await a_search(desk)
    again = await desk.post(f"/searches/{search}/rerun", status=201)

    of_run = await desk.get(f"/searches/{again['record']['id']}/schedule")

    assert of_run["search_id"] == search
    assert {run["id"] for run in of_run["runs"]} == {search, again["record"]["id"]}
    assert again["record"]["repeats_id"] == search


@pytest.mark.parametrize(
    "given", [{"every": "hourly"}, {"every": "daily", "budget": -1}, {}, {"x": 1}]
)
async def test_a_schedule_that_cannot_be_kept_is_refused(
    desk: Desk, given: dict[str, object]
) -> None:
    search = await a_search(desk)

    await desk.send("PUT", f"/searches/{search}/schedule", given, status=422)


async def test_what_changed_is_told_with_its_company_and_both_sources(
    desk: Desk,
) -> None:
    search = await a_search(desk)
    company = await a_difference(desk, search)

    listed = await desk.get(f"/searches/{search}/differences")
    (found,) = listed["items"]

    assert listed["counts"] == {"renamed": 1}
    assert (found["what"], found["field"]) == ("renamed", "name")
    assert (found["old_value"], found["new_value"]) == ("Acme", "Globex")
    assert (found["old_source"], found["new_source"]) == ("osm", "osm")
    assert found["company_id"] == str(company)
    other = await a_search(desk)
    assert (await desk.get(f"/searches/{other}/differences"))["items"] == []
    of_company = {"company_id": str(company), "what": "renamed"}
    assert len((await desk.get("/whats-changed", of_company))["items"]) == 1


async def test_what_somebody_has_seen_is_not_told_again(desk: Desk) -> None:
    await a_difference(desk)
    since = {"since": "last-look"}

    assert len((await desk.get("/whats-changed", since))["items"]) == 1
    await desk.post("/whats-changed/looked")

    assert (await desk.get("/whats-changed", since))["items"] == []
    seen = await desk.get("/whats-changed")
    assert len(seen["items"]) == 1
    assert seen["looked_at"] is not None


async def test_what_changed_for_others_is_not_there(desk: Desk) -> None:
    theirs = await desk.add(
        PlaceSearch, tenant=desk.other, business_type="x", location="y", source="osm"
    )
    place = await desk.add(
        Place, tenant=desk.other, source="osm", source_place_id="p9", name="Theirs"
    )
    await desk.add(Difference, tenant=desk.other, place_id=place, what="gone")

    assert (await desk.get("/whats-changed"))["items"] == []
    await desk.get(f"/searches/{theirs}/differences", status=404)
    await desk.get(f"/searches/{theirs}/schedule", status=404)
    await desk.send(
        "PUT", f"/searches/{theirs}/schedule", {"every": "daily"}, status=404
    )
