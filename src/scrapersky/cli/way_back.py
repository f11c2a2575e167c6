"""`scrapersky migrate --to`: back to the schema of an older release."""
# ruff: noqa: S608 - built from names of the catalogue, which are quoted

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from alembic import command
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.database import a_database
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.configuration import load_settings
from scrapersky.db import migrate
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.migrations.steps import begin, is_busy
from scrapersky.db.releases import revision_meant
from scrapersky.db.revision import current_revision, refuse_newer_schema, revisions
from scrapersky.db.roles import PLAIN, quote_name
from scrapersky.errors import SchemaMismatch
from scrapersky.scheduler.presence import live_processes

COLUMNS: Final = text("""SELECT n.nspname || '.' || c.relname, a.attname,
    a.attgenerated <> '' OR EXISTS (SELECT FROM pg_trigger t
      WHERE t.tgrelid = c.oid AND t.tgname = 'derive_' || a.attname)
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('public', 'curation') AND c.relkind IN ('r', 'p')
    AND c.relname <> ALL(:versions)
    AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum""")
SINCE: Final = "0029_processes"
"""Who runs is known from here on."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What an older schema has no place for."""

    what: str
    values: int
    """Rows, or values in a column."""

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.what}: {self.values:,}"


@dataclass(frozen=True, slots=True)
class Content:
    """The columns of every table, and how many rows it has."""

    columns: Mapping[str, tuple[str, ...]]
    made: frozenset[tuple[str, str]]
    """Columns that are made of others: nothing is lost with them."""
    rows: Mapping[str, int]


def go_back(to: str, *, check: bool = False, json: bool = False) -> None:
    """Take the schema back to a release, or only say what would be lost."""
    revision = revision_meant(to)
    settings = load_settings().settings
    with raised_signals(), a_database(settings) as target:
        undone, losses = run_stoppable(walk_back(target, revision, check=check))
    if json:
        lost = {loss.what: loss.values for loss in losses}
        facts = {
            "undone": undone,
            "revision": revision,
            "lost": lost,
            "done": not check,
        }
        print(orjson.dumps(facts).decode())
        return
    if not undone:
        print(f"Nothing to do: the database is at {revision}.")
        return
    steps = ", ".join(reversed(undone))
    print(f"{'Would undo' if check else 'Undid'} {steps}.")
    print("What the older schema has no place for:" if losses else "Nothing is lost.")
    for loss in losses:
        print(f"  {loss}")
    if not check:
        print(f"The database is at {revision}.")


async def walk_back(
    target: Target, revision: str, *, check: bool
) -> tuple[tuple[str, ...], list[Loss]]:
    """Undo what came after a revision; return what, and what had no place any more."""
    engine = connect(
        target, name="scrapersky-migrate", pool_size=2, statement_timeout=None
    )
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            now = await connection.run_sync(current_revision)
        refuse_forward(now, revision)
        if now == revision:
            return (), []
        if not check:
            await refuse_company(engine, now)
        losses = await what_is_lost(engine, revision)
        undone = migrate.between(revision, now)
        if not check:
            undone = await migrate.downgrade(engine, revision)
        return undone, losses
    finally:
        await engine.dispose()


def refuse_forward(now: str | None, revision: str) -> None:
    """Raise unless the revision is one that the database was at before."""
    refuse_newer_schema(now)
    known = revisions()
    if now is None or known.index(revision) > known.index(now):
        raise SchemaMismatch(
            f"The database is at revision {now or 'none'}, which is before {revision}.",
            hint="`scrapersky migrate` brings it to the newest.",
        )


async def refuse_company(engine: AsyncEngine, now: str | None) -> None:
    """Raise while processes work on the database: they need what is about to go."""
    known = revisions()
    if now is None or known.index(now) < known.index(SINCE):
        return
    live = [one.name for one in await live_processes(engine) if one.state != "gone"]
    if live:
        raise SchemaMismatch(
            f"Processes work on this database: {', '.join(live)}.",
            hint="Stop them first. One that crashed counts for half a minute.",
        )


async def what_is_lost(engine: AsyncEngine, revision: str) -> list[Loss]:
    """Try it in a transaction that is rolled back, and compare."""
    async with engine.connect() as connection:
        await connection.run_sync(begin)
        before = await connection.run_sync(content_of)
        try:
            losses = await connection.run_sync(attempt, before, revision)
        except DBAPIError as error:
            if not is_busy(error):
                raise
            raise SchemaMismatch(
                "A table is in use, so what would be lost cannot be found out now.",
                hint="Stop the processes that work on the database, and try again.",
            ) from error
        await connection.rollback()
    await engine.dispose()  # the driver remembers types that were gone for a moment
    return losses


def attempt(connection: Connection, before: Content, revision: str) -> list[Loss]:
    """Go back for the rest of the transaction, and count what has no place there."""
    start = connection.begin_nested()
    migrate.apply(connection, lambda config: command.downgrade(config, revision))
    after = content_of(connection)
    start.rollback()
    found = [
        Loss(f"rows of {table}", before.rows[table] - after.rows.get(table, 0))
        for table in before.columns
        if before.rows[table] > after.rows.get(table, 0)
    ]
    for table, columns in before.columns.items():
        for column in columns if table in after.columns else ():
            gone = column not in after.columns[table]
            if gone and (table, column) not in before.made:
                values = connection.scalar(
                    text(f"SELECT count({quote_name(column)}) FROM {named(table)}")
                )
                found += [Loss(f"values of {table}.{column}", values)] if values else []
    return found


def content_of(connection: Connection) -> Content:
    """Look at what the database holds."""
    columns: dict[str, tuple[str, ...]] = {}
    made = set()
    for table, column, is_made in connection.execute(
        COLUMNS, {"versions": list(PLAIN)}
    ):
        columns[table] = (*columns.get(table, ()), column)
        if is_made:
            made.add((table, column))
    rows = {
        table: connection.scalar(text(f"SELECT count(*) FROM {named(table)}")) or 0
        for table in columns
    }
    return Content(columns, frozenset(made), rows)


def named(table: str) -> str:
    """Quote a table's name with its schema."""
    return ".".join(map(quote_name, table.split(".", 1)))
