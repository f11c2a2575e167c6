"""Workers, ten hosts on three addresses, and someone who kills workers."""

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from sdk_tests.rig.size import size
from tests.conftest import TestDatabase

ROOT = Path(__file__).parents[2]
WORKERS = 4
TOLERANCE = 0.015
TIMEOUT = 240.0


@dataclass(slots=True)
class Diary:
    """What the server saw: who came, when it began, when it ended."""

    visits: list[tuple[str, str, float, float, str]] = field(default_factory=list)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        address = writer.get_extra_info("sockname")[0]
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                began = time.monotonic()
                host = request.split(b"Host: ")[1].split(b":")[0].decode()
                await asyncio.sleep(0.02)
                # Noted before the last byte leaves: the worker may be faster than we are.
                worker = request.split(b"worker ")[1].split(b")")[0].decode()
                self.visits.append((host, address, began, time.monotonic(), worker))
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def breaches(self, place: int, delay: float) -> list[tuple[object, ...]]:
        """Return every pair of visits to one host or address that were too close."""
        found: list[tuple[object, ...]] = []
        for key in {visit[place] for visit in self.visits}:
            own = sorted(v[2:] for v in self.visits if v[place] == key)
            found += [
                (key, after[0] - before[1], before, after)
                for before, after in pairwise(own)
                if after[0] - before[1] < delay - TOLERANCE
            ]
        return found


@pytest.fixture
async def diary() -> AsyncIterator[tuple[Diary, int]]:
    diary = Diary()
    server = await asyncio.start_server(diary.serve, "0.0.0.0", 0)
    yield diary, server.sockets[0].getsockname()[1]
    server.close()


async def start(
    database: TestDatabase, port: int, delay: float
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.politeness.worker",
        database.url,
        str(port),
        str(delay),
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
    )


async def rampage(
    database: TestDatabase,
    diary: tuple[Diary, int],
    *,
    delay: float,
    kills: int,
    crew: int = WORKERS,
) -> None:
    """Run the workers, killing and replacing one whenever some more visits were made."""
    seen, port = diary
    workers = [await start(database, port, delay) for _ in range(crew)]
    try:
        async with asyncio.timeout(TIMEOUT):
            for _ in range(kills):
                await more_visits(seen, random.randint(2, 8))
                victim = workers.pop(random.randrange(len(workers)))
                victim.kill()
                await victim.wait()
                workers.append(await start(database, port, delay))
            await more_visits(seen, 10)
    finally:
        for worker in workers:
            worker.kill()
            await worker.wait()


async def more_visits(seen: Diary, number: int) -> None:
    enough = len(seen.visits) + number
    while len(seen.visits) < enough:  # noqa: ASYNC110 - they come from other processes
        await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_killed_workers_break_no_manners(
    database: TestDatabase, diary: tuple[Diary, int]
) -> None:
    await rampage(database, diary, delay=0.2, kills=size(1, 2), crew=2)

    assert diary[0].breaches(0, 0.2) == []
    assert diary[0].breaches(1, 0.2) == []


@pytest.mark.long
async def test_twenty_killed_workers_break_no_manners(
    database: TestDatabase, diary: tuple[Diary, int]
) -> None:
    await rampage(database, diary, delay=1.0, kills=20)

    assert diary[0].breaches(0, 1.0) == []
    assert diary[0].breaches(1, 1.0) == []
    print(f"{len(diary[0].visits)} visits, 20 kills, no overlap, no gap under a second")
