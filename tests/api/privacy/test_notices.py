"""The report of who must be told: what it shows, marks and keeps from others."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from scrapersky.records import Contact, Domain, Evidence
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY = timedelta(days=1)
NOW = datetime.now(UTC)
SOMEBODY = "00000000-0000-4000-8000-00000000abcd"


async def a_contact(desk: Desk, who: str, ago: timedelta, **values: Any) -> UUID:
    return await desk.add_contact(f"{who}@a.bv", created_at=NOW - ago, **values)


def names(page: dict[str, Any]) -> list[str]:
    return [item["email"].partition("@")[0] for item in page["items"]]


async def test_who_is_due_first_comes_first_with_where_it_was_found(desk: Desk) -> None:
    await a_contact(desk, "new", 2 * DAY)
    late = await a_contact(desk, "late", 40 * DAY, name="Ada Lovelace")
    await a_contact(desk, "soon", 27 * DAY)
    for number in range(7):
        for field in ("email", "name"):
            await desk.add(
                Evidence, contact_id=late, field=field, value="x", method="mailto",
                url=f"http://a.bv/{number}", snippet="x", confidence=1, robots="allowed",
                seen_at=NOW - timedelta(days=40 - number),
            )  # fmt: skip

    first = await desk.get("/notices", {"limit": 2})
    second = await desk.get("/notices", {"limit": 2, "cursor": first["next_cursor"]})

    assert (names(first), names(second)) == (["late", "soon"], ["new"])
    assert first["total"] == {"count": 3, "is_exact": True}
    shown = first["items"][0]
    assert (shown["name"], shown["is_overdue"]) == ("Ada Lovelace", True)
    assert shown["legal_basis"] == "legitimate_interests"
    assert not first["items"][1]["is_overdue"]
    assert [one["url"] for one in shown["sources"]] == [
        f"http://a.bv/{number}" for number in range(5)
    ]
    assert shown["sources"][0]["robots"] == "allowed"
    overdue = await desk.get("/notices", {"state": "overdue"})
    assert names(overdue) == ["late"]
    filtered = await desk.get("/notices", {"filter": "name:starts_with:Ada"})
    assert names(filtered) == ["late"]


async def test_who_was_told_is_marked_and_can_be_marked_back(desk: Desk) -> None:
    first = await a_contact(desk, "first", 20 * DAY)
    second = await a_contact(desk, "second", 10 * DAY)
    etag = (await desk.get(f"/contacts/{first}"))["etag"]
    reported = {"contact_ids": [str(first)], "how": "our first mail"}
    moment = (NOW - 3 * DAY).isoformat()

    done = await desk.post("/notices/informed", {**reported, "informed_at": moment})
    again = await desk.post("/notices/informed", {**reported, "how": "other"})

    assert (done, again) == (
        {"changed": 1, "unchanged": 0},
        {"changed": 0, "unchanged": 1},
    )
    assert names(await desk.get("/notices")) == ["second"]
    (shown,) = (await desk.get("/notices", {"state": "informed"}))["items"]
    assert (shown["how"], shown["is_overdue"]) == ("our first mail", False)
    assert datetime.fromisoformat(shown["informed_at"]) == NOW - 3 * DAY
    # Neither the record nor the time it is kept for has changed by it.
    assert (await desk.get(f"/contacts/{first}"))["etag"] == etag
    all_of_them = {"obtained_before": NOW.isoformat(), "legal_basis": "consent"}
    assert (await desk.post("/notices/informed", all_of_them))["changed"] == 1
    back = await desk.post("/notices/open", {"contact_ids": [str(second)]})
    assert back == {"changed": 1, "unchanged": 0}
    (shown,) = (await desk.get("/notices"))["items"]
    assert (shown["email"], shown["legal_basis"]) == ("second@a.bv", "consent")
    log = await desk.walk("/audit", {"filter": "subject:equal:notices"})
    assert [one["action"] for one in log] == ["reopened", "informed", "informed"]


async def test_the_list_is_taken_away_as_a_file(desk: Desk) -> None:
    await a_contact(desk, "soon", 27 * DAY)
    late = await a_contact(desk, "late", 40 * DAY, name="=1+1")
    for page in ("team", "contact"):
        await desk.add(
            Evidence, contact_id=late, field="email", value="x", method="mailto",
            url=f"http://a.bv/{page}", snippet="x", confidence=1, robots="allowed",
            seen_at=NOW,
        )  # fmt: skip
    await desk.post("/notices/informed", {"contact_ids": [str(late)]})
    await desk.post("/notices/open", {"contact_ids": [str(late)]})

    answer = await desk.client.get("/api/v3/notices/export")
    overdue = await desk.client.get("/api/v3/notices/export?state=overdue&format=jsonl")

    assert (
        'attachment; filename="notices-open-' in answer.headers["Content-Disposition"]
    )
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert [row["email"] for row in rows] == ["late@a.bv", "soon@a.bv"]
    assert (rows[0]["name"], rows[0]["is_overdue"]) == ("'=1+1", "true")
    assert rows[0]["sources"] == "http://a.bv/contact; http://a.bv/team"
    (line,) = overdue.text.splitlines()
    assert json.loads(line)["contact_id"] == str(late)
    await desk.get("/notices/export?filter=nothing:equal:1", status=422)


async def test_contacts_of_others_are_neither_shown_nor_marked(desk: Desk) -> None:
    domain = await desk.add(Domain, tenant=desk.other, domain="a.bv")
    theirs = await desk.add(
        Contact, tenant=desk.other, domain_id=domain, email="ada@a.bv"
    )
    asked = {"contact_ids": [str(theirs), str(uuid4())]}

    done = await desk.post("/notices/informed", asked)
    await desk.post("/notices/informed", {"obtained_before": NOW.isoformat()})

    assert done == {"changed": 0, "unchanged": 2}
    assert (await desk.get("/notices"))["items"] == []
    exported = await desk.client.get("/api/v3/notices/export?format=jsonl")
    assert exported.text == ""
    assert await desk.scalar("SELECT informed_at FROM contact_notices") is None


@pytest.mark.parametrize(
    "body",
    [{}, {"contact_ids": []}, {"contact_ids": ["x"]},
     {"contact_ids": [SOMEBODY], "obtained_before": "2026-01-01T00:00:00Z"},
     {"contact_ids": [SOMEBODY], "informed_at": "2199-01-01T00:00:00Z"},
     {"contact_ids": [SOMEBODY], "informed_at": "2026-01-01T00:00:00"},
     {"contact_ids": [SOMEBODY], "legal_basis": "because"},
     {"contact_ids": [SOMEBODY], "tenant_id": SOMEBODY}],
    ids=str,
)  # fmt: skip
async def test_what_cannot_have_been_told_is_refused(
    desk: Desk, body: dict[str, Any]
) -> None:
    await desk.post("/notices/informed", body, status=422)
