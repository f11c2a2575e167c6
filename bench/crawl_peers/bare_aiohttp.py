"""The limit: aiohttp and a parser in a loop, without robots, turns or safety."""

import asyncio

import aiohttp

from bench.crawl_peers.extract import read
from bench.crawl_peers.report import Timed, given_urls

CONCURRENT_REQUESTS = 50


async def main() -> None:
    urls = given_urls()
    queue = iter(urls)
    timed = Timed()

    async def work(session: aiohttp.ClientSession) -> None:
        for url in queue:
            async with session.get(url) as answer:
                body = b"".join([chunk async for chunk in answer.content.iter_any()])
            timed.taken.add(*read(body))

    connector = aiohttp.TCPConnector(limit=CONCURRENT_REQUESTS)
    async with aiohttp.ClientSession(connector=connector) as session:
        with timed:
            await asyncio.gather(*(work(session) for _ in range(CONCURRENT_REQUESTS)))
    timed.say()


if __name__ == "__main__":
    asyncio.run(main())
