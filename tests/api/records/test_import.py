"""What people bring is a lead's at once, every value of it; and goes again as it came."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text

from scrapersky.api.app import create_app
from scrapersky.companies.matching import match_tenant
from scrapersky.configuration import load_settings
from scrapersky.curation import lead_import
from scrapersky.db.connection import connect, parse_target
from sdk_tests.rig.waiting import HUNG
from tests.api.records.rig import AT_REST, Desk
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEARCHING = {
    name: value
    for name, value in AT_REST.items()
    if not name.startswith("PLACE_SEARCH")
}
HEADINGS = (
    "Firma", "Webseite", "E-Mail", "Ansprechpartner", "Funktion", "Telefon", "Straße",
    "PLZ", "Ort", "Umsatz", "Bemerkung", "Kundennummer",
)  # fmt: skip
ROLES = ("Geschäftsführer", "Inhaberin", "Prokurist", "")
CITIES = (("80331", "München"), ("1010", "Wien"), ("04109", "Leipzig"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(module_database: TestDatabase) -> AsyncIterator[Desk]:
    """The same desk, where searches are worked on."""
    target = parse_target(module_database.url)
    app = create_app(load_settings(SEARCHING, dotenv=None).settings, target)
    engine = connect(target)
    transport = httpx.ASGITransport(
        app, raise_app_exceptions=False, client=("127.0.0.1", 40000)
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        yield await Desk.open(engine, client, app)
    await engine.dispose()


def messy_lines(count: int, seed: int = 7) -> list[dict[str, str]]:
    """Write lines as people have them: gaps, two forms of everything, nothing twice."""
    random = Random(seed)
    lines = []
    for number in range(count):
        site = f"firma{number:03}.example"
        code, city = random.choice(CITIES)
        kind = number % 5
        email = {
            0: f"info@{site}", 1: f"ada.k{number}@{site}", 2: f"Firma{number}@gmail.com",
            3: "", 4: f"office@{site}; kontakt@{site}",
        }[kind]  # fmt: skip
        line = {
            "Firma": f"Müller {number:03} GmbH & Co. KG",
            "Webseite": ("", f"https://www.{site}/", site, site.upper(), "")[kind],
            "E-Mail": email,
            "Ansprechpartner": f"Ada König{chr(97 + number % 26)}{chr(97 + number // 26)}",
            "Funktion": random.choice(ROLES),
            "Telefon": f"+49 89 12{number:04} {random.randrange(10)}",
            "Straße": f"Hauptstraße {number}",
            "PLZ": code,
            "Ort": city,
            "Umsatz": f"{random.randrange(1, 99)},{random.randrange(9)} Mio. €",
            "Bemerkung": random.choice(("ruft; zurück", 'sagt "nein"', "-", "")),
            "Kundennummer": f"K-{number:05}",
        }
        lines.append(
            {name: value if random.random() > 0.05 or name == "Firma" else ""
             for name, value in line.items()}
        )  # fmt: skip
    return lines


def written(lines: list[dict[str, str]]) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, HEADINGS, delimiter=";", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(lines)
    return file.getvalue().encode("cp1252")


async def look(desk: Desk, content: bytes, **asked: Any) -> Any:
    answer = await desk.client.post(
        "/api/v3/searches/file/preview", params=asked, content=content,
        headers={"Content-Type": "text/csv"},
    )  # fmt: skip
    assert answer.status_code == 200, answer.text
    return answer.json()


async def bring(
    desk: Desk, content: bytes, name: str = "kunden.csv", **asked: Any
) -> str:
    answer = await desk.client.post(
        "/api/v3/searches/file", params={"name": name, **asked}, content=content,
        headers={"Content-Type": "text/csv"},
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    search = answer.json()["search_id"]

    async def is_done() -> bool:
        status = await desk.scalar(
            "SELECT status::text FROM place_searches WHERE id = :s", s=search
        )
        return str(status) == "Completed"

    async with asyncio.timeout(60):
        while not await is_done():  # noqa: ASYNC110 - another process tells
            await asyncio.sleep(0.2)
    await match_tenant(desk.engine, desk.tenant)
    return str(search)


async def everything_of(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return of each company its record, the addresses and the people of its website."""
    rows = await desk.run(
        """SELECT c.name, c.id, c.street, c.city, c.postal_code, c.phone,
          ARRAY(SELECT x.email FROM contacts x WHERE x.domain_id = c.domain_id) AS emails,
          ARRAY(SELECT p.name FROM people p WHERE p.domain_id = c.domain_id) AS people,
          ARRAY(SELECT p.role FROM people p WHERE p.domain_id = c.domain_id) AS roles
        FROM companies c"""
    )
    leads = {row.name: row._asdict() for row in rows}
    for item in await desk.walk("/companies", {"limit": 200}):
        leads[item["name"]]["extra"] = item["extra"]
    return leads


