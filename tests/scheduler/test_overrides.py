"""What operators changed while processes run: who did, what holds, what is of no use."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import InvalidStageSettings
from scrapersky.scheduler.app import work
from scrapersky.scheduler.overrides import (
    SettingChange,
    StageChanges,
    change_settings,
    origins_of_changes,
    stored_changes,
    useless_changes,
    with_changes,
)
from scrapersky.settings import Settings
from tests.conftest import TestDatabase

DAY = datetime(2026, 11, 18, 9, tzinfo=UTC)


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


def settings(**given: str) -> Settings:
    return load_settings({"LOG_LEVEL": "ERROR"} | given, dotenv=None).settings


def changed(**values: object) -> StageChanges:
    return {name: SettingChange(value, "Ada", DAY) for name, value in values.items()}


async def change(
    engine: AsyncEngine, given: Settings, by: str = "Ada", **changes: object
) -> StageChanges:
    async with engine.begin() as connection:
        return await change_settings(connection, given, "deep_scan", changes, by=by)


async def store(engine: AsyncEngine, stage: str, changes: str) -> None:
    """Store changes as a version before this one did."""
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO stage_overrides (stage, changes, changed_at)"
                " VALUES (:stage, CAST(:changes AS jsonb), :at)"
            ),
            {"stage": stage, "changes": changes, "at": DAY},
        )


async def test_nobody_could_say_who_had_changed_which_setting(
    engine: AsyncEngine,
) -> None:
    given = settings()
    await change(engine, given, by="Ada", batch_size=7)
    await change(engine, given, by="Bob", concurrency=3)

    found = (await stored_changes(engine))["deep_scan"]

    assert {name: (one.value, one.by) for name, one in found.items()} == {
        "batch_size": (7, "Ada"),
        "concurrency": (3, "Bob"),
    }
    today = f"{found['batch_size'].at:%Y-%m-%d}"
    assert origins_of_changes(given, {"deep_scan": found}) == {
        "DEEP_SCAN_SCHEDULER_BATCH_SIZE": f"changed by Ada on {today}",
        "DEEP_SCAN_SCHEDULER_CONCURRENCY": f"changed by Bob on {today}",
    }


async def test_a_change_of_the_version_before_has_a_day_and_no_name(
    engine: AsyncEngine,
) -> None:
    await store(engine, "deep_scan", '{"batch_size": 7}')

    found = (await stored_changes(engine))["deep_scan"]

    assert found["batch_size"].origin == "changed on 2026-11-18"


def test_one_change_that_does_not_hold_took_all_others_of_its_stage_with_it() -> None:
    given = settings(DEEP_SCAN_SCHEDULER_BATCH_SIZE="50")
    changes = {"deep_scan": changed(high_water=20, concurrency=3)}

    now = with_changes(given, changes).stages["deep_scan"]

    assert (now.high_water, now.concurrency) == (10_000, 3)
    assert [*useless_changes(given, changes)] == [
        (
            "high_water=20 of deep_scan (changed by Ada on 2026-11-18) has no effect: a batch "
            "takes 50 rows, so as many must be allowed to wait; raise the high-water mark or "
            "lower the batch size. `scrapersky stages reset deep_scan high_water` clears it."
        )
    ]


def test_two_changes_hold_together_whichever_is_tried_first() -> None:
    given = settings(DEEP_SCAN_SCHEDULER_HIGH_WATER="20")
    changes = {"deep_scan": changed(batch_size=50, high_water=100)}

    now = with_changes(given, changes).stages["deep_scan"]

    assert (now.batch_size, now.high_water) == (50, 100)
    assert [*useless_changes(given, changes)] == []


@pytest.mark.parametrize(
    ("stage", "changes", "said"),
    [
        ("deep_scan", {"batch_size": 50, "high_water": 20}, "a batch takes 50 rows"),
        ("deep_scan", {"batch_size": 10**9}, "less than or equal to 10000"),
        ("deep_scan", {"batch_size": "many"}, "valid integer"),
        ("deep_scan", {"lease_seconds": 5}, "without a restart"),
        ("deep_scan", {"depth": 5}, "without a restart"),
        ("old_stage", {"batch_size": 5}, "there is no such stage in this version"),
    ],
)
def test_what_is_stored_and_does_not_hold_was_silent(
    stage: str, changes: dict[str, object], said: str
) -> None:
    given = settings()
    stored = {stage: changed(**changes)}

    (why,) = useless_changes(given, stored)

    assert said in why
    assert "changed by Ada on 2026-11-18" in why
    assert f"`scrapersky stages reset {stage}" in why
    assert with_changes(given, stored).stages["domain_metadata"].batch_size == 50


async def test_a_useless_change_kept_every_other_from_being_made(
    engine: AsyncEngine,
) -> None:
    given = settings()
    await store(engine, "deep_scan", '{"batch_size": 0, "depth": 5}')

    held = await change(engine, given, concurrency=3)
    left = await change(engine, given, depth=None)

    assert held.keys() == {"batch_size", "depth", "concurrency"}
    assert left.keys() == {"batch_size", "concurrency"}
    with pytest.raises(InvalidStageSettings, match="batch_size: Input should be"):
        await change(engine, given, batch_size=-1)
    with pytest.raises(InvalidStageSettings, match="cannot be changed without"):
        await change(engine, given, lease_seconds=5)


async def test_a_start_was_silent_about_what_holds_instead_of_its_settings(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(SCRAPERSKY_DATA_DIR=str(tmp_path))
    await change(engine, given, batch_size=7, rate_per_minute=30)
    await store(engine, "old_stage", '{"batch_size": 7}')
    await store(engine, "domain_extraction", '{"batch_size": 0}')

    with capture_logs() as lines:
        async with work(given, parse_target(database.url)):
            pass

    said = {
        (line["stage"], line["setting"]): (line["value"], line["instead_of"])
        for line in lines
        if line["event"] == "settings.override"
    }
    assert said == {
        ("deep_scan", "batch_size"): (7, 10),
        ("deep_scan", "rate_per_minute"): (30, None),
    }
    refused = [line["why"] for line in lines if "change_refused" in line["event"]]
    assert len(refused) == 2
