"""Bring the schema to the revision this code needs, however many processes ask at once."""

import asyncio
from collections.abc import Callable, Sequence

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationInfo
from alembic.util.exc import CommandError
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.connection import explain_refusal
from scrapersky.db.migrations.steps import LOCK_TRIES, RETRY_SECONDS, begin, is_busy
from scrapersky.db.reporting import drop_views, renew_views
from scrapersky.db.revision import (
    MIGRATIONS,
    current_revision,
    refuse_newer_schema,
    revisions,
)
from scrapersky.db.roles import renew_rights
from scrapersky.errors import SchemaMismatch

LOCK_KEY = 0x5C7A9E05C8E3A
"""The advisory lock that lets one process migrate while the others wait."""

LOCK_POLL_SECONDS = 0.2
"""Seconds until somebody who waits for the lock asks for it again."""

Report = Callable[[str], None]


def say_nothing(_: str) -> None:
    """Report to nobody."""


async def upgrade(
    engine: AsyncEngine, revision: str = "head", report: Report = say_nothing
) -> tuple[str, ...]:
    """Apply what is missing and return the names of the revisions applied.

    A database with nothing in it is made in one transaction. Any other is changed step by
    step, each of which is short, while others use it: see `db/migrations/steps.py`.
    """
    return await migrate(
        engine, lambda config: command.upgrade(config, revision), report=report
    )


async def downgrade(engine: AsyncEngine, revision: str) -> tuple[str, ...]:
    """Take revisions back in one transaction and return their names."""
    return await migrate(
        engine, lambda config: command.downgrade(config, revision), at_once=True
    )


async def migrate(
    engine: AsyncEngine,
    step: Callable[[Config], None],
    *,
    at_once: bool = False,
    report: Report = say_nothing,
) -> tuple[str, ...]:
    """Run one Alembic command while no other process migrates.

    It needs two connections: one of them only holds the lock.
    """
    where = engine.url.set(drivername="postgresql").render_as_string()
    try:
        async with engine.connect() as keeper:
            await take_lock(keeper)
            before = await read_revision(engine)
            stepwise = before is not None and not at_once
            for attempt in range(1, LOCK_TRIES + 1):
                try:
                    await run(engine, step, stepwise=stepwise, report=report)
                    break
                except DBAPIError as error:
                    if not is_busy(error) or attempt == LOCK_TRIES:
                        raise
                    await asyncio.sleep(RETRY_SECONDS)
            return between(before, await read_revision(engine))
    except DBAPIError as error:
        raise explain_refusal(error, where) from error


async def take_lock(connection: AsyncConnection) -> None:
    """Wait until nobody else migrates, and keep others from it while the transaction lasts.

    It is taken for a transaction, so that it works behind a pooler too. Who waited within a
    statement would hold a snapshot meanwhile, for which the one who migrates may have to wait.
    """
    query = text("SELECT pg_try_advisory_xact_lock(:key)")
    while not await connection.scalar(query, {"key": LOCK_KEY}):
        await connection.rollback()
        await asyncio.sleep(LOCK_POLL_SECONDS)
    # Until its next statement a connection may keep the snapshot of the last one that read.
    # An index that is built concurrently would wait for that: so the last one is no query.
    await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


async def read_revision(engine: AsyncEngine) -> str | None:
    """Read which revision the database is at."""
    async with engine.connect() as connection:
        return await connection.run_sync(current_revision)


async def run(
    engine: AsyncEngine,
    step: Callable[[Config], None],
    *,
    stepwise: bool,
    report: Report,
) -> None:
    """Run the command on a connection of its own, once."""
    async with engine.connect() as connection:
        await connection.run_sync(begin)
        await connection.run_sync(apply, step, stepwise=stepwise, report=report)
        await connection.commit()


def apply(
    connection: Connection,
    step: Callable[[Config], None],
    *,
    stepwise: bool = False,
    report: Report = say_nothing,
) -> tuple[str, ...]:
    """Run the command on this connection and say which revisions it went through.

    Stepwise, every revision is committed, and perhaps parts of it before.
    """
    before = current_revision(connection)
    refuse_newer_schema(before)

    def finish_revision(step: MigrationInfo, **_: object) -> None:
        if stepwise:
            # With the tables of a revision come the rights to them, or neither.
            renew_rights(connection)
            connection.commit()
            begin(connection)
            report(f"Applied {step.up_revision_id}")

    # Columns cannot change while a view shows them.
    drop_views(connection)
    config = alembic_config(
        connection, stepwise=stepwise, report=report, on_version_apply=finish_revision
    )
    try:
        step(config)
    except CommandError as error:
        raise SchemaMismatch(
            f"The migration cannot be done: {error}",
            hint="`scrapersky doctor` shows what the database holds.",
        ) from error
    after = current_revision(connection)
    if after == revisions()[-1]:
        renew_views(connection)
    if after != before and not stepwise:
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
