"""Crawlee: its Parsel crawler, or its plain HTTP crawler with our parser."""

import asyncio
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import (
    HttpCrawler,
    HttpCrawlingContext,
    ParselCrawler,
    ParselCrawlingContext,
)
from crawlee.storage_clients import MemoryStorageClient

from bench.crawl_peers.extract import find_emails, read
from bench.crawl_peers.report import Timed, given_urls

FIFTY = ConcurrencySettings(
    min_concurrency=50, max_concurrency=50, desired_concurrency=50
)


async def parsel(urls: list[str], timed: Timed) -> None:
    crawler = ParselCrawler(
        concurrency_settings=FIFTY,
        storage_client=MemoryStorageClient(),
        configuration=Configuration(purge_on_start=True),
        respect_robots_txt_file=True,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        page = context.selector
        title = page.css("title::text").get("")
        links = page.css("a::attr(href)").getall()
        body = await context.http_response.read()
        timed.taken.add(title, links, find_emails(body.decode()))

    with timed:
        await crawler.run(urls)


async def plain(urls: list[str], timed: Timed) -> None:
    crawler = HttpCrawler(
        concurrency_settings=FIFTY,
        storage_client=MemoryStorageClient(),
        configuration=Configuration(purge_on_start=True),
        respect_robots_txt_file=True,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: HttpCrawlingContext) -> None:
        body = await context.http_response.read()
        timed.taken.add(*read(body))

    with timed:
        await crawler.run(urls)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    clock = Timed()
    asyncio.run({"parsel": parsel, "plain": plain}[sys.argv[1]](given_urls(), clock))
    clock.say()
