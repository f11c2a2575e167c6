"""Everything is killed while one follows the feed and three endpoints receive.

What was written is known from a table of our own, filled in the same transactions.
"""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scrapersky.stages import PIPELINE
from sdk_tests.rig.cluster import Cluster, running_cluster
from sdk_tests.rig.port import free_port
from tests.cli.rig import CLEAN, COMMAND
from tests.on_celery.rig import Program
from tests.webhooks.receiver import Receiver, receiving

KILLS = 15
PAUSE_SECONDS = 2.5
END_SECONDS = 300.0
"""After the last kill a lease may have to run out, and a pause before another attempt."""
AT_REST = {f"{stage.settings.prefix}_ENABLED": "false" for stage in PIPELINE}
LOST = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


@dataclass(slots=True)
class Scene:
    """A database server, processes of ours, and who listens to them."""

    cluster: Cluster
    folder: Path
    api_port: int
    processes: dict[str, Program] = field(default_factory=dict)
    heard: list[dict[str, Any]] = field(default_factory=list)
    written: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    follows: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    def start(self, name: str) -> None:
        words, port = ("serve", self.api_port) if name == "api" else ("worker", 0)
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        environment = {
            **CLEAN,
            **AT_REST,
            "DATABASE_URL": self.cluster.tcp_dsn("killed"),
            "ENCRYPTION_KEY": "an encryption key of the tests, long enough",
            "SCRAPERSKY_DATA_DIR": str(self.folder / "data"),
            "WEBHOOK_NETWORKS": "127.0.0.0/8",
            "PORT": str(port or 8000),
        }
        program = Program([str(COMMAND), words], folder, environment)
        program.start()
        self.processes[name] = program

    def restart(self, name: str) -> None:
        self.processes[name].kill()
        self.start(name)

    async def write(self, worker: int) -> None:
        """Create and rename; what a transaction did is told in our table, or undone with it."""
        randomly = random.Random(worker)
        while not self.over.is_set():
            try:
                connection = await asyncpg.connect(self.cluster.tcp_dsn("killed"))
                while not self.over.is_set():
                    await one_transaction(connection, randomly)
                    self.written += 1
                    await asyncio.sleep(0.02)
                await connection.close()
            except LOST:
                await asyncio.sleep(0.2)

    async def follow(self) -> None:
        """Follow the feed as a program does: the cursor is kept with what was heard."""
        async with httpx.AsyncClient(base_url=self.api, timeout=20) as client:
            cursor = (await client.get("/api/v3/changes")).json()["cursor"]
            self.follows.set()
            while True:
                query = {"since": cursor, "kinds": "domains", "wait": 5}
                try:
                    answer = await client.get("/api/v3/changes", params=query)
                    answer.raise_for_status()
                except httpx.HTTPError:
                    await asyncio.sleep(0.2)
                    continue
                cursor = answer.json()["cursor"]
                self.heard += answer.json()["changes"]

    async def add_endpoint(self, receiver: Receiver, form: str) -> None:
        given = {"url": receiver.url, "events": ["domain.*"], "format": form}
        async with httpx.AsyncClient(base_url=self.api, timeout=20) as client:
            answer = await client.post("/api/v3/webhooks", json=given)
        assert answer.status_code == 201, answer.text

    async def expected(self) -> Counter[str]:
        """Count the transactions that changed each record."""
        connection = await asyncpg.connect(self.cluster.tcp_dsn("killed"))
        rows = await connection.fetch("SELECT record FROM told")
        await connection.close()
        return Counter(str(row["record"]) for row in rows)


