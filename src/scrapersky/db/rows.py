"""The rows of all our tables, out of one database and into another.

Rows travel in the text form of COPY. Every statement is written here, with names that the
catalogue of the database has: nothing of what is read in is ever part of one.
"""
# ruff: noqa: S608 - built only from names of the catalogue, which are quoted

import zlib
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Final

import asyncpg
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from curation_sdk.control import driver_beneath
from scrapersky.db.roles import PLAIN, quote_name
from scrapersky.errors import BackupUnusable

LOADER: Final = "scrapersky_loader"
"""The role rows are put in under where we are a superuser: it may do nothing else."""
PLAIN_FORM: Final = (
    "SET LOCAL datestyle = 'ISO, YMD'",
    "SET LOCAL intervalstyle = 'postgres'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL bytea_output = 'hex'",
    # A user from whom a policy would hide rows is refused, instead of missing some.
    "SET LOCAL row_security = off",
)
TABLES: Final = text("""SELECT nspname || '.' || relname AS name,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0
      AND NOT attisdropped AND attgenerated = '' AND NOT EXISTS (SELECT FROM pg_trigger
        WHERE tgrelid = c.oid AND tgname = 'derive_' || attname) ORDER BY attnum) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('public', 'curation') AND relkind = 'r' ORDER BY 1""")
SEQUENCES: Final = text("""SELECT nspname || '.' || relname FROM pg_class c
  JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('public', 'curation') AND relkind = 'S' ORDER BY 1""")
FOREIGN_KEYS: Final = text("""SELECT
    format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
      pg_get_constraintdef(c.oid))
  FROM pg_constraint c JOIN pg_namespace n ON n.oid = connamespace
  WHERE nspname IN ('public', 'curation') AND contype = 'f' ORDER BY 1""")
INDEXES: Final = text("""SELECT format('DROP INDEX %s', indexrelid::regclass),
    pg_get_indexdef(indexrelid)
  FROM pg_index JOIN pg_class i ON i.oid = indexrelid
  JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('public', 'curation')
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY 1""")
DERIVED: Final = text("""SELECT nspname || '.' || relname || '.' || substr(tgname, 8)
  FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
  JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('public', 'curation') AND starts_with(tgname::text, 'derive_')""")
# Derived columns are in no backup: their triggers write them while rows are put in.
TRIGGERS: Final = text("""SELECT
    format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname),
    format('ALTER TABLE %s ENABLE TRIGGER %I', tgrelid::regclass, tgname)
  FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
  JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('public', 'curation') AND NOT tgisinternal
    AND NOT starts_with(tgname::text, 'derive_') ORDER BY 1""")


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of one table, as COPY writes them."""

    columns: tuple[str, ...]
    read: Callable[[], Iterator[bytes]]


async def tables_of(connection: AsyncConnection) -> dict[str, tuple[str, ...]]:
    """Return the tables of our schemas, each with the columns that hold something."""
    return {
        row.name: tuple(row.columns)
        for row in await connection.execute(TABLES)
        if not is_about_schema(row.name)
    }


def is_about_schema(table: str) -> bool:
    """Say whether a table's rows tell how the schema was made, which is so only where it was."""
    return table.partition(".")[2] in PLAIN


async def begin_reading(connection: AsyncConnection, tables: Iterable[str]) -> None:
    """Hold the tables as they are, in a transaction that has one snapshot."""
    for statement in PLAIN_FORM:
        await connection.execute(text(statement))
    names = ", ".join(map(full_name, tables))
    await connection.execute(text(f"LOCK TABLE {names} IN ACCESS SHARE MODE"))


async def write_rows(
    connection: AsyncConnection,
    table: str,
    columns: Sequence[str],
    write: Callable[[bytes], object],
) -> None:
    """Write the rows of a table."""
    schema, _, name = table.partition(".")

    async def keep(piece: bytes) -> None:
        write(piece)

    driver = await driver_beneath(connection)
    await driver.copy_from_table(name, schema_name=schema, columns=columns, output=keep)


async def read_sequences(connection: AsyncConnection) -> dict[str, tuple[int, bool]]:
    """Return where every sequence stands, and whether that number was given out."""
    found = {}
    for name in (await connection.scalars(SEQUENCES)).all():
        query = text(f"SELECT last_value, is_called FROM {full_name(name)}")
        row = (await connection.execute(query)).one()
        found[name] = (int(row.last_value), bool(row.is_called))
    return found


