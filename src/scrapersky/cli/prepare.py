"""Make a database ready to work on: the right server, the right schema."""

from collections.abc import Callable
from importlib import import_module

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import is_up_to_date
from scrapersky.records.check import check_database
from scrapersky.settings import Settings


async def prepare(
    target: Target, settings: Settings, report: Callable[[str], None]
) -> None:
    """Check the server, apply what is missing, check the schema."""
    engine = connect(
        target, name="scrapersky-start", pool_size=1, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            is_current = await connection.run_sync(is_up_to_date)
        if not is_current:
            report("Updating the database")
            report(f"Updated the database: {', '.join(await upgrade(engine))}")
        await check_database(engine, settings.scheduler_system_user_id)
    finally:
        await engine.dispose()


async def upgrade(engine: AsyncEngine) -> tuple[str, ...]:
    """Apply what is missing; what does that is loaded only when it is needed."""
    migrate = import_module("scrapersky.db.migrate")
    applied: tuple[str, ...] = await migrate.upgrade(engine)
    return applied
