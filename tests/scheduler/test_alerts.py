"""Alerts: each rule holds for the fault it is about and no other, and is reported once."""

import http.server
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import orjson
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
from scrapersky.reporting.stage_stats import Waiting
from scrapersky.scheduler.alert import (
    LEAST_DISK,
    RULES,
    Marks,
    Sight,
    Trouble,
    troubles,
)
from scrapersky.scheduler.courier import Courier, Message
from scrapersky.scheduler.overrides import change_settings
from scrapersky.scheduler.presence import LiveProcess
from scrapersky.scheduler.watch import Looker, Watch, remember
from tests.conftest import TestDatabase

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
CALM = Sight(
    waiting=[Waiting("pages", queued=5, oldest_seconds=30)],
    database=WELL,
    attempts={"pages": BUSY},
    runs={"reap": {"executed": 30}},
    processes=[WORKER],
)
STUCK = [Waiting("pages", queued=5, oldest_seconds=30, longest_seconds=1300)]
LONG_AGO = [Waiting("pages", queued=5, oldest_seconds=1800)]
FAULTS = {
    "no_consumer": replace(CALM, waiting=LONG_AGO, processes=[]),
    "stage_stalled": replace(CALM, waiting=LONG_AGO, attempts={}),
    "item_stuck": replace(
        CALM, waiting=STUCK, timeouts={"pages": timedelta(minutes=10)}
    ),
    "oldest_item": replace(
        CALM, waiting=LONG_AGO, marks=Marks(oldest=timedelta(minutes=10))
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
    found = troubles(FAULTS[rule])

    assert [trouble.rule for trouble in found] == [rule]
    assert found[0].summary
    assert found[0].advice


def test_nothing_is_wrong_where_nothing_is() -> None:
    assert troubles(CALM) == []
    assert len(FAULTS) == len(RULES)


def test_a_stage_that_runs_once_an_hour_was_said_to_have_stalled() -> None:
    hourly = replace(
        CALM,
        waiting=LONG_AGO,
        attempts={},
        intervals={"pages": timedelta(hours=1)},
    )

    assert troubles(hourly) == []


async def test_alerts_went_by_the_marks_that_a_process_was_started_with(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    changes = {"pace": "interval", "interval_minutes": 60}
    async with engine.begin() as connection:
        await change_settings(
            connection, given.settings, "deep_scan", changes, by="Ada"
        )

    sight = await Looker(engine, given.settings).sight()

    assert sight.intervals == {"deep_scan": timedelta(hours=1)}


def test_a_worker_that_was_replaced_or_is_long_gone_wakes_nobody() -> None:
    gone = replace(WORKER, name="w0", state="gone", seen_seconds=60)
    forgotten = replace(gone, host="h9", seen_seconds=7200)

    assert troubles(replace(CALM, processes=[WORKER, gone, forgotten])) == []


@pytest_asyncio.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    """A server that keeps what it was told, and refuses the first."""
    reported: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reported.append(orjson.loads(body))
            self.send_response(503 if len(reported) == 1 else 204)
            self.end_headers()

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", reported
    server.shutdown()
    thread.join()
    server.server_close()


class OnlyProcesses(Looker):
    """Sees no more of this machine than who works on the database."""

    @override
    async def sight(self) -> Sight:
        seen = await Looker.sight(self)
        return replace(seen, database=WELL, disk_free=LEAST_DISK)


async def test_trouble_is_told_once_and_so_is_its_end(
    engine: AsyncEngine, webhook: tuple[str, list[Any]], tmp_path: Path
) -> None:
    url, reported = webhook
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    looker = OnlyProcesses(engine, given.settings)
    watch = Watch(looker, Courier(webhook=SecretStr(url)))
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
    assert "Look at h1" in reported[1]["text"]


async def test_trouble_that_comes_back_is_new_trouble(engine: AsyncEngine) -> None:
    trouble = Trouble("disk", "data directory", "full", "free some")
    since = text("SELECT since, ended_at IS NULL FROM alerts")

    async def now() -> Any:
        async with engine.connect() as connection:
            return (await connection.execute(since)).one()

    await remember(engine, [trouble])
    first = await now()
    await remember(engine, [trouble])
    same = await now()
    await remember(engine, [])
    over = await now()
    await remember(engine, [trouble])
    again = await now()

    assert same == first
    assert over == (first[0], False)
    assert again[0] > first[0]
    assert again[1]


async def test_one_process_looks_for_all(engine: AsyncEngine, tmp_path: Path) -> None:
    given = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    looker = Looker(engine, given.settings)
    first, second = Watch(looker, Courier()), Watch(looker, Courier())

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

    monkeypatch.setattr("scrapersky.scheduler.courier.connected", lambda _: Server())
    courier = Courier(
        smtp=SecretStr("smtp://me:p%40ss@mail.bv"), recipients=("ops@a.bv",)
    )

    done = await courier.send(Message("Trouble: disk", "Only 3 MiB are free.", {}))

    assert done
    assert sent[0] == ("me", "p@ss")
    assert sent[1]["To"] == "ops@a.bv"
    assert sent[1]["Subject"] == "[ScraperSky] Trouble: disk"
    assert "Only 3 MiB are free." in sent[1].get_content()
