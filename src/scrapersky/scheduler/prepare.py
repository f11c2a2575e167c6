"""Make a database ready to work on: the right server, the right schema."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import current_revision, is_newer, revisions
from scrapersky.errors import SchemaMismatch
from scrapersky.records.check import check_database
from scrapersky.settings import Settings

MOST_NAMED: Final = 3


async def prepare(
    target: Target, settings: Settings, report: Callable[[str], None]
) -> None:
    """Check the server and the schema; an empty or embedded database is migrated here.

    Any other is migrated by `scrapersky migrate` alone: a process of a new version that
    happens to start must not change what those of the old one stand on.
    """
    engine = connect(
        target, name="scrapersky-start", pool_size=2, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            revision = await connection.run_sync(current_revision)
        if is_newer(revision):
            report(f"The database is at {revision}, which a newer ScraperSky made.")
        elif revision is None or settings.database_url is None:
            if revision != revisions()[-1]:
                report("Updating the database")
                report(f"Updated the database: {named(await upgrade(engine))}")
        elif revision != revisions()[-1]:
            raise SchemaMismatch(
                f"The database is at revision {revision}; this ScraperSky needs "
                f"{revisions()[-1]}.",
                hint="`scrapersky upgrade --check` says what would change, `scrapersky "
                "migrate` changes it. Processes of the version before go on meanwhile.",
            )
        await check_database(engine, settings.scheduler_system_user_id)
    finally:
        await engine.dispose()


def named(migrations: Sequence[str]) -> str:
    """Name some migrations, and count those of a new database."""
    if len(migrations) <= MOST_NAMED:
        return ", ".join(migrations)
    return f"{len(migrations)} migrations, the last is {migrations[-1]}"


async def upgrade(engine: AsyncEngine) -> tuple[str, ...]:
    """Apply what is missing; what does that is loaded only when it is needed."""
    migrate = import_module("scrapersky.db.migrate")
    applied: tuple[str, ...] = await migrate.upgrade(engine)
    return applied
