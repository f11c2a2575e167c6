"""Contacts are corrected by people: no edit is lost, none is overwritten unseen."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from scrapersky.records import Evidence
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def etag(desk: Desk, contact: UUID) -> dict[str, str]:
    return {"If-Match": (await desk.get(f"/contacts/{contact}"))["etag"]}


async def edit(desk: Desk, contact: UUID, changes: Any, **more: Any) -> Any:
    return await desk.send("PATCH", f"/contacts/{contact}", changes, **more)


async def test_an_edit_is_kept_with_who_made_it(desk: Desk) -> None:
    contact = await desk.add_contact("ada@a.de", name="A. King")
    changes = {
        "name": "Ada King", "phone": "+44 20 7946 0018", "tags": ["vip"],
        "notes": "calls back", "address": {"city": "Leeds", "country": "GB"},
        "social_links": {"github": "https://github.com/ada"},
    }  # fmt: skip

    done = await edit(desk, contact, changes, headers=await etag(desk, contact))

    record = done["record"]
    assert (record["name"], record["phone"]) == ("Ada King", "+442079460018")
    assert (record["tags"], record["address"]["city"]) == (["vip"], "Leeds")
    assert {(e["field"], e["value"]) for e in done["evidence"]} == {
        ("name", "Ada King"),
        ("phone", "+442079460018"),
        ("address", "Leeds, GB"),
        ("github", "https://github.com/ada"),
    }
    assert {(e["method"], e["snippet"], e["robots"]) for e in done["evidence"]} == {
        ("by hand", "written by this machine", None)
    }
    assert all(e["seen_at"] for e in done["evidence"])
    event, made = (await desk.get(f"/contacts/{contact}/history"))["events"]
    assert made["what"] == "created"
    assert (event["what"], event["who"]) == ("edited", "this machine")
    assert event["details"]["before"]["name"] == "A. King"


async def test_what_a_stage_changed_was_in_no_history(desk: Desk) -> None:
    contact = await desk.add_contact()
    async with desk.engine.begin() as connection:
        await connection.execute(
            text("SELECT set_config('scrapersky.actor', 'stage:page_curation', true)")
        )
        await connection.execute(
            text("UPDATE contacts SET name = 'Ada', role = 'Owner' WHERE id = :id"),
            {"id": contact},
        )

    events = (await desk.get(f"/contacts/{contact}/history"))["events"]

    changed = next(event for event in events if event["what"] == "changed")
    assert changed["who"] == "stage:page_curation"
    assert set(changed["details"]["fields"]) >= {"name", "role"}


async def test_a_contact_is_typed_in_with_who_typed_it(desk: Desk) -> None:
    domain = await desk.add_domain("harbour.de")
    typed = {
        "domain": "https://www.harbour.de/contact", "email": "Info@Harbour.de",
        "name": "Ada King", "tags": ["met at the fair"],
    }  # fmt: skip

    made = await desk.post("/contacts", typed, status=201)

    record = made["record"]
    assert (record["domain_id"], record["email"]) == (str(domain), "info@harbour.de")
    assert (record["email_type"], record["confidence"]) == ("SERVICE", 1.0)
    assert {
        (e["field"], e["value"], e["method"], e["snippet"]) for e in made["evidence"]
    } == {
        ("email", "info@harbour.de", "by hand", "typed by this machine"),
        ("name", "Ada King", "by hand", "typed by this machine"),
    }
    (event,) = (await desk.get(f"/contacts/{record['id']}/history"))["events"]
    assert (event["what"], event["who"]) == ("created", "this machine")
    await desk.post("/contacts", typed, status=409)


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ({"domain": "harbour.de"}, 422),
        ({"email": "a@harbour.de"}, 422),
        ({"domain": "harbour.de", "email": "not an address"}, 422),
        ({"domain": "harbour.de", "phone": "12"}, 422),
        ({"domain": "harbour.de", "email": "a@harbour.de", "confidence": 1}, 422),
        ({"domain": "unknown.de", "email": "a@harbour.de"}, 404),
        ({"domain": "theirs.de", "email": "a@harbour.de"}, 404),
        ({"domain": "?", "email": "a@harbour.de"}, 404),
    ],
)
async def test_a_contact_needs_a_domain_of_yours_and_a_way_to_reach_it(
    desk: Desk, typed: Any, status: int
) -> None:
    await desk.add_domain("harbour.de")
    await desk.add_domain("theirs.de", tenant=desk.other)

    await desk.post("/contacts", typed, status=status)

    assert await desk.scalar("SELECT count(*) FROM contacts") == 0


async def test_who_is_suppressed_is_not_typed_in(desk: Desk) -> None:
    await desk.add_domain("eve.de")
    await desk.post("/suppressions", {"values": ["eve@eve.de"]}, status=201)

    answer = await desk.client.post(
        "/api/v3/contacts", json={"domain": "eve.de", "email": "eve@eve.de"}
    )

    assert answer.status_code in {409, 422}
    assert await desk.scalar("SELECT count(*) FROM contacts") == 0


async def test_of_two_people_who_edit_at_once_the_second_is_told(desk: Desk) -> None:
    contact = await desk.add_contact("ada@a.de")
    read = await etag(desk, contact)

    await edit(desk, contact, {"name": "First"}, headers=read)
    problem = await edit(desk, contact, {"name": "Second"}, headers=read, status=412)
    await edit(desk, contact, {"name": "Third"}, status=428)

    assert problem["type"].endswith("record-changed")
    assert await desk.scalar("SELECT name FROM contacts") == "First"


@pytest.mark.parametrize(
    "changes",
    [
        {"email": "not an address"},
        {"email": "a@b"},
        {"phone": "12"},
        {"tenant_id": "x"},
        {"id": "x"},
        {"contact_curation_status": "Complete"},
        {"confidence": 1},
        {"tags": [""]},
        {"tags": ["x"] * 101},
        {"name": "x" * 501},
        {"name": 5},
        {"address": {"planet": "Mars"}},
    ],
)
async def test_what_a_contact_cannot_be_is_refused(desk: Desk, changes: Any) -> None:
    contact = await desk.add_contact("ada@a.de")

    await edit(desk, contact, changes, headers={"If-Match": "*"}, status=422)


async def test_an_edit_makes_no_second_contact_of_one(desk: Desk) -> None:
    domain = await desk.add_domain("a.de")
    await desk.add_contact("ada@a.de", domain=domain)
    other = await desk.add_contact("bob@a.de", domain=domain)
    whatever = {"If-Match": "*"}

    await edit(desk, other, {"email": "ADA@a.de"}, headers=whatever, status=409)
    await edit(desk, other, {"email": None}, headers=whatever, status=409)


async def test_who_is_suppressed_is_not_written_in_by_hand(desk: Desk) -> None:
    contact = await desk.add_contact("ada@a.de")
    await desk.post("/suppressions", {"values": ["eve@eve.de"]}, status=201)

    answer = await desk.client.patch(
        f"/api/v3/contacts/{contact}",
        json={"email": "eve@eve.de"},
        headers={"If-Match": "*"},
    )

    assert answer.status_code in {409, 422}
    assert await desk.scalar("SELECT email FROM contacts") == "ada@a.de"


async def test_contacts_are_merged_with_all_they_have(desk: Desk) -> None:
    domain = await desk.add_domain("a.de")
    into = await desk.add_contact(
        "ada@a.de", domain=domain, tags=["vip"], notes="one", confidence=0.4
    )
    other = await desk.add_contact(
        None, domain=domain, phone="+442079460018", name="Ada", notes="two",
        tags=["vip", "north"], confidence=0.9, social_links={"x": "https://x.com/ada"},
    )  # fmt: skip
    for contact, url in ((into, "u1"), (other, "u1"), (other, "u2")):
        await desk.add(
            Evidence, contact_id=contact, field="name", value="Ada", url=url,
            snippet="Ada", method="text", confidence=0.5, robots="allowed",
            seen_at=datetime.now(UTC),
        )  # fmt: skip

    done = await desk.post(
        "/contacts/merge", {"ids": [str(into), str(other)], "into": str(into)}
    )

    record = done["record"]
    assert (record["email"], record["phone"]) == ("ada@a.de", "+442079460018")
    assert (record["name"], record["confidence"]) == ("Ada", 0.9)
    assert (record["tags"], record["notes"]) == (["vip", "north"], "one\n\ntwo")
    assert sorted(each["url"] for each in done["evidence"]) == ["u1", "u2"]
    await desk.get(f"/contacts/{other}", status=404)


async def test_nothing_is_merged_if_one_is_not_the_tenants(desk: Desk) -> None:
    mine = await desk.add_contact("ada@a.de")
    theirs = await desk.add_contact("eve@e.de", tenant=desk.other)

    for ids, into in (([theirs], mine), ([mine], theirs), ([mine], mine)):
        await desk.post(
            "/contacts/merge",
            {"ids": [str(each) for each in ids], "into": str(into)},
            status=422,
        )

    assert await desk.scalar("SELECT count(*) FROM contacts") == 2


async def test_a_contact_is_deleted_and_validated(desk: Desk) -> None:
    contact = await desk.add_contact(
        "ada@a.de", validation_processing_status="Complete"
    )

    done = await desk.post(f"/contacts/{contact}/validate")
    record = (await desk.get(f"/contacts/{contact}"))["record"]
    await desk.send("DELETE", f"/contacts/{contact}", status=204)

    assert done["queued"] == 1
    assert record["validation_processing_status"] == "Queued"
    await desk.get(f"/contacts/{contact}", status=404)
    assert await desk.scalar("SELECT count(*) FROM audit_log WHERE action = 'deleted'")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/history"),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/validate"),
    ],
)
async def test_contacts_of_others_are_not_there(
    desk: Desk, method: str, path: str
) -> None:
    theirs = await desk.add_contact("eve@e.de", tenant=desk.other)
    body = {"name": "Mine"} if method == "PATCH" else None
    whatever = {"If-Match": "*"}

    there = await desk.send(
        method, f"/contacts/{theirs}{path}", body, headers=whatever, status=404
    )
    absent = await desk.send(
        method, f"/contacts/{uuid4()}{path}", body, headers=whatever, status=404
    )

    assert {**there, "request_id": ""} == {**absent, "request_id": ""}
    assert await desk.scalar("SELECT name FROM contacts") is None
