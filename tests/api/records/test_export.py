"""Exports: any list as a file, harmless in a spreadsheet, without who is suppressed."""

import csv
import io
import json
import zipfile
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest

from scrapersky.export.preset import PRESETS, REQUIRED
from scrapersky.records import LocalBusiness
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

CELL = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


async def export(desk: Desk, path: str, **params: Any) -> bytes:
    answer = await desk.client.get(f"/api/v3{path}/export", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert answer.headers["x-content-type-options"] == "nosniff"
    return answer.content


def csv_rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def sheet(data: bytes) -> list[dict[str, str]]:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        root = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert not [*root.iter(f"{CELL}f")], "there is a formula"
    rows = [
        {
            cell.get("r", "").rstrip("0123456789"): "".join(cell.itertext())
            for cell in row.iter(f"{CELL}c")
        }
        for row in root.iter(f"{CELL}row")
    ]
    heading, *rest = rows
    return [{heading[at]: cell for at, cell in row.items()} for row in rest]


async def a_contact(desk: Desk, **values: Any) -> Any:
    domain = await desk.add_domain("ada.de", home_url="https://ada.de/")
    await desk.add(LocalBusiness, domain_id=domain, name="=Ada's Bakery")
    contact = await desk.add_contact(
        "ada@ada.de", domain=domain, name="Ada King Lovelace", phone="+442079460018",
        address={"street": "1 Row", "city": "Leeds", "country": "GB"},
        tags=["vip", "north"], **values,
    )  # fmt: skip
    await desk.run(
        "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,"
        " method, confidence, robots, seen_at) VALUES (:t, :c, 'email', 'ada@ada.de',"
        " 'https://ada.de/contact', 'write to ada@ada.de', 'mailto', 0.9, 'allowed',"
        " now())",
        t=desk.tenant,
        c=contact,
    )
    return contact


async def test_a_spreadsheet_shows_cells_and_runs_none(desk: Desk) -> None:
    await a_contact(desk, notes="=HYPERLINK(1)", role="@boss")

    (row,) = csv_rows(await export(desk, "/contacts"))
    (cells,) = sheet(await export(desk, "/contacts", format="xlsx"))
    (line,) = (await export(desk, "/contacts", format="jsonl")).splitlines()

    assert row["business"] == "'=Ada's Bakery"
    assert (row["notes"], row["role"]) == ("'=HYPERLINK(1)", "'@boss")
    assert (row["phone"], row["tags"]) == ("+442079460018", "vip; north")
    assert row["source_url"] == "https://ada.de/contact"
    assert (cells["notes"], cells["phone"]) == ("=HYPERLINK(1)", "+442079460018")
    assert json.loads(line)["tags"] == ["vip", "north"]
    assert json.loads(line)["notes"] == "=HYPERLINK(1)"


@pytest.mark.slow
async def test_an_export_is_the_list_with_its_filters_sort_and_columns(
    desk: Desk,
) -> None:
    await desk.run(
        "INSERT INTO domains (tenant_id, domain, language) SELECT :t, 'site' ||"
        " to_char(n, 'FM00000') || '.de', CASE n % 2 WHEN 0 THEN 'de' END"
        " FROM generate_series(1, 4500) AS n",
        t=desk.tenant,
    )
    await desk.add_domain("theirs.de", tenant=desk.other, language="de")

    data = await export(
        desk, "/domains", filter="language:equal:de", sort="-domain",
        columns="language,domain",
    )  # fmt: skip
    everything = csv_rows(await export(desk, "/domains", sort="language"))

    rows = csv_rows(data)
    assert [*rows[0]] == ["language", "domain"]
    assert [row["domain"] for row in rows] == [
        f"site{n:05}.de" for n in range(4500, 0, -2)
    ]
    assert len({row["domain"] for row in everything}) == len(everything) == 4500


async def test_a_selection_was_too_long_for_an_address(desk: Desk) -> None:
    domain = await desk.add_domain("a.de")
    kept = [
        await desk.add_contact(f"{n}@a.de", domain=domain, confidence=n / 9)
        for n in (1, 3, 2)
    ]
    await desk.add_contact("9@a.de", domain=domain)
    others = [str(uuid4()) for _ in range(1_500)]
    asked = {"columns": "email", "sort": "confidence"}

    answer = await desk.client.post(
        "/api/v3/contacts/export/chosen",
        params=asked,
        json={"ids": [*others, *map(str, kept)]},
        headers={"Idempotency-Key": "1"},
    )

    assert answer.status_code == 200, answer.text
    rows = [row["email"] for row in csv_rows(answer.content)]
    assert rows == ["1@a.de", "2@a.de", "3@a.de"]


async def test_rows_that_a_crm_refuses_were_left_out_of_a_selection_uncounted(
    desk: Desk,
) -> None:
    domain = await desk.add_domain("a.de")
    chosen = [
        await desk.add_contact("1@a.de", domain=domain, name="Ada"),
        await desk.add_contact("2@a.de", domain=domain),
    ]
    await desk.add_contact("3@a.de", domain=domain)
    theirs = await desk.add_domain("b.de", tenant=desk.other)
    chosen.append(await desk.add_contact("4@b.de", domain=theirs, tenant=desk.other))

    async def count(**asked: str) -> object:
        ids = [str(one) for one in chosen]
        path = "/contacts/export/chosen/count"
        found = await desk.send("POST", path, {"ids": ids}, params=asked)
        return found["count"], found["without"]["name"]

    assert await count() == (2, 1)
    assert await count(filter="name:unknown") == (1, 1)


async def test_an_empty_list_is_a_file_with_a_heading(desk: Desk) -> None:
    assert csv_rows(await export(desk, "/pages")) == []
    assert [*filter(None, sheet(await export(desk, "/pages", format="xlsx")))] == []
    assert await export(desk, "/pages", format="jsonl") == b""


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("hubspot", {"Email": "ada@ada.de", "First Name": "Ada King",
                     "Last Name": "Lovelace", "Company Domain Name": "ada.de"}),
        ("salesforce", {"Company": "'=Ada's Bakery", "Last Name": "Lovelace",
                        "Description": "Found at https://ada.de/contact"}),
        ("pipedrive", {"Person - Name": "Ada King Lovelace",
                       "Organization - Address": "1 Row, Leeds, GB"}),
        ("mailchimp", {"Email Address": "ada@ada.de", "Tags": "vip; north"}),
        ("zoho", {"Email": "ada@ada.de", "Lead Source": "ScraperSky"}),
        ("google-contacts", {"E-mail 1 - Value": "ada@ada.de"}),
    ],
)  # fmt: skip
async def test_a_preset_has_the_columns_a_crm_reads(
    desk: Desk, preset: str, expected: dict[str, str]
) -> None:
    await a_contact(desk)

    (row,) = csv_rows(await export(desk, "/contacts", preset=preset))

    assert expected.items() <= row.items()


