"""What people expect of a queue: cancelling, unique rows, times, a shell."""

import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from curation_sdk import Done, Outcome, Retry
from curation_sdk.__main__ import answer
from curation_sdk.control import cancel, queue_once
from curation_sdk.errors import CurationSdkError
from curation_sdk.periodic import (
    STAGE,
    Cron,
    Every,
    PeriodicRun,
    count_due,
    periodic,
    run_periodic,
)
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk, Ticket, triage

DAILY = Every(timedelta(days=1))


# Cancelling


async def test_a_queued_item_that_is_cancelled_is_never_worked(desk: Desk) -> None:
    await desk.open(2)
    await desk.drain(triage(batch=1), seconds=0)

    assert await cancel(desk.engine, "triage", 2, why="the customer left") == 1
    await desk.drain(triage())

    assert await desk.states() == {"Complete": 1, "Error": 1}
    assert (
        await desk.one("SELECT error FROM ticket WHERE id = 2") == "the customer left"
    )
    assert await desk.outcomes(2) == ["cancelled"]


async def test_a_running_item_that_is_cancelled_ends_and_writes_nothing(
    desk: Desk,
) -> None:
    await desk.open(1)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return Done()

    async with desk.running(triage(work, lease=timedelta(seconds=1))):
        await begun.wait()
        assert await cancel(desk.engine, "triage", 1, why="too late") == 1
        await asyncio.wait_for(ended.wait(), 30)

    assert await desk.states() == {"Error": 1}
    assert await desk.outcomes() == ["cancelled"]
    assert await cancel(desk.engine, "triage", 1) == 0


# Unique rows


async def test_a_row_is_queued_once_until_it_is_finished(desk: Desk) -> None:
    stage = triage()
    await desk.execute("ALTER TABLE ticket ADD UNIQUE (title)")
    await desk.drain(stage)

    async def again(priority: int) -> bool:
        return await queue_once(
            desk.engine, stage, Ticket.title, title="re: invoice 7", priority=priority
        )

    assert [await again(1), await again(2)] == [True, False]
    await desk.drain(stage)
    before = await desk.one("SELECT updated_at FROM ticket")
    assert await again(3)
    assert await desk.one("SELECT updated_at FROM ticket") > before
    with pytest.raises(CurationSdkError, match=r"no value of Ticket\.title"):
        await queue_once(desk.engine, stage, Ticket.title, priority=4)
    with pytest.raises(CurationSdkError, match="Ticket has no column colour"):
        await queue_once(desk.engine, stage, Ticket.title, title="b", colour="red")
    with pytest.raises(CurationSdkError, match=r"Ticket\.priority is not unique"):
        await queue_once(desk.engine, stage, Ticket.priority, title="b", priority=4)
    name: Any = "triage"
    with pytest.raises(CurationSdkError, match="Pass the stage itself"):
        await queue_once(desk.engine, name, Ticket.title, title="b")

    assert await desk.rows("SELECT title, priority, state::text FROM ticket") == [
        ("re: invoice 7", 3, "Queued")
    ]


