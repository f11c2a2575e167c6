"""Many hosts on one address, and workers who take turns there until they are killed.

`python -m tests.zoo.polite URL ADDRESS PORT DELAY SEED` is one worker: it fetches from
random hosts of the street, all behind one address, until it is killed.
"""

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network
from itertools import pairwise
from typing import Self

from scrapersky.crawler import Crawler, CrawlerPolicy, FetchLimits
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import FetchError
from scrapersky.politeness import PostgresLedger
from tests.zoo.wire import HEALTHY, NOT_FOUND

HOSTS = 50
TOTAL = timedelta(seconds=2)
LEASE = timedelta(seconds=3.5)


@dataclass(slots=True)
class Turn:
    """One request as the server saw it."""

    host: str
    began: float
    ended: float = 0.0


@dataclass(slots=True)
class Street:
    """A server with one address and fifty names; it writes down every request."""

    address: str
    turns: list[Turn] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._handle, self.address, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _handle(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                line, _, rest = head.decode().partition("\r\n")
                host = rest.lower().partition("host: ")[2].partition("\r\n")[0]
                turn = Turn(host, time.monotonic())
                self.turns.append(turn)
                await asyncio.sleep(random.uniform(0.005, 0.05))
                # Before the last byte leaves: the client cannot be done any sooner.
                turn.ended = time.monotonic()
                writer.write(NOT_FOUND if "/robots.txt" in line else HEALTHY)
        writer.close()

    def overlaps(self) -> list[tuple[Turn, Turn]]:
        """Return the pairs of requests that were under way at the same time."""
        return [(a, b) for a, b in self._pairs() if b.began < a.ended]

    def hurried(self, delay: float) -> list[tuple[Turn, Turn]]:
        """Return the pairs with less than the delay between them."""
        return [(a, b) for a, b in self._pairs() if b.began - a.ended < delay]

    def _pairs(self) -> Sequence[tuple[Turn, Turn]]:
        done = sorted((t for t in self.turns if t.ended), key=lambda turn: turn.began)
        return list(pairwise(done))


@dataclass(frozen=True, slots=True)
class OneAddress:
    """A resolver for which every name is behind the same address."""

    address: str

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        return [self.address]


async def worker(url: str, street: Street, delay: timedelta, seed: int) -> None:
    """Fetch from random hosts until killed."""
    policy = CrawlerPolicy(
        host_delay=delay,
        limits=FetchLimits(total=TOTAL),
        host_timeout=timedelta(seconds=20),
        extra_networks=(ip_network(f"{street.address}/32"),),
        extra_ports=frozenset({street.port}),
    )
    chance = random.Random(seed)
    engine = connect(parse_target(url))
    ledger = PostgresLedger(
        engine, lease=LEASE, longest_request=TOTAL + timedelta(seconds=0.2), delay=delay
    )
    async with ledger:
        crawler = Crawler(
            policy, ledger, resolver=OneAddress(street.address), listeners=()
        )
        async with crawler:
            tasks = (visit(crawler, street.port, chance) for _ in range(4))
            await asyncio.gather(*tasks)


async def visit(crawler: Crawler, port: int, chance: random.Random) -> None:
    while True:
        host = f"shop-{chance.randrange(HOSTS)}.com"
        with contextlib.suppress(FetchError):
            await crawler.fetch(f"http://{host}:{port}/{chance.randrange(99)}")
        await asyncio.sleep(0.01)


if __name__ == "__main__":
    database, where, port, seconds, number = sys.argv[1:]
    place = Street(where, port=int(port))
    asyncio.run(worker(database, place, timedelta(seconds=float(seconds)), int(number)))
