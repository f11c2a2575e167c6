"""The stages: what they tell of one tenant, and who may stop them."""

import asyncio
from dataclasses import replace

import pytest

from scrapersky.records.status import Role
from scrapersky.reporting import stage_stats
from scrapersky.reporting.stage_stats import QueueStatus, full_queues
from scrapersky.stages import PIPELINE, STAGES
from sdk_tests.rig.waiting import HUNG
from tests.api.operations.rig import Served, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def settle(
    served: Served, item: object, outcome: str, why: str | None, ago: int = 0
) -> None:
    await served.run(
        "INSERT INTO curation.attempt"
        " (stage, item, fence, tries, outcome, why, settled_at)"
        " VALUES ('page_curation', :item, 1, 1, :outcome, :why,"
        " clock_timestamp() - make_interval(secs => :ago))",
        item=str(item),
        outcome=outcome,
        why=why,
        ago=ago,
    )


async def test_a_stage_says_how_it_stands_for_its_tenant_alone(clean: Served) -> None:
    served = clean
    done = await served.add_page(page_processing_status="Complete")
    failed = await served.add_page(page_processing_status="Error")
    await settle(served, done, "done", None)
    await settle(served, failed, "retried", "http://a.bv/: too slow", 90)
    await settle(served, failed, "gave_up", "http://a.bv/: too slow")
    theirs = await served.add_page(served.other, page_processing_status="Error")
    await settle(served, theirs, "gave_up", "http://b.bv/: theirs")

    stages = await served.get("/stages")
    found = next(s for s in stages if s["stage"] == "page_curation")
    errors = await served.get("/stages/errors")
    series = await served.get("/stages/throughput", params={"minutes": 5})

    assert len(stages) == len(STAGES)
    assert (found["done"], found["failed"], found["errors_last_hour"]) == (1, 1, 2)
    assert found["next"] == ["contact_validation"]
    assert found["rate_per_minute"] > 0
    assert [(e["cause"], e["count"], e["final"]) for e in errors] == [
        ("too slow", 2, 1)
    ]
    minutes = next(s["minutes"] for s in series if s["stage"] == "page_curation")
    assert len(minutes) == 5
    assert sum(m["done"] for m in minutes) == 1
    assert sum(m["failed"] for m in minutes) == 1


