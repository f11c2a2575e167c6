"""Four workers, fifty hosts on one address, kills: one request at a time, never early.

The judge is the server's own log, not what a worker says of itself.
"""

import asyncio
import os
import random
import subprocess
import sys

import pytest

from sdk_tests.rig.waiting import until
from tests.conftest import TestDatabase
from tests.zoo.polite import Street
from tests.zoo.rig import ROOT

WORKERS = 4


async def drive(database: TestDatabase, *, delay: float, kills: int) -> Street:
    """Run the workers, kill one after the other, and return what the street saw."""
    chance = random.Random(1)
    async with Street(f"127.31.{os.getpid() % 250}.1") as street:
        workers = [start(database, street, delay, seed) for seed in range(WORKERS)]
        try:
            await answered(street, 5)
            for number in range(kills):
                await asyncio.sleep(chance.uniform(0.2, 1.0))
                victim = workers.pop(chance.randrange(WORKERS))
                kill(victim)
                workers.append(start(database, street, delay, 100 + number))
                # Whoever was killed at its turn keeps it until the lease is over.
                await answered(street, 3)
        finally:
            for worker in workers:
                kill(worker)
        await asyncio.sleep(0.2)
        return street


def start(
    database: TestDatabase, street: Street, delay: float, seed: int
) -> "subprocess.Popen[bytes]":
    words = [database.url, street.address, str(street.port), str(delay), str(seed)]
    command = [sys.executable, "-m", "tests.zoo.polite", *words]
    return subprocess.Popen(command, cwd=ROOT)


def kill(worker: "subprocess.Popen[bytes]") -> None:
    worker.kill()
    worker.wait()


async def answered(street: Street, more: int) -> None:
    """Wait until the street has seen some more requests."""
    wanted = len(street.turns) + more
    await until(lambda: len(street.turns) >= wanted)


@pytest.mark.long
async def test_twenty_kills_leave_every_gap_a_second_long(
    database: TestDatabase,
) -> None:
    street = await drive(database, delay=1.0, kills=20)

    assert street.overlaps() == []
    assert street.hurried(1.0) == []
    assert len(street.turns) >= 60
    assert len({turn.host for turn in street.turns}) > 3


async def test_the_log_shows_a_crowd_and_a_hurry() -> None:
    """Proves the judge: without turns the street sees both."""
    async with Street(f"127.31.{os.getpid() % 250}.2") as street:
        await asyncio.gather(*(ask(street) for _ in range(5)))

    assert street.overlaps()
    assert street.hurried(0.2)


async def ask(street: Street) -> None:
    reader, writer = await asyncio.open_connection(street.address, street.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: shop-1.com\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
