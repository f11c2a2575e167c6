"""People's data through the API: the list, one person, and nothing for others."""

import asyncio
from typing import Any

import pytest

from scrapersky.api.records.export_reader import CHUNK_ROWS
from scrapersky.records import AuditEntry, Contact, Domain
from sdk_tests.rig.size import size
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADA = "ada@a.bv"


async def emails(desk: Desk) -> list[str]:
    rows = await desk.run("SELECT email FROM contacts ORDER BY email")
    return [row.email for row in rows]


async def test_a_suppression_removes_contacts_and_is_shown_without_its_value(
    desk: Desk,
) -> None:
    await desk.add_contact(ADA)
    await desk.add_contact("bob@a.bv")

    asked = {
        "values": ["Ada@A.bv", "020 7946 0018", "x"],
        "region": "GB",
        "reason": "asked",
    }
    tried = await desk.post("/suppressions", {**asked, "dry_run": True}, status=201)
    assert (tried["added"], tried["contacts_removed"], tried["ids"]) == (2, 1, [])
    assert await emails(desk) == [ADA, "bob@a.bv"]
    done = await desk.post("/suppressions", asked, status=201)

    assert (done["added"], done["contacts_removed"]) == (2, 1)
    assert done["refused"] == [{"line": 3, "reason": "This is not a domain."}]
    assert await emails(desk) == ["bob@a.bv"]
    listed = await desk.get("/suppressions", {"filter": "kind:equal:email"})
    assert listed["total"] == {"count": 1, "is_exact": True}
    assert listed["items"][0]["reason"] == "asked"
    assert set(listed["items"][0]) == {
        "id", "kind", "reason", "created_at", "created_by",
    }  # fmt: skip


async def test_values_can_be_asked_about_and_taken_off(desk: Desk) -> None:
    await desk.post("/suppressions", {"values": ["a.bv", "+442079460018"]}, status=201)
    asked = {"values": [ADA, "www.a.bv", "+44 20 7946 0018", "b.bv", "??"]}

    before = (await desk.post("/suppressions/check", asked))["items"]
    for entry in (await desk.get("/suppressions"))["items"]:
        await desk.send("DELETE", f"/suppressions/{entry['id']}", status=204)
    after = (await desk.post("/suppressions/check", asked))["items"]

    assert [one["is_suppressed"] for one in before] == [True, True, True, False, False]
    assert [one["kind"] for one in before][3:] == ["domain", None]
    assert not [one for one in after if one["is_suppressed"]]


@pytest.mark.slow
async def test_a_long_list_is_taken_as_it_comes(desk: Desk) -> None:
    count = size(quick=1_200, whole=5_000)
    lines = ["value,reason", *(f"m{n}@a.bv,unsubscribed" for n in range(count)), "?"]

    done = await desk.send(
        "POST", "/suppressions/import", content="\r\n".join(lines).encode(), status=201
    )
    again = await desk.send(
        "POST", "/suppressions/import", content="\n".join(lines).encode(), status=201
    )

    assert (done["added"], done["known"], again["known"]) == (count, 0, count)
    assert [one["line"] for one in done["refused"]] == [1, count + 2]
    assert len(await desk.walk("/suppressions", {"limit": 200})) == count


async def test_a_suppressed_domain_cannot_be_submitted(desk: Desk) -> None:
    await desk.post("/suppressions", {"values": ["a.bv"]}, status=201)

    done = await desk.post("/domains", {"items": ["a.bv", "b.bv"]})

    assert done["accepted"] == 1
    assert done["refused"][0]["reason"] == "it is on your Do not contact list"


async def test_a_contact_cannot_be_given_a_suppressed_number(desk: Desk) -> None:
    contact = await desk.add_contact(ADA)
    await desk.post("/suppressions", {"values": ["+442079460018"]}, status=201)
    etag = (await desk.get(f"/contacts/{contact}"))["etag"]

    refused = await desk.send(
        "PATCH",
        f"/contacts/{contact}",
        {"phone": "+44 20 7946 0018"},
        headers={"If-Match": etag},
        status=422,
    )

    assert refused["type"].endswith("/suppressed")


async def test_a_person_is_shown_and_erased(desk: Desk) -> None:
    domain = await desk.add(Domain, domain="a.bv", emails=[ADA])
    await desk.add_contact(ADA, domain=domain, name="Ada Lovelace")
    await desk.add(
        AuditEntry, actor="x", action="edited", subject="contacts", details={"was": ADA}
    )

    shown = await desk.post("/people/export", {"email": ADA})
    done = await desk.post(
        "/people/erase", {"email": ADA}, headers={"Idempotency-Key": "k"}
    )
    left = await desk.post("/people/export", {"email": ADA})

    assert {one["table"] for one in shown["records"]} == {
        "contacts", "domains", "audit_log",
    }  # fmt: skip
    assert done["deleted"]["contacts"] == 1
    assert done["cleaned"] == {"audit_log": 1}
    assert left == {"records": [], "is_complete": True}
    assert (await desk.post("/suppressions/check", {"values": [ADA]}))["items"][0][
        "is_suppressed"
    ]