async def test_more_rows_than_are_counted_are_estimated(
    clean: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await clean.post("/stages/page_curation/pause", {"reason": "to be counted"})
    domain = await clean.add_domain()
    for n in range(12):
        status = ("Complete", "Queued", "Error")[min(n // 5, 2)]
        await clean.add_page(domain_id=domain, page_processing_status=status)
    await clean.run("ANALYZE pages")
    stage = STAGES["page_curation"]

    async def stand() -> tuple[int, int, int]:
        found = await stage_stats.results(clean.engine, clean.tenant, stage)
        waiting = await stage_stats.count_waiting(clean.engine, clean.tenant)
        (queued,) = [one.queued for one in waiting if one.stage == stage.name]
        return found.done, queued, found.failed

    assert await stand() == (5, 5, 2)
    monkeypatch.setattr(stage_stats, "COUNTED_ROWS", 3)
    await clean.run("DELETE FROM pages WHERE page_processing_status = 'Error'")
    for _ in range(4):
        await clean.add_page(domain_id=domain, page_processing_status="Complete")
    done, queued, failed = await stand()
    # What the planner knows is as old as the last ANALYZE.
    assert 4 <= done <= 8
    assert 4 <= queued <= 8
    assert failed == 0


async def test_an_operator_pauses_a_stage_for_everyone(clean: Served) -> None:
    paused = await clean.post("/stages/deep_scan/pause", {"reason": "billing"})
    seen = await clean.get("/stages", key=clean.other_key)
    resumed = await clean.post("/stages/deep_scan/resume")
    rows = await clean.run("SELECT action, subject FROM audit_log ORDER BY created_at")

    assert paused["paused"] == "billing"
    assert {s["stage"]: s["paused"] for s in seen}["deep_scan"] == "billing"
    assert resumed["paused"] is None
    assert [tuple(row) for row in rows] == [
        ("paused", "stage deep_scan"),
        ("resumed", "stage deep_scan"),
    ]


async def test_a_stage_says_its_limits_and_which_full_queue_it_waits_for(
    clean: Served,
) -> None:
    stages = {s["stage"]: s for s in await clean.get("/stages")}

    assert stages["page_curation"]["pace"] == "at once"
    assert stages["page_curation"]["rate_limit"] is None
    assert stages["page_curation"]["high_water"] == 10_000
    assert {s["held_back"] for s in stages.values()} == {None}


async def test_a_stage_with_nothing_to_do_is_not_held_back() -> None:
    idle = [QueueStatus(stage.name) for stage in PIPELINE]
    full = [replace(w, queued=9 * (w.stage == "page_curation")) for w in idle]
    busy = [replace(w, queued=9, working=w.stage == "sitemap_import") for w in full]
    marks = dict.fromkeys(STAGES, 0) | {"page_curation": 10}

    assert full_queues(full, marks) == {}
    assert full_queues(busy, marks) == dict.fromkeys(
        ("domain_metadata", "sitemap_import"),
        "Page curation has no room: at most 10 may wait for it",
    )


async def pace_of_deep_scan(served: Served) -> str:
    stages = await served.get("/stages", key=served.other_key)
    return next(str(s["pace"]) for s in stages if s["stage"] == "deep_scan")


async def test_a_stage_was_changed_by_a_restart_alone(clean: Served) -> None:
    changes = {
        "pace": "interval",
        "interval_minutes": 5,
        "batch_size": 4,
        "rate_per_minute": 30,
    }
    changed = await clean.call("PATCH", "/stages/deep_scan", json=changes)
    async with asyncio.timeout(HUNG):
        # What was counted before is good for a moment.
        while await pace_of_deep_scan(clean) != changed["pace"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    less = await clean.call("PATCH", "/stages/deep_scan", json={"pace": None})
    taken_back = await clean.call(
        "PATCH", "/stages/deep_scan", json=dict.fromkeys(changes)
    )
    rows = await clean.run("SELECT action, subject, details FROM audit_log")

    words = "at most 4 every 5 minutes, at most 30 a minute"
    assert (changed["pace"], changed["changed"]) == (words, changes)
    assert {each["setting"] for each in changed["overrides"]} == changes.keys()
    assert {each["no_effect"] for each in changed["overrides"]} == {None}
    (name,) = {each["changed_by"] for each in changed["overrides"]}
    actors = await clean.run("SELECT actor FROM audit_log WHERE subject LIKE 'stage %'")
    assert {actor for (actor,) in actors} == {name}
    assert (less["pace"], less["rate_limit"]) == ("at once, at most 30 a minute", 30)
    assert (taken_back["pace"], taken_back["changed"]) == ("at once", {})
    assert ("changed", "stage deep_scan", changes) in [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"high_water": 9}, "a batch takes 10 rows"),
        ({"rate_per_minute": 0}, "nothing would ever be worked"),
        ({"interval_minutes": 0}, "greater than 0"),
        ({"batch_size": 10_001}, "less than or equal to 10000"),
        ({"max_instances": 101}, "less than or equal to 100"),
    ],
)
async def test_a_change_that_contradicts_itself_is_refused_with_the_reason(
    clean: Served, changes: dict[str, int], reason: str
) -> None:
    problem = await clean.call("PATCH", "/stages/deep_scan", json=changes, status=422)

    assert reason in problem["detail"]
    assert await clean.run("SELECT * FROM stage_overrides") == []


async def test_a_stored_change_that_does_not_hold_is_shown_with_the_reason(
    clean: Served,
) -> None:
    await clean.run(
        "INSERT INTO stage_overrides (stage, changes) VALUES"
        """ ('deep_scan', '{"batch_size": 0}'), ('old_stage', '{"batch_size": 5}')"""
    )
    await clean.post("/stages/deep_scan/pause", {})

    changed = await clean.call(
        "PATCH", "/stages/deep_scan", json={"rate_per_minute": 30}
    )
    system = await clean.get("/system")
    cleared = await clean.call(
        "PATCH",
        "/stages/deep_scan",
        json={"batch_size": None, "rate_per_minute": None},
    )
    await clean.run("DELETE FROM stage_overrides")

    assert changed["settings"]["batch_size"] == 10
    why = {each["setting"]: each["no_effect"] for each in changed["overrides"]}
    assert why == {
        "batch_size": "Input should be greater than 0",
        "rate_per_minute": None,
    }
    settings = {one["name"]: one for one in system["inside"]["settings"]}
    rate = settings["DEEP_SCAN_SCHEDULER_RATE_PER_MINUTE"]
    assert (rate["value"], rate["is_default"]) == ("30", False)
    assert rate["changed"].startswith("changed by ")
    assert settings["DEEP_SCAN_SCHEDULER_BATCH_SIZE"]["changed"] is None
    assert cleared["overrides"] == []


async def test_only_operators_stop_stages(clean: Served) -> None:
    curator = await new_key(clean.engine, clean.tenant, Role.CURATOR)

    for key in (clean.other_key, curator):
        await clean.post("/stages/deep_scan/pause", {}, key=key, status=403)
        await clean.call(
            "PATCH", "/stages/deep_scan", json={"batch_size": 1}, key=key, status=403
        )
    await clean.post("/stages/nothing/pause", {}, status=404)
    await clean.post("/stages/deep_scan/pause", {"x": 1}, status=422)
