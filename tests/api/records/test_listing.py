"""Lists: every row once, in any order, whatever happens to the others meanwhile."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Select, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records import list_statement, listing
from scrapersky.api.records.list_query import ListQuery, Sort
from scrapersky.curation.search import matches
from scrapersky.records import (
    KINDS,
    Company,
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    PlaceSearch,
)
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAKE_PLACES = """
INSERT INTO places_staging (tenant_id, source, source_place_id, name, rating, status)
SELECT :tenant, 'osm', 'p' || n, 'Place ' || (n % 7), CASE WHEN n % 3 > 0 THEN n % 5 END,
  (CASE WHEN n % 4 = 0 THEN 'Selected' ELSE 'New' END)::curation_status
FROM generate_series(1, :count) AS n
"""


async def planned_text(connection: AsyncConnection, query: Select[Any]) -> str:
    named = query.params(tenant=UUID(int=1), key=0.8, id=UUID(int=2))
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    written = named.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return "\n".join(await connection.scalars(text(f"EXPLAIN {written}")))


async def add_places(desk: Desk, count: int, tenant: Any = None) -> None:
    await desk.run(MAKE_PLACES, tenant=tenant or desk.tenant, count=count)


async def test_a_list_shows_what_the_tenant_has_and_nothing_of_others(
    desk: Desk,
) -> None:
    mine = await desk.add(Place, source="osm", source_place_id="1", raw={"a": 1})
    theirs = await desk.add(Place, tenant=desk.other, source="osm", source_place_id="2")

    page = await desk.get("/places/staging")

    assert [item["id"] for item in page["items"]] == [str(mine)]
    assert page["total"] == {"count": 1, "is_exact": True}
    assert not {"raw", "tenant_id"} & page["items"][0].keys()
    problem = await desk.get(f"/places/staging/{theirs}", status=404)
    assert problem == {
        **await desk.get(f"/places/staging/{desk.tenant}", status=404),
        "request_id": problem["request_id"],
    }
    facets = await desk.get("/places/staging/facets", {"field": "source"})
    assert facets == {
        "facets": {"source": [{"value": "osm", "count": 1}]},
        "is_exact": True,
    }


@pytest.mark.parametrize(
    "sort",
    ["rating", "-rating", "name", "-name", "updated_at", "-updated_at", "status", "id"],
)
@pytest.mark.parametrize("filters", [[], ["status:equal:New"]])
async def test_paging_meets_every_row_once_in_the_order_asked_for(
    desk: Desk, sort: str, filters: list[str]
) -> None:
    await add_places(desk, 53)

    items = await desk.walk(
        "/places/staging", {"sort": sort, "limit": 7, "filter": filters}
    )

    whole = await desk.get(
        "/places/staging", {"sort": sort, "limit": 200, "filter": filters}
    )
    assert items == whole["items"]
    assert len({item["id"] for item in items}) == (40 if filters else 53)
    field = sort.removeprefix("-")
    values = [item[field] for item in items if item[field] is not None]
    if field != "status":
        assert values == sorted(values, reverse=sort.startswith("-"))
    assert [item[field] for item in items[len(values) :]] == [None] * (
        len(items) - len(values)
    )


async def test_the_likeliest_pages_come_first_by_an_index_of_their_own(
    desk: Desk,
) -> None:
    domain = await desk.add(Domain, domain="ada.bv")
    chances = [0.9, None, 0.2, 0.5, 0.7, None, 0.1, 0.6, 0.49]
    for number, chance in enumerate(chances):
        url = f"https://ada.bv/{number}"
        await desk.add(Page, domain_id=domain, url=url, contact_likelihood=chance)
    sort = Sort("contact_likelihood", is_descending=True)
    query = list_statement.walk(
        KINDS["pages"], ListQuery(desk.tenant, sort=sort), 3, is_known=True,
        is_begun=True, at_least=0.5,
    )  # fmt: skip

    items = await desk.walk("/pages", {"sort": "-contact_likelihood", "limit": 3})
    async with desk.engine.begin() as connection:
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        await connection.execute(text("SET LOCAL enable_sort = off"))
        plan = await planned_text(connection, query)

    known = sorted((one for one in chances if one is not None), reverse=True)
    assert [one["contact_likelihood"] for one in items] == [*known, None, None]
    assert "ix_pages_likely" in plan
    assert "Sort" not in plan


@pytest.mark.parametrize("filters", [[], ["source:equal:osm"]])
async def test_a_name_with_an_accent_or_a_small_letter_stood_after_z(
    desk: Desk, filters: list[str]
) -> None:
    names = ["Ábel", "abt", "Łódź Grill", "lorenz", "Öl & Co", "oma", "Straße", "Zoe"]
    for name in reversed(names):
        await desk.add(Place, source="osm", source_place_id=name, name=name)

    asked = {"limit": 2, "filter": filters}
    up = await desk.walk("/places/staging", {"sort": "name", **asked})
    down = await desk.walk("/places/staging", {"sort": "-name", **asked})

    assert [item["name"] for item in up] == names
    assert [item["name"] for item in down] == names[::-1]
    assert "name_order" not in up[0]


async def test_people_and_cities_with_an_accent_stood_after_z(desk: Desk) -> None:
    names = ["Ábel", "abt", "Öl", "Zoe"]
    domain = await desk.add(Domain, domain="a.example")
    for name in reversed(names):
        await desk.add(Company, name="Shop", city=name)
        await desk.add(
            Contact, domain_id=domain, email=f"{names.index(name)}@a.example", name=name
        )

    people = await desk.walk("/contacts", {"sort": "name", "limit": 3})
    companies = await desk.walk("/companies", {"sort": "-city", "limit": 3})

    assert [item["name"] for item in people] == names
    assert [item["city"] for item in companies] == names[::-1]
    assert "city_order" not in companies[0]


async def test_rows_that_stay_are_shown_once_while_others_come_change_and_go(
    desk: Desk,
) -> None:
    await add_places(desk, 60)
    stay = [f"p{n}" for n in range(1, 61) if n % 6]

    page = await desk.get("/places/staging", {"sort": "name", "limit": 10})
    seen = page["items"]
    for turn in range(6):
        await desk.run(
            "DELETE FROM places_staging WHERE source_place_id = :gone",
            gone=f"p{(turn + 1) * 6}",
        )
        await desk.run(
            "INSERT INTO places_staging (tenant_id, source, source_place_id, name)"
            " VALUES (:t, 'osm', :id, 'Place 0'), (:t, 'osm', :id || 'x', 'Place 9')",
            t=desk.tenant,
            id=f"new{turn}",
        )
        page = await desk.get(
            "/places/staging",
            {"sort": "name", "limit": 10, "cursor": page["next_cursor"]},
        )
        seen += page["items"]
        if page["next_cursor"] is None:
            break

    shown = [item["source_place_id"] for item in seen]
    assert [shown.count(each) for each in stay] == [1] * len(stay)


async def test_rows_are_paged_by_long_texts_too(desk: Desk) -> None:
    for n in range(4):
        await desk.add_domain(f"site{n}.de", title=f"{n % 2}" + "é" * 3_000)

    items = await desk.walk("/domains", {"sort": "-title", "limit": 1})

    assert [item["title"][0] for item in items] == ["1", "1", "0", "0"]
    assert len({item["id"] for item in items}) == 4


@pytest.mark.slow
async def test_totals_beyond_ten_thousand_are_estimates(desk: Desk) -> None:
    await add_places(desk, 12_000)
    await desk.run("ANALYZE places_staging")

    page = await desk.get("/places/staging", {"limit": 1})
    few = await desk.get("/places/staging", {"filter": "status:equal:Selected"})
    walked = await desk.walk("/places/staging", {"limit": 200, "sort": "-rating"})

    assert page["total"]["is_exact"] is False
    assert 10_000 < page["total"]["count"] < 15_000
    assert few["total"] == {"count": 3_000, "is_exact": True}
    assert len({item["id"] for item in walked}) == 12_000


@pytest.mark.parametrize(
    ("looked_at", "few"),
    [
        (listing.SCANNED_ROWS, listing.SORTED_WHOLE_ROWS),
        (listing.SCANNED_ROWS, 0),
        (100, 0),
    ],
)
async def test_every_way_to_a_page_leads_to_the_same_rows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, looked_at: int, few: int
) -> None:
    monkeypatch.setattr(listing, "SCANNED_ROWS", looked_at)
    monkeypatch.setattr(listing, "SORTED_WHOLE_ROWS", few)
    await add_places(desk, 6_000)
    await add_places(desk, 6_000, desk.other)
    # What matches is not among the latest, as when others were decided since.
    await desk.run(
        "UPDATE places_staging SET name = 'New' WHERE substr(source_place_id, 2)::int"
        " > 4000"
    )
    await desk.run("ANALYZE places_staging")

    async def shown(condition: str, **params: Any) -> None:
        page = await desk.get("/places/staging", {"limit": 20, **params})
        meant = await desk.run(
            "SELECT id, count(*) OVER () AS found FROM places_staging"
            f" WHERE tenant_id = :tenant AND {condition} ORDER BY"
            " updated_at DESC, id DESC LIMIT 40",
            tenant=desk.tenant,
        )
        total, asked = page["total"], {**params, "cursor": page["next_cursor"]}
        following = await desk.get("/places/staging", {"limit": 20, **asked})
        ids = [item["id"] for item in page["items"] + following["items"]]
        assert ids == [str(row.id) for row in meant]
        assert total == {"count": meant[0].found, "is_exact": True}

    await shown("rating = 3", filter="rating:equal:3")
    await shown("name = 'Place 3'", filter="name:equal:Place 3")
    await shown("status = 'New' AND rating = 3",
                filter=["status:equal:New", "rating:equal:3"])  # fmt: skip
    await shown("source_place_id LIKE '%77%'", filter="source_place_id:contains:77")
    await shown("name ILIKE '%e 5%'", q="place 5")


async def test_words_are_found_in_any_text_of_the_record(desk: Desk) -> None:
    await desk.add(
        Place, source="osm", source_place_id="1", name="Ada's Bakery", address="Leeds"
    )
    await desk.add(Place, source="osm", source_place_id="2", name="Bakery 100%")

    async def names(words: str) -> list[str]:
        page = await desk.get("/places/staging", {"q": words, "sort": "name"})
        return [item["name"] for item in page["items"]]

    assert await names("BAKERY") == ["Ada's Bakery", "Bakery 100%"]
    assert await names("leeds bakery") == ["Ada's Bakery"]
    assert await names("0%") == ["Bakery 100%"]
    assert await names("%") == ["Bakery 100%"]
    assert await names("Bakery_100") == []


async def test_words_of_companies_people_and_pages_were_looked_for_in_every_row(
    desk: Desk,
) -> None:
    searched = [kind for kind in KINDS.values() if kind.words]
    tables = {kind.record.__tablename__: kind for kind in searched}
    plans = {}

    async with desk.engine.begin() as connection:
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        for table, kind in tables.items():
            query = select(kind.record.id).where(matches(kind, "unicorn"))
            plans[table] = await planned_text(connection, query)

    unindexed = {table for table, plan in plans.items() if "Seq Scan" in plan}
    # A tenant has few of these.
    assert unindexed == {"place_searches"}
    assert "ix_pages_words" in plans["pages"]


async def test_the_sixth_search_was_planned_for_any_words_and_read_all_rows(
    desk: Desk,
) -> None:
    query = ListQuery(desk.tenant, words="unicorn")

    async with desk.engine.connect() as connection:
        for _ in range(8):
            await listing.read_page(connection, KINDS["contacts"], query, limit=50)
        planned = await connection.execute(
            text(
                "SELECT sum(generic_plans) FROM pg_prepared_statements"
                " WHERE statement LIKE 'WITH matching%'"
            )
        )

    assert planned.scalar_one() == 0


@pytest.mark.parametrize(
    "written",
    ["020 7946 0018", "(020) 7946-0018", "+44 (0)20 7946 0018", "02079460018"],
)
async def test_a_phone_number_as_written_nationally_found_nothing(
    desk: Desk, written: str
) -> None:
    await desk.add(Place, source="osm", source_place_id="1", phone="+442079460018")
    await desk.add(Place, source="osm", source_place_id="2", phone="+442079460019")

    page = await desk.get("/places/staging", {"q": written})

    assert [item["phone"] for item in page["items"]] == ["+442079460018"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["rating:at_least:4"], {"b"}),
        (["rating:unknown"], {"c"}),
        (["name:starts_with:A"], {"a"}),
        (["status:one_of:Maybe,Archived"], {"c"}),
        (["categories:equal:bakery"], {"a", "b"}),
        (["status:not_equal:New", "rating:known"], set()),
        (["website:equal:https://a.example/?x=1:2"], {"a"}),
        (["created_at:at_least:-P7D"], {"a", "b", "c"}),
        (["created_at:at_most:-PT24H"], set()),
        (["rating:at_least:4|status:equal:Maybe"], {"b", "c"}),
        (["name:equal:Ada|rating:unknown", "status:equal:New"], {"a"}),
        (["name:equal:x|y", "rating:known"], set()),
    ],
)
async def test_a_list_is_filtered(
    desk: Desk, filters: list[str], expected: set[str]
) -> None:
    rows: dict[str, dict[str, Any]] = {
        "a": {"name": "Ada", "rating": 3.5, "categories": ["bakery"],
              "website": "https://a.example/?x=1:2"},
        "b": {"name": "Bob", "rating": 4.5, "categories": ["bakery", "cafe"]},
        "c": {"name": "Cy", "status": "Maybe"},
    }  # fmt: skip
    for key, values in rows.items():
        await desk.add(Place, source="osm", source_place_id=key, **values)

    page = await desk.get("/places/staging", {"filter": filters})

    assert {item["source_place_id"] for item in page["items"]} == expected
    assert page["total"]["count"] == len(expected)


async def test_records_are_filtered_by_what_they_belong_to(desk: Desk) -> None:
    search = await desk.add(PlaceSearch, business_type="x", location="y", source="osm")
    place = await desk.add(Place, source="osm", source_place_id="1")
    await desk.run(
        "INSERT INTO place_search_hits (search_id, place_id, tenant_id)"
        " VALUES (:s, :p, :t)",
        s=search,
        p=place,
        t=desk.tenant,
    )
    domain = await desk.add_domain("ada.bv")
    await desk.add(LocalBusiness, place_id=place, domain_id=domain)
    found = await desk.add_contact("ada@ada.bv", domain=domain)
    await desk.add_contact("bob@bob.bv")

    async def ids(path: str, filter_: str) -> list[str]:
        return [
            item["id"] for item in (await desk.get(path, {"filter": filter_}))["items"]
        ]

    assert await ids("/places/staging", f"search_id:equal:{search}") == [str(place)]
    assert await ids("/contacts", f"search_id:equal:{search}") == [str(found)]
    assert await ids("/contacts", "domain:equal:ada.bv") == [str(found)]
    assert await ids("/contacts", "domain:starts_with:zed") == []
    await desk.get("/contacts", {"filter": "domain:unknown"}, status=422)
    await desk.get("/contacts", {"filter": "search_id:contains:a"}, status=422)
    done = await desk.post(
        "/contacts/status",
        {"filter": [{"field": "domain", "value": "ada.bv"}], "status": "Skipped"},
    )
    assert done["changed"] == 1


HOSTILE = [
    {"filter": "tenant_id:equal:x"},
    {"filter": "raw:known"},
    {"filter": "1=1;--:equal:x"},
    {"filter": "status"},
    {"filter": "status:equal"},
    {"filter": "status:known:x"},
    {"filter": "status:is:New"},
    {"filter": "status:equal:Nonsense"},
    {"filter": "rating:at_least:4;DROP TABLE x"},
    {"filter": "rating:equal:" + "9" * 5000},
    {"filter": "reviews_count:equal:9223372036854775808"},
    {"filter": "reviews_count:equal:1e400"},
    {"filter": "reviews_count:equal:NaN"},
    {"filter": "name:contains:" + "x" * 1001},
    {"filter": "name:equal:a\x00b"},
    {"filter": "updated_at:at_least:yesterday"},
    {"filter": "updated_at:at_least:2026-11-15"},
    {"filter": "updated_at:at_least:-P7"},
    {"filter": "updated_at:at_least:-P999999999999D"},
    {"filter": ["name:known"] * 51},
    {"filter": "|".join(["name:known"] * 22)},
    {"filter": "name:known|nonsense:equal:1"},
    {"sort": "(select pg_sleep(9))"},
    {"sort": "tenant_id"},
    {"sort": "raw"},
    {"sort": "categories"},
    {"sort": "-"},
    {"q": "x" * 201},
    {"q": "a\x00"},
    {"limit": 0},
    {"limit": -1},
    {"limit": 10**9},
    {"limit": "true"},
    {"offset": 10**9},
    {"cursor": "AAAA"},
    {"cursor": "é"},
    {"cursor": "=" * 5000},
    {"cursor": "A" * 100},
]


@pytest.mark.parametrize("params", HOSTILE, ids=lambda p: str(p)[:40])
async def test_a_hostile_question_is_refused_in_words(
    desk: Desk, params: dict[str, Any]
) -> None:
    problem = await desk.get("/places/staging", params, status=422)

    assert problem["type"].startswith("https://scrapersky.example/problems/")
    assert "Traceback" not in str(problem)


async def test_a_cursor_is_good_for_its_own_list_only(desk: Desk) -> None:
    await add_places(desk, 5)
    asked = {"sort": "name", "limit": 2, "filter": "status:equal:New", "q": "Place"}
    cursor = (await desk.get("/places/staging", asked))["next_cursor"]

    await desk.get("/places/staging", {**asked, "cursor": cursor, "limit": 3})
    for change in (
        {"sort": "-name"},
        {"filter": "status:equal:Selected"},
        {"q": "place"},
    ):
        await desk.get(
            "/places/staging", {**asked, "cursor": cursor, **change}, status=422
        )
    await desk.get("/local-businesses", {**asked, "cursor": cursor}, status=422)
    broken = cursor[:-2] + ("A" if cursor[-2] != "A" else "B") + cursor[-1]
    await desk.get("/places/staging", {**asked, "cursor": broken}, status=422)


async def test_fields_say_what_can_be_asked(desk: Desk) -> None:
    fields = {field["name"]: field for field in await desk.get("/pages/fields")}

    assert "tenant_id" not in fields
    assert fields["page_curation_status"]["values"][0] == "New"
    assert "contains" in fields["url"]["comparisons"]
    assert "contains" not in fields["word_count"]["comparisons"]
    assert fields["likelihood_reasons"]["sortable"] is False


async def test_a_page_shows_its_domain_and_its_history(desk: Desk) -> None:
    domain = await desk.add(Domain, domain="ada.bv")
    page = await desk.add(
        Page, domain_id=domain, url="https://ada.bv/contact", contact_likelihood=0.9,
        likelihood_reasons=["the word contact"],
    )  # fmt: skip
    await desk.post("/pages/status", {"ids": [str(page)], "status": "Selected"})

    detail = await desk.get(f"/pages/{page}")
    history = await desk.get(f"/pages/{page}/history")

    assert detail["record"]["domain"] == "ada.bv"
    assert detail["related"]["domains"] == [{"id": str(domain), "label": "ada.bv"}]
    assert detail["evidence"][0]["snippet"] == "the word contact"
    (event,) = history["events"]
    assert (event["what"], event["status_before"], event["status_after"]) == (
        "decided",
        "New",
        "Selected",
    )
