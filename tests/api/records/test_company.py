"""The lead list: found by what sales people ask, worked on by several at once."""

import csv
import io
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from openpyxl import load_workbook
from sqlalchemy import insert

from scrapersky.companies.matching import match_tenant
from scrapersky.records import Person, Place, PlaceSearch, PlaceSearchHit, User
from scrapersky.records.company import COMPANIES
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

SITE = "https://www.kunze.example/"


async def two_companies(desk: Desk) -> dict[str, UUID]:
    """Store a company with a named person's address, and one without a website."""
    domain = await desk.add_domain("kunze.example")
    await desk.add_contact("marta@kunze.example", domain=domain, name="Marta Kunze")
    for key, name, site in (("k", "Kunze", SITE), ("h", "Huber", None)):
        place: dict[str, Any] = {"source": "test", "source_place_id": key}
        await desk.add(Place, name=name, website=site, **place)
    await match_tenant(desk.engine, desk.tenant)
    rows = await desk.run("SELECT name, id FROM companies")
    return {row.name: row.id for row in rows}


async def names(desk: Desk, *filters: str) -> list[str]:
    found = await desk.get("/companies", {"filter": filters})
    return sorted(item["name"] for item in found["items"])


async def test_every_address_of_its_website_is_shown_with_its_source(
    desk: Desk,
) -> None:
    ids = await two_companies(desk)
    office = {
        "text": "12 Mill Lane, Leeds LS1 4AP", "url": f"{SITE}offices",
        "snippet": "Leeds: 12 Mill Lane", "method": "street_word", "confidence": 0.8,
    }  # fmt: skip
    known = {"addresses": [office, {**office, "text": "7 Mill Road, York YO1 6HT"}]}
    await desk.run(
        "UPDATE domains SET organisation = CAST(:known AS jsonb) RETURNING id",
        known=orjson.dumps(known).decode(),
    )

    shown = await desk.get(f"/companies/{ids['Kunze']}")
    other = await desk.get(f"/companies/{ids['Huber']}")

    written = [office["text"], "7 Mill Road, York YO1 6HT"]
    assert shown["record"]["addresses"] == written
    assert other["record"]["addresses"] is None
    seen = [one for one in shown["evidence"] if one["field"] == "address"]
    assert [one["value"] for one in seen] == written
    assert (seen[0]["url"], seen[0]["snippet"]) == (office["url"], office["snippet"])


async def test_the_search_of_companies_found_neither_people_nor_addresses(
    desk: Desk,
) -> None:
    await two_companies(desk)
    domain = await desk.scalar("SELECT id FROM domains WHERE domain = 'kunze.example'")
    await desk.add(
        Person,
        domain_id=domain,
        name="Jörg Anders",
        name_key="jörg anders",
        standing=0.5,
        standing_reason="named on their team page",
        confidence=0.9,
        evidence=[],
    )
    await desk.add_contact(
        "j.anders@kunze.example", domain=domain, phone="+441632960101"
    )

    async def found(words: str) -> list[str]:
        page = await desk.get("/companies", {"q": words})
        return [item["name"] for item in page["items"]]

    for words in ("anders", "Jörg Anders", "marta kunze", "j.anders@", "01632 960101"):
        assert await found(words) == ["Kunze"], words
    # Both words are somebody's, but not of one.
    assert await found("Jörg marta") == []
    assert await found("huber") == ["Huber"]
    # No index knows two letters: people are not read for them.
    assert await found("ma") == []


async def test_the_questions_of_sales_people_are_filters(desk: Desk) -> None:
    await two_companies(desk)
    place = await desk.scalar("SELECT id FROM places_staging WHERE name = 'Huber'")
    search = await desk.add(PlaceSearch, business_type="x", location="y", source="test")
    hit = insert(PlaceSearchHit).values(
        search_id=search, place_id=place, tenant_id=desk.tenant
    )
    async with desk.engine.begin() as connection:
        await connection.execute(hit)

    both = ["Huber", "Kunze"]
    found = {
        each.title: await names(desk, each.filter) for each in COMPANIES.quick_filters
    }
    assert found == {
        "Named person's e-mail": ["Kunze"],
        "Decision maker known": [],
        "Phone number": [],
        "No website": ["Huber"],
        "New in the last 7 days": both,
        "My leads": [],
        "Follow-up due": [],
        "Assigned to nobody": both,
        "Map contradicted": [],
    }
    assert await names(desk, f"search_id:equal:{search}") == ["Huber"]
    assert await names(desk, "first_seen_at:at_least:2999-01-01T00:00:00Z") == []
    assert await names(desk, "email:equal:marta@kunze.example") == ["Kunze"]


