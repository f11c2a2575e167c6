"""Bring the schema to the revision this code needs, however many processes ask at once."""

import asyncio
from collections.abc import Callable, Sequence

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import explain_refusal
from scrapersky.db.revision import (
    MIGRATIONS,
    current_revision,
    refuse_newer_schema,
    revisions,
)
from scrapersky.db.roles import renew_rights
from scrapersky.errors import SchemaMismatch

LOCK = 0x5C7A9E05C8E3A
"""The advisory lock that lets one process migrate while the others wait."""

LOCK_TIMEOUT = "2s"
"""How long a revision may wait for a table that is in use, before it tries again."""
TRIES = 30


async def upgrade(engine: AsyncEngine, revision: str = "head") -> tuple[str, ...]:
    """Apply what is missing and return the names of the revisions applied."""
    return await migrate(engine, lambda config: command.upgrade(config, revision))


async def downgrade(engine: AsyncEngine, revision: str) -> tuple[str, ...]:
    """Take revisions back and return their names."""
    return await migrate(engine, lambda config: command.downgrade(config, revision))


async def migrate(
    engine: AsyncEngine, step: Callable[[Config], None]
) -> tuple[str, ...]:
    """Run one Alembic command in one transaction, under the lock of all migrations."""
    for attempt in range(1, TRIES + 1):
        try:
            async with engine.begin() as connection:
                # Taken for the transaction, so that it works behind a pooler too.
                await connection.execute(
                    text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK}
                )
                await connection.execute(
                    text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                )
                return await connection.run_sync(apply, step)
        except DBAPIError as error:
            if not is_lock_timeout(error) or attempt == TRIES:
                where = engine.url.set(drivername="postgresql").render_as_string()
                raise explain_refusal(error, where) from error
            await asyncio.sleep(0.2)
    raise AssertionError  # pragma: no cover - the loop returns or raises


def apply(connection: Connection, step: Callable[[Config], None]) -> tuple[str, ...]:
    """Run the command on this connection and say which revisions it went through."""
    before = current_revision(connection)
    refuse_newer_schema(before)
    try:
        step(alembic_config(connection))
    except CommandError as error:
        raise SchemaMismatch(
            f"The migration cannot be done: {error}",
            hint="`scrapersky doctor` shows what the database holds.",
        ) from error
    after = current_revision(connection)
    if after != before:
        renew_rights(connection)
    return between(before, after)


def alembic_config(
    connection: Connection | None = None,
    metadata: Sequence[MetaData] = (),
    **more: object,
) -> Config:
    """Point Alembic at our revisions; there is no alembic.ini to find or to lose."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, metadata=list(metadata), **more)
    return config


def between(before: str | None, after: str | None) -> tuple[str, ...]:
    """List the revisions between two, whichever is the older."""
    known = revisions()
    ends = sorted(
        0 if revision is None else known.index(revision) + 1
        for revision in (before, after)
    )
    return known[ends[0] : ends[1]]


def is_lock_timeout(error: DBAPIError) -> bool:
    """Say whether a statement gave up waiting for a lock."""
    return getattr(error.orig, "sqlstate", None) == "55P03"