def lost_of(line: dict[str, str], lead: dict[str, Any]) -> list[str]:
    """Name the cells of a line that stand nowhere on its lead."""
    extra = {str(one) for one in lead["extra"].values()}
    emails = [one.strip().lower() for one in line["E-Mail"].split(";") if one.strip()]
    held = " ".join(extra).lower()
    checks = {
        "Straße": line["Straße"] == (lead["street"] or ""),
        "PLZ": line["PLZ"] in ("", lead["postal_code"]),
        "Ort": line["Ort"] in ("", lead["city"]),
        "Telefon": not line["Telefon"]
        or lead["phone"] == line["Telefon"].replace(" ", ""),
        "E-Mail": all(one in lead["emails"] or one in held for one in emails),
        "Ansprechpartner": not line["Ansprechpartner"]
        or line["Ansprechpartner"] in lead["people"]
        or line["Ansprechpartner"] in extra,
        "Funktion": not line["Funktion"]
        or line["Funktion"] in lead["roles"]
        or line["Funktion"] in extra,
        **{
            name: line[name] == "" or line[name] in extra
            for name in ("Umsatz", "Bemerkung", "Kundennummer")
        },
    }
    return [name for name, is_there in checks.items() if not is_there]


@pytest.mark.slow
async def test_five_hundred_messy_lines_lost_address_person_revenue_and_remark(
    desk: Desk,
) -> None:
    lines = messy_lines(500)

    search = await bring(desk, written(lines))

    leads = await everything_of(desk)
    assert len(leads) == 500
    lost = {line["Firma"]: lost_of(line, leads[line["Firma"]]) for line in lines}
    assert {name: cells for name, cells in lost.items() if cells} == {}
    answer = await desk.client.get(
        "/api/v3/companies/export", params={"preset": "leads"}
    )
    rows = csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff")))
    exported = {row["Company"]: row for row in rows}
    for line in lines:
        row = exported[line["Firma"]]
        assert line["Ort"] in ("", row["City"])
        assert all(
            line[one] in row["More"].replace('\\"', '"')
            for one in ("Umsatz", "Bemerkung")
        )
    result = await desk.get(f"/searches/{search}/import")
    fields = {one["heading"]: one["field"] for one in result["columns"]}
    assert (fields["E-Mail"], fields["Ansprechpartner"]) == ("email", "person")
    assert (fields["Umsatz"], fields["Funktion"]) == ("extra", "role")
    kept = {one["heading"]: one["lines"] for one in result["columns"]}
    assert kept == {
        name: count
        for name in HEADINGS
        if (count := sum(bool(one[name]) for one in lines))
    }


async def test_more_values_were_said_to_be_kept_than_could_be_read(desk: Desk) -> None:
    bad = {"E-Mail": "kaputt@", "Telefon": "unbekannt", "Ansprechpartner": "k. A."}
    one, other = messy_lines(2)
    lines = [one | bad, other | {"E-Mail": "ada@firma001.example"}]
    lines += [other | bad | {"Firma": "Firma drei", "PLZ": "1030"}]

    foreseen = await look(desk, written(lines))
    search = await bring(desk, written(lines))

    problem = {"why": "not an e-mail address", "field": "email", "value": "kaputt@"}
    left = {"is_left_out": False}
    assert foreseen["problems"] == [{"line": line} | problem | left for line in (2, 4)]
    assert foreseen["problems_count"] == 2
    result = await desk.get(f"/searches/{search}/import")
    assert [each | left for each in result["problems"]] == foreseen["problems"]
    columns = {each["heading"]: each for each in result["columns"]}
    assert (columns["E-Mail"]["lines"], columns["E-Mail"]["unread"]) == (3, 2)
    people = await desk.scalar("SELECT count(*) FROM people WHERE name ILIKE 'k%a%'")
    assert people == 0


