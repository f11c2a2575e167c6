"""The database of the old system: opened to be read, as it is at one moment."""
# ruff: noqa: S608 - built only from names of the catalogue, which are quoted

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import asyncpg
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.adopt.old_table import (
    LINK_TO_BUSINESS,
    NOT_ADOPTED,
    OLD_TABLES,
    OldTable,
)
from scrapersky.db.connection import Target, connect, explain_refusal, sqlstate_of
from scrapersky.db.roles import quote_name
from scrapersky.db.rows import reason_of
from scrapersky.errors import OldDatabaseUnusable

FETCH_ROWS: Final = 1_000
NOT_ALLOWED: Final = "42501"
UNKNOWN_ENCODING: Final = "SQL_ASCII"
NAMES: Final = (*(table.name for table in OLD_TABLES), *NOT_ADOPTED)
SETTINGS: Final = (
    # A user from whom a policy would hide rows is refused, instead of missing some.
    "SET LOCAL row_security = off",
    # It waits while what was read is stored.
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)
LINKED_DOMAIN: Final = """LEFT JOIN (
  SELECT DISTINCT ON (CAST(local_business_id AS text)) id,
    CAST(local_business_id AS text) AS business FROM domains
  ORDER BY CAST(local_business_id AS text), id) d ON d.business = CAST(o.id AS text)"""
"""The old system had the link on the domain. It is joined as a whole: to look for each
business would read all domains each time."""
OURS: Final = text("SELECT to_regclass('suppression_keys') IS NOT NULL")
TABLES: Final = text("""SELECT n AS name, has_table_privilege(c.oid, 'SELECT') AS readable,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0
      AND NOT attisdropped ORDER BY attnum) AS columns
  FROM unnest(CAST(:names AS text[])) n JOIN pg_class c ON c.oid = to_regclass(n)""")