async def load_rows(
    connection: AsyncConnection,
    tables: Mapping[str, TableRows],
    sequences: Mapping[str, tuple[int, bool]],
    *,
    without: Iterable[str],
) -> None:
    """Put rows into tables that migrations have just made, in place of what those put there.

    Raises BackupUnusable unless they are the rows of exactly these tables; of those named in
    `without`, none are put in.
    """
    wanted = {
        name: columns
        for name, columns in (await tables_of(connection)).items()
        if name not in without
    }
    given = {
        name: rows
        for name, rows in tables.items()
        if name not in without and not is_about_schema(name)
    }
    derived = set(await connection.scalars(DERIVED))
    refuse_other_tables(
        wanted,
        {
            # A dump has them too; whatever it says, the triggers write them anew.
            name: [one for one in rows.columns if f"{name}.{one}" not in derived]
            for name, rows in given.items()
        },
    )
    put_back = await set_aside(connection)
    emptied = ", ".join(map(full_name, await tables_of(connection)))
    await connection.execute(text(f"TRUNCATE {emptied}"))
    await put_in(connection, given)
    await set_sequences(connection, sequences)
    try:
        for statement in put_back:
            await connection.exec_driver_sql(statement)
    except DBAPIError as error:
        raise BackupUnusable(
            f"The rows in the backup contradict each other: {reason_of(error)}."
        ) from error


def refuse_other_tables(
    wanted: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str]]
) -> None:
    """Raise unless tables and columns are those of the schema."""
    for name in sorted(wanted.keys() | given.keys()):
        if name not in wanted:
            raise BackupUnusable(
                f"The backup holds rows of {name!r}, a table that its revision lacks."
            )
        if name not in given:
            raise BackupUnusable(f"The backup lacks the rows of {name!r}.")
        if sorted(wanted[name]) != sorted(given[name]):
            raise BackupUnusable(
                f"The backup has other columns of {name!r} than its revision."
            )


async def set_aside(connection: AsyncConnection) -> list[str]:
    """Drop what slows the loading of rows or asks for their order; return what brings it back."""
    later: list[str] = []
    # Keys before the indexes that they need, and the other way round afterwards.
    for query in (TRIGGERS, FOREIGN_KEYS, INDEXES):
        for drop, restore in (await connection.execute(query)).all():
            await connection.exec_driver_sql(drop)
            later.append(restore)
    return later[::-1]


async def put_in(connection: AsyncConnection, tables: Mapping[str, TableRows]) -> None:
    """Copy the rows into their tables, under a role that may do nothing else."""
    for statement in PLAIN_FORM:
        await connection.execute(text(statement))
    confined = await take_on_loader(connection)
    driver = await driver_beneath(connection)
    for table, rows in tables.items():
        schema, _, name = table.partition(".")
        try:
            await driver.copy_to_table(
                name,
                schema_name=schema,
                columns=rows.columns,
                source=handed_on(rows.read()),
            )
        except (asyncpg.PostgresError, OSError, EOFError, zlib.error) as error:
            raise BackupUnusable(
                f"The rows of {table} in the backup cannot be read: {error}"
            ) from error
    if confined:
        await put_off_loader(connection)


async def handed_on(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Give pieces as the driver wants them."""
    for piece in pieces:
        yield piece


async def take_on_loader(connection: AsyncConnection) -> bool:
    """Give up a superuser's rights for what follows; say whether there were any.

    A superuser's COPY can run programs and read the server's files. Ours names neither; this
    role could not if it did.
    """
    if await connection.scalar(text("SHOW is_superuser")) != "on":
        return False
    for statement in (
        f"CREATE ROLE {LOADER} NOLOGIN BYPASSRLS",
        f"GRANT USAGE ON SCHEMA public, curation TO {LOADER}",
        f"GRANT INSERT ON ALL TABLES IN SCHEMA public, curation TO {LOADER}",
        f"SET LOCAL ROLE {LOADER}",
    ):
        await connection.exec_driver_sql(statement)
    return True


async def put_off_loader(connection: AsyncConnection) -> None:
    """Take the rights back, and forget the role."""
    for statement in ("RESET ROLE", f"DROP OWNED BY {LOADER}", f"DROP ROLE {LOADER}"):
        await connection.exec_driver_sql(statement)


async def set_sequences(
    connection: AsyncConnection, sequences: Mapping[str, tuple[int, bool]]
) -> None:
    """Let sequences go on where they stood."""
    known = set((await connection.scalars(SEQUENCES)).all())
    if other := sorted(sequences.keys() ^ known):
        raise BackupUnusable(f"The backup has other sequences: {other[0]!r}.")
    for name, (value, called) in sequences.items():
        await connection.execute(
            text("SELECT setval(CAST(:name AS regclass), :value, :called)"),
            {"name": full_name(name), "value": value, "called": called},
        )


def full_name(name: str) -> str:
    """Quote a name with its schema for SQL."""
    return ".".join(map(quote_name, name.split(".", 1)))


def reason_of(error: DBAPIError) -> str:
    """Return what the server said."""
    return str(error.orig).partition(">: ")[2] or str(error.orig)
