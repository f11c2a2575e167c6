"""What sales people begin with, and what they look at: home, yield, map, story of a company."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert

from scrapersky.companies.matching import match_tenant
from scrapersky.records import Person, Place, PlaceSearch, PlaceSearchHit, User
from scrapersky.records.company import CompanyColumn
from scrapersky.records.status import OwnType
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE: dict[str, Any] = {"latitude": 48.1374, "longitude": 11.5755}
THERE: dict[str, Any] = {"latitude": 52.52, "longitude": 13.405}


async def a_search(desk: Desk, *places: UUID) -> UUID:
    search = await desk.add(
        PlaceSearch, business_type="dentists", location="Munich", source="osm"
    )
    async with desk.engine.begin() as connection:
        for place in places:
            hit = insert(PlaceSearchHit).values(
                search_id=search, place_id=place, tenant_id=desk.tenant
            )
            await connection.execute(hit)
    return search


async def three_leads(desk: Desk) -> dict[str, UUID]:
    """Store a dentist with a named person's address, a garage, and a shop elsewhere."""
    domain = await desk.add_domain("kunze.example", verdict="own_site")
    await desk.add_contact(
        "marta@kunze.example",
        domain=domain,
        name="Marta Kunze",
        email_type="CORPORATE",
        validation={"verdict": "deliverable"},
    )
    await desk.add(
        Person,
        domain_id=domain,
        name="Marta Kunze",
        name_key="marta kunze",
        role="Owner",
        confidence=0.9,
        standing=0.9,
        standing_reason="owner: Owner",
    )
    for name, kind, where, site in (
        ("Kunze", ["dentist"], HERE, "https://kunze.example/"),
        ("Huber", ["car_repair"], HERE, None),
        ("Adler", ["shop"], THERE, None),
    ):
        await desk.add(
            Place, name=name, source="osm", source_place_id=name, website=site,
            categories=kind, **where,
        )  # fmt: skip
    await match_tenant(desk.engine, desk.tenant)
    rows = await desk.run("SELECT name, id FROM companies")
    return {row.name: row.id for row in rows}


async def found(desk: Desk, *filters: str) -> list[str]:
    answer = await desk.get("/companies", {"filter": filters})
    return sorted(item["name"] for item in answer["items"])


async def edit(desk: Desk, company: UUID, changes: Any) -> None:
    seen = await desk.get(f"/companies/{company}")
    headers = {"If-Match": seen["etag"]}
    await desk.send("PATCH", f"/companies/{company}", changes, headers=headers)


async def test_categories_is_dentist_found_none_of_the_dentists(desk: Desk) -> None:
    await three_leads(desk)

    assert await found(desk, "categories:equal:Dentist") == ["Kunze"]
    assert await found(desk, "categories:equal:Car repair") == ["Huber"]
    assert await found(desk, "categories:one_of:Car repair,Dentist") == [
        "Huber",
        "Kunze",
    ]
    assert await found(desk, "categories:contains:car rep") == ["Huber"]
    assert await found(desk, "categories:not_equal:Dentist") == ["Adler", "Huber"]
    values = await desk.get(
        "/companies/facets", {"field": "categories", "words": "Car r"}
    )
    assert values["facets"]["categories"] == [{"value": "car_repair", "count": 1}]


async def test_every_column_that_people_see_is_a_filter_with_counts(desk: Desk) -> None:
    ids = await three_leads(desk)
    place = await desk.scalar("SELECT id FROM places_staging WHERE name = 'Huber'")
    search = await a_search(desk, place)
    user = await desk.add(User, email="ada@a.example")
    await desk.run("UPDATE companies SET owner_id = :u WHERE name = 'Adler'", u=user)
    await desk.add(CompanyColumn, name="budget", title="Budget", type=OwnType.NUMBER)
    await edit(desk, ids["Huber"], {"own": {"budget": 100}})

    questions = {
        "decision_maker:contains:marta": ["Kunze"],
        "decision_maker_role:equal:Owner": ["Kunze"],
        "deliverability:equal:deliverable": ["Kunze"],
        "source:equal:osm": ["Adler", "Huber", "Kunze"],
        f"search_id:equal:{search}": ["Huber"],
        f"owner_id:equal:{user}": ["Adler"],
        "own.budget:at_least:50": ["Huber"],
    }
    assert {one: await found(desk, one) for one in questions} == questions
    names = "deliverability,decision_maker_role,source,search_id,owner_id"
    counted = await desk.get("/companies/facets", {"field": names})
    assert {
        name: {one["value"]: one["count"] for one in values if one["value"]}
        for name, values in counted["facets"].items()
    } == {
        "deliverability": {"deliverable": 1},
        "decision_maker_role": {"Owner": 1},
        "source": {"osm": 3, "website": 1},
        "search_id": {str(search): 1},
        "owner_id": {str(user): 1},
    }
    (kind,) = [one for one in await desk.get("/kinds") if one["name"] == "companies"]
    (owner,) = [one for one in kind["columns"] if one["field"] == "owner"]
    assert owner["is_sortable"]
    sorted_by = await desk.get("/companies", {"sort": owner["sort"]})
    assert sorted_by["items"][0]["name"] == "Adler"


