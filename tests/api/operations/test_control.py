"""What people steer by: dead letters, rules, decisions, batches, the scheduler."""

import secrets
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from scrapersky.records.status import Role
from tests.api.operations.rig import Served, new_key, serving
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

IN_PRODUCTION = {
    "ENVIRONMENT": "production",
    "JWT_SECRET": secrets.token_urlsafe(48),
    "JWT_AUDIENCE": "scrapersky",
    "JWT_ISSUER": "https://issuer.bv/",
}
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
    rest = await clean.get(
        "/dead-letters", params={"limit": 3, "cursor": first["next_cursor"]}
    )
    slow = await clean.get("/dead-letters", params={"cause": "too slow"})
    story = await clean.get(f"/dead-letters/{other}")

    assert [(g["cause"], g["count"]) for g in groups] == [
        ("leads to …, no", 3), ("too slow", 1),
    ]  # fmt: skip
    assert first["total"] == {"count": 4, "is_exact": True}
    ids = [letter["id"] for letter in first["items"] + rest["items"]]
    assert len(set(ids)) == 4
    assert [letter["id"] for letter in slow["items"]] == [other]
    assert [attempt["outcome"] for attempt in story["attempts"]] == ["gave_up"]


async def test_dead_letters_that_died_together_are_listed_once_each(
    clean: Served,
) -> None:
    buried = [await bury(clean, None, "too slow") for _ in range(5)]
    place, *_ = await clean.add_places(1)
    await clean.run("UPDATE places_staging SET deep_scan_status = 'Error'")
    await clean.run(
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, tries, deaths)"
        " SELECT 'deep_scan', id::text, 1, 'gave_up', 3, 0 FROM places_staging"
    )
    await clean.run("UPDATE curation.dead_letter SET died_at = '2026-11-15Z'")

    page = await clean.get("/dead-letters", params={"limit": 2})
    listed = page["items"]
    while (cursor := page["next_cursor"]) is not None:
        page = await clean.get("/dead-letters", params={"limit": 2, "cursor": cursor})
        listed += page["items"]

    meant = sorted([*buried, f"deep_scan:{place}"], reverse=True)
    assert [letter["id"] for letter in listed] == meant
    assert page["total"] == {"count": 6, "is_exact": True}


async def test_dead_letters_are_replayed_and_discarded_by_cause(clean: Served) -> None:
    await clean.post("/stages/page_curation/pause", {})
    slow = [await bury(clean, None, f"http://{n}.bv/: too slow") for n in range(3)]
    odd = await bury(clean, None, "http://a.bv/: odd")
    theirs = await bury(clean, clean.other, "http://b.bv/: too slow")
    chosen = {"stage": "page_curation", "cause": "too slow"}

    tried = await clean.post("/dead-letters/replay", {**chosen, "dry_run": True})
    replayed = await clean.post("/dead-letters/replay", chosen)
    foreign = await clean.post("/dead-letters/discard", {"ids": [theirs]})
    gone = await clean.post("/dead-letters/discard", {"ids": [odd, slow[0]]})
    await clean.post("/dead-letters/replay", {}, status=404)
    left = await clean.scalar("SELECT string_agg(item, ',') FROM curation.dead_letter")
    queued = await clean.scalar(
        "SELECT count(*) FROM pages WHERE page_processing_status = 'Queued'"
    )

    assert (tried["matched"], tried["changed"]) == (3, 0)
    assert (replayed["matched"], replayed["changed"]) == (3, 3)
    assert foreign == {"matched": 0, "changed": 0, "dry_run": False}
    assert gone["changed"] == 1
    assert left == theirs.partition(":")[2]
    assert queued == 3