# Times


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("*/15 * * * *", "UTC", "2026-03-01T10:07", "2026-03-01T10:15"),
        ("0 6 * * mon-fri", "UTC", "2026-03-06T06:00", "2026-03-09T06:00"),
        ("30 8 1 jan *", "UTC", "2026-03-01T00:00", "2027-01-01T08:30"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00", "2028-02-29T00:00"),
        ("0 0 13 * 5", "UTC", "2026-03-01T00:00", "2026-03-06T00:00"),
        ("0 9 * * 7", "Europe/Vienna", "2026-07-01T00:00", "2026-07-05T07:00"),
        # 02:30 does not exist on this day, and exists twice on that one.
        ("30 2 * * *", "Europe/Vienna", "2026-03-28T12:00", "2026-03-29T01:30"),
        ("30 2 * * *", "Europe/Vienna", "2026-10-24T12:00", "2026-10-25T00:30"),
        ("30 2 * * *", "Europe/Vienna", "2026-10-25T00:30", "2026-10-26T01:30"),
        # Every ten minutes is every ten minutes, also in the hour that comes twice.
        ("*/10 * * * *", "Europe/Vienna", "2026-10-25T00:50", "2026-10-25T01:00"),
        ("*/10 * * * *", "Europe/Vienna", "2026-03-29T00:50", "2026-03-29T01:00"),
        # The clock goes forward by half an hour: 02:15 comes at 02:45, after 02:40.
        (
            "15,40 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T12:00",
            "2026-10-03T15:40",
        ),
    ],
)
def test_cron_knows_when_it_is_due(
    expression: str, zone: str, after: str, expected: str
) -> None:
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)

    due = Cron(expression, zone=zone).next_after(moment)

    assert due == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "expression", ["* * * *", "60 * * * *", "a * * * *", "5-1 * * * *", "*/0 * * * *"]
)
def test_a_cron_expression_that_says_nothing_is_refused(expression: str) -> None:
    with pytest.raises(CurationSdkError):
        Cron(expression)


def test_a_zone_that_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(CurationSdkError, match="'Mars/Olympus' is no time zone"):
        Cron("0 6 * * *", zone="Mars/Olympus")


def test_a_day_that_never_comes_is_refused() -> None:
    with pytest.raises(CurationSdkError, match="never due"):
        Cron("0 0 31 2 *").next_after(datetime.now(UTC))


def test_times_that_nobody_was_there_for_are_counted() -> None:
    due = datetime(2026, 3, 1, tzinfo=UTC)

    assert count_due(DAILY, due, due + timedelta(days=3, hours=1)) == 3
    assert count_due(DAILY, due, due + timedelta(hours=1)) == 0


async def test_each_time_is_run_by_one_of_all_processes(desk: Desk) -> None:
    runs: list[PeriodicRun] = []

    @periodic("digest", DAILY)
    async def digest(run: PeriodicRun) -> None:
        runs.append(run)
        raise OSError("no mail server")

    async def be_due(_: Any = None) -> None:
        await desk.execute(
            # Between two midnights, and two of them are over since, whatever the hour is now.
            "UPDATE curation.claim SET due_at = date_trunc('day', now(), 'UTC')"
            f" - interval '36 hours' WHERE stage = '{STAGE}' AND fence IS NULL"
        )

    processes = [
        asyncio.create_task(run_periodic(desk.engine, digest, poll=0.02))
        for _ in range(3)
    ]
    registered = f"SELECT count(*) FROM curation.claim WHERE stage = '{STAGE}'"
    await desk.until(registered, 1)
    for count in (1, 2):
        await be_due()
        attempts = f"SELECT count(*) FROM curation.attempt WHERE stage = '{STAGE}'"
        await desk.until(attempts, count)
    for process in processes:
        process.cancel()
    await asyncio.gather(*processes, return_exceptions=True)

    assert [(run.name, run.missed) for run in runs] == [("digest", 2)] * 2
    why = await desk.one(f"SELECT why FROM curation.attempt WHERE stage = '{STAGE}'")
    assert why == "OSError('no mail server')"


async def test_a_time_that_ended_its_task_was_never_due_again(desk: Desk) -> None:
    runs = []

    @periodic("digest", DAILY)
    async def digest(run: PeriodicRun) -> None:
        runs.append(run)
        if len(runs) == 1:
            raise GeneratorExit
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    running = asyncio.create_task(run_periodic(desk.engine, digest, poll=0.02))
    for count in (1, 2, 3):
        await desk.until("SELECT count(*) FROM curation.claim", 1)
        await desk.execute("UPDATE curation.claim SET due_at = now()")
        await desk.until("SELECT count(*) FROM curation.attempt", count)
    running.cancel()

    outcomes = await desk.rows("SELECT DISTINCT outcome FROM curation.attempt")
    assert outcomes == [("gave_up",)]
    assert await desk.one("SELECT count(*) FROM curation.claim") == 1


