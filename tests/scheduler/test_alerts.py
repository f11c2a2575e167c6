"""Alerts: each rule holds for the fault it is about and no other, and is reported once."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import pytest
import pytest_asyncio
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from scrapersky.companies.setback import Setback
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.reporting.attempts import Attempts
from scrapersky.reporting.database import DatabaseFigures
from scrapersky.reporting.stage_stats import QueueStatus
from scrapersky.scheduler.alert import (
    MIN_FREE_BYTES,
    RULES,
    ActiveAlert,
    Snapshot,
    Thresholds,
    active_alerts,
)
from scrapersky.scheduler.alert_monitor import (
    AlertMonitor,
    SnapshotReader,
    store_alerts,
)
from scrapersky.scheduler.alert_sender import AlertSender, Message
from scrapersky.scheduler.overrides import change_settings
from scrapersky.scheduler.presence import LiveProcess
from tests.conftest import TestDatabase
from tests.scheduler.webhook import webhook_server

WELL = DatabaseFigures(
    connections=10,
    connections_at_most=100,
    size_bytes=1,
    oldest_snapshot_seconds=0,
    clock_skew_seconds=0,
    dead_rows={},
    dead_letters={},
    spent={},
    budget_left={},
)
WORKER = LiveProcess(
    name="w1",
    role="worker",
    host="h1",
    pid=1,
    version="0",
    address=None,
    stages=("pages",),
    in_hand=0,
    resting=None,
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    seen_seconds=1,
    state="working",
)
BUSY = Attempts(total=100, failed=2, dead=1)
CALM = Snapshot(
    waiting=[QueueStatus("pages", queued=5, oldest_seconds=30)],
    database=WELL,
    attempts={"pages": BUSY},
    runs={"reap": {"executed": 30}},
    processes=[WORKER],
)
STUCK = [QueueStatus("pages", queued=5, oldest_seconds=30, longest_seconds=1300)]
LONG_AGO = [QueueStatus("pages", queued=5, oldest_seconds=1800)]
SETTLED_AN_HOUR_AGO = """INSERT INTO curation.attempt
  (stage, item, fence, tries, outcome, settled_at)
  VALUES ('deep_scan', 'a', 1, 1, 'done', clock_timestamp() - interval '1 hour')"""
FAULTS = {
    "no_consumer": replace(CALM, waiting=LONG_AGO, processes=[]),
    "stage_stalled": replace(CALM, waiting=LONG_AGO, attempts={}),
    "item_stuck": replace(
        CALM, waiting=STUCK, timeouts={"pages": timedelta(minutes=10)}
    ),
    "oldest_item": replace(
        CALM, waiting=LONG_AGO, thresholds=Thresholds(oldest=timedelta(minutes=10))
    ),
    "error_rate": replace(CALM, attempts={"pages": Attempts(100, 51, 1)}),
    "dead_letters": replace(CALM, attempts={"pages": Attempts(200, 60, 50)}),
    "stage_paused": replace(CALM, paused={"pages": "the key is refused"}),
    "job_missed": replace(CALM, runs={"reap": {"missed": 3, "executed": 1}}),
    "matching_failed": replace(
        CALM,
        setbacks=[Setback(UUID(int=1), 2, "why"), Setback(UUID(int=2), 1, "once")],
    ),
    "process_gone": replace(
        CALM,
        processes=[
            WORKER,
            replace(WORKER, name="w2", host="h2", state="gone", seen_seconds=60),
        ],
    ),
    "process_unfit": replace(
        CALM,
        processes=[
            WORKER,
            replace(WORKER, state="resting", resting="no name is resolved"),
        ],
    ),
    "disk": replace(CALM, disk_free=1024),
    "connections": replace(CALM, database=replace(WELL, connections=90)),
    "clock": replace(CALM, database=replace(WELL, clock_skew_seconds=-90)),
}


@pytest.mark.parametrize("rule", FAULTS)
def test_each_rule_holds_for_the_fault_it_is_about_and_no_other(rule: str) -> None:
    found = active_alerts(FAULTS[rule])

    assert [alert.rule for alert in found] == [rule]
    assert found[0].summary
    assert found[0].advice


def test_nothing_is_wrong_where_nothing_is() -> None:
    assert active_alerts(CALM) == []
    assert FAULTS.keys() == {rule.name for rule in RULES if rule.find}


def test_a_stage_that_runs_once_an_hour_was_said_to_have_stalled() -> None:
    hourly = replace(
        CALM,
        waiting=LONG_AGO,
        attempts={},
        intervals={"pages": timedelta(hours=1)},
    )

    assert active_alerts(hourly) == []


def test_a_stage_with_a_long_interval_could_stall_unnoticed() -> None:
    stalled = replace(
        CALM,
        waiting=[QueueStatus("pages", queued=5, oldest_seconds=3 * 3600)],
        thresholds=Thresholds(oldest=timedelta(days=1)),
        attempts={},
        intervals={"pages": timedelta(hours=1)},
    )

    assert [alert.rule for alert in active_alerts(stalled)] == ["stage_stalled"]
    assert active_alerts(replace(stalled, settled={"pages"})) == []


async def test_alerts_went_by_the_marks_that_a_process_was_started_with(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    changes = {"pace": "interval", "interval_minutes": 60}
    async with engine.begin() as connection:
        await change_settings(
            connection, given.settings, "deep_scan", changes, by="Ada"
        )

    reader = SnapshotReader(engine, given.settings)
    snapshot = await reader.read()
    async with engine.begin() as connection:
        await connection.execute(text(SETTLED_AN_HOUR_AGO))

    assert snapshot.intervals == {"deep_scan": timedelta(hours=1)}
    assert snapshot.settled == set()
    assert (await reader.read()).settled == {"deep_scan"}


def test_a_worker_that_was_replaced_or_is_long_gone_wakes_nobody() -> None:
    gone = replace(WORKER, name="w0", state="gone", seen_seconds=60)
    forgotten = replace(gone, host="h9", seen_seconds=7200)

    assert active_alerts(replace(CALM, processes=[WORKER, gone, forgotten])) == []


@pytest_asyncio.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    with webhook_server(refusals=1) as server:
        yield server


class OnlyProcesses(SnapshotReader):
    """Sees no more of this machine than who works on the database."""

    @override
    async def read(self) -> Snapshot:
        seen = await SnapshotReader.read(self)
        return replace(seen, database=WELL, disk_free=MIN_FREE_BYTES)


async def test_trouble_is_told_once_and_so_is_its_end(
    engine: AsyncEngine, webhook: tuple[str, list[Any]], tmp_path: Path
) -> None:
    url, reported = webhook
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    looker = OnlyProcesses(engine, given.settings)
    watch = AlertMonitor(looker, AlertSender(webhook=SecretStr(url)))
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO processes (name, role, host, pid, version, seen_at) VALUES"
                " ('w1', 'worker', 'h1', 1, '0', clock_timestamp() - interval '1 minute')"
            )
        )
    # The first time nobody listens.
    found = [*await watch.look(), *await watch.look(), *await watch.look()]
    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM processes"))
    for _ in range(2):
        assert await watch.look() == []

    named = [(one.rule, one.subject) for one in found]
    assert named == [("process_gone", "w1")] * 3
    assert [(one["state"], one["rule"]) for one in reported] == [
        ("trouble", "process_gone"),
        ("trouble", "process_gone"),
        ("over", "process_gone"),
    ]
    assert "on h1" in reported[1]["text"]


async def test_trouble_that_comes_back_is_new_trouble(engine: AsyncEngine) -> None:
    alert = ActiveAlert("disk", "data directory", "full", "free some")
    since = text("SELECT since, ended_at IS NULL FROM alerts")

    async def now() -> Any:
        async with engine.connect() as connection:
            return (await connection.execute(since)).one()

    await store_alerts(engine, [alert])
    first = await now()
    await store_alerts(engine, [alert])
    same = await now()
    await store_alerts(engine, [])
    over = await now()
    await store_alerts(engine, [alert])
    again = await now()

    assert same == first
    assert over == (first[0], False)
    assert again[0] > first[0]
    assert again[1]


async def test_one_process_looks_for_all(engine: AsyncEngine, tmp_path: Path) -> None:
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    looker = SnapshotReader(engine, given.settings)
    first, second = (
        AlertMonitor(looker, AlertSender()),
        AlertMonitor(looker, AlertSender()),
    )

    assert await first._is_my_turn()
    assert not await second._is_my_turn()


async def test_a_mail_server_is_told_in_plain_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[Any] = []

    class Server:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def login(self, user: str, password: str) -> None:
            sent.append((user, password))

        def send_message(self, mail: Any) -> None:
            sent.append(mail)

    monkeypatch.setattr(
        "scrapersky.scheduler.alert_sender.connect_to", lambda _: Server()
    )
    sender = AlertSender(
        smtp=SecretStr("smtp://me:p%40ss@mail.bv"), recipients=("ops@a.bv",)
    )

    done = await sender.send(Message("ActiveAlert: disk", "Only 3 MiB are free.", {}))

    assert done
    assert sent[0] == ("me", "p@ss")
    assert sent[1]["To"] == "ops@a.bv"
    assert sent[1]["Subject"] == "[ScraperSky] ActiveAlert: disk"
    assert "Only 3 MiB are free." in sent[1].get_content()
