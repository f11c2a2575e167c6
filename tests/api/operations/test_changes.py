"""The change feed: every change once, by question, long poll and stream, and only one's own."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from scrapersky.changes import watch as watching
from scrapersky.companies.matching import match_tenant
from scrapersky.companies.merging import merge_companies
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import Subject, SubjectKind
from scrapersky.records import Company, Contact, PlaceSearch
from scrapersky.records.audit import Actor
from scrapersky.reporting.search_end import (
    SEARCHES_EACH,
    SearchTurns,
    finish_searches,
)
from sdk_tests.rig.waiting import HUNG, until
from tests.api.operations.rig import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def changes(served: Served, since: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = await served.get(
        "/changes", params={"since": since, **more}
    )
    return found


async def test_no_change_named_the_action_it_was_a_part_of(clean: Served) -> None:
    one = str(await clean.add(Company, name="One"))
    start = (await changes(clean, "now"))["cursor"]

    decided = await clean.post(
        "/companies/status", {"ids": [one], "status": "Contacted"}
    )
    worked = await clean.post("/companies/work", {"ids": [one], "add_tags": ["tea"]})
    await clean.post(f"/actions/{decided['action_id']}/undo", {})
    await clean.run("UPDATE companies SET name = 'Uno' WHERE id = :id", id=one)

    told = (await changes(clean, start, kinds="companies"))["changes"]
    actions = [(entry["record_id"], entry["action_id"]) for entry in told]
    for part in (decided, worked):
        assert (one, part["action_id"]) in actions
    assert actions[-2:] == [(one, decided["action_id"]), (one, None)]


async def test_a_consumer_reads_every_change_of_its_tenant_and_no_other(
    clean: Served,
) -> None:
    start = (await changes(clean, "now"))["cursor"]
    mine = await clean.add_places(3)
    await clean.add_places(2, clean.other)
    maybe = "UPDATE places_staging SET status = 'Maybe' WHERE id = :id"
    await clean.run(maybe, id=mine[0])

    first = await changes(clean, start, limit=2)
    rest = await changes(clean, first["cursor"])
    after = await changes(clean, rest["cursor"])

    heard = first["changes"] + rest["changes"]
    assert first["more"]
    assert [(one["record_id"], one["event"], one["fields"]) for one in heard] == [
        *((str(one), "created", []) for one in mine),
        (str(mine[0]), "changed", ["status"]),
    ]
    assert {one["kind"] for one in heard} == {"places"}
    assert after["changes"] == []


async def test_what_a_person_did_has_their_name_and_is_not_of_other_kinds(
    clean: Served,
) -> None:
    domain = await clean.add_domain()
    contact = await clean.add(Contact, domain_id=domain, email="a@b.bv")
    start = (await changes(clean, "now"))["cursor"]
    await clean.call(
        "DELETE", f"/contacts/{contact}", headers={"If-Match": "*"}, status=204
    )
    await clean.add_places(1)

    found = await changes(clean, start, kinds="contact,people")

    (removed,) = found["changes"]
    assert (removed["event"], removed["record_id"]) == ("removed", str(contact))
    assert removed["actor"]
    assert not removed["actor"].startswith("scrapersky")
    refused = await clean.get("/changes?kinds=nonsense", status=422)
    assert "companies" in refused["hint"]


async def test_a_long_poll_answers_when_something_changes_and_not_before(
    clean: Served,
) -> None:
    start = (await changes(clean, "now"))["cursor"]
    asking = asyncio.create_task(changes(clean, start, wait=30))
    watch = clean.app.state.operations.watch
    await until(lambda: watch._followers)
    await clean.add_places(1, clean.other)
    await asyncio.sleep(5 * watching.POLL_SECONDS)
    assert not asking.done()

    (place,) = await clean.add_places(1)

    answer = await asking
    assert [one["record_id"] for one in answer["changes"]] == [str(place)]
    assert (await changes(clean, answer["cursor"], wait=0.1))["changes"] == []
    await until(lambda: watch._looking is None)


async def test_a_stream_goes_on_where_its_last_event_was(clean: Served) -> None:
    headers = {"X-API-Key": clean.key, "Accept": "text/event-stream"}

    async def hear(cursor: str, wanted: int) -> tuple[list[dict[str, Any]], str]:
        found: list[dict[str, Any]] = []
        last = {**headers, "Last-Event-ID": cursor}
        async with (
            asyncio.timeout(HUNG),
            clean.client.stream(
                "GET", "/api/v3/changes", headers=last, timeout=60
            ) as answer,
        ):
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    cursor = line[4:]
                if line.startswith("data: "):
                    found += orjson.loads(line[6:])["changes"]
                    if len(found) >= wanted:
                        return found, cursor
        return found, cursor

    cursor = (await changes(clean, "now"))["cursor"]
    first = await clean.add_places(2)
    heard, cursor = await hear(cursor, 2)
    second = await clean.add_places(2)
    more, _ = await hear(cursor, 2)

    assert [one["record_id"] for one in heard + more] == [
        str(p) for p in first + second
    ]


async def test_whoever_is_too_far_behind_is_told_to_start_over(clean: Served) -> None:
    await clean.add_places(2)
    cursor = (await changes(clean, "now"))["cursor"]
    await clean.run("DELETE FROM record_changes WHERE tenant_id = :t", t=clean.tenant)

    gone = await clean.get("/changes", params={"since": cursor}, status=410)
    nonsense = await clean.get("/changes", params={"since": "1-!"}, status=422)

    assert gone["type"].endswith("changes-forgotten")
    assert "since=now" in gone["hint"]
    assert nonsense["type"].endswith("invalid-cursor")


async def test_a_cursor_of_another_log_or_of_no_time_reads_nothing(
    clean: Served,
) -> None:
    await clean.add_places(3)
    await clean.add_places(3, clean.other)
    mine = (await changes(clean, "now"))["cursor"]
    theirs = (await clean.get("/changes", key=clean.other_key))["cursor"]
    version, position, moment, *rest = mine.split("-")

    for wrong in (
        theirs,
        "-".join((version, "zzzzzz", moment, *rest)),
        "-".join((version, position, "0", *rest)),
    ):
        gone = await clean.get("/changes", params={"since": wrong}, status=410)
        assert gone["type"].endswith("changes-forgotten")
    for nonsense in ("-1", f"1--1-{moment}---0", f"2{mine[1:]}", "9" * 400, ""):
        await clean.get("/changes", params={"since": nonsense}, status=422)


async def test_nobody_follows_without_limit(
    clean: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_FOLLOWERS_EACH", 1)
    cursor = (await changes(clean, "now"))["cursor"]
    asking = asyncio.create_task(changes(clean, cursor, wait=30))
    await until(lambda: clean.app.state.operations.watch._followers)

    await clean.get("/changes", params={"since": cursor, "wait": 1}, status=429)

    await clean.add_places(1)
    await asking


async def test_removals_say_why(clean: Served) -> None:
    domain = await clean.add_domain()
    for email in ("gone@a.bv", "erased@a.bv"):
        await clean.add(Contact, domain_id=domain, email=email)
    one, other = [await clean.add(Company, name=f"C {n}") for n in range(2)]
    start = (await changes(clean, "now"))["cursor"]

    await clean.post("/suppressions", {"values": ["gone@a.bv"]}, status=201)
    subject = Subject(SubjectKind.EMAIL, "erased@a.bv")
    await erase_person(clean.engine, Actor(clean.tenant, None, "Ada"), subject)
    async with clean.engine.begin() as connection:
        merged = await merge_companies(
            connection, clean.tenant, one, other, reasons=["same"]
        )
    assert merged is not None
    await clean.run("DELETE FROM companies WHERE id = :id", id=merged.into)

    found = (await changes(clean, start, kinds="contacts,companies"))["changes"]
    assert [
        (e["kind"], e["event"], e["details"]) for e in found if e["event"] != "changed"
    ] == [
        ("contacts", "suppressed", None),
        ("contacts", "erased", None),
        ("companies", "merged", {"into": str(merged.into)}),
        ("companies", "removed", None),
    ]


async def test_a_list_is_asked_for_what_changed_and_answered_only_if_it_differs(
    clean: Served,
) -> None:
    old, new = await clean.add_places(2)
    await clean.run("ALTER TABLE places_staging DISABLE TRIGGER USER")
    await clean.run(
        "UPDATE places_staging SET updated_at = now() - interval '1 day' WHERE id = :id",
        id=old,
    )
    await clean.run("ALTER TABLE places_staging ENABLE TRIGGER USER")
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    params = {"changed_since": since}
    listed = await clean.get("/places/staging", params=params)
    assert [one["id"] for one in listed["items"]] == [str(new)]
    await clean.get(
        "/places/staging", params={"changed_since": "yesterday"}, status=422
    )

    for path in ("/places/staging", f"/places/staging/{new}"):
        headers = {"X-API-Key": clean.key}
        first = await clean.client.get(f"/api/v3{path}", headers=headers)
        headers["If-None-Match"] = first.headers["etag"]
        again = await clean.client.get(f"/api/v3{path}", headers=headers)
        headers["If-None-Match"] = "*"
        anything = await clean.client.get(f"/api/v3{path}", headers=headers)
        headers["If-None-Match"] = f'"another", {first.headers["etag"]}'
        await clean.run(
            "UPDATE places_staging SET name = name || '!' WHERE id = :id", id=new
        )
        changed = await clean.client.get(f"/api/v3{path}", headers=headers)
        assert (again.status_code, again.content) == (304, b"")
        assert (anything.status_code, anything.content) == (304, b"")
        assert (changed.status_code, changed.headers["etag"] != first.headers["etag"]) == (
            200, True,
        )  # fmt: skip


async def test_a_search_says_who_has_to_go_on_and_once_that_it_is_over(
    clean: Served,
) -> None:
    (place,) = await clean.add_places(1)
    search = await clean.add(
        PlaceSearch, business_type="x", source="file", status="Completed"
    )
    await clean.run(
        "INSERT INTO place_search_hits (search_id, place_id, tenant_id)"
        " VALUES (:s, :p, :t)",
        s=search,
        p=place,
        t=clean.tenant,
    )
    path = f"/searches/{search}/progress"
    start = (await changes(clean, "now"))["cursor"]

    waiting = await clean.get(path)
    assert await finish_searches(clean.engine) == 0
    await clean.run(
        "UPDATE places_staging SET status = 'Selected', deep_scan_status = 'Completed'"
    )
    # Whoever is told that it is over asks for its companies.
    assert await finish_searches(clean.engine) == 0
    assert (await clean.get(path))["state"] == "following"
    await match_tenant(clean.engine, UUID(str(clean.tenant)))
    assert await finish_searches(clean.engine) == 1
    assert await finish_searches(clean.engine) == 0

    assert (waiting["state"], waiting["undecided"]) == (
        "undecided",
        [{"kind": "places", "records": 1}],
    )
    over = await clean.get(path)
    assert (over["state"], over["open"]) == ("finished", 0)
    assert over["followed_at"]
    (told,) = (await changes(clean, start, kinds="searches"))["changes"]
    assert (told["event"], told["record_id"]) == ("finished", str(search))
    assert told["details"]["deep_scan"] == {"done": 1, "failed": 0}
    assert over["error"] is None
    await clean.run(
        "UPDATE place_searches SET status = 'Error', error = 'no such town'"
    )
    stopped = await clean.get(path)
    assert (stopped["state"], stopped["error"]) == ("stopped", "no such town")


@pytest.mark.slow
async def test_an_old_search_behind_many_that_wait_was_never_told_to_be_over(
    clean: Served,
) -> None:
    (place,) = await clean.add_places(1)
    given: dict[str, Any] = {
        "business_type": "x",
        "source": "file",
        "status": "Completed",
    }
    waiting = [
        await clean.add(PlaceSearch, **given) for _ in range(2 * SEARCHES_EACH + 1)
    ]
    await clean.run(
        "INSERT INTO place_search_hits (search_id, place_id, tenant_id)"
        " SELECT id, :p, tenant_id FROM place_searches",
        p=place,
    )
    middle = waiting[SEARCHES_EACH]
    await clean.run("DELETE FROM place_search_hits WHERE search_id = :s", s=middle)
    # For two months nobody had decided about what it found.
    await clean.run(
        "UPDATE place_searches SET updated_at = now() - interval '60 days' WHERE id = :s",
        s=middle,
    )
    turns = SearchTurns()

    found = [await finish_searches(clean.engine, turns) for _ in range(4)]

    assert sum(found) == 1
    over = await clean.scalar(
        "SELECT id FROM place_searches WHERE followed_at IS NOT NULL"
    )
    assert over == middle
