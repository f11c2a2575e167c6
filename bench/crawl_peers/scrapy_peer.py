"""Scrapy: robots obeyed, no delay, its own selectors; silent and without stats."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess

from bench.crawl_peers.extract import find_emails
from bench.crawl_peers.report import Timed, given_urls

TIMED = Timed()
URLS = given_urls()


class Shops(scrapy.Spider):
    """Reads every page it was given."""

    name = "shops"

    async def start(self) -> AsyncIterator[Any]:
        for url in URLS:
            yield scrapy.Request(url, dont_filter=False)

    def parse(self, response: Any) -> Iterator[Any]:
        title = response.css("title::text").get("")
        links = response.css("a::attr(href)").getall()
        TIMED.taken.add(title, links, find_emails(response.text))
        yield from ()


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 50,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 50,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "USER_AGENT": "bench/1 (+http://127.0.0.1/)",
        }
    )
    process.crawl(Shops)
    with TIMED:
        process.start()
    TIMED.say()
