"""A process to be killed: it erases people, a few at once.

python -m tests.privacy.erasing URL COUNT FIRST
"""

import asyncio
import sys

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.connection import is_transient
from scrapersky.db.connection import connect, parse_target
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.privacy.person import erase_person
from scrapersky.records.audit import Actor
from scrapersky.settings import SYSTEM_USER_ID
from tests.privacy.crowd import BEGUN, person

AT_ONCE = 4


async def erase(url: str, count: int, first: int) -> None:
    """Erase everyone, some at once, and tell of the last of them when it is done."""
    engine = connect(parse_target(url))
    print(BEGUN, flush=True)
    while first < count:
        end = min(first + AT_ONCE, count)
        try:
            actor = await actor_of(engine)
            async with asyncio.TaskGroup() as group:
                for number in range(first, end):
                    group.create_task(erase_person(engine, actor, person(number)))
        except Exception as error:
            if not is_only_away(error):
                raise
            # As an operator would: what failed for the database is asked for again.
            await asyncio.sleep(0.2)
        else:
            print(end - 1, flush=True)
            first = end
    await engine.dispose()


async def actor_of(engine: AsyncEngine) -> Actor:
    await load_suppression_keys(engine)
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    return Actor(tenant, SYSTEM_USER_ID, "Ada")


def is_only_away(error: Exception) -> bool:
    if isinstance(error, ExceptionGroup):
        return all(map(is_only_away, error.exceptions))
    return is_transient(error)


if __name__ == "__main__":
    asyncio.run(erase(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