@pytest.mark.parametrize("rows", [3, lead_import.SLICE_ROWS])
async def test_an_import_is_undone_whole_but_for_what_was_worked_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(lead_import, "SLICE_ROWS", rows)
    await desk.add_domain("firma001.example", verdict="own_site")
    search = await bring(desk, written(messy_lines(10)))
    result = await desk.get(f"/searches/{search}/import")
    assert (result["made"]["businesses"], result["undone_at"]) == (10, None)
    worked = await desk.scalar("SELECT id FROM companies WHERE name LIKE 'Müller 003%'")
    await desk.post("/companies/status", {"ids": [str(worked)], "status": "Contacted"})

    await desk.post(f"/actions/{result['action_id']}/undo")

    await match_tenant(desk.engine, desk.tenant)
    left = await desk.run("SELECT name FROM companies WHERE name LIKE 'Müller%'")
    assert [row.name[:10] for row in left] == ["Müller 003"]
    domains = await desk.run("SELECT domain FROM domains ORDER BY domain")
    assert [row.domain for row in domains] == ["firma001.example", "firma003.example"]
    assert await desk.scalar("SELECT count(*) FROM contacts") <= 1
    undone = await desk.get(f"/searches/{search}/import")
    assert (undone["action_id"], undone["made"]) == (None, {})
    assert undone["undone_at"] is not None


async def test_an_undo_of_an_import_held_all_of_it_in_one_transaction(
    desk: Desk,
) -> None:
    search = await bring(desk, written(messy_lines(10)))
    action = (await desk.get(f"/searches/{search}/import"))["action_id"]
    assert await desk.scalar("SELECT count(*) FROM contacts") > 0
    async with desk.engine.connect() as beside:
        # Somebody holds a place: the undo waits there, and has let go of the rest.
        await beside.execute(text("SELECT id FROM places_staging FOR UPDATE"))
        undoing = asyncio.create_task(desk.post(f"/actions/{action}/undo"))
        async with asyncio.timeout(HUNG):
            while await desk.scalar("SELECT count(*) FROM contacts"):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.05)
        assert not undoing.done()
    await undoing

    assert await desk.scalar("SELECT count(*) FROM places_staging") == 0


async def test_what_is_known_stays_and_the_difference_is_told(desk: Desk) -> None:
    domain = await desk.add_domain("firma001.example", verdict="own_site")
    known = {"name": "Bea Koenig", "email_type": "CORPORATE"}
    await desk.add_contact("ada.k1@firma001.example", domain=domain, **known)
    line = messy_lines(2)[1] | {"E-Mail": "ada.k1@firma001.example"}
    line |= {"Webseite": "firma001.example", "Ansprechpartner": "Ada King"}

    search = await bring(desk, written([line]))

    result = await desk.get(f"/searches/{search}/import")
    (name,) = [one for one in result["differences"] if one["field"] == "name"]
    assert (name["known"], name["imported"]) == ("Bea Koenig", "Ada King")
    # Without accounts nobody has brought it: "imported by ScraperSky" said nothing.
    assert name["origin"] == "imported from kunden.csv, line 2"


@pytest.mark.parametrize(
    ("email", "is_theirs"),
    [
        ("anna.weber@firma001.example", True),
        ("aw@firma001.example", True),
        ("a.meier@firma001.example", True),  # she may have married
        ("annchen77@gmail.com", True),
        ("info@firma001.example", False),
        ("info-berlin@firma001.example", False),
        ("anmeldung@firma001.example", False),
        ("firma001@firma001.example", False),
        ("firma001@gmail.com", False),
        ("peter.schmidt@firma001.example", False),
        ("p.schmidt@firma001.example", False),
    ],
)
async def test_an_address_in_the_line_of_a_person_was_theirs_whatever_it_said(
    desk: Desk, email: str, is_theirs: bool
) -> None:
    line = messy_lines(2)[1] | {"Firma": "Firma 001", "Ansprechpartner": "Anna Weber"}
    line |= {"Webseite": "firma001.example", "E-Mail": email}

    await bring(desk, written([line]))

    (lead,) = await desk.walk("/companies", {"limit": 10})
    (contact,) = await desk.walk("/contacts", {"limit": 10})
    assert lead["decision_maker"] == "Anna Weber"
    assert (lead["email_kind"] == "person") == is_theirs
    assert (contact["email"], contact["name"]) == (
        email,
        "Anna Weber" if is_theirs else None,
    )