async def test_a_rule_is_tried_made_run_changed_undone_and_removed(
    clean: Served,
) -> None:
    await clean.add_places(7)
    await clean.add_places(2, clean.other)
    draft = {key: RULE[key] for key in ("kind", "conditions")}

    tried = await clean.post("/rules/preview", draft)
    rule = await clean.post("/rules", RULE, status=201)
    await clean.post("/rules", RULE, status=409)
    ran = await clean.post(f"/rules/{rule['id']}/run")
    again = await clean.post(f"/rules/{rule['id']}/run")
    (action,) = (await clean.get(f"/rules/{rule['id']}/actions"))["items"]
    listed = await clean.get("/rules")
    undone = await clean.post(f"/actions/{action['id']}/undo")
    await clean.post(f"/actions/{action['id']}/undo", status=404)
    states = await clean.run("SELECT DISTINCT status::text FROM places_staging")
    await clean.call("DELETE", f"/rules/{rule['id']}", status=204)
    kept = await clean.get(f"/actions/{action['id']}")

    assert (tried["count"], tried["sample"][0]["label"][:5]) == (7, "Place")
    assert (ran["finished"], ran["changed"]) == (True, 7)
    assert (again["changed"], again["action_id"]) == (0, None)
    assert (action["matched"], action["changed"]) == (7, 7)
    assert action["finished_at"] is not None
    assert (listed[0]["decided"], listed[0]["actions"]) == (7, 1)
    assert undone["restored"] == 7
    assert [tuple(row) for row in states] == [("New",)]
    assert (kept["is_undoable"], kept["rule_name"]) == (False, None)


async def test_two_people_do_not_overwrite_each_others_rule(clean: Served) -> None:
    rule = await clean.post("/rules", RULE, status=201)
    path, off = f"/rules/{rule['id']}", {"is_enabled": False}
    mine, anyway = {"If-Match": rule["etag"]}, {"If-Match": "*"}

    await clean.call("PATCH", path, off, status=428)
    changed = await clean.call("PATCH", path, off, headers=mine)
    await clean.call("PATCH", path, {"name": "Other"}, headers=mine, status=412)
    await clean.call("PATCH", path, {"status": "No"}, headers=anyway, status=422)
    renamed = await clean.call(
        "PATCH", path, {"name": "Other"}, headers={"If-Match": changed["etag"]}
    )

    assert (changed["is_enabled"], changed["name"]) == (False, "Named")
    assert (renamed["is_enabled"], renamed["name"]) == (False, "Other")


