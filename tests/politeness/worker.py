"""A worker to be killed: fetches the same hosts as its siblings, for ever."""

import asyncio
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network

from scrapersky.crawler import Accept, Crawler, CrawlerPolicy, FetchLimits
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import FetchError
from scrapersky.politeness import PostgresLedger

HOSTS = {f"shop{n}.example": f"127.0.9.{n % 3 + 1}" for n in range(10)}


class Names:
    """Knows the test's hosts."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        return [HOSTS[host]]


async def main(url: str, port: int, delay: float) -> None:
    engine = connect(parse_target(url))
    policy = CrawlerPolicy(
        user_agent=f"ScraperSky/0.1 (+https://bot.example/ worker {os.getpid()})",
        host_delay=timedelta(seconds=delay),
        limits=replace(FetchLimits(), total=timedelta(seconds=2)),
        host_timeout=timedelta(seconds=20),
        extra_networks=(ip_network("127.0.9.0/24"),),
        extra_ports=frozenset({port}),
    )
    ledger = PostgresLedger(
        engine,
        lease=timedelta(seconds=3.5),
        longest_request=timedelta(seconds=2.2),
        delay=policy.host_delay,
    )
    async with (
        ledger,
        Crawler(policy, ledger, resolver=Names(), listeners=()) as crawler,
    ):
        await asyncio.gather(*(visit(crawler, port) for _ in range(6)))


async def visit(crawler: Crawler, port: int) -> None:
    while True:
        host = random.choice(list(HOSTS))
        try:
            await crawler.fetch(f"http://{host}:{port}/", accept=Accept.ANY)
        except FetchError as error:
            print(error, flush=True)
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
