"""What was acknowledged is there, however often the database is killed."""

import asyncio
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx
import pytest

from scrapersky.db.embedded import EmbeddedPostgres
from tests.api.gateway.served import Address, serving
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home

WRITERS = 6
pytestmark = pytest.mark.xdist_group("migrated-copies")  # of one cluster


@dataclass(slots=True)
class Diary:
    """What the client was told."""

    wanted: int
    acknowledged: set[str] = field(default_factory=set)
    answers: dict[int, int] = field(default_factory=dict)

    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def is_full(self) -> bool:
        return len(self.acknowledged) >= self.wanted

    async def note(self, made: str) -> None:
        async with self.news:
            self.acknowledged.add(made)
            self.news.notify_all()

    async def reaches(self, count: int) -> None:
        async with self.news:
            await self.news.wait_for(lambda: len(self.acknowledged) >= count)


async def write(client: httpx.AsyncClient, diary: Diary) -> None:
    while not diary.is_full:
        try:
            answer = await client.post(
                "/api/v3/users", json={"email": f"{uuid4().hex}@example.com"}
            )
        except httpx.TransportError:
            continue
        diary.answers[answer.status_code] = diary.answers.get(answer.status_code, 0) + 1
        if answer.status_code == 201:
            await diary.note(answer.json()["id"])
        else:
            await asyncio.sleep(0.05)


async def kill_often(server: EmbeddedPostgres, diary: Diary, times: int) -> int:
    """Kill the whole server at even steps of the way, and bring it back."""
    killed = 0
    for number in range(times):
        await diary.reaches(int((number + 0.5) * diary.wanted / times))
        pid = int((server.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        killed += 1
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
    return killed


async def live_through(
    server: EmbeddedPostgres, served: Address, *, writes: int, kills: int
) -> Diary:
    diary = Diary(writes)
    async with httpx.AsyncClient(
        base_url=served.url, headers=served.admin.headers, timeout=30
    ) as client:
        killer = asyncio.create_task(kill_often(server, diary, kills))
        await asyncio.gather(*(write(client, diary) for _ in range(WRITERS)))
        assert await killer == kills
    connection = await asyncpg.connect(
        server.url.replace("postgresql+asyncpg", "postgresql")
    )
    kept = {str(row[0]) for row in await connection.fetch("SELECT id FROM users")}
    await connection.close()
    assert diary.acknowledged <= kept
    assert set(diary.answers) <= {201, 503}, diary.answers
    return diary


def prove(scratch: Path, *, writes: int, kills: int) -> Diary:
    home = prepare_home(scratch / f"durable-{uuid4().hex[:6]}", migrated=True)
    # With everything that makes a commit durable, unlike the server of other tests.
    with EmbeddedPostgres(home) as server:
        database = TestDatabase(url=server.url, dsn="", name="scrapersky")
        with serving(database, "zebrafish") as served:
            return asyncio.run(live_through(server, served, writes=writes, kills=kills))


@pytest.mark.slow
def test_acknowledged_writes_survive_kills_of_the_database(scratch: Path) -> None:
    diary = prove(scratch, writes=60, kills=2)

    assert len(diary.acknowledged) >= 60


@pytest.mark.long
def test_five_thousand_acknowledged_writes_survive_twenty_kills(scratch: Path) -> None:
    diary = prove(scratch, writes=5_000, kills=20)

    assert len(diary.acknowledged) >= 5_000
