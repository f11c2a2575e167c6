"""A process to be killed: it crawls a site per person and stores who is written there.

python -m tests.privacy.drain URL COUNT once|forever
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable

import structlog
from sqlalchemy import text

from curation_sdk.connection import is_transient
from curation_sdk.reap import reap
from scrapersky.crawler import Sandbox
from scrapersky.pipeline.parsers import WARM
from tests.conftest import TestDatabase
from tests.privacy.crowd import BEGUN, QUEUE_ALL, page_of
from tests.stages.rig import Line, running_line

LEFT = text(
    "SELECT (SELECT count(*) FROM pages WHERE page_processing_status IN"
    " ('Queued', 'Processing')) + (SELECT count(*) FROM domains WHERE status IN"
    " ('pending', 'processing'))"
)


async def crawl(url: str, count: int, *, forever: bool) -> None:
    """Work on pages and domains until none is left, or again and again."""
    database = TestDatabase(url=url, dsn="", name="")
    async with (
        Sandbox(children=1, warm=WARM) as sandbox,
        running_line(database, sandbox) as line,
    ):
        for number in range(count):
            line.web.page(f"a{number}.bv/", page_of(number))
            line.web.page(f"a{number}.bv/team", page_of(number))
        print(BEGUN, flush=True)
        while await until_it_answers(lambda: is_work_left(line)) or forever:
            await until_it_answers(lambda: work(line, forever=forever))


async def is_work_left(line: Line) -> bool:
    async with line.engine.connect() as connection:
        return bool(await connection.scalar(LEFT))


async def work(line: Line, *, forever: bool) -> None:
    # Whoever had these in hand was killed: there is one crawl at a time.
    await line.run("UPDATE curation.claim SET lease_until = now()")
    await reap(line.engine)
    for stage in ("page_curation", "domain_metadata"):
        await line.work_again(stage)
    if forever and not await is_work_left(line):
        for statement in QUEUE_ALL:
            await line.run(statement)


async def until_it_answers(act: Callable[[], Awaitable[bool | None]]) -> bool:
    """Act, again for as long as the database is away."""
    while True:
        try:
            return bool(await act())
        except Exception as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(0.2)


async def begin(url: str, count: int, *, forever: bool) -> None:
    """Crawl; a database that is away when we come is waited for."""

    async def act() -> None:
        await crawl(url, count, forever=forever)

    await until_it_answers(act)


if __name__ == "__main__":
    # What is printed is for whoever began us; the log of a killed process is long.
    silent = structlog.make_filtering_bound_logger(logging.CRITICAL)
    structlog.configure(wrapper_class=silent)
    asyncio.run(begin(sys.argv[1], int(sys.argv[2]), forever=sys.argv[3] == "forever"))
