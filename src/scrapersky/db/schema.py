"""Compare what the code expects with what the database holds, before serving."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Column, Connection, MetaData, Table, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import ENUM
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.revision import (
    current_revision,
    is_newer,
    revisions,
)
from scrapersky.errors import SchemaMismatch

MAX_DIFFERENCES = 10
"""Differences named in the message; more than that is one story."""

TYPE_NAMES = {"varchar": "character varying", "float": "double precision"}

Columns = Mapping[str, tuple[str, bool]]


async def check_schema(engine: AsyncEngine, *metadata: MetaData) -> None:
    """Raise SchemaMismatch, naming what differs, unless code and database agree."""
    async with engine.connect() as connection:
        found = await connection.run_sync(differences, metadata)
    if found:
        more = (
            f"\n- and {len(found) - MAX_DIFFERENCES} more"
            if len(found) > MAX_DIFFERENCES
            else ""
        )
        listed = "".join(f"\n- {difference}" for difference in found[:MAX_DIFFERENCES])
        raise SchemaMismatch(
            f"The database does not fit this ScraperSky:{listed}{more}",
            hint="Run `scrapersky migrate`. If the revision is already the newest, "
            "someone changed the schema by hand: undo that change.",
        )


def differences(connection: Connection, metadata: Sequence[MetaData]) -> list[str]:
    """List what differs between the code and the database, in words.

    A newer database may have more than this code knows, as long as this code can do without:
    so an old version goes on while a new one is rolled out, and may come back.
    """
    revision = current_revision(connection)
    if revision != revisions()[-1] and not is_newer(revision):
        return [f"it is at revision {revision or 'none'}, not at {revisions()[-1]}"]
    found = [
        difference
        for part in metadata
        for difference in (
            *enum_differences(connection, part, more=is_newer(revision)),
            *column_differences(connection, part, more=is_newer(revision)),
        )
    ]
    if is_newer(revision):
        known = [table for part in metadata for table in part.sorted_tables]
        found += demanded_columns(connection, known)
        found = [f"{one} (it is at revision {revision})" for one in found]
    return found


def demanded_columns(connection: Connection, known: Sequence[Table]) -> Iterator[str]:
    """Name columns that this code does not know and that every new row must have."""
    query = text(
        "SELECT table_schema || '.' || table_name AS name, column_name"
        " FROM information_schema.columns WHERE is_nullable = 'NO'"
        " AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER'"
    )
    tables = {f"{table.schema or 'public'}.{table.name}": table for table in known}
    for row in connection.execute(query):
        table = tables.get(row.name)
        if table is not None and row.column_name not in table.columns:
            yield f"column {table.fullname}.{row.column_name} must be given, and we know none"


def enum_differences(
    connection: Connection, metadata: MetaData, *, more: bool = False
) -> Iterator[str]:
    """Compare the labels of every enum; there may be `more` than we know."""
    query = text(
        "SELECT t.typname AS name, "
        "array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels "
        "FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.typname"
    )
    found = {row.name: row.labels for row in connection.execute(query)}
    for name, labels in sorted(expected_enums(metadata).items()):
        kept = found.get(name)
        if more and kept is not None:
            kept = [label for label in kept if label in labels]
        if kept != labels:
            yield f"enum {name} is {found.get(name, 'missing')}, not {labels}"


def expected_enums(metadata: MetaData) -> dict[str, list[str]]:
    """Collect the enums the tables use, with their labels."""
    return {
        str(column.type.name): list(column.type.enums)
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, ENUM)
    }


def column_differences(
    connection: Connection, metadata: MetaData, *, more: bool = False
) -> Iterator[str]:
    """Compare the columns of every table: presence, type, nullability.

    With `more`, a column may be empty that we always fill.
    """
    actual = actual_tables(connection)
    for table in metadata.sorted_tables:
        found = actual.get((table.schema or "public", table.name))
        if found is None:
            yield f"table {table.fullname} is missing"
            continue
        for column in table.columns:
            expected = (type_name(column), bool(column.nullable))
            kept = found.get(column.name)
            if kept is None:
                yield f"column {table.fullname}.{column.name} is missing"
            elif kept != expected and not (more and kept == (expected[0], True)):
                yield (
                    f"column {table.fullname}.{column.name} is {type_words(kept)}, "
                    f"not {type_words(expected)}"
                )


def actual_tables(connection: Connection) -> Mapping[tuple[str, str], Columns]:
    """Read the columns of every table from the catalogue, in one go."""
    query = text(
        "SELECT n.nspname AS schema, c.relname AS name, a.attname AS column_name, "
        "format_type(a.atttypid, a.atttypmod) AS kind, NOT a.attnotnull AS nullable "
        "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped "
        "AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    )
    tables: dict[tuple[str, str], dict[str, tuple[str, bool]]] = {}
    for row in connection.execute(query):
        columns = tables.setdefault((row.schema, row.name), {})
        columns[row.column_name] = (row.kind, row.nullable)
    return tables


def type_name(column: Column[object]) -> str:
    """Spell a column's type as PostgreSQL's catalogue does."""
    spelt = column.type.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]
    if isinstance(column.type, ENUM):
        return str(spelt)
    # The catalogue keeps a column's collation apart from its type.
    plain, _, _ = str(spelt).partition(" COLLATE ")
    name, bracket, rest = plain.lower().replace(", ", ",").partition("(")
    return TYPE_NAMES.get(name, name) + bracket + rest


def type_words(column: tuple[str, bool]) -> str:
    """Name a type with its nullability."""
    kind, nullable = column
    return kind if nullable else f"{kind} NOT NULL"
