"""An outage of the database: nobody is called gone for it, and somebody is notified once."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import ROLE
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler import presence
from scrapersky.scheduler.alert import MIN_FREE_BYTES, Snapshot
from scrapersky.scheduler.alert_monitor import AlertMonitor, SnapshotReader
from scrapersky.scheduler.alert_sender import AlertSender
from scrapersky.scheduler.presence import Presence, RestReasons, live_processes
from sdk_tests.rig.proxy import FaultProxy, fault_proxy
from tests.conftest import TestDatabase, TestServer
from tests.scheduler.test_alerts import WELL
from tests.scheduler.webhook import webhook_server

AGED = """UPDATE processes SET started_at = started_at - interval '20 minutes',
  seen_at = seen_at - interval '5 minutes', back_at = back_at - interval '5 minutes'"""
LATER = "UPDATE processes SET back_at = back_at - interval '5 minutes'"
SETTLED = """UPDATE alerts SET ended_at = ended_at - interval '3 minutes'
  WHERE rule = 'database_away'"""
REFUSE = """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$"""


@pytest_asyncio.fixture
async def proxy(postgres_server: TestServer) -> AsyncIterator[FaultProxy]:
    place = f"{postgres_server.socket_dir}/.s.PGSQL.{postgres_server.port}"
    async with fault_proxy(socket=place) as found:
        yield found


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    with webhook_server() as server:
        yield server


class OnlyProcesses(SnapshotReader):
    """Sees no more of this machine than who works on the database."""

    @override
    async def read(self) -> Snapshot:
        seen = await SnapshotReader.read(self)
        return replace(seen, database=WELL, disk_free=MIN_FREE_BYTES, waiting=[])


class Elsewhere(Presence):
    """A process on a host of its own, which beats when it is told to."""

    def __init__(self, engine: AsyncEngine, host: str, role: ProcessRole) -> None:
        super().__init__(engine, None, RestReasons(None), role=role)
        self._line["host"] = host

    async def try_beat(self) -> None:
        """Beat as the process does by itself every few seconds."""
        try:
            await self.beat()
        except (SQLAlchemyError, OSError) as error:
            self._failed = str(error)


@dataclass
class Installation:
    """An API that looks, two workers, and what stands between them and the database."""

    proxy: FaultProxy
    direct: AsyncEngine
    """A way to the database that is never cut."""
    api: Elsewhere
    workers: list[Elsewhere]
    watch: AlertMonitor

    async def run(self, statement: str) -> Any:
        async with self.direct.begin() as connection:
            result = await connection.execute(text(statement))
            return result.all() if result.returns_rows else None

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        """Cut everybody off for five minutes."""
        everyone = [self.api, *self.workers]
        self.proxy.refusing = True
        for link in list(self.proxy.links):
            link.cut()
        for one in everyone:
            await one.try_beat()
        await self.run(AGED)
        for one in everyone:
            one._beat_at -= 300
        yield
        self.proxy.refusing = False

    async def active_alerts(self) -> list[tuple[str, str]]:
        query = "SELECT rule, subject FROM alerts WHERE ended_at IS NULL ORDER BY 1, 2"
        return [tuple(row) for row in await self.run(query)]


@pytest_asyncio.fixture
async def installation(
    proxy: FaultProxy,
    database: TestDatabase,
    webhook: tuple[str, list[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Installation]:
    # Beats come when the test wants them.
    monkeypatch.setattr(presence, "BEAT_SECONDS", 3600.0)
    place = f"postgresql://{ROLE}@127.0.0.1:{proxy.port}/{database.name}"
    engine, direct = connect(parse_target(place)), connect(parse_target(database.url))
    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(tmp_path)}, dotenv=None)
    api = Elsewhere(engine, "front", ProcessRole.SERVE)
    workers = [Elsewhere(engine, f"w{n}", ProcessRole.WORKER) for n in (1, 2)]
    watch = AlertMonitor(
        OnlyProcesses(engine, settings.settings),
        AlertSender(webhook=SecretStr(webhook[0])),
        name=api.name,
        announce=api.beat,
    )
    async with api, workers[0], workers[1]:
        yield Installation(proxy, direct, api, workers, watch)
        proxy.refusing = False
    await engine.dispose()
    await direct.dispose()


async def take_turn(installation: Installation) -> None:
    """Look, however short ago somebody did."""
    await installation.run("DELETE FROM alert_watch")
    await installation.watch.take_turn()


async def test_live_workers_were_gone_after_an_outage(
    installation: Installation,
) -> None:
    async with installation.outage():
        await installation.watch.take_turn()
    await take_turn(installation)
    at_once = await installation.active_alerts()
    for worker in installation.workers:
        await worker.try_beat()
    await take_turn(installation)

    states = {one.state for one in await live_processes(installation.direct)}
    assert at_once == []
    assert await installation.active_alerts() == []
    assert states == {"serving"}


async def test_a_worker_that_did_not_come_back_from_an_outage_is_reported(
    installation: Installation,
) -> None:
    back, lost = installation.workers
    async with installation.outage():
        pass
    await back.try_beat()
    await take_turn(installation)
    at_once = await installation.active_alerts()
    await installation.run(f"{AGED} WHERE name = '{lost.name}'")
    await installation.run(LATER)
    await take_turn(installation)
    missed = await installation.active_alerts()
    await lost.try_beat()
    await take_turn(installation)

    assert at_once == []
    assert missed == [("process_gone", lost.name)]
    assert await installation.active_alerts() == []


async def test_an_outage_is_one_message_when_it_is_over_and_has_settled(
    installation: Installation, webhook: tuple[str, list[Any]]
) -> None:
    _, reported = webhook
    back, lost = installation.workers
    for _ in range(2):
        # The second follows before anybody was notified of the first.
        async with installation.outage():
            await take_turn(installation)
        await back.try_beat()
        await take_turn(installation)
    held = list(reported)
    await installation.run(SETTLED)
    await installation.run(LATER)
    for _ in range(2):
        await take_turn(installation)

    assert held == []
    (only,) = reported
    assert (only["state"], only["rule"]) == ("over", "database_away")
    assert "2 processes are back." in only["text"]
    assert [(one["rule"], one["subject"]) for one in only["alerts"]] == [
        ("process_gone", lost.name)
    ]


async def test_one_machine_without_a_network_is_no_outage(
    installation: Installation,
) -> None:
    away, here = installation.workers
    away._failed = "it did not answer"
    away._beat_at -= 300
    await installation.run(f"{AGED} WHERE name = '{away.name}'")
    await here.try_beat()

    await away.try_beat()

    found = await installation.run("SELECT rule FROM alerts")
    assert found == []


async def test_nobody_was_notified_of_a_database_that_cannot_be_written_to(
    installation: Installation, webhook: tuple[str, list[Any]]
) -> None:
    _, reported = webhook
    await installation.run(REFUSE)
    await installation.run(
        "CREATE TRIGGER refuse BEFORE INSERT ON audit_log EXECUTE FUNCTION refuse()"
    )

    for _ in range(2):
        await take_turn(installation)
    during = list(reported)
    await installation.run("DROP FUNCTION refuse CASCADE")
    for _ in range(2):
        await take_turn(installation)

    assert [one["state"] for one in during] == ["trouble"]
    assert "has no disk space left" in during[0]["text"]
    assert [one["state"] for one in reported] == ["trouble", "over"]


async def test_four_lost_hosts_were_four_messages(
    installation: Installation, webhook: tuple[str, list[Any]]
) -> None:
    _, reported = webhook
    await installation.run(
        "INSERT INTO processes (name, role, host, pid, version, seen_at) "
        "SELECT 'p' || n, 'worker', 'h' || n, 1, '0', clock_timestamp() - interval '1 min'"
        " FROM generate_series(1, 4) AS n"
    )

    for _ in range(2):
        await installation.watch.look()
    await installation.run("DELETE FROM processes WHERE name LIKE 'p_'")
    for _ in range(2):
        await installation.watch.look()

    assert [(one["state"], one["rule"]) for one in reported] == [
        ("trouble", "several"),
        ("over", "several"),
    ]
    assert [one["subject"] for one in reported[0]["alerts"]] == ["p1", "p2", "p3", "p4"]
