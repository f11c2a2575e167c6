"""The shared scheduler: it ticks, records what happened, and survives what fails."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from structlog.testing import capture_logs
from typing_extensions import override

from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import UnknownJob
from scrapersky.pipeline.stage_settings import JobSettings
from scrapersky.records import SchedulerRun
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.drain_log import DrainLog
from scrapersky.scheduler.item_counter import Counts, ItemCounter
from scrapersky.scheduler.overview import cadence, next_tick
from scrapersky.scheduler.presence import end_lost_runs, own_name
from scrapersky.scheduler.run_log import (
    GRID,
    RunLog,
    last_runs,
    purge_runs,
    running_now,
)
from scrapersky.scheduler.schedule import CUT_OFF, JobSchedule, ScheduledJob
from scrapersky.scheduler.shutdown import Shutdown, running
from sdk_tests.rig.waiting import HUNG, ends_at_once
from tests.conftest import TestDatabase

OFTEN = 0.3 / 60


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url), pool_size=10)
    yield engine
    await engine.dispose()


def a_job(
    run: Callable[[], Awaitable[int]],
    job_id: str = "a_job",
    *,
    is_singleton: bool = False,
    at_most: int | None = None,
    **settings: object,
) -> ScheduledJob:
    values = {"interval_minutes": OFTEN, **settings}
    found = JobSettings.model_validate(values)

    async def counted(_limit: int | None) -> Counts:
        return Counts(picked=await run())

    return ScheduledJob(job_id, "A ScheduledJob", found, counted, is_singleton, at_most)


async def seven() -> int:
    return 7


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HUNG):
        while not await condition():  # noqa: ASYNC110 - the database has no signal
            await asyncio.sleep(0.05)


async def recent_runs(engine: AsyncEngine) -> list[SchedulerRun]:
    query = select(SchedulerRun).order_by(SchedulerRun.started_at.desc())
    async with AsyncSession(engine) as session:
        return [*await session.scalars(query)]


async def outcomes(engine: AsyncEngine) -> list[RunOutcome]:
    return [RunOutcome(run.outcome) for run in await recent_runs(engine)]


async def test_a_tick_runs_the_job_and_records_its_items(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven)], RunLog(engine, "p1"))
    await schedule.start()

    async def has_run() -> bool:
        return RunOutcome.EXECUTED in await outcomes(engine)

    await until(has_run)
    await schedule.stop()

    runs = [r for r in await recent_runs(engine) if r.outcome == RunOutcome.EXECUTED]
    assert runs[0].items == 7
    assert runs[0].finished_at is not None


async def test_the_last_run_is_read_from_the_record_of_all_processes(
    engine: AsyncEngine,
) -> None:
    await JobSchedule([a_job(seven)], RunLog(engine, "theirs")).trigger("a_job")

    async with engine.connect() as connection:
        found = await last_runs(connection, ["a_job", "never"])

    assert [(job, run.counts) for job, run in found.items()] == [
        ("a_job", Counts(picked=7))
    ]


async def test_a_failing_job_is_recorded_and_ticks_again(engine: AsyncEngine) -> None:
    async def fail() -> int:
        raise RuntimeError("no luck")

    schedule = JobSchedule([a_job(fail)], RunLog(engine, "p1"))
    await schedule.start()

    async def failed_twice() -> bool:
        return (await outcomes(engine)).count(RunOutcome.FAILED) >= 2

    await until(failed_twice)
    await schedule.stop()

    # On a busy machine a tick may be skipped before the first has failed.
    errors = {
        run.error
        for run in await recent_runs(engine)
        if run.outcome == RunOutcome.FAILED
    }
    assert errors == {"no luck"}


async def test_a_run_skipped_because_one_is_running_is_recorded(
    engine: AsyncEngine,
) -> None:
    gate = asyncio.Event()

    async def wait() -> int:
        await gate.wait()
        return 0

    schedule = JobSchedule([a_job(wait)], RunLog(engine, "p1"))
    await schedule.start()

    async def skipped() -> bool:
        return RunOutcome.SKIPPED in await outcomes(engine)

    await until(skipped)
    async with engine.connect() as connection:
        assert await running_now(connection) == {"a_job": 1}
    gate.set()
    await schedule.stop()


async def test_a_stop_waits_until_the_run_is_recorded(engine: AsyncEngine) -> None:
    ending, gate = asyncio.Event(), asyncio.Event()

    class SlowLog(RunLog):
        @override
        async def end(self, *given: Any) -> None:
            ending.set()
            await gate.wait()
            await super().end(*given)

    schedule = JobSchedule([a_job(seven)], SlowLog(engine, "p1"))
    await schedule.start()
    await asyncio.wait_for(ending.wait(), HUNG)
    stopping = asyncio.ensure_future(schedule.stop())

    assert not await ends_at_once(stopping)
    gate.set()
    await stopping

    assert RunOutcome.EXECUTED in await outcomes(engine)
    assert {run.finished_at is None for run in await recent_runs(engine)} == {False}


async def test_a_run_that_outlasts_the_grace_seemed_to_run_for_ever(
    engine: AsyncEngine,
) -> None:
    begun = asyncio.Event()

    async def wait() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    schedule = JobSchedule([a_job(wait)], RunLog(engine, "p1"))
    await schedule.start()
    await asyncio.wait_for(begun.wait(), HUNG)
    await schedule.stop(timedelta(0))

    (run,) = await recent_runs(engine)
    assert (run.outcome, run.error) == (RunOutcome.FAILED, CUT_OFF)
    assert run.finished_at is not None


async def test_a_run_whose_caller_left_seemed_to_run_for_ever(
    engine: AsyncEngine,
) -> None:
    begun = asyncio.Event()

    async def wait() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    schedule = JobSchedule([a_job(wait)], RunLog(engine, "p1"))
    caller = asyncio.create_task(schedule.trigger("a_job"))
    await asyncio.wait_for(begun.wait(), HUNG)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert await outcomes(engine) == [RunOutcome.FAILED]


async def test_a_missed_run_is_recorded(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven, interval_minutes=60)], RunLog(engine, "p1"))
    await schedule.start()
    long_ago = datetime.now(UTC) - timedelta(minutes=30)

    schedule._scheduler.get_job("a_job").modify(next_run_time=long_ago)

    async def missed() -> bool:
        return RunOutcome.MISSED in await outcomes(engine)

    await until(missed)
    await schedule.stop()


async def test_a_registration_that_fails_does_not_stop_the_others(
    engine: AsyncEngine,
) -> None:
    broken = a_job(seven, "broken")
    object.__setattr__(
        broken, "settings", broken.settings.model_copy(update={"max_instances": "x"})
    )
    schedule = JobSchedule([broken, a_job(seven, "sound")], RunLog(engine, "p1"))
    await schedule.start()

    async def has_run() -> bool:
        return RunOutcome.EXECUTED in await outcomes(engine)

    await until(has_run)
    await schedule.stop()

    assert set(schedule.problems) == {"broken"}
    by_id = {entry["id"]: entry for entry in schedule.published()}
    assert by_id["broken"]["problem"] is not None
    assert by_id["sound"]["problem"] is None


async def test_a_second_start_was_silent_and_harmless(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven)], RunLog(engine, "p1"))

    await schedule.start()
    with capture_logs() as lines:
        await schedule.start()
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("scheduler.started_twice", "warning")
    ]
    assert schedule.is_running
    await schedule.stop()
    await schedule.stop()
    assert not schedule.is_running


async def test_a_start_that_failed_left_a_scheduler_that_ticked(
    engine: AsyncEngine,
) -> None:
    runs = RunLog(engine, "p1")
    schedule = JobSchedule([a_job(seven)], runs)
    drains = DrainLog(ItemCounter(), runs, {})
    ending = Shutdown(asyncio.Event(), timedelta(0))

    async def start() -> None:
        async with running(None, [], schedule, drains, ending):
            await schedule.start()
            raise RuntimeError("no luck")

    with pytest.raises(RuntimeError):
        await start()

    assert not schedule.is_running


async def test_a_disabled_job_never_ticks(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven, enabled=False)], RunLog(engine, "p1"))
    await schedule.start()

    assert schedule.published() == []
    assert schedule._scheduler.get_jobs() == []
    await schedule.stop()


async def test_a_singleton_runs_once_per_tick_over_all_processes(
    engine: AsyncEngine,
) -> None:
    count = 0

    async def once() -> int:
        nonlocal count
        count += 1
        return 1

    job = a_job(once, is_singleton=True, interval_minutes=60)
    schedules = [JobSchedule([job], RunLog(engine, f"p{n}")) for n in range(8)]

    await asyncio.gather(*(schedule._tick(job) for schedule in schedules))

    assert count == 1
    async with engine.connect() as connection:
        rows = await connection.scalar(text("SELECT count(*) FROM scheduler_runs"))
    assert rows == 1


async def test_no_more_runs_than_may_be_run_at_once_over_all_processes(
    engine: AsyncEngine,
) -> None:
    begun, free = asyncio.Semaphore(0), asyncio.Event()

    async def long() -> int:
        begun.release()
        await free.wait()
        return 1

    job = a_job(long, at_most=2)
    schedules = [JobSchedule([job], RunLog(engine, f"p{n}")) for n in range(4)]
    for n in range(4):
        await announce(engine, f"p{n}")
    ticks = [asyncio.create_task(schedule._tick(job)) for schedule in schedules]
    await begun.acquire()
    await begun.acquire()
    # Only two can end before the others are freed: those that were refused.
    ended = asyncio.as_completed(ticks)
    refused = [await next(ended), await next(ended)]
    free.set()
    await asyncio.gather(*ticks)

    assert refused == [0, 0]
    assert sorted(await outcomes(engine)) == ["executed"] * 2 + ["skipped"] * 2


async def announce(engine: AsyncEngine, name: str, seen_ago: int = 0) -> None:
    """Let a process be heard of, so many seconds ago."""
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO processes (name, role, host, pid, version, seen_at)"
                " VALUES (:name, 'worker', 'h', 1, '0',"
                " clock_timestamp() - CAST(:ago AS interval))"
            ),
            {"name": name, "ago": timedelta(seconds=seen_ago)},
        )


async def name_of_a_dead_process() -> str:
    """Name a process of this machine as it names itself, and let it die."""
    script = "from scrapersky.scheduler.presence import own_name; print(own_name())"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return said.decode().strip()


@pytest.mark.parametrize("seen_ago", [0, 31, None])
async def test_a_killed_process_delayed_the_runs_of_all_others(
    engine: AsyncEngine, seen_ago: int | None
) -> None:
    """On this machine it is known at once, elsewhere after a while; or it said goodbye."""
    dead = await name_of_a_dead_process() if seen_ago == 0 else "elsewhere-1"
    if seen_ago is not None:
        await announce(engine, dead, seen_ago)
    assert await RunLog(engine, dead).begin("a_job") is not None
    job = a_job(seven, at_most=1)

    assert await JobSchedule([job], RunLog(engine, "p1"))._tick(job) == 7

    executed, lost = await recent_runs(engine)
    assert (executed.outcome, lost.outcome) == (RunOutcome.EXECUTED, RunOutcome.LOST)
    assert lost.error is not None
    assert lost.finished_at is not None


@pytest.mark.parametrize("name", ["elsewhere-1-5ig", None])
async def test_a_run_of_a_process_that_lives_is_not_taken_for_lost(
    engine: AsyncEngine, name: str | None
) -> None:
    """Also of one that a former release has named: the beginning is the same."""
    alive = name or own_name()
    await announce(engine, alive, 20)
    await RunLog(engine, alive).begin("a_job")
    await RunLog(engine, alive.rpartition("-")[0]).begin("a_job")

    async with engine.begin() as connection:
        await end_lost_runs(connection)

    assert await outcomes(engine) == [RunOutcome.RUNNING] * 2


async def test_a_run_that_ended_while_the_database_was_away_filled_its_place_for_ever(
    engine: AsyncEngine,
) -> None:
    await announce(engine, "p1")
    runs = RunLog(engine, "p1")
    run_id = await runs.begin("a_job", at_most=1)
    assert run_id is not None
    runs._engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))
    await runs.end(run_id, RunOutcome.EXECUTED, Counts(picked=7), None)
    await runs._engine.dispose()
    runs._engine = engine

    assert await runs.begin("a_job", at_most=1) is not None
    assert await outcomes(engine) == [RunOutcome.RUNNING, RunOutcome.EXECUTED]


async def test_a_skipped_tick_was_recorded_once_in_every_process(
    engine: AsyncEngine,
) -> None:
    hour, moment = timedelta(hours=1), timedelta(milliseconds=5)
    for n in range(3):
        log = RunLog(engine, f"p{n}")
        await log.record_not_run("a_job", RunOutcome.SKIPPED, hour, moment)

    assert await outcomes(engine) == [RunOutcome.SKIPPED]


async def test_a_tick_that_one_process_skips_is_there_for_one_that_can(
    engine: AsyncEngine,
) -> None:
    hour = timedelta(hours=1)
    await RunLog(engine, "p1").record_not_run(
        "a_job", RunOutcome.MISSED, hour, timedelta(0)
    )

    assert await RunLog(engine, "p2").begin("a_job", only_one=hour) is not None
    assert await RunLog(engine, "p3").begin("a_job", only_one=hour) is None
    (run,) = await recent_runs(engine)
    assert (run.process, run.outcome, run.finished_at) == ("p2", "running", None)


async def test_a_clock_that_is_off_by_an_hour_and_a_bit_shifted_the_ticks(
    engine: AsyncEngine,
) -> None:
    """The clock of this machine is off by as much as the log says the database's is."""
    ahead = timedelta(hours=1, seconds=20)

    class Ahead(RunLog):
        @override
        async def clock_skew(self) -> timedelta:
            return ahead

    schedule = JobSchedule([a_job(seven, interval_minutes=60)], Ahead(engine, "p1"))
    await schedule.start()
    next_run = schedule._scheduler.get_job("a_job").next_run_time
    await schedule.stop()

    assert (next_run + ahead).replace(minute=0, second=0) == next_run + ahead