async def test_a_kept_answer_is_erased_too(desk: Desk) -> None:
    """What an Idempotency-Key keeps is a copy of an answer, and may name a person."""
    await desk.post(
        "/rules",
        {
            "name": f"leave {ADA} out",
            "kind": "contacts",
            "conditions": [{"field": "email", "comparison": "equal", "value": ADA}],
            "status": "Skipped",
        },
        headers={"Idempotency-Key": "a-key"},
        status=201,
    )
    kept = (
        "SELECT count(*) FROM idempotency_keys"
        " WHERE position('ada@a.bv' in encode(body, 'escape')) > 0"
    )
    before = await desk.scalar(kept)

    await desk.post("/people/erase", {"email": ADA})

    assert before == 1
    assert await desk.scalar(kept) == 0


async def test_another_tenants_person_is_neither_shown_nor_touched(desk: Desk) -> None:
    theirs = await desk.add(Domain, tenant=desk.other, domain="a.bv", emails=[ADA])
    await desk.add(Contact, tenant=desk.other, domain_id=theirs, email=ADA)

    shown = await desk.post("/people/export", {"email": ADA})
    await desk.post("/people/erase", {"email": ADA})

    assert shown["records"] == []
    assert await emails(desk) == [ADA]
    assert await desk.scalar("SELECT emails FROM domains") == [ADA]


@pytest.mark.parametrize(
    "body",
    [{}, {"email": ADA, "phone": "+442079460018"}, {"email": "ada"}, {"phone": "12"},
     {"email": ADA, "tenant_id": "x"}, {"email": "a\x00@a.bv"}, {"email": "x" * 400}],
)  # fmt: skip
async def test_what_names_nobody_is_refused(desk: Desk, body: dict[str, Any]) -> None:
    await desk.post("/people/export", body, status=422)
    await desk.post("/people/erase", body, status=422)


async def test_what_was_done_is_in_the_audit_log_without_whom(desk: Desk) -> None:
    await desk.add_contact(ADA)
    await desk.post("/people/erase", {"email": ADA})
    await desk.post("/suppressions", {"values": ["b@a.bv"]}, status=201)

    log = await desk.walk("/audit", {"limit": 1})

    assert [one["action"] for one in log] == ["suppressed", "erased"]
    assert "a.bv" not in str(log)
    only = await desk.get("/audit", {"filter": "action:equal:erased"})
    assert len(only["items"]) == 1
    await desk.get("/audit", {"filter": "password:equal:x"}, status=422)
    await desk.get("/audit", {"cursor": "forged"}, status=422)


async def test_how_long_data_is_kept_is_told(desk: Desk) -> None:
    await desk.add_contact(ADA)

    reported = await desk.get("/retention")

    kinds = {one["kind"]: one for one in reported["kinds"]}
    assert (kinds["contacts"]["days"], kinds["contacts"]["overdue"]) == (365, 0)
    assert kinds["contacts"]["oldest_at"] is not None
    assert kinds["content of Google"]["days"] == 30


@pytest.mark.slow
async def test_an_export_under_way_stops_naming_who_is_suppressed(desk: Desk) -> None:
    """Rows are read while the file is sent: what is suppressed meanwhile is not in it."""
    domain = await desk.add_domain("a.bv")
    await desk.run(
        "INSERT INTO contacts (tenant_id, domain_id, email) SELECT :t, :d,"
        " 'm' || n || '@a.bv' FROM generate_series(1, :many) AS n",
        t=desk.tenant,
        d=domain,
        many=4 * CHUNK_ROWS,
    )
    everyone = "\n".join(f"m{n}@a.bv" for n in range(1, 4 * CHUNK_ROWS + 1)).encode()
    sent: list[bytes] = []
    begun, suppressed = asyncio.Event(), asyncio.Event()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if sent[-1]:
            begun.set()
            await suppressed.wait()

    asked = asyncio.Event()

    async def receive() -> Any:
        if asked.is_set():
            await asyncio.Event().wait()
        asked.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http", "method": "GET", "path": "/api/v3/contacts/export",
        "query_string": b"format=jsonl", "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 40000), "server": ("127.0.0.1", 80), "scheme": "http",
        "http_version": "1.1", "root_path": "", "raw_path": b"/api/v3/contacts/export",
        "asgi": {"version": "3.0"},
    }  # fmt: skip
    sending = asyncio.create_task(desk.app(scope, receive, send))
    await begun.wait()

    await desk.send("POST", "/suppressions/import", content=everyone[:], status=201)
    suppressed.set()
    await sending

    # What was read before the list was changed may still be on its way.
    named = b"".join(sent).count(b"@a.bv")
    assert 0 < named <= 2 * CHUNK_ROWS
