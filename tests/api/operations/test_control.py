"""What people steer by: dead letters, rules, decisions, batches, the scheduler."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from scrapersky.models.status import Role
from tests.api.operations.rig import Served, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULE = {
    "name": "Named",
    "kind": "places",
    "status": "Maybe",
    "conditions": [{"field": "name", "comparison": "starts_with", "value": "Place"}],
}


async def bury(served: Served, tenant: UUID | None, why: str) -> str:
    page = await served.add_page(tenant, page_processing_status="Error")
    await served.run(
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)"
        " VALUES ('page_curation', :item, 1, 'gave_up', :why, 3, 0)",
        item=str(page), why=why,
    )  # fmt: skip
    await served.run(
        "INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why)"
        " VALUES ('page_curation', :item, 1, 3, 'gave_up', :why)",
        item=str(page), why=why,
    )  # fmt: skip
    return f"page_curation:{page}"


async def test_dead_letters_are_grouped_listed_and_tell_their_story(
    clean: Served,
) -> None:
    for number in range(3):
        await bury(clean, None, f"http://a{number}.bv/x: leads to 10.0.0.{number}, no")
    other = await bury(clean, None, "http://a.bv/: too slow")
    await bury(clean, clean.other, "http://b.bv/: theirs")

    groups = await clean.get("/dead-letters/groups")
    first = await clean.get("/dead-letters", params={"limit": 3})
    next_page = {"limit": 2, "cursor": before["next_cursor"]}
    await clean.get(path, params={**next_page, "state": "done"}, status=422)
    rest = await clean.get(path, params=next_page)
    held = await clean.post(f"{path}/pause")
    resumed = await clean.post(f"{path}/resume")
    cancelled = await clean.post(f"{path}/cancel")
    retried = await clean.post(f"{path}/retry")
    failed = await clean.get(path, params={"state": "failed"})
    listed = await clean.get("/batches")

    assert (made["accepted"], made["duplicates"], made["refused_count"]) == (3, 1, 1)
    assert made["refused"][0]["line"] == 4
    assert (before["batch"]["status"], before["batch"]["pending"]) == ("Queued", 4)
    assert [i["position"] for i in before["items"] + rest["items"]] == [1, 2, 3, 4]
    assert rest["items"][1]["state"] == "refused"
    assert (held["changed"], held["batch"]["status"]) == (3, "Paused")
    assert resumed["changed"] == 3
    assert (cancelled["changed"], cancelled["batch"]["status"]) == (3, "Cancelled")
    assert retried["changed"] == 0
    assert {i["submitted"] for i in failed["items"]} == {
        "a.bv",
        "https://b.bv/x",
        "c.bv",
    }
    assert [b["name"] for b in listed["items"]] == ["Mine"]


async def test_others_see_none_of_it(clean: Served) -> None:
    rule = await clean.post("/rules", RULE, status=201)
    await clean.add_places(1)
    ran = await clean.post(f"/rules/{rule['id']}/run")
    batch = await clean.post(
        "/batches", {"kind": "pages", "items": ["a.bv/"]}, status=201
    )
    letter = await bury(clean, None, "odd")
    key = clean.other_key
    version = {"If-Match": "*"}

    for method, path, body in (
        ("GET", f"/rules/{rule['id']}", None),
        ("PATCH", f"/rules/{rule['id']}", {"is_enabled": False}),
        ("DELETE", f"/rules/{rule['id']}", None),
        ("POST", f"/rules/{rule['id']}/run", None),
        ("GET", f"/rules/{rule['id']}/actions", None),
        ("GET", f"/actions/{ran['action_id']}", None),
        ("POST", f"/actions/{ran['action_id']}/undo", None),
        ("GET", f"/batches/{batch['batch_id']}", None),
        ("POST", f"/batches/{batch['batch_id']}/cancel", None),
        ("GET", f"/dead-letters/{letter}", None),
    ):
        await clean.call(method, path, body, key=key, status=404, headers=version)
    for path in ("/rules", "/actions", "/batches", "/dead-letters"):
        found = await clean.get(path, key=key)
        assert (found if isinstance(found, list) else found["items"]) == []


async def test_viewers_look_and_change_nothing(clean: Served) -> None:
    viewer = await new_key(clean.engine, clean.tenant, Role.VIEWER)

    await clean.get("/stages", key=viewer)
    await clean.get("/scheduler/jobs", key=viewer)
    await clean.post("/rules/preview", {"kind": "pages"}, key=viewer)
    for path in (
        "/rules",
        "/batches",
        "/dead-letters/replay",
        f"/actions/{uuid4()}/undo",
    ):
        await clean.post(path, {}, key=viewer, status=403)
    for path in ("/system", "/scheduler/runs"):
        await clean.get(path, key=viewer, status=403)
    assert (
        await clean.client.get("/metrics", headers={"X-API-Key": viewer})
    ).status_code == 403


async def test_the_scheduler_tells_of_its_jobs_and_runs_them_by_hand(
    clean: Served,
) -> None:
    status = await clean.get("/dev-tools/scheduler_status")
    domains = await clean.post("/dev-tools/process-pending-domains")
    rescued = await clean.post("/dev-tools/trigger/reap_expired_claims")
    await clean.post("/dev-tools/trigger/nothing", status=404)
    jobs = {job["id"]: job for job in await clean.get("/scheduler/jobs")}
    runs = await clean.get("/scheduler/runs", params={"job_id": "reap_expired_claims"})

    assert status["running"]
    assert {"process_pending_domains", "v2_page_curation_processor"} <= set(jobs)
    assert jobs["process_pending_domains"]["name"] == "Process Pending Domains"
    assert (domains["finished"], rescued["finished"]) == (True, True)
    assert jobs["reap_expired_claims"]["last_outcome"] == "executed"
    assert runs["items"][0]["outcome"] == "executed"


async def test_developers_tools_are_not_there_for_others(clean: Served) -> None:
    curator = await new_key(clean.engine, clean.tenant, Role.CURATOR)

    for key in (curator, clean.other_key):
        await clean.get("/dev-tools/scheduler_status", key=key, status=404)
        await clean.post("/dev-tools/process-pending-domains", key=key, status=404)
        await clean.post("/dev-tools/trigger/reap_expired_claims", key=key, status=404)


async def test_the_system_shows_itself_to_operators_without_secrets(
    clean: Served,
) -> None:
    system = await clean.get("/system")
    theirs = await clean.get("/system", key=clean.other_key)
    figures: httpx.Response = await clean.client.get(
        "/metrics", headers={"X-API-Key": clean.key}
    )

    assert system["inside"]["database"]["is_up_to_date"]
    assert system["inside"]["disk"]["free_bytes"] > 0
    settings = {s["name"]: s["value"] for s in system["inside"]["settings"]}
    assert settings["PAGE_CURATION_SCHEDULER_INTERVAL_MINUTES"] == "600"
    assert settings["JWT_SECRET"] in {"", "********"}
    assert theirs["inside"] is None
    assert 'scrapersky_stage_queued{stage="page_curation"}' in figures.text
    assert "process_resident_memory_bytes" in figures.text