def test_the_next_tick_is_counted_from_where_all_processes_count() -> None:
    grid = datetime.fromisoformat(GRID)

    assert next_tick(timedelta(minutes=7), grid) == grid + timedelta(minutes=7)
    assert next_tick(timedelta(minutes=7), grid + timedelta(minutes=8)) == (
        grid + timedelta(minutes=14)
    )


async def test_a_trigger_by_hand_runs_at_once(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven, interval_minutes=60)], RunLog(engine, "p1"))

    assert await schedule.trigger("a_job") == 7
    with pytest.raises(UnknownJob):
        await schedule.trigger("nothing")


async def test_a_run_that_found_nothing_left_no_line(engine: AsyncEngine) -> None:
    async def nothing() -> int:
        return 0

    with capture_logs() as lines:
        await JobSchedule([a_job(nothing)], RunLog(engine, "p1")).trigger("a_job")

    (line,) = [line for line in lines if line["event"] == "scheduler.run"]
    assert (line["log_level"], line["id"], line["picked"]) == ("info", "a_job", 0)


async def test_old_runs_are_purged(engine: AsyncEngine) -> None:
    schedule = JobSchedule([a_job(seven)], RunLog(engine, "p1"))
    await schedule.trigger("a_job")

    assert await purge_runs(engine, timedelta(days=1)) == 0
    assert await purge_runs(engine, timedelta(0)) == 1


async def test_without_a_database_a_job_still_runs() -> None:
    engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))
    schedule = JobSchedule([a_job(seven)], RunLog(engine, "p1"))

    assert await schedule.trigger("a_job") == 7

    await engine.dispose()


async def test_a_time_that_could_not_be_recorded_was_a_generator_that_did_not_yield() -> (
    None
):
    engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))

    await RunLog(engine, "p1").record_not_run(
        "a_job", RunOutcome.MISSED, timedelta(minutes=1), timedelta(0)
    )

    await engine.dispose()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (60, "every minute"),
        (300, "every 5 minutes"),
        (86_400, "every day"),
        (90, "every 90 seconds"),
        (0.5, "every 0.5 seconds"),
    ],
)
def test_a_job_that_runs_every_minute_is_not_said_to_run_every_0_01_00(
    seconds: float, said: str
) -> None:
    assert cadence(timedelta(seconds=seconds)) == said