async def test_every_preset_tells_place_trade_phone_and_deliverability() -> None:
    told = {"email", "phone", "categories", "validation", "city"}
    assert [
        name for name, made in PRESETS.items() if not told <= {*made.values()}
    ] == []
    assert {*REQUIRED["contacts"]} <= {*PRESETS}


@pytest.mark.parametrize(
    "params",
    [
        {"columns": "tenant_id"},
        {"columns": "raw"},
        {"columns": "id; DROP TABLE x"},
        {"preset": "nobody"},
        {"preset": "hubspot", "columns": "email"},
        {"format": "exe"},
        {"sort": "pg_sleep(9)"},
        {"limit": 5},
    ],
)
async def test_what_cannot_be_exported_is_refused_before_the_first_byte(
    desk: Desk, params: dict[str, Any]
) -> None:
    await desk.get("/contacts/export", params, status=422)


async def test_who_is_suppressed_is_in_no_export(desk: Desk) -> None:
    await a_contact(desk)
    await desk.post("/suppressions", {"values": ["eve@eve.de"]}, status=201)
    # The list keeps such rows out; this one came by another way.
    late = await desk.add_domain("eve.de", emails=["eve@eve.de", "bob@eve.de"])
    await desk.add_contact("eve@eve.de", domain=late)

    rows = csv_rows(await export(desk, "/contacts"))
    domains = csv_rows(await export(desk, "/domains", sort="domain"))

    assert [row["email"] for row in rows] == ["ada@ada.de"]
    assert domains[1]["emails"] == "bob@eve.de"


async def test_every_value_says_where_it_came_from(desk: Desk) -> None:
    contact = await a_contact(desk)

    detail = await desk.get(f"/contacts/{contact}")

    assert [
        (each["field"], each["url"], each["method"]) for each in detail["evidence"]
    ] == [("email", "https://ada.de/contact", "mailto")]
    assert detail["record"]["business"] == "=Ada's Bakery"