@pytest.mark.parametrize("site", ["firma001.example", ""])
async def test_a_second_person_of_a_company_was_left_out(desk: Desk, site: str) -> None:
    line = messy_lines(2)[1] | {"Webseite": site, "Firma": "Firma 001"}
    people = {
        "Anna Weber": "anna.weber@firma001.example",
        "Eva Roth": "eva.roth@firma001.example",
    }
    lines = [
        line | {"Ansprechpartner": name, "E-Mail": email}
        for name, email in people.items()
    ]

    await bring(desk, written(lines))

    (_lead,) = await desk.walk("/companies", {"limit": 10})
    contacts = await desk.walk("/contacts", {"limit": 10})
    assert {one["name"]: one["email"] for one in contacts} == people


NEWER = {"Ort": "Wien 2", "Telefon": "+43 1 7000003"}


@pytest.mark.parametrize("replaces", [False, True])
async def test_an_import_said_only_afterwards_what_it_changes(
    desk: Desk, *, replaces: bool
) -> None:
    line = messy_lines(2)[1] | {"Webseite": "firma001.example", "Ort": "Wien"}
    line |= {"PLZ": "1010", "Telefon": "+43 1 6000003"}
    await bring(desk, written([line]), "first.csv")
    again = written([line | NEWER])

    result = await look(desk, again, name="second.csv")

    assert (result["known_companies"], result["differences_count"]) == (1, 2)
    said = {
        one["field"]: (one["known"], one["imported"]) for one in result["differences"]
    }
    assert said == {
        "city": ("Wien", "Wien 2"), "phone": ("+4316000003", "+4317000003"),
    }  # fmt: skip
    assert {(one["line"], one["is_kept"]) for one in result["differences"]} == {
        (2, True)
    }
    search = await bring(desk, again, "second.csv", replaces_known=replaces)
    shown = "SELECT string_agg(city || ' ' || phone, ';') FROM companies"
    known, imported = "Wien +4316000003", "Wien 2 +4317000003"
    assert await desk.scalar(shown) == (imported if replaces else known)
    action = (await desk.get(f"/searches/{search}/import"))["action_id"]
    await desk.post(f"/actions/{action}/undo")
    await match_tenant(desk.engine, desk.tenant)
    assert await desk.scalar(shown) == known


async def test_a_column_of_a_file_went_into_no_column_of_ones_own(desk: Desk) -> None:
    for name, kind, choices in (
        ("turnover", "number", []), ("since", "date", []), ("size", "choice", ["S", "L"]),
    ):  # fmt: skip
        body = {"name": name, "title": name.title(), "type": kind, "choices": choices}
        await desk.post("/company-columns", body, status=201)
    file = (
        b"Firma;Umsatz;Seit;Gr\nA GmbH;1.200,50;3.2.2020;l\nB GmbH;viel;2020-02-03;XL\n"
    )
    fields = ["name", "own.turnover", "own.since", "own.size"]

    result = await look(desk, file, fields=fields)
    await bring(desk, file, fields=fields)

    assert {*fields} <= {*result["fields"]}
    held = {one["name"]: one for one in await desk.walk("/companies", {"limit": 10})}
    first = {"turnover": 1200.5, "since": "2020-02-03", "size": "L"}
    assert held["A GmbH"]["own"] == first
    assert held["B GmbH"]["own"] == {"since": "2020-02-03"}
    # What its column cannot hold is beside the others, and not lost.
    assert held["B GmbH"]["extra"] == {"Turnover": "viel", "Size": "XL"}
    refused = await desk.client.post(
        "/api/v3/searches/file/preview", params={"fields": ["name", "own.no", "-", "-"]},
        content=file, headers={"Content-Type": "text/csv"},
    )  # fmt: skip
    assert refused.status_code == 422
    assert "own.no" in refused.text


async def test_a_domain_that_nobody_visited_was_a_lead_and_stayed_when_cancelled(
    desk: Desk,
) -> None:
    names = [f"pasted{number}.example" for number in range(20)]
    batch = (await desk.post("/domains", {"items": names}))["batch_id"]
    await match_tenant(desk.engine, desk.tenant)
    assert await desk.scalar("SELECT count(*) FROM companies") == 0

    await desk.post(f"/batches/{batch}/cancel")

    assert await desk.scalar("SELECT count(*) FROM domains") == 0
    assert await desk.scalar("SELECT count(*) FROM companies") == 0