async def test_a_follow_up_is_set_found_when_due_kept_by_a_merge_and_undone(
    desk: Desk,
) -> None:
    ids = await three_leads(desk)
    day = await desk.scalar("SELECT current_date::text")

    await edit(desk, ids["Kunze"], {"follow_up_on": day})
    done = await desk.post(
        "/companies/work", {"ids": [str(ids["Huber"])], "follow_up_on": "2999-01-01"}
    )

    assert await found(desk, "follow_up_on:at_most:P0D") == ["Kunze"]
    assert await found(desk, "follow_up_on:known") == ["Huber", "Kunze"]
    merged = {"ids": [str(ids["Adler"]), str(ids["Huber"])], "into": str(ids["Adler"])}
    await desk.post("/companies/merge", merged)
    assert len(await found(desk, "follow_up_on:equal:2999-01-01")) == 1
    home = await desk.get("/home")
    assert (home["follow_ups_due"], home["new_this_week"]) == (1, 2)
    undone = await desk.post(f"/actions/{done['action_id']}/undo")
    assert undone["restored"] == 0


async def test_a_search_shows_what_it_brought_and_the_next_step(desk: Desk) -> None:
    await three_leads(desk)
    rows = await desk.run("SELECT id FROM places_staging WHERE name <> 'Adler'")
    search = await a_search(desk, *(row.id for row in rows))
    kunze = await desk.scalar("SELECT id FROM companies WHERE name = 'Kunze'")
    await desk.post("/companies/status", {"ids": [str(kunze)], "status": "Contacted"})
    await desk.post("/companies/status", {"ids": [str(kunze)], "status": "Won"})

    (funnel,) = await desk.get("/reports/funnels", {"search_id": str(search)})
    assert funnel == {
        "search_id": str(search), "places": 2, "companies": 2, "websites": 1,
        "emails": 1, "named_people": 1, "contacted": 1, "won": 1,
    }  # fmt: skip
    assert (await desk.get("/home"))["searches"][0]["funnel"] == funnel
    (week,) = await desk.get("/reports/work")
    assert (week["contacted"], week["won"]) == (1, 1)

    begun = await desk.post(f"/searches/{search}/find-contacts")
    assert (begun["selected"], begun["queued"]) == (2, 2)
    assert "Find contacts: businesses" in begun["rules"]
    again = await desk.post(f"/searches/{search}/find-contacts")
    assert (again["selected"], again["rules"]) == (0, [])


async def test_a_lead_won_at_once_was_contacted_in_the_funnel_and_not_in_the_week(
    desk: Desk,
) -> None:
    ids = await three_leads(desk)
    rows = await desk.run("SELECT id FROM places_staging")
    search = await a_search(desk, *(row.id for row in rows))

    async def decide(status: str, *names: str) -> Any:
        chosen = [str(ids[name]) for name in names]
        return await desk.post("/companies/status", {"ids": chosen, "status": status})

    async def agreed() -> dict[str, int]:
        """What the weeks say together, which is what the funnel says."""
        (funnel,) = await desk.get("/reports/funnels", {"search_id": str(search)})
        weeks = await desk.get("/reports/work")
        told = {
            step: sum(week[step] for week in weeks)
            for step in ("contacted", "replied", "won")
        }
        assert (told["contacted"], told["won"]) == (funnel["contacted"], funnel["won"])
        return told

    await decide("Won", "Kunze")
    assert await agreed() == {"contacted": 1, "replied": 1, "won": 1}
    # Whoever is contacted twice is one, and so is who was marked by mistake.
    for status in ("Contacted", "New", "Contacted", "Replied"):
        await decide(status, "Huber")
    assert await agreed() == {"contacted": 2, "replied": 2, "won": 1}
    wrong = await decide("Contacted", "Adler")
    assert await agreed() == {"contacted": 3, "replied": 2, "won": 1}
    await desk.post(f"/actions/{wrong['action_id']}/undo")
    await decide("Lost", "Huber")
    await decide("New", "Kunze")
    assert await agreed() == {"contacted": 1, "replied": 0, "won": 0}
    # The decision of last week was not made again when the lead went further.
    await desk.run(
        "UPDATE curation_actions SET created_at = created_at - interval '7 days'"
    )
    await decide("Won", "Huber")
    this, last = await desk.get("/reports/work")
    assert [(one["contacted"], one["won"]) for one in (this, last)] == [(0, 1), (1, 0)]


