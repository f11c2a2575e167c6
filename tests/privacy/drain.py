"""Processes to be killed: one crawls and stores people, the other erases them.

python -m tests.privacy.drain crawl|erase URL COUNT [FIRST]
"""

import asyncio
import sys
import time

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from scrapersky.crawler import Sandbox
from scrapersky.db.connection import connect, parse_target
from scrapersky.engine import reap
from scrapersky.models.audit import Actor
from scrapersky.privacy.key import hand_out_keys
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import Subject, any_subject
from scrapersky.scheduler.app import PRELOAD
from scrapersky.settings import SYSTEM_USER_ID
from tests.conftest import TestDatabase
from tests.stages.rig import running_line

AWAY = (DBAPIError, OSError, TimeoutError)
"""What everyone says while the database is being restarted."""
LEFT = text(
    "SELECT (SELECT count(*) FROM pages WHERE page_processing_status IN"
    " ('Queued', 'Processing')) + (SELECT count(*) FROM domains WHERE status IN"
    " ('pending', 'processing'))"
)


def page_of(number: int) -> str:
    return (
        f"<title>Team {number}</title>"
        f'<p>Person {number}: <a href="mailto:person{number}@a{number}.bv">'
        f"person{number}@a{number}.bv</a>, next to her "
        f"<a href='mailto:other{number}@a{number}.bv'>other{number}@a{number}.bv</a></p>"
    )


def person(number: int) -> Subject:
    return any_subject(f"person{number}@a{number}.bv")


async def crawl(url: str, count: int) -> None:
    """Work on pages and domains until none is left."""
    database = TestDatabase(url=url, dsn="", name="")
    async with (
        Sandbox(children=1, preload=PRELOAD) as sandbox,
        running_line(database, sandbox) as line,
    ):
        for number in range(count):
            line.web.page(f"a{number}.bv/", page_of(number))
            line.web.page(f"a{number}.bv/team", page_of(number))
        while True:
            try:
                # Whoever had these in hand was killed: there is one crawl at a time.
                await line.run("UPDATE curation.claim SET lease_until = now()")
                await reap(line.engine)
                for stage in ("page_curation", "domain_metadata"):
                    await line.work_again(stage)
                async with line.engine.connect() as connection:
                    if not await connection.scalar(LEFT):
                        return
            except AWAY:
                await asyncio.sleep(0.2)


async def erase(url: str, count: int, first: int) -> None:
    """Erase people one after the other, telling of each that it is done."""
    engine = connect(parse_target(url))
    await hand_out_keys(engine)
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    actor = Actor(tenant, SYSTEM_USER_ID, "Ada")
    for number in range(first, count):
        await erase_person(engine, actor, person(number))
        print(number, flush=True)
    await engine.dispose()


def main() -> None:
    role, url, count, *first = sys.argv[1:]
    deadline = time.monotonic() + 20
    while True:
        try:
            if role == "crawl":
                asyncio.run(crawl(url, int(count)))
            else:
                asyncio.run(erase(url, int(count), int(first[0])))
        except AWAY:
            # As an operator would: the call is made again from where it stopped.
            if role == "erase" or time.monotonic() > deadline:
                raise SystemExit(3) from None
            time.sleep(0.2)
        else:
            return


if __name__ == "__main__":
    main()