async def test_the_export_has_one_row_per_company_under_readable_headings(
    desk: Desk,
) -> None:
    await two_companies(desk)

    answer = await desk.client.get(
        "/api/v3/companies/export", params={"preset": "leads", "sort": "name"}
    )

    rows = [*csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff")))]
    assert [row["Company"] for row in rows] == ["Huber", "Kunze"]
    assert rows[1]["Best e-mail"] == "marta@kunze.example"
    assert rows[1]["Why this e-mail"] == "a named person's own address, not checked"


async def edit(desk: Desk, company: UUID, etag: str, changes: Any, **more: Any) -> Any:
    headers = {"If-Match": etag}
    return await desk.send(
        "PATCH", f"/companies/{company}", changes, headers=headers, **more
    )


async def test_two_people_who_edit_one_company_do_not_lose_each_others_words(
    desk: Desk,
) -> None:
    company = (await two_companies(desk))["Kunze"]
    etag = (await desk.get(f"/companies/{company}"))["etag"]
    owner = await desk.add(User, email="ada@a.example", name="Ada")
    assert {"id": str(owner), "name": "Ada"} in await desk.get("/assignees")

    done = await edit(desk, company, etag, {"notes": "call", "owner_id": str(owner)})
    await edit(desk, company, etag, {"notes": "other"}, status=412)

    assert done["record"]["notes"] == "call"
    assert done["record"]["owner"] == "Ada"
    event, *_ = (await desk.get(f"/companies/{company}/history"))["events"]
    assert event["details"]["after"]["notes"] == "call"


async def test_what_the_machine_sums_up_meanwhile_is_no_conflict(desk: Desk) -> None:
    company = (await two_companies(desk))["Kunze"]
    etag = (await desk.get(f"/companies/{company}"))["etag"]
    await desk.run("UPDATE places_staging SET name = 'Kunze Neu' WHERE name = 'Kunze'")
    await match_tenant(desk.engine, desk.tenant)

    done = await edit(desk, company, etag, {"tags": ["vip"]})

    assert done["record"]["name"] == "Kunze Neu"
    assert done["record"]["tags"] == ["vip"]


async def test_a_status_of_many_leads_is_set_at_once_and_undone(desk: Desk) -> None:
    await two_companies(desk)
    asked = {"filter": [], "status": "Contacted"}

    done = await desk.post("/companies/status", asked)
    assert (done["changed"], done["queued"]) == (2, 0)
    assert await names(desk, "lead_status:equal:Contacted") == ["Huber", "Kunze"]

    await desk.post(f"/actions/{done['action_id']}/undo")
    assert await names(desk, "lead_status:equal:New") == ["Huber", "Kunze"]


async def test_a_status_of_many_leads_lifted_do_not_contact_in_passing(
    desk: Desk,
) -> None:
    kunze = (await two_companies(desk))["Kunze"]
    stop = {"ids": [str(kunze)], "status": "Do Not Contact"}
    await desk.post("/companies/status", stop)

    done = await desk.post("/companies/status", {"filter": [], "status": "Contacted"})
    assert done["changed"] == 1
    assert done["skipped"] == {"stays Do Not Contact": 1}
    assert await names(desk, "lead_status:equal:Do Not Contact") == ["Kunze"]

    await desk.post("/companies/status", {**stop, "status": "Contacted"})
    assert await names(desk, "lead_status:equal:Do Not Contact") == []


async def test_many_leads_are_assigned_and_tagged_at_once_and_undone(
    desk: Desk,
) -> None:
    ids = await two_companies(desk)
    owner = await desk.add(User, email="ben@a.example", name="Ben")
    asked = {"filter": [], "owner_id": str(owner), "add_tags": ["fair"]}

    done = await desk.post("/companies/work", asked)
    assert (done["matched"], done["changed"]) == (2, 2)
    assert await names(desk, "tags:equal:fair") == ["Huber", "Kunze"]
    retagged = {"ids": [str(ids["Huber"])], "add_tags": ["vip"]}
    await desk.post("/companies/work", retagged)
    undone = await desk.post(f"/actions/{done['action_id']}/undo")

    # What somebody has changed since stays as they made it.
    assert undone["restored"] == 1
    assert undone["skipped"] == {"changed again since": 1}
    found = await desk.get("/companies", {"sort": "name"})
    reported = [(item["owner"], item["tags"]) for item in found["items"]]
    assert reported == [("Ben", ["fair", "vip"]), (None, [])]


async def test_own_values_of_many_leads_were_set_one_by_one(desk: Desk) -> None:
    ids = await two_companies(desk)
    column = {"name": "tier", "title": "Tier", "type": "choice", "choices": ["A", "B"]}
    await desk.post("/company-columns", column, status=201)
    await edit(desk, ids["Huber"], "*", {"own": {"tier": "B"}})

    done = await desk.post("/companies/work", {"filter": [], "own": {"tier": "A"}})
    assert done["changed"] == 2
    assert await names(desk, "own.tier:equal:A") == ["Huber", "Kunze"]
    await desk.post(f"/actions/{done['action_id']}/undo")

    events = (await desk.get(f"/companies/{ids['Kunze']}/history"))["events"]
    assert [event["what"] for event in events] == ["undone", "edited", "created"]
    assert events[1]["details"]["after"]["own"] == {"tier": "A"}
    assert await names(desk, "own.tier:equal:B") == ["Huber"]
    assert await names(desk, "own.tier:unknown") == ["Kunze"]
    wrong = {"filter": [], "own": {"tier": "C"}}
    await desk.post("/companies/work", wrong, status=422)


async def test_an_assignment_of_before_own_values_came_in_bulk_is_still_undone(
    desk: Desk,
) -> None:
    await two_companies(desk)
    owner = await desk.add(User, email="cleo@a.example", name="Cleo")
    asked = {"filter": [], "owner_id": str(owner)}
    done = await desk.post("/companies/work", asked)
    await desk.run(
        "UPDATE curation_changes SET before = before - 'own', after = after - 'own'"
    )

    undone = await desk.post(f"/company-actions/{done['action_id']}/undo")

    assert undone["changed"] == 2
    assert await names(desk, "owner_id:unknown") == ["Huber", "Kunze"]


async def test_own_columns_hold_what_fits_them_and_are_filtered_by(desk: Desk) -> None:
    ids = await two_companies(desk)
    for column in (
        {"name": "budget", "title": "Budget", "type": "number"},
        {"name": "visit", "title": "Visit", "type": "date"},
        {"name": "tier", "title": "Tier", "type": "choice", "choices": ["A", "B"]},
    ):
        await desk.post("/company-columns", column, status=201)
    fields = await desk.get("/companies/fields")
    own = {each["name"]: each for each in fields if each["title"]}
    assert [*own] == ["own.budget", "own.visit", "own.tier"]
    assert own["own.tier"]["values"] == ["A", "B"]
    assert own["own.visit"]["type"] == "date"
    kunze = ids["Kunze"]

    reported = {"budget": 12.5, "visit": "2026-11-20", "tier": "A"}
    done = await edit(desk, kunze, "*", {"own": reported})
    assert done["record"]["own"] == reported
    for wrong in ({"budget": "much"}, {"visit": "soon"}, {"tier": "C"}, {"age": 1}):
        await edit(desk, kunze, "*", {"own": wrong}, status=422)

    assert await names(desk, "own.budget:at_least:9") == ["Kunze"]
    assert await names(desk, "own.budget:at_least:100") == []
    assert await names(desk, "own.visit:at_most:2026-12-01") == ["Kunze"]
    assert await names(desk, "own.visit:at_most:2026-11-01") == []
    assert await names(desk, "own.tier:equal:A") == ["Kunze"]
    assert await names(desk, "own.tier:unknown") == ["Huber"]
    chosen = [{"field": "own.tier", "comparison": "equal", "value": "A"}]
    rule = {"name": "A first", "kind": "companies", "status": "Contacted"}
    made = await desk.post("/rules", {**rule, "conditions": chosen}, status=201)
    await desk.post(f"/rules/{made['id']}/run")
    assert await names(desk, "lead_status:equal:Contacted") == ["Kunze"]
    answer = await desk.client.get("/api/v3/companies/export?preset=leads&sort=name")
    rows = [*csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff")))]
    assert [(row["Budget"], row["Tier"]) for row in rows] == [("", ""), ("12.5", "A")]
    answer = await desk.client.get("/api/v3/companies/export?preset=leads&format=xlsx")
    head, *rest = load_workbook(io.BytesIO(answer.content)).worksheets[0].rows
    at = [cell.value for cell in head].index("Visit")
    (visit,) = (row[at] for row in rest if row[at].value is not None)
    assert visit.number_format == "yyyy-mm-dd"
    assert visit.value == datetime.fromisoformat("2026-11-20")
    (first, *_) = await desk.get("/company-columns")
    await desk.send("DELETE", f"/company-columns/{first['id']}", status=204)
    assert await names(desk, "own.budget:known") == []


async def test_a_merge_by_hand_is_shown_and_undone(desk: Desk) -> None:
    ids = await two_companies(desk)
    kunze, huber = str(ids["Kunze"]), str(ids["Huber"])

    await desk.post("/companies/merge", {"ids": [huber], "into": kunze})
    parts = await desk.get(f"/companies/{kunze}/records")
    assert {part["name"] for part in parts["records"]} >= {"Kunze", "Huber"}
    (merge,) = parts["merges"]
    assert merge["is_by_person"]

    await desk.post(f"/company-merges/{merge['id']}/undo")
    assert await names(desk) == ["Huber", "Kunze"]
    (record,) = (await desk.get(f"/companies/{huber}/records"))["records"]
    assert record["name"] == "Huber"


async def test_a_merge_was_undone_by_a_key_of_its_own(desk: Desk) -> None:
    ids = await two_companies(desk)
    kunze, huber = str(ids["Kunze"]), str(ids["Huber"])

    merged = await desk.post("/companies/merge", {"ids": [huber], "into": kunze})
    assert merged["record"]["id"] == kunze
    (action,) = (await desk.get("/actions"))["items"]
    undone = await desk.post(f"/actions/{merged['action_id']}/undo")

    assert (action["what"], action["status"]) == ("merged", None)
    logged = (
        "SELECT event FROM record_changes WHERE action_id = :id AND record_id = :gone"
    )
    parts = await desk.run(logged, id=merged["action_id"], gone=huber)
    assert "merged" in {part.event for part in parts}
    assert (undone["restored"], undone["skipped"]) == (1, {})
    assert await names(desk) == ["Huber", "Kunze"]
    await desk.post(f"/actions/{merged['action_id']}/undo", status=404)


async def test_a_pair_a_person_must_judge_is_listed_and_answered(desk: Desk) -> None:
    here: dict[str, Any] = {"source": "test", "latitude": 48.1, "longitude": 11.5}
    for name, phone in (("Brandner", "+498911111111"), ("Brendner", "+498922222222")):
        await desk.add(Place, source_place_id=name, name=name, phone=phone, **here)
    await match_tenant(desk.engine, desk.tenant)

    (pair,) = await desk.get("/company-pairs")
    assert {pair["one"]["name"], pair["other"]["name"]} == {"Brandner", "Brendner"}
    await desk.post(
        f"/company-pairs/{pair['id']}/answer", {"verdict": "same"}, status=204
    )

    assert await desk.get("/company-pairs") == []
    assert await desk.scalar("SELECT count(*) FROM companies") == 1