async def test_leads_lie_on_a_map_that_is_counted_on_the_server(desk: Desk) -> None:
    ids = await three_leads(desk)

    far = await desk.get("/reports/map", {"zoom": 1})
    assert far["count"] == 3
    near = await desk.get(
        "/reports/map", {"zoom": 10, "south": 50, "west": 10, "north": 55, "east": 15}
    )
    (point,) = near["points"]
    assert (point["id"], point["name"], point["count"]) == (
        str(ids["Adler"]),
        "Adler",
        1,
    )
    outline = [[47, 10], [47, 13], [49, 13], [49, 10]]
    inside = await desk.post("/reports/map/lasso", {"outline": outline})
    assert {*inside["ids"]} == {str(ids["Kunze"]), str(ids["Huber"])}
    coverage = await desk.get("/reports/coverage")
    assert {one["category"]: one["emails"] for one in coverage["items"]} == {
        "dentist": 1, "car_repair": 0, "shop": 0,
    }  # fmt: skip


async def test_the_story_of_a_company_is_told_from_its_log(desk: Desk) -> None:
    ids = await three_leads(desk)
    place = await desk.scalar("SELECT id FROM places_staging WHERE name = 'Kunze'")
    search = await a_search(desk, place)
    company = ids["Kunze"]
    await desk.post("/companies/status", {"ids": [str(company)], "status": "Contacted"})
    await edit(desk, company, {"notes": "Called."})
    await desk.run(
        "UPDATE places_staging SET phone = '+498912345' WHERE name = 'Kunze'"
    )
    await match_tenant(desk.engine, desk.tenant)

    told: list[Any] = (await desk.get(f"/companies/{company}/timeline"))["events"]

    by_what = {one["what"]: one for one in told}
    assert by_what["found"]["value"] == "dentists in Munich"
    assert by_what["found"]["search_id"] == str(search)
    assert by_what["status"]["status_after"] == "Contacted"
    assert by_what["edited"]["fields"] == ["notes"]
    assert by_what["changed"]["fields"] == ["phone"]
    assert by_what["contact_found"]["value"] == "marta@kunze.example"
    assert by_what["person_found"]["name"] == "Marta Kunze"
    assert "confirmed" not in by_what, "it has just been found"
    seen = await desk.get(f"/companies/{company}")
    phones = [one for one in seen["evidence"] if one["field"] == "phone"]
    # Its website says nothing of the number that the map has.
    assert [(one["method"], one["url"]) for one in phones] == [("osm", None)]

    await desk.run("UPDATE companies SET seen_at = now() + interval '1 day'")
    story = (await desk.get(f"/companies/{company}/timeline"))["events"]
    assert story[0]["what"] == "confirmed"


async def test_a_shared_view_is_everybodys_and_means_whoever_looks(desk: Desk) -> None:
    view = {
        "name": "My leads",
        "kind": "companies",
        "query": {"filter": ["owner_id:equal:me"]},
        "is_shared": True,
    }
    made = await desk.post("/views", view, status=201)
    colleague = await desk.add(User, email="ben@a.example")
    await desk.run("UPDATE saved_views SET created_by = :u", u=colleague)

    (seen,) = await desk.get("/views")
    assert (seen["is_shared"], seen["is_mine"]) == (True, False)
    assert await found(desk, *seen["query"]["filter"]) == []
    await desk.send("DELETE", f"/views/{made['id']}", status=204)
    assert await desk.get("/views") == []
