"""Whoever must not be contacted leaves by no way: no file, preset, list for outreach, command."""

import io
import json
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest

from scrapersky.api.records.export import export_bytes, read_export
from scrapersky.api.records.list_query import ListQuery
from scrapersky.companies.matching import match_tenant
from scrapersky.export.contacts import write_csv
from scrapersky.export.preset import PRESETS_OF
from scrapersky.records import KINDS, LocalBusiness, Person, Place
from scrapersky.records.company import COMPANIES
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOP = "Do Not Contact"
NAMES = ("avelin", "borkan", "cestrel", "dunmore", "eskdale", "farlow")
OF_COMPANIES = ("companies", "contacts", "people", "places", "businesses", "domains")


async def six_companies(desk: Desk) -> dict[str, UUID]:
    """Store companies whose every value has their name in it, but for their numbers."""
    for number, name in enumerate(NAMES):
        site = f"https://{name}.example/"
        domain = await desk.add_domain(f"{name}.example", verdict="own_site")
        await desk.add_contact(
            f"{name}@{name}.example", domain=domain, name=f"Ada {name.title()}",
            email_type="CORPORATE", phone=phone_of(name),
        )  # fmt: skip
        await desk.add(
            Person, domain_id=domain, name=f"Ada {name.title()}", name_key=f"ada {name}",
            role="Owner", confidence=0.9, standing=0.9, standing_reason="owner",
        )  # fmt: skip
        place = await desk.add(
            Place, name=name.title(), source="osm", source_place_id=name, website=site,
            phone=phone_of(name), latitude=40 + number, longitude=8.0,
            categories=["dentist"],
        )  # fmt: skip
        await desk.add(
            LocalBusiness, place_id=place, domain_id=domain, name=name.title(),
            website=site, phone=phone_of(name), categories=["dentist"],
        )  # fmt: skip
    await match_tenant(desk.engine, desk.tenant)
    rows = await desk.run("SELECT lower(name) AS name, id FROM companies")
    return {row.name: row.id for row in rows}


def phone_of(name: str) -> str:
    return f"+49891234{NAMES.index(name):02}0"


async def set_status(desk: Desk, status: str, *ids: UUID) -> None:
    for one in ids:
        await desk.post("/companies/status", {"ids": [str(one)], "status": status})


async def ways_out(desk: Desk, folder: Path) -> dict[str, bytes]:
    """Return what leaves by every way there is."""
    out: dict[str, bytes] = {}
    for name in OF_COMPANIES:
        kind = KINDS.get(name)
        path = kind.path if kind else "/people"
        for form in ("csv", "xlsx", "jsonl"):
            for preset in ("", *PRESETS_OF.get(name, ())):
                asked = {"format": form, "preset": preset}
                answer = await desk.client.get(f"/api/v3{path}/export", params=asked)
                assert answer.status_code == 200, answer.text
                out[f"{name} {form} {preset}"] = plain(answer.content)
        listed = await desk.client.get(f"/api/v3{path}", params={"outreach": "true"})
        out[f"list of {name}"] = listed.content
    rows = await desk.run("SELECT id FROM companies")
    chosen = {"ids": [str(row.id) for row in rows]}
    answer = await desk.client.post("/api/v3/companies/export/chosen", json=chosen)
    out["chosen"] = answer.content
    plan = read_export(COMPANIES, "csv", "", "leads")
    parts = await export_bytes(desk.engine, COMPANIES, ListQuery(desk.tenant), plan)
    out["command"] = b"".join([part async for part in parts])
    file = folder / "contacts.csv"
    await write_csv(desk.engine, desk.tenant, file)
    out["file of a run"] = file.read_bytes()
    return out


