"""The shared scheduler: it ticks, records what happened, and survives what fails."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from typing_extensions import override

from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import UnknownJob
from scrapersky.pipeline.stage_settings import JobSettings
from scrapersky.records import SchedulerRun
from scrapersky.scheduler.run_log import (
    AtMost,
    RunLog,
    RunOutcome,
    last_runs,
    purge_runs,
)
from scrapersky.scheduler.schedule import CUT_OFF, Job, Schedule, cadence
from scrapersky.scheduler.tally import Counts
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
    at_most: AtMost | None = None,
    **settings: object,
) -> Job:
    values = {"interval_minutes": OFTEN, **settings}
    found = JobSettings.model_validate(values)

    async def counted(_limit: int | None) -> Counts:
        return Counts(picked=await run())

    return Job(job_id, "A Job", found, counted, is_singleton, at_most)


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
    schedule = Schedule([a_job(seven)], RunLog(engine, "p1"))
    schedule.start()

    async def has_run() -> bool:
        return RunOutcome.EXECUTED in await outcomes(engine)

    await until(has_run)
    await schedule.stop()

    runs = [r for r in await recent_runs(engine) if r.outcome == RunOutcome.EXECUTED]
    assert runs[0].items == 7
    assert runs[0].finished_at is not None
    last = schedule.status()[0].last
    assert last is not None
    assert last.counts is not None
    assert last.counts.picked == 7


async def test_a_job_of_other_processes_runs_here_when_somebody_asks(
    engine: AsyncEngine,
) -> None:
    theirs = Schedule([a_job(seven)], RunLog(engine, "theirs"))
    await theirs.tick("a_job")
    runs = 0

    async def run() -> int:
        nonlocal runs
        runs += 1
        return 2

    left_to_them = replace(a_job(run), is_elsewhere=True)
    schedule = Schedule([left_to_them, a_job(seven, "other")], RunLog(engine, "ours"))
    schedule.start()

    async def other_has_run() -> bool:
        return any(run.job_id == "other" for run in await recent_runs(engine))

    await until(other_has_run)
    assert runs == 0
    assert schedule.status()[0].next_run_at is not None
    async with engine.connect() as connection:
        found = await last_runs(connection, ["a_job", "never"])
    assert [(job, run.counts) for job, run in found.items()] == [
        ("a_job", Counts(picked=7))
    ]

    assert await schedule.trigger("a_job") == 2
    async with engine.connect() as connection:
        found = await last_runs(connection, ["a_job"])
    await schedule.stop()
    assert found["a_job"].counts == Counts(picked=2)


async def test_a_failing_job_is_recorded_and_ticks_again(engine: AsyncEngine) -> None:
    async def fail() -> int:
        raise RuntimeError("no luck")

    schedule = Schedule([a_job(fail)], RunLog(engine, "p1"))
    schedule.start()

    async def failed_twice() -> bool:
        return (await outcomes(engine)).count(RunOutcome.FAILED) >= 2

    await until(failed_twice)
    await schedule.stop()

    assert (await recent_runs(engine))[-1].error == "no luck"


async def test_a_run_skipped_because_one_is_running_is_recorded(
    engine: AsyncEngine,
) -> None:
    gate = asyncio.Event()

    async def wait() -> int:
        await gate.wait()
        return 0

    schedule = Schedule([a_job(wait)], RunLog(engine, "p1"))
    schedule.start()

    async def skipped() -> bool:
        return RunOutcome.SKIPPED in await outcomes(engine)

    await until(skipped)
    assert schedule.status()[0].running == 1
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

    schedule = Schedule([a_job(seven)], SlowLog(engine, "p1"))
    schedule.start()
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

    schedule = Schedule([a_job(wait)], RunLog(engine, "p1"))
    schedule.start()
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

    schedule = Schedule([a_job(wait)], RunLog(engine, "p1"))
    caller = asyncio.create_task(schedule.trigger("a_job"))
    await asyncio.wait_for(begun.wait(), HUNG)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert await outcomes(engine) == [RunOutcome.FAILED]


async def test_a_missed_run_is_recorded(engine: AsyncEngine) -> None:
    schedule = Schedule([a_job(seven, interval_minutes=60)], RunLog(engine, "p1"))
    schedule.start()
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
    schedule = Schedule([broken, a_job(seven, "sound")], RunLog(engine, "p1"))
    schedule.start()

    async def has_run() -> bool:
        return RunOutcome.EXECUTED in await outcomes(engine)

    await until(has_run)
    await schedule.stop()

    assert set(schedule.problems) == {"broken"}
    by_id = {status.id: status for status in schedule.status()}
    assert by_id["broken"].problem is not None
    assert by_id["sound"].problem is None


async def test_starting_and_stopping_twice_is_harmless(engine: AsyncEngine) -> None:
    schedule = Schedule([a_job(seven)], RunLog(engine, "p1"))

    schedule.start()
    schedule.start()
    assert schedule.is_running
    await schedule.stop()
    await schedule.stop()
    assert not schedule.is_running


async def test_a_disabled_job_never_ticks(engine: AsyncEngine) -> None:
    schedule = Schedule([a_job(seven, enabled=False)], RunLog(engine, "p1"))
    schedule.start()

    assert schedule.status()[0].next_run_at is None
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
    schedules = [Schedule([job], RunLog(engine, f"p{n}")) for n in range(8)]

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

    job = a_job(long, at_most=AtMost(2, timedelta(hours=1)))
    schedules = [Schedule([job], RunLog(engine, f"p{n}")) for n in range(4)]
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


async def test_a_run_whose_process_died_does_not_block_the_job_for_ever(
    engine: AsyncEngine,
) -> None:
    lost = RunLog(engine, "dead")
    assert await lost.begin("a_job", datetime.now(UTC)) is not None
    job = a_job(seven, at_most=AtMost(1, timedelta(0)))

    assert await Schedule([job], RunLog(engine, "p1"))._tick(job) == 7


async def test_a_trigger_by_hand_runs_at_once(engine: AsyncEngine) -> None:
    schedule = Schedule([a_job(seven, interval_minutes=60)], RunLog(engine, "p1"))

    assert await schedule.trigger("a_job") == 7
    with pytest.raises(UnknownJob):
        await schedule.trigger("nothing")


async def test_old_runs_are_purged(engine: AsyncEngine) -> None:
    schedule = Schedule([a_job(seven)], RunLog(engine, "p1"))
    await schedule.trigger("a_job")

    assert await purge_runs(engine, timedelta(days=1)) == 0
    assert await purge_runs(engine, timedelta(0)) == 1


async def test_without_a_database_a_job_still_runs() -> None:
    engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))
    schedule = Schedule([a_job(seven)], RunLog(engine, "p1"))

    assert await schedule.trigger("a_job") == 7

    await engine.dispose()


async def test_a_time_that_could_not_be_recorded_was_a_generator_that_did_not_yield() -> (
    None
):
    engine = connect(parse_target("postgresql://u@127.0.0.1:1/d"))

    await RunLog(engine, "p1").record("a_job", datetime.now(UTC), RunOutcome.MISSED)

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