@pytest.mark.parametrize(
    "body",
    [
        {**RULE, "kind": "users"},
        {**RULE, "status": "Chosen"},
        {**RULE, "conditions": [{"field": "tenant_id", "value": str(uuid4())}]},
        {**RULE, "conditions": [{"field": "name", "value": "\x00"}]},
        {**RULE, "name": "\x00"},
        {**RULE, "name": ""},
        {**RULE, "tenant_id": str(uuid4())},
        {**RULE, "conditions": [{"field": "name"}] * 51},
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused(
    clean: Served, body: dict[str, Any]
) -> None:
    await clean.post("/rules", body, status=422)

    assert await clean.scalar("SELECT count(*) FROM selection_rules") == 0


async def test_a_batch_is_submitted_watched_held_and_cancelled(clean: Served) -> None:
    await clean.post("/stages/domain_metadata/pause", {})
    lines = ["a.bv", "https://b.bv/x", "a.bv", "not a domain", "c.bv"]

    made = await clean.post(
        "/batches", {"kind": "domains", "items": lines, "name": "Mine"}, status=201
    )
    path = f"/batches/{made['batch_id']}"
    before = await clean.get(path, params={"limit": 2})
    next_page = {"limit": 2, "cursor": before["next_cursor"]}
    await clean.get(path, params={**next_page, "state": "done"}, status=422)
    rest = await clean.get(path, params=next_page)
    held = await clean.post(f"{path}/pause")
    resumed = await clean.post(f"{path}/resume")
    cancelled = await clean.post(f"{path}/cancel")
    retried = await clean.post(f"{path}/retry")
    left = await clean.get(path, params={"state": "refused"})
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
    # What nobody has visited is no record any more; the lines say what became of them.
    assert {i["submitted"] for i in left["items"]} == {*lines}
    assert [b["name"] for b in listed["items"]] == ["Mine"]


async def test_every_line_that_came_to_nothing_says_why_and_what_to_do(
    clean: Served,
) -> None:
    for stage in ("domain_metadata", "page_curation"):
        await clean.post(f"/stages/{stage}/pause", {})
    pages = {
        f"https://{name}.bv/": fate
        for name, fate in {
            "a": ("Complete", None),
            "b": ("Error", "robots_denied: https://b.bv/: Disallow: /"),
            "c": ("Error", "dns_error"),
            "d": ("Error", "the server answered 404"),
            "e": ("Error", "the server answered 503"),
            "f": ("Error", "the page says that it does not exist: 'Gone'"),
            "g": ("Error", None),
            "h": (None, None),
            "i": ("Queued", None),
        }.items()
    }
    await clean.post("/suppressions", {"values": ["z.bv"]}, status=201)
    lines = [*pages, "https://a.bv/", "no page", "https://z.bv/", "facebook.com/x"]
    made = await clean.post("/batches", {"kind": "pages", "items": lines}, status=201)
    for url, (status, error) in pages.items():
        await clean.run(
            "UPDATE pages SET page_processing_status = CAST(:s AS page_processing_status),"
            " page_processing_error = :e WHERE url = :u",
            s=status, e=error, u=url,
        )  # fmt: skip

    found = await clean.get(f"/batches/{made['batch_id']}")

    reported = {
        i["submitted"]: (i["state"], i["reason"], i["hint"]) for i in found["items"]
    }
    assert reported["https://i.bv/"] == ("queued", None, None)
    assert found["items"][0]["reason"] is None
    for item in found["items"]:
        if item["state"] in {"failed", "skipped", "refused"} or item["is_duplicate"]:
            assert item["reason"], item
            assert item["hint"].endswith("."), item
    assert reported["https://b.bv/"][:2] == (
        "failed",
        "the site's robots.txt forbids it: https://b.bv/: Disallow: /",
    )
    assert reported["https://c.bv/"][1] == "the name of the site is not known"
    assert "browser" in reported["https://d.bv/"][2]
    assert "later" in reported["https://e.bv/"][2]
    assert reported["https://h.bv/"][0] == "skipped"
    assert reported["facebook.com/x"][2] == "Submit the business's own website."
    counts = {
        name: found["batch"][name]
        for name in ("total", "pending", "done", "failed", "skipped", "refused")
    }
    assert counts == {
        "total": 13, "pending": 1, "done": 2, "failed": 6, "skipped": 1, "refused": 3,
    }  # fmt: skip
    assert [r["line"] for r in made["refused"] if r["hint"]] == [11, 12, 13]
    skipped = await clean.get(
        f"/batches/{made['batch_id']}", params={"state": "skipped"}
    )
    assert [i["submitted"] for i in skipped["items"]] == ["https://h.bv/"]


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


async def test_the_scheduler_says_of_its_jobs_and_runs_them_by_hand(
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


async def test_a_limit_above_the_batch_was_cut_without_a_word(clean: Served) -> None:
    path = "/dev-tools/trigger/process_domain_extraction_queue"

    refused = await clean.post(path, params={"limit": 100}, status=422)
    await clean.post(path, params={"limit": 20})

    assert "a batch of 20 items at most, and 100 were asked for" in refused["detail"]
    assert "stages set domain_extraction --batch-size 100" in refused["hint"]


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


async def test_in_production_there_are_no_tools_no_demo_and_no_open_figures(
    database: TestDatabase,
) -> None:
    async with serving(database, IN_PRODUCTION) as served:
        await served.get("/dev-tools/scheduler_status", status=404)
        await served.post("/dev-tools/process-pending-domains", status=404)
        await served.post("/dev-tools/trigger/reap_expired_claims", status=404)
        await served.post("/demo", {}, status=404)
        demo = await served.get("/demo")
        nobody = await served.client.get("/metrics")
        operator = await served.client.get(
            "/metrics", headers={"X-API-Key": served.key}
        )

    assert not demo["is_available"]
    assert (nobody.status_code, operator.status_code) == (401, 200)


async def test_prometheus_needed_a_key_that_could_also_pause_stages(
    clean: Served,
) -> None:
    only_figures = await new_key(clean.engine, clean.tenant, scopes=["metrics"])
    of_another = await new_key(clean.engine, clean.other, scopes=["metrics"])
    made = await clean.post(
        "/api-keys",
        {"name": "prometheus", "role": "admin", "scopes": ["metrics"]},
        status=201,
    )

    async def figures(key: str) -> int:
        answer = await clean.client.get("/metrics", headers={"X-API-Key": key})
        return answer.status_code

    assert [await figures(key) for key in (only_figures, made["secret"])] == [200, 200]
    assert await figures(of_another) == 403
    await clean.post("/stages/page_curation/pause", key=only_figures, status=403)
    await clean.get("/stages", key=only_figures, status=403)


async def test_workers_were_invisible(clean: Served) -> None:
    background = clean.app.state.background
    name = background.presence.name

    (alive,) = await clean.get("/workers")
    asked = await clean.post(f"/workers/{name}/drain")
    await background.presence.beat()
    resting = background.resting
    (drained,) = await clean.get("/workers")
    await clean.post(f"/workers/{name}/resume")
    await background.presence.beat()
    (resumed,) = await clean.get("/workers")
    await clean.post("/workers/nobody/drain", status=404)
    await clean.get("/workers", key=clean.other_key, status=403)

    assert (alive["role"], alive["name"]) == ("up", name)
    # A machine without names rests by itself.
    assert alive["state"] in {"working", "resting"}
    assert "page_curation" in alive["stages"]
    assert alive["version"]
    assert asked["state"] in {"draining", "drained"}
    assert resting is not None
    assert drained["state"] in {"draining", "drained"}
    assert drained["resting"] is not None
    assert resumed["state"] in {"working", "resting"}


async def test_the_figures_tell_of_jobs_database_money_and_processes(
    clean: Served,
) -> None:
    await bury(clean, None, "gone")
    await clean.run(
        "INSERT INTO place_searches (tenant_id, business_type, source, status, budget,"
        " spent) VALUES (:tenant, 'bakery', 'google_places', 'Completed', 5, 1.5)",
        tenant=clean.tenant,
    )
    await clean.post("/dev-tools/trigger/reap_expired_claims")
    for value in ("database", "processes", "waiting"):
        getattr(clean.app.state.operations, value).forget()
    found: httpx.Response = await clean.client.get(
        "/metrics", headers={"X-API-Key": clean.key}
    )

    for series in (
        'scrapersky_stage_dead_letters{stage="page_curation"} 1.0',
        'scrapersky_stage_held_back{stage="page_curation"} 0.0',
        'scrapersky_stage_longest_seconds{stage="page_curation"} 0.0',
        'scrapersky_job_runs_total{job="reap_expired_claims",outcome="executed"}',
        'scrapersky_job_seconds_count{job="reap_expired_claims"}',
        'scrapersky_provider_spent_dollars{source="google_places"} 1.5',
        'scrapersky_database_dead_rows{table="claim"}',
        "scrapersky_database_connections_at_most 300.0",
        "scrapersky_database_oldest_snapshot_seconds ",
        'scrapersky_pool_connections{pool="api",state="in_use"}',
        'scrapersky_processes{role="up",state="',
        "scrapersky_worker_resting ",
        "scrapersky_fetches_waiting ",
    ):
        assert series in found.text, series