def plain(content: bytes) -> bytes:
    if not content.startswith(b"PK"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return b"\n".join(book.read(name) for name in book.namelist())


def told(content: bytes) -> set[str]:
    """Return of which companies anything stands in a file."""
    text = content.decode("utf-8", "replace").lower()
    return {one for one in NAMES if one in text or phone_of(one) in text}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
async def test_a_company_set_to_do_not_contact_was_in_every_export(
    desk: Desk, tmp_path: Path, seed: int
) -> None:
    companies = await six_companies(desk)
    random = Random(seed)
    stopped = set(random.sample(NAMES, 3))
    lifted = random.choice(sorted(stopped))
    await set_status(desk, STOP, *(companies[one] for one in stopped))
    await set_status(desk, "New", companies[lifted])
    left = set(NAMES) - stopped | {lifted}

    ways = await ways_out(desk, tmp_path)

    assert len(ways) > 40
    assert {way: told(content) for way, content in ways.items()} == dict.fromkeys(
        ways, left
    )


async def test_what_others_share_with_a_stopped_company_is_struck_out(
    desk: Desk, tmp_path: Path
) -> None:
    """A branch of the same website, and a directory that has its number."""
    companies = await six_companies(desk)
    other = await desk.add_domain("directory.example", verdict="own_site")
    await desk.add_contact(
        "info@directory.example", domain=other, phone=phone_of("avelin")
    )
    branch: dict[str, Any] = {"source": "osm", "source_place_id": "branch"}
    await desk.add(
        Place, name="Gorse", website="https://avelin.example/", phone="+4930999888",
        latitude=60, longitude=8, **branch,
    )  # fmt: skip
    await match_tenant(desk.engine, desk.tenant)
    await set_status(desk, STOP, companies["avelin"])

    ways = await ways_out(desk, tmp_path)

    for way, content in ways.items():
        if way.startswith("list of"):
            continue
        text = content.decode("utf-8", "replace").lower()
        assert "avelin@" not in text, way
        assert phone_of("avelin") not in text, way
    assert b"Gorse" in ways["command"]
    assert b"+4930999888" in ways["command"]


async def test_companies_on_the_list_are_seen_and_lifted_in_one_place(
    desk: Desk,
) -> None:
    companies = await six_companies(desk)
    await set_status(desk, STOP, companies["avelin"], companies["borkan"])

    seen = await desk.get("/suppressions/companies", {"limit": 1})
    rest = await desk.get("/suppressions/companies", {"after": seen["next_after"]})
    assert {one["name"] for one in seen["items"] + rest["items"]} == {
        "Avelin",
        "Borkan",
    }
    assert rest["items"][0]["since"] is not None
    values = {
        "values": ["avelin@avelin.example", phone_of("borkan"), "cestrel.example"]
    }
    checked = await desk.post("/suppressions/check", values)
    assert [one["is_suppressed"] for one in checked["items"]] == [True, True, False]
    counted = await desk.get("/companies/export/count")
    assert (counted["count"], counted["held_back"]) == (4, 2)
    assert counted["without"]["email"] == 0

    await desk.send("DELETE", f"/suppressions/companies/{companies['avelin']}")

    left = await desk.get("/suppressions/companies")
    assert [one["name"] for one in left["items"]] == ["Borkan"]
    lead = await desk.get(f"/companies/{companies['avelin']}")
    assert lead["record"]["lead_status"] == "New"


async def test_a_stopped_company_that_is_found_again_was_a_new_lead(desk: Desk) -> None:
    """Its places are purged when their licence ends; the next search finds them anew."""
    companies = await six_companies(desk)
    await set_status(desk, STOP, companies["avelin"])
    await desk.run("DELETE FROM local_businesses WHERE name = 'Avelin'")
    await desk.run("DELETE FROM places_staging WHERE name = 'Avelin'")
    await match_tenant(desk.engine, desk.tenant)
    await desk.add(
        Place, name="Avelin", source="file", source_place_id="again",
        phone=phone_of("avelin"),
    )  # fmt: skip

    await match_tenant(desk.engine, desk.tenant)

    rows = await desk.run(
        "SELECT lead_status::text AS status FROM companies WHERE name = 'Avelin'"
    )
    assert {row.status for row in rows} == {STOP}


async def test_presets_of_companies_lost_the_person_and_had_categories_as_codes(
    desk: Desk,
) -> None:
    await six_companies(desk)

    async def first(preset: str) -> dict[str, Any]:
        asked = {"format": "jsonl", "preset": preset, "sort": "name"}
        answer = await desk.client.get("/api/v3/companies/export", params=asked)
        row: dict[str, Any] = json.loads(answer.text.splitlines()[0])
        return row

    hubspot, salesforce = await first("hubspot"), await first("salesforce")
    pipedrive, leads = await first("pipedrive"), await first("leads")

    assert (hubspot["First Name"], hubspot["Last Name"]) == ("Ada", "Avelin")
    assert hubspot["Job Title"] == "Owner"
    assert hubspot["Industry"] == "Hospital & Health Care"
    assert hubspot["Lead Status"] == "New"
    assert salesforce["Email"] == "avelin@avelin.example"
    assert salesforce["Industry"] == "Healthcare"
    assert salesforce["Lead Status"] == "Open - Not Contacted"
    assert pipedrive["Organization - Industry"] == "Dentist"
    assert leads["Categories"] == "Dentist"
    for row in (hubspot, salesforce, pipedrive, leads):
        assert "Ada" in str(row)
        assert any("wner" in name or name == "Assigned to" for name in row)
        assert any("eliverability" in name for name in row)