class TableUnreadable(Exception):
    """A table is there and cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class OldDatabase:
    """A connection to the old database in a transaction that can only read."""

    connection: AsyncConnection
    where: str
    columns: Mapping[str, Sequence[str]]
    """The columns of the tables that are there."""
    unreadable: frozenset[str]

    async def slices(self, table: OldTable) -> AsyncIterator[list[Mapping[str, Any]]]:
        """Yield the rows of a table, under our names, some at a time.

        A cursor of the server, so that no more than a slice is in memory.
        """
        if table.name in self.unreadable:
            raise TableUnreadable("its user may not read it")
        query = rows_query(table, self.columns, self.unreadable)
        # A name for each: the driver remembers the columns of a statement.
        cursor = quote_name(f"old {table.name}")
        try:
            async with self.connection.begin_nested():
                await self._execute(f"DECLARE {cursor} NO SCROLL CURSOR FOR {query}")
        except DBAPIError as error:
            if sqlstate_of(error) != NOT_ALLOWED:
                raise explain_refusal(error, self.where) from error
            raise TableUnreadable(reason_of(error)) from error
        while rows := await self._fetch(cursor):
            yield rows
        await self._execute(f"CLOSE {cursor}")

    async def count(self, table: str) -> int:
        """Count the rows of a table that are not read."""
        if table in self.unreadable:
            raise TableUnreadable("its user may not read it")
        query = text(f"SELECT count(*) FROM {quote_name(table)}")
        return int(await self.connection.scalar(query) or 0)

    async def _fetch(self, cursor: str) -> list[Mapping[str, Any]]:
        try:
            rows = await self.connection.exec_driver_sql(
                f"FETCH {FETCH_ROWS} FROM {cursor}"
            )
        except (DBAPIError, OSError) as error:
            raise explain_refusal(error, self.where) from error
        return [*rows.mappings()]

    async def _execute(self, statement: str) -> None:
        await self.connection.exec_driver_sql(statement)


@asynccontextmanager
async def open_old_database(target: Target) -> AsyncIterator[OldDatabase]:
    """Open the old database; raise in words what stands in the way.

    All is read in one transaction, which has one snapshot and can write nothing.
    """
    engine = connect(
        target, name="scrapersky-adopt", pool_size=1, statement_timeout=None
    )
    try:
        async with AsyncExitStack() as opened:
            try:
                connection = await opened.enter_async_context(engine.connect())
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
                found = await inspect_old_database(connection, str(target))
            except (OSError, DBAPIError, asyncpg.PostgresError) as error:
                raise explain_refusal(error, str(target)) from error
            yield found
    finally:
        await engine.dispose()


async def inspect_old_database(connection: AsyncConnection, where: str) -> OldDatabase:
    """Look at what is there; raise unless it is a database of the old system."""
    for statement in SETTINGS:
        await connection.execute(text(statement))
    is_ours = await connection.scalar(OURS)
    encoding = await connection.scalar(text("SHOW server_encoding"))
    found = (await connection.execute(TABLES, {"names": list(NAMES)})).all()
    if is_ours:
        raise OldDatabaseUnusable(
            f"{where} is a database of this ScraperSky, not of the system before it.",
            hint="Name the old one. To copy this one, use `scrapersky move`.",
        )
    if not any(row.name in {table.name for table in OLD_TABLES} for row in found):
        raise OldDatabaseUnusable(
            f"{where} has none of the tables of the old system.",
            hint=f"It should have {', '.join(NAMES)}. Is it the right database?",
        )
    if encoding == UNKNOWN_ENCODING:
        raise OldDatabaseUnusable(
            f"{where} does not say how its texts are encoded ({encoding}).",
            hint="Dump it and load it into a database with ENCODING 'UTF8' first.",
        )
    return OldDatabase(
        connection,
        where,
        {row.name: tuple(row.columns) for row in found},
        frozenset(row.name for row in found if not row.readable),
    )


def rows_query(
    table: OldTable, there: Mapping[str, Sequence[str]], unreadable: Collection[str]
) -> str:
    """Write the query for a table's rows, in the order in which they are adopted."""
    columns = there[table.name]
    chosen = {"old_key": f"CAST(o.{quote_name('id')} AS text)"}
    joined = ""
    for ours, theirs in old_columns(table, columns).items():
        value = f"o.{quote_name(theirs)}"
        is_label = ours in table.target.c and hasattr(
            table.target.c[ours].type, "enums"
        )
        chosen[ours] = f"CAST({value} AS text)" if is_label else value
    domains = () if "domains" in unreadable else there.get("domains", ())
    if (
        "domain_id" in table.columns.keys() - chosen.keys()
        and {LINK_TO_BUSINESS, "id"} <= {*domains}
        and table.name == "local_businesses"
    ):
        chosen["domain_id"], joined = "d.id", LINKED_DOMAIN
    for name in table.extra:
        if name in columns:
            chosen[name] = f"CAST(o.{quote_name(name)} AS text)"
    order = [f"o.{quote_name(name)}" for name in ("created_at",) if name in columns]
    if table.decision in chosen:
        # Of two rows that are one, the first stays: the one somebody decided about.
        order.insert(0, f"coalesce(lower({chosen[table.decision]}), 'new') = 'new'")
    ordered = ", ".join((*order, chosen["old_key"]))
    # A table may have lost its primary key.
    chosen["old_turn"] = f"row_number() OVER (PARTITION BY o.id ORDER BY {ordered})"
    given = ", ".join(
        f"{value} AS {quote_name(name)}" for name, value in chosen.items()
    )
    return f"SELECT {given} FROM {quote_name(table.name)} o {joined} ORDER BY {ordered}"


def old_columns(table: OldTable, there: Sequence[str]) -> dict[str, str]:
    """Return which column of the old table each of ours is, where it has one."""
    found = {
        ours: next((name for name in names if name in there), None)
        for ours, names in table.columns.items()
    }
    return {ours: theirs for ours, theirs in found.items() if theirs}
