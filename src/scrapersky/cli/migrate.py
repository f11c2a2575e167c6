"""`scrapersky migrate`."""

import sys

import orjson

from scrapersky.cli.database import a_database
from scrapersky.cli.options import AsJson
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.cli.way_back import go_back
from scrapersky.configuration import load_settings
from scrapersky.db import migrate as migrations
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import revisions
from scrapersky.db.schema import check_schema
from scrapersky.errors import ConfigurationError
from scrapersky.records import METADATA


def migrate(
    *, to: str | None = None, check: bool = False, json: AsJson = False
) -> None:
    """Bring the database to the schema this version needs, or back to that of a release.

    `scrapersky up` does this by itself on the embedded database; on any other this is a step of
    its own, before new processes start. Many may do it at once, and it is all or nothing.

    Parameters
    ----------
    to
        An older release, such as 0.3.0, or a revision: what came after it is undone. Stop all
        processes first, and back up: what the older schema has no place for is lost.
    check
        With `--to`: say what would be undone and lost, and leave everything as it is.
    """
    if to is not None:
        go_back(to, check=check, json=json)
        return
    if check:
        raise ConfigurationError(
            "`migrate --check` needs `--to`.",
            hint="`scrapersky upgrade --check` says what migrating would do.",
        )
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
