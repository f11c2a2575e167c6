"""Look through every table for what may be written anywhere, a stretch at a time."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    ColumnElement,
    LargeBinary,
    String,
    Table,
    case,
    cast,
    collate,
    func,
    literal_column,
    or_,
    select,
    text,
    tuple_,
)
from sqlalchemy import Text as TextType
from sqlalchemy.dialects.postgresql import BYTEA, ENUM, JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.transaction import Database, transaction
from scrapersky.privacy.suppression_filter import scrub_texts
from scrapersky.records import METADATA

ROWS_PER_QUERY = 5_000
"""Rows looked through at once: well under a second."""
BLOCKS_PER_QUERY = 200
"""The same for a table without a key: 1.6 MB of it."""
ACCOUNT_TABLES = frozenset(
    {"users", "tenants", "api_keys", "suppressions", "suppression_keys"}
)
"""Not about the people who are found, but about those who use ScraperSky."""
PACKED_TABLES = frozenset({"page_contents"})
"""Bytes that have to be unpacked to be looked through (`snapshot.py`)."""
EXEMPT_COLUMNS = frozenset(
    {"id", "tenant_id", "source_place_id", "stage", "item", "worker", "hash"}
)
"""Names of records and of our own parts, which look like numbers at times."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """One row in which it is written."""

    table: Table
    row: Row

    @property
    def name(self) -> str:
        """The table's name as people know it."""
        return self.table.fullname


def searched_tables() -> Iterator[Table]:
    """Yield every table in which something about a person may be written."""
    for metadata in METADATA:
        for table in metadata.sorted_tables:
            if table.name in ACCOUNT_TABLES | PACKED_TABLES:
                continue
            if written_columns(table):
                yield table


def written_columns(table: Table) -> list[Column[Any]]:
    """Return the columns that hold texts, lists of texts, JSON or bytes."""
    return [
        column
        for column in table.columns
        if column.name not in EXEMPT_COLUMNS
        and isinstance(column.type, String | JSONB | ARRAY | BYTEA | LargeBinary)
        and not isinstance(column.type, ENUM)
    ]


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """What is looked for: a pattern, and plain letters of which it holds some always."""

    pattern: str
    signs: tuple[str, ...] = ()

    def is_in(self, table: Table) -> ColumnElement[bool]:
        """Match rows in which it is written.

        The whole row is read as one text first: looking for letters in it takes a tenth
        of the time that matching every column takes. CASE keeps that order: of two
        conditions PostgreSQL begins with the one that calls fewer functions, which in a
        table of two columns is the pattern.
        """
        texts = [as_text(column) for column in written_columns(table)]
        whole = func.concat_ws(" ", *texts)
        plain = func.lower(collate(whole, "C"))
        first = (
            or_(*(func.strpos(plain, sign) > 0 for sign in self.signs))
            if self.signs
            else whole.op("~*")(self.pattern)
        )
        then = or_(*(one.op("~*")(self.pattern) for one in texts))
        return case((first, then), else_=False)


async def hits(
    database: Database, tenant_id: UUID, wanted: SearchTerm
) -> AsyncIterator[Hit]:
    """Yield every row of the tenant, or of nobody, in which it is written."""
    for table in searched_tables():
        found = by_key if table.primary_key.columns else by_place
        async for row in found(database, table, tenant_id, wanted):
            yield Hit(table, row)


async def by_key(
    database: Database, table: Table, tenant_id: UUID, wanted: SearchTerm
) -> AsyncIterator[Row]:
    """Look through a table in the order of its key, which no update moves."""
    key = tuple_(*table.primary_key.columns)
    after: tuple[Any, ...] | None = None
    while True:
        beyond = [] if after is None else [key > after]
        end = (
            select(*table.primary_key.columns)
            .where(*beyond)
            .order_by(*table.primary_key.columns)
            .offset(ROWS_PER_QUERY - 1)
            .limit(1)
        )
        async with transaction(database) as connection:
            last = (await connection.execute(end)).one_or_none()
            bounds = beyond if last is None else [*beyond, key <= tuple(last)]
            rows = await matching_rows(connection, table, tenant_id, wanted, bounds)
        for row in rows:
            yield row
        if last is None:
            return
        after = tuple(last)


async def by_place(
    database: Database, table: Table, tenant_id: UUID, wanted: SearchTerm
) -> AsyncIterator[Row]:
    """Look through a table without a key, to which rows are only added."""
    size = text("SELECT pg_relation_size(CAST(:name AS regclass)) / 8192")
    async with transaction(database) as connection:
        blocks = await connection.scalar(size, {"name": table.fullname}) or 0
    for start in range(0, int(blocks) + 1, BLOCKS_PER_QUERY):
        bounds: list[ColumnElement[bool]] = [
            literal_column(f"ctid >= '({start},0)'::tid", Boolean),
            literal_column(f"ctid < '({start + BLOCKS_PER_QUERY},0)'::tid", Boolean),
        ]
        async with transaction(database) as connection:
            rows = await matching_rows(connection, table, tenant_id, wanted, bounds)
        for row in rows:
            yield row


async def matching_rows(
    connection: AsyncConnection,
    table: Table,
    tenant_id: UUID,
    wanted: SearchTerm,
    bounds: list[ColumnElement[bool]],
) -> list[Row]:
    """Return the rows of one stretch in which it is written."""
    place = literal_column(f"{table.fullname}.ctid::text", TextType).label("ctid")
    mine = [table.c.tenant_id == tenant_id] if "tenant_id" in table.c else []
    query = select(table, place).where(*bounds, *mine, wanted.is_in(table))
    return [dict(row) for row in (await connection.execute(query)).mappings()]


def as_text(column: Column[Any]) -> ColumnElement[str]:
    """Read a column as one text."""
    if isinstance(column.type, BYTEA | LargeBinary):
        # A file that is not UTF-8 is shown with escapes, between which texts can be read.
        return func.readable(column)
    return cast(column, TextType)


async def scrub(
    connection: AsyncConnection, hit: Hit, strike_out: Callable[[str], str]
) -> bool:
    """Strike it out of one row as the row is now; say whether anything was."""
    table = hit.table
    row = (
        (await connection.execute(select(table).where(*row_key(hit)).with_for_update()))
        .mappings()
        .one_or_none()
    )
    if row is None:
        return False
    changes = changes_of(table, row, strike_out)
    if changes:
        await connection.execute(table.update().where(*row_key(hit)).values(changes))
    return bool(changes)


def changes_of(
    table: Table, row: Mapping[Any, Any], strike_out: Callable[[str], str]
) -> dict[str, Any]:
    """Return what would have to be changed in a row."""
    return {
        column.name: left
        for column in written_columns(table)
        if (left := remove_from_value(column, row[column.name], strike_out))
        != row[column.name]
    }


def remove_from_value(
    column: Column[Any],
    value: Any,  # noqa: ANN401
    strike_out: Callable[[str], str],
) -> Any:  # noqa: ANN401
    """Strike it out of one value; a column that must not be empty keeps the mark."""
    if value is None:
        return None
    if isinstance(value, bytes):
        readable = value.decode("utf-8", "surrogateescape")
        return strike_out(readable).encode("utf-8", "surrogateescape")
    left = scrub_texts(value, strike_out)
    if left is None and not column.nullable:
        return strike_out(value)
    return left


def row_key(hit: Hit) -> list[ColumnElement[bool]]:
    """Say which row is meant."""
    table, row = hit.table, hit.row
    if table.primary_key.columns:
        return [column == row[column.name] for column in table.primary_key.columns]
    return [literal_column(f"ctid = '{row['ctid']}'::tid", Boolean)]
