"""How fast stages work: at once, or so many items a tick over all processes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.scheduler.app import Background, background_work
from scrapersky.settings import Settings, load_settings
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


async def queue_businesses(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO local_businesses (tenant_id, name, domain_extraction_status)"
                " SELECT id, 'b' || n, 'Queued' FROM tenants, generate_series(1, :rows) n"
            ),
            {"rows": ROWS},
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
            await stack.enter_async_context(background_work(given, target))
            for _ in range(2)
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


async def test_what_was_done_between_two_ticks_was_in_no_record(
    engine: AsyncEngine, database: TestDatabase, tmp_path: Path
) -> None:
    given = settings(tmp_path)
    async with background_work(given, parse_target(database.url)):
        await queue_businesses(engine)
        async with asyncio.timeout(HUNG):
            while await done(engine) < ROWS:  # noqa: ASYNC110 - the database has no signal
                await asyncio.sleep(0.02)

    assert await run_totals(engine) == (ROWS, ROWS)


async def test_one_stage_waits_while_the_others_are_eager(tmp_path: Path) -> None:
    given = settings(tmp_path, DOMAIN_EXTRACTION_SCHEDULER_PACE="interval")

    assert given.pace_of("domain_extraction") == "interval"
    assert given.pace_of("deep_scan") == "eager"