@pytest.mark.slow
async def test_a_function_that_blocked_past_its_lease_was_run_twice(
    desk: Desk, desk_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation_sdk.periodic.LEASE_SECONDS", 1.0)
    runs = []

    @periodic("digest", DAILY)
    async def block(run: PeriodicRun) -> None:
        runs.append(run)
        time.sleep(4)  # noqa: ASYNC251 - what it is about

    def elsewhere() -> None:
        async def run() -> None:
            engine = create_async_engine(desk_database.url)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(3):
                    await run_periodic(engine, block, poll=0.1)
            await engine.dispose()

        asyncio.run(run())

    running = asyncio.create_task(run_periodic(desk.engine, block, poll=0.02))
    await desk.until("SELECT count(*) FROM curation.claim", 1)
    other = asyncio.create_task(asyncio.to_thread(elsewhere))
    await desk.execute("UPDATE curation.claim SET due_at = now()")
    await desk.until("SELECT count(*) FROM curation.attempt", 1)
    await other
    running.cancel()

    assert len(runs) == 1


def test_a_plain_function_failed_each_time_that_it_was_due() -> None:
    def send(_run: PeriodicRun) -> None: ...

    with pytest.raises(CurationSdkError, match="no `async def f"):
        periodic("send", DAILY)(send)  # type: ignore[arg-type]


def test_a_cron_expression_in_place_of_a_schedule_failed_at_every_look() -> None:
    text: Any = "0 6 * * *"
    with pytest.raises(CurationSdkError, match="'digest' cannot run at set times"):
        periodic("digest", text)


async def test_two_functions_of_one_name_took_each_others_times(desk: Desk) -> None:
    @periodic("send", DAILY)
    async def send(_run: PeriodicRun) -> None: ...

    with pytest.raises(CurationSdkError, match="a name of its own: it was given send"):
        await run_periodic(desk.engine, send, send)
    with pytest.raises(CurationSdkError, match="it was given none"):
        await run_periodic(desk.engine)


# A shell


async def test_a_queue_can_be_looked_after_from_a_shell(
    desk: Desk, desk_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(_ticket: Ticket, _tools: object) -> Outcome:
        return Retry("the printer is on fire")

    await desk.open(1)
    await desk.drain(triage(work, max_attempts=1))

    async def shell(*words: str) -> str:
        assert await answer(["--url", desk_database.url, *words]) == 0
        return capsys.readouterr().out

    assert "triage  0 queued" in await shell("stages")
    assert "exhausted  the printer is on fire" in await shell("dead-letters")
    assert "exhausted  the printer is on fire" in await shell("item", "triage", "1")
    assert await shell("retry", "triage", "1") == "1 queued again\n"
    assert "is paused" in await shell("pause", "triage", "no paper")
    assert "paused: no paper" in await shell("stages")
    assert "is resumed" in await shell("resume", "triage")
    assert await shell("cancel", "triage", "1", "--why", "no ink") == "1 cancelled\n"
    assert "cancelled  no ink" in await shell("item", "triage", "1")
    assert await shell("reap") == "0 rescued, 0 quarantined, 0 queued again\n"
    assert await answer(["--url", desk_database.url, "retry", "nothing", "1"]) == 1
    assert "No stage is called 'nothing'" in capsys.readouterr().err
    nowhere = "postgresql://me@127.0.0.1:1/nothing"
    assert await answer(["--url", nowhere, "stages"]) == 1
    assert "The database cannot be asked" in capsys.readouterr().err


async def test_a_shell_did_not_say_what_a_database_lacks(
    empty_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await answer(["--url", empty_database.url, "stages"]) == 1
    assert "python -m curation_sdk migrate" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        await answer(["--url", "no address", "stages"])
    assert "Write the address as postgresql://" in capsys.readouterr().err
