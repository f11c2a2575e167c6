"""`scrapersky migrate`."""

import sys

import orjson

from scrapersky.cli.database import a_database
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.configuration import load_settings
from scrapersky.db import migrate as migrations
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import revisions
from scrapersky.db.schema import check_schema
from scrapersky.records import METADATA


def migrate(*, json: bool = False) -> None:
    """Apply what is missing and print what was applied."""
    settings = load_settings().settings
    with raised_signals(), a_database(settings, say) as target:
        applied = run_stoppable(bring_up_to_date(target))
        newest = revisions()[-1]
        if json:
            print(orjson.dumps({"applied": applied, "revision": newest}).decode())
        elif applied:
            print(f"Applied {', '.join(applied)}; the database is at {newest}.")
        else:
            print(f"Nothing to do: the database is at {newest}.")


async def bring_up_to_date(target: Target) -> tuple[str, ...]:
    """Apply what is missing, and check the result."""
    engine = connect(
        target, name="scrapersky-migrate", pool_size=2, statement_timeout=None
    )
    try:
        await check_server(engine)
        applied = await migrations.upgrade(engine, report=say)
        await check_schema(engine, *METADATA)
    finally:
        await engine.dispose()
    return applied


def say(step: str) -> None:
    """Print what happens for the person at the terminal."""
    print(step, file=sys.stderr, flush=True)