async def one_transaction(
    connection: "asyncpg.Connection[Any]", randomly: random.Random
) -> None:
    """Create a domain and rename another, with a pause between."""
    async with connection.transaction():
        made = await connection.fetchval(
            "INSERT INTO domains (tenant_id, domain, status) SELECT id,"
            " md5(random()::text) || '.bv', 'completed' FROM tenants LIMIT 1 RETURNING id"
        )
        await asyncio.sleep(randomly.random() / 50)
        other = await connection.fetchval(
            "UPDATE domains SET title = md5(random()::text) WHERE id = (SELECT id"
            " FROM domains WHERE id <> $1 ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED)"
            " RETURNING id",
            made,
        )
        changed = [one for one in (made, other) if one is not None]
        await connection.executemany(
            "INSERT INTO told (record) VALUES ($1)", [(one,) for one in changed]
        )


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    with running_cluster() as cluster:
        cluster.create_database("killed")
        engine = connect(parse_target(cluster.tcp_dsn("killed")))
        await upgrade(engine)
        await engine.dispose()
        cluster.execute("CREATE TABLE told (record uuid)", database="killed")
        scene = Scene(cluster, tmp_path, free_port())
        for name in ("api", "one", "two"):
            scene.start(name)
        await answering(scene.api)
        yield scene
        for program in scene.processes.values():
            program.kill()


async def answering(address: str) -> None:
    async with asyncio.timeout(END_SECONDS), httpx.AsyncClient() as client:
        while True:
            try:
                if (await client.get(f"{address}/health/ready")).is_success:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.1)


@pytest.mark.long
async def test_whatever_is_killed_nothing_is_missed_and_each_record_keeps_its_order(
    scene: Scene,
) -> None:
    randomly = random.Random(48)
    async with AsyncExitStack() as stack:
        receivers = [await stack.enter_async_context(receiving()) for _ in range(3)]
        receivers[2].delay = 0.3
        following = asyncio.create_task(scene.follow())
        await scene.follows.wait()
        for receiver, form in zip(receivers, ("event", "batch", "batch"), strict=True):
            await scene.add_endpoint(receiver, form)
        writers = [asyncio.create_task(scene.write(number)) for number in range(3)]
        kills: Counter[str] = Counter()
        for _ in range(KILLS):
            await asyncio.sleep(PAUSE_SECONDS)
            what = randomly.choice(("api", "one", "two", "postgres"))
            kills[what] += 1
            if what == "postgres":
                await asyncio.to_thread(scene.cluster.crash)
                await asyncio.to_thread(scene.cluster.start)
            else:
                await asyncio.to_thread(scene.restart, what)
        scene.over.set()
        await asyncio.gather(*writers)
        expected = await scene.expected()
        began = time.monotonic()
        while time.monotonic() - began < END_SECONDS:
            told = [len(once(receiver.events)) for receiver in receivers]
            if min(len(scene.heard), *told) >= expected.total():
                break
            await asyncio.sleep(0.5)
        following.cancel()

    assert set(kills) == {"api", "one", "two", "postgres"}
    assert Counter(one["record_id"] for one in scene.heard) == expected
    in_order((one["record_id"], one["id"]) for one in scene.heard)
    doubled = 0
    for receiver in receivers:
        events = once(receiver.events)
        assert Counter(one["record_id"] for one in events) == expected
        in_order((one["record_id"], one["id"]) for one in events)
        bodies: dict[str, set[bytes]] = defaultdict(set)
        for posted in receiver.posted:
            bodies[posted.id].add(posted.body)
        assert {len(one) for one in bodies.values()} == {1}
        doubled += len(receiver.posted) - len(bodies)
        # What came twice came in the same message, and in no other.
        first_time = [e for posted in unrepeated(receiver) for e in events_of(posted)]
        assert len(first_time) == expected.total()
    print(
        f"{dict(kills)} killed, {scene.written} transactions, {expected.total()} changes,"
        f" 0 missed, {doubled} messages twice with the same id,"
        f" at the head after {time.monotonic() - began:.0f} s"
    )


def once(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each change where it came first."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        found.setdefault(event["data"]["id"], event["data"])
    return list(found.values())


def unrepeated(receiver: Receiver) -> list[dict[str, Any]]:
    """Return each message where it came first."""
    found: dict[str, dict[str, Any]] = {}
    for posted in receiver.posted:
        found.setdefault(posted.id, posted.content)
    return list(found.values())


def events_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the changes that a message tells of."""
    found: list[dict[str, Any]] = content["data"].get("events", [content])
    return found


def in_order(changes: Iterable[tuple[str, str]]) -> None:
    """Fail unless the changes of each record come in the order of their ids."""
    positions: dict[str, list[int]] = defaultdict(list)
    for record, position in changes:
        positions[record].append(int(position))
    assert all(found == sorted(set(found)) for found in positions.values())
