"""This crawler as the stages use it: robots, turns, guard, children that parse."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

from bench.crawl_peers.extract import read
from bench.crawl_peers.report import Timed, given_urls
from bench.crawl_peers.town import NETWORK, TOWN_PORT
from contact_extraction.urls import registrable_domain
from scrapersky.crawler import Crawler, CrawlerPolicy, MemoryLedger, Sandbox
from scrapersky.observability.log import configure_logs

CONCURRENT_REQUESTS = 50


async def main(children: int) -> None:
    urls = given_urls()
    queue = iter(urls)
    timed = Timed()
    policy = CrawlerPolicy(
        host_delay=timedelta(),
        extra_networks=(ip_network(f"{NETWORK}.0.0/16"),),
        extra_ports=frozenset({TOWN_PORT}),
    )
    ledger = MemoryLedger(lambda: datetime.now(UTC))
    sandbox = Sandbox(children=children or 1, warm=[(read, (b"<p>x</p>",))])

    async def parse(body: bytes) -> tuple[str, list[str], set[str]]:
        # Without children only for comparison: the peers parse in the same process.
        return await sandbox.run(read, body) if children else read(body)

    async def work(crawler: Crawler) -> None:
        for url in queue:
            page = await crawler.fetch(url)
            timed.taken.add(*await parse(page.body))

    async with Crawler(policy, ledger) as crawler, sandbox:
        if children:
            await sandbox.warm_up()
        # The list of public suffixes is read once per process, like the peers' imports.
        registrable_domain("shop.example.com")
        with timed:
            await asyncio.gather(*(work(crawler) for _ in range(CONCURRENT_REQUESTS)))
    timed.say()


if __name__ == "__main__":
    # One line per fetch, as in production; the harness throws them away.
    configure_logs(form="json")
    asyncio.run(main(int(sys.argv[1])))
