"""How fast stages work: at once, or so many items a tick over all processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.reporting.stage_stats import full_queues, waiting_for_anyone
from scrapersky.scheduler.app import serve_beside_workers, work
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.overrides import change_settings
from scrapersky.settings import Settings
from sdk_tests.rig.waiting import HUNG
from tests.conftest import TestDatabase

EXTRACT = "process_domain_extraction_queue"
ROWS = 12


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


def settings(tmp_path: Path, **given: str) -> Settings:
    others = {"SCRAPERSKY_DATA_DIR": str(tmp_path), "LOG_LEVEL": "ERROR"}
    return load_settings(others | given, dotenv=None).settings


async def queue_businesses(engine: AsyncEngine, website: str | None = None) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO local_businesses"
                " (tenant_id, name, website, domain_extraction_status)"
                " SELECT id, 'b' || n, replace(:website, '{n}', n::text), 'Queued'"
                " FROM tenants, generate_series(1, :rows) n"
            ),
            {"rows": ROWS, "website": website},
        )


async def done(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        found = await connection.scalar(
            text(
                "SELECT count(*) FROM local_businesses"
                " WHERE domain_extraction_status = 'Completed'"
            )
        )
    return int(found or 0)


async def run_totals(engine: AsyncEngine) -> tuple[int, int]:
    """Return how many items the records of runs say were picked, and succeeded."""
    async with engine.connect() as connection:
        row = (
            await connection.execute(
                text(
                    "SELECT coalesce(sum(items), 0), coalesce(sum(succeeded), 0)"
                    " FROM scheduler_runs WHERE job_id = :job"
                ),
                {"job": EXTRACT},
            )
        ).one()
    return int(row[0]), int(row[1])


async def tick(process: Background) -> None:
    job = process.schedule._jobs[EXTRACT]
    await process.schedule._tick(job)


async def test_interval_and_batch_size_throttled_nothing(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(
        tmp_path,
        SCHEDULER_PACE="interval",
        DOMAIN_EXTRACTION_SCHEDULER_INTERVAL_MINUTES="60",
        DOMAIN_EXTRACTION_SCHEDULER_BATCH_SIZE="5",
    )
    target = parse_target(database.url)
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(work(given, target)) for _ in range(2)
        ]
        await queue_businesses(engine)
        # Both processes reach the same tick of the hour: one of them takes it.
        await asyncio.gather(*map(tick, processes))
        await asyncio.gather(*map(tick, processes))

        assert await done(engine) == 5
        assert await processes[0].schedule.trigger(EXTRACT, limit=2) == 2
        assert await processes[1].schedule.trigger(EXTRACT) == 5
        assert await done(engine) == ROWS

    assert await run_totals(engine) == (ROWS, ROWS)


@pytest.mark.slow
async def test_what_was_done_between_two_ticks_was_in_no_record(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path)
    async with work(given, parse_target(database.url)):
        await queue_businesses(engine)
        await until_done(engine)

    assert await run_totals(engine) == (ROWS, ROWS)


@pytest.mark.slow
async def test_the_work_of_an_eager_stage_was_in_no_record_until_the_next_tick(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_INTERVAL_MINUTES="1000000")
    async with work(given, parse_target(database.url)):
        await queue_businesses(engine)
        async with asyncio.timeout(HUNG):
            while await run_totals(engine) != (ROWS, ROWS):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.1)


async def until_done(engine: AsyncEngine) -> None:
    async with asyncio.timeout(HUNG):
        while await done(engine) < ROWS:  # noqa: ASYNC110 - the database has no signal
            await asyncio.sleep(0.02)


async def drained(process: Background) -> None:
    """Let a process do all it may of the stage, now."""
    assert process.worker is not None
    await process.worker.drain("domain_extraction")


async def test_a_rate_held_in_each_process_and_not_over_both(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_RATE_PER_MINUTE="5")
    target = parse_target(database.url)
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(work(given, target)) for _ in range(2)
        ]
        await queue_businesses(engine)
        await asyncio.gather(*map(drained, processes))
        assert await done(engine) == 5

        await pass_a_minute(engine)
        await asyncio.gather(*map(drained, processes))
        assert await done(engine) == 10


async def change(engine: AsyncEngine, given: Settings, **changes: object) -> None:
    async with engine.begin() as connection:
        await change_settings(connection, given, "domain_extraction", changes, by="Ada")


async def test_pace_rate_and_batch_were_changed_by_a_restart_alone(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_RATE_PER_MINUTE="5")
    target = parse_target(database.url)
    async with work(given, target) as process:
        await queue_businesses(engine)
        await drained(process)
        assert await done(engine) == 5

        await change(engine, given, rate_per_minute=6)
        await follow(process)
        await drained(process)
        assert await done(engine) == 6

        slow = {"pace": "interval", "interval_minutes": 1_000_000, "batch_size": 2}
        await change(engine, given, **slow, rate_per_minute=100)
        await follow(process)
        await tick(process)
        assert await done(engine) == 8

    # What was changed holds for a process that starts later, until it is taken back.
    async with work(given, target) as process:
        assert process.live is not None
        assert process.live.settings.pace_of("domain_extraction") == "interval"
        await change(engine, given, **dict.fromkeys(slow))
        await follow(process)
        await drained(process)
        assert await done(engine) == ROWS


async def test_the_process_that_answers_people_leaves_the_stages_to_others(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_BATCH_SIZE="5")
    target = parse_target(database.url)
    async with serve_beside_workers(given, target) as ours:
        assert not ours.schedule.is_running
        await queue_businesses(engine)
        # A change of how the stage works does not make it work here.
        await change(engine, given, rate_per_minute=100)
        await follow(ours)
        assert ours.worker is not None
        assert ours.worker.in_hand == 0
        assert await done(engine) == 0

        assert await ours.schedule.trigger(EXTRACT) == 5
        async with work(given, target):
            await until_done(engine)

    assert await run_totals(engine) == (ROWS, ROWS)


async def follow(process: Background) -> None:
    """Let a process look now at what was changed."""
    assert process.live is not None
    await process.live.refresh()


async def pass_a_minute(engine: AsyncEngine) -> None:
    """Make all that was done a minute older."""
    minute = "interval '1 minute'"
    async with engine.begin() as connection:
        await connection.execute(
            text(
                f"UPDATE curation.attempt SET claimed_at = claimed_at - {minute},"
                f" settled_at = settled_at - {minute}"
            )
        )


async def test_nothing_kept_a_queue_from_growing_while_its_stage_stood_still(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(
        tmp_path,
        DOMAIN_SCHEDULER_ENABLED="false",
        DOMAIN_SCHEDULER_HIGH_WATER="5",
        DOMAIN_SCHEDULER_BATCH_SIZE="5",
    )
    marks = {name: one.high_water for name, one in given.stages.items()}
    target = parse_target(database.url)
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(work(given, target)) for _ in range(2)
        ]
        await queue_businesses(engine, website="https://shop{n}.example/")
        await asyncio.gather(*map(drained, processes))

        waiting = await waiting_for_anyone(engine)
        assert {w.stage: w.queued for w in waiting}["domain_metadata"] == 5
        assert full_queues(waiting, marks) == {
            "domain_extraction": "Domain metadata has no room: at most 5 may wait for it"
        }


async def test_one_stage_waits_while_the_others_are_eager(tmp_path: Path) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_PACE="interval")

    assert given.pace_of("domain_extraction") == "interval"
    assert given.pace_of("deep_scan") == "eager"
