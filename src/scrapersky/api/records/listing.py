"""Lists of any size, page by page, in any order, while rows come, change and go.

A page begins after the sort key and id of the last row of the one before, so it costs
the same at row 50 and at row 900,000, and a row that does not change is shown once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.records.resource import Resource
from scrapersky.curation.condition import Condition, converted, where
from scrapersky.curation.search import matches
from scrapersky.db.explain import Explain
from scrapersky.errors import InvalidCondition, InvalidCursor

COUNTED = 10_000
"""Rows that are counted exactly; beyond, nobody reads to the end."""
DEFAULT_SORT = "-updated_at"

Shown = Row[Any]


@dataclass(frozen=True, slots=True)
class Sort:
    """By which column, which way; ties by id, what is unknown last."""

    field: str
    is_descending: bool

    @property
    def text(self) -> str:
        """Return it as it is asked for."""
        return f"-{self.field}" if self.is_descending else self.field


@dataclass(frozen=True, slots=True)
class Question:
    """What a list shows, in which order."""

    tenant_id: UUID
    conditions: tuple[Condition, ...] = ()
    words: str | None = None
    sort: Sort = Sort("updated_at", is_descending=True)
    columns: tuple[str, ...] | None = None
    """What is read of the records besides their place in the list; None: all."""

    @property
    def is_narrowed(self) -> bool:
        """Say whether the list shows less than everything."""
        return bool(self.conditions or self.words)

    def scope(self, resource: Resource) -> list[Any]:
        """Name the list, for its cursors."""
        return [
            str(self.tenant_id),
            resource.name,
            [condition.model_dump(mode="json") for condition in self.conditions],
            self.words,
            self.sort.text,
        ]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the last row's key and id, and what is known of the list."""

    key: Any
    id: UUID
    count: int
    is_exact: bool

    def to_json(self) -> list[Any]:
        """Write it for a cursor."""
        return [text_key(self.key), str(self.id), self.count, self.is_exact]

    @classmethod
    def from_json(cls, value: Any, column: InstrumentedAttribute[Any]) -> "Place":  # noqa: ANN401
        """Read what a cursor brought back; it was signed, so its form is ours."""
        key, row_id, count, is_exact = value
        return cls(read_key(column, key), UUID(row_id), count, is_exact)


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a list, how many there are in all, and where to go on."""

    rows: Sequence[Shown]
    count: int
    is_exact: bool
    next: Place | None


def read_sort(resource: Resource, text: str) -> Sort:
    """Read `field` or `-field`; raise InvalidCondition for what cannot be sorted by."""
    name = text.removeprefix("-")
    if name not in resource.fields or not is_sortable(resource.fields[name]):
        sortable = [n for n, column in resource.fields.items() if is_sortable(column)]
        raise InvalidCondition(
            f"There is no sorting by '{name[:50]}'.",
            hint=f"Sort by one of: {', '.join(sorted(sortable))}.",
        )
    return Sort(name, text.startswith("-"))


def is_sortable(column: InstrumentedAttribute[Any]) -> bool:
    """Say whether a column has an order people understand."""
    return not isinstance(column.type, (ARRAY, JSONB))


async def read_page(
    connection: AsyncConnection,
    resource: Resource,
    question: Question,
    *,
    limit: int,
    after: Place | None = None,
) -> Page:
    """Read one page, and count on the first one what all of them have."""
    if after is None:
        rows, count, is_exact = await begin(connection, resource, question, limit)
    else:
        rows = await go_on(connection, resource, question, limit, after)
        count, is_exact = after.count, after.is_exact
    if len(rows) <= limit:
        return Page(rows, count, is_exact, None)
    last = rows[limit - 1]
    key = getattr(last, question.sort.field)
    return Page(rows[:limit], count, is_exact, Place(key, last.id, count, is_exact))


async def begin(
    connection: AsyncConnection, resource: Resource, question: Question, limit: int
) -> tuple[Sequence[Shown], int, bool]:
    """Read the first page; return also how many rows there are, and if that is exact."""
    if question.is_narrowed:
        # Few rows are found first and sorted then: to walk the order of the list in
        # the hope of meeting them could mean to walk all of it.
        rows, count = await sparse(connection, resource, question, limit, None)
        if count <= COUNTED:
            return rows, count, True
    else:
        count = await counted(connection, resource, question)
    rows = await dense(connection, resource, question, limit, None) if count else []
    if count <= COUNTED:
        return rows, count, True
    return rows, await estimated(connection, resource, question), False


async def go_on(
    connection: AsyncConnection,
    resource: Resource,
    question: Question,
    limit: int,
    after: Place,
) -> Sequence[Shown]:
    """Read a further page the way the first one was read."""
    if question.is_narrowed and after.is_exact:
        rows, _ = await sparse(connection, resource, question, limit, after)
        return rows
    return await dense(connection, resource, question, limit, after)


def wanted(resource: Resource, question: Question) -> ColumnElement[bool]:
    """Translate what the list shows into SQL."""
    return and_(
        resource.model.tenant_id == question.tenant_id,
        where(resource.kind, question.conditions),
        matches(resource.kind, question.words),
    )


def shown_columns(
    resource: Resource, question: Question | None = None
) -> list[ColumnElement[Any]]:
    """Select what is shown of a record."""
    shown: dict[str, Any] = {
        **resource.fields,
        **{name: value.label(name) for name, value in resource.extras.items()},
    }
    if question is None or question.columns is None:
        return [*shown.values()]
    needed = dict.fromkeys(("id", question.sort.field, *question.columns))
    return [shown[name] for name in needed]


async def sparse(
    connection: AsyncConnection,
    resource: Resource,
    question: Question,
    limit: int,
    after: Place | None,
) -> tuple[Sequence[Shown], int]:
    """Find all matching rows, up to what is counted, and sort those."""
    model, key = resource.model, resource.fields[question.sort.field]
    inner = select(model.id, key.label("key")).where(wanted(resource, question))
    if after is None:
        inner = inner.limit(COUNTED + 1)
    found = inner.cte("found").prefix_with("MATERIALIZED")
    count = select(func.count()).select_from(found).scalar_subquery()
    order = (
        (found.c.key.desc().nulls_last(), found.c.id.desc())
        if question.sort.is_descending
        else (found.c.key.asc().nulls_last(), found.c.id.asc())
    )
    query = select(found.c.id, count.label("found")).order_by(*order).limit(limit + 1)
    if after is not None:
        query = query.where(beyond(found.c.key, found.c.id, question.sort, after))
    listed = (await connection.execute(query)).all()
    if not listed:
        return [], 0
    if after is None and listed[0].found > COUNTED:
        return [], listed[0].found
    return (
        await rows_by_id(connection, resource, [row.id for row in listed], question),
        listed[0].found,
    )


async def rows_by_id(
    connection: AsyncConnection,
    resource: Resource,
    ids: Sequence[UUID],
    question: Question | None = None,
) -> list[Shown]:
    """Read records in the order of these ids; who is gone meanwhile is left out."""
    query = select(*shown_columns(resource, question)).where(
        resource.model.id == func.any(literal(list(ids)))
    )
    found = {row.id: row for row in await connection.execute(query)}
    return [found[row_id] for row_id in ids if row_id in found]


async def dense(
    connection: AsyncConnection,
    resource: Resource,
    question: Question,
    limit: int,
    after: Place | None,
) -> Sequence[Shown]:
    """Walk the order of the list from where the last page ended."""
    key = resource.fields[question.sort.field]
    query = select(*shown_columns(resource, question))
    query = query.where(wanted(resource, question))
    if not key.property.columns[0].nullable:
        walk = ordered(query, resource, question.sort, after)
        return [*(await connection.execute(walk.limit(limit + 1)))]
    # What is unknown comes last, as a list of its own: no index range holds both.
    rows: list[Shown] = []
    if after is None or after.key is not None:
        known = ordered(query.where(key.is_not(None)), resource, question.sort, after)
        rows = [*(await connection.execute(known.limit(limit + 1)))]
        after = None
    if len(rows) <= limit:
        unknown = query.where(key.is_(None))
        by_id = Sort("id", question.sort.is_descending)
        walk = ordered(unknown, resource, by_id, after)
        rows += (await connection.execute(walk.limit(limit + 1 - len(rows)))).all()
    return rows


def ordered(
    query: Select[Any], resource: Resource, sort: Sort, after: Place | None
) -> Select[Any]:
    """Put rows in order, from a place on; an index on key and id serves both."""
    key, row_id = resource.fields[sort.field], resource.model.id
    columns = (row_id,) if sort.field == "id" else (key, row_id)
    order = [c.desc() if sort.is_descending else c.asc() for c in columns]
    if after is None:
        return query.order_by(*order)
    values = (
        (literal(after.id),)
        if sort.field == "id"
        else (literal(after.key, key.type), literal(after.id))
    )
    here, there = tuple_(*columns), tuple_(*values)
    is_beyond = here < there if sort.is_descending else here > there
    return query.where(is_beyond).order_by(*order)


def beyond(
    key: ColumnElement[Any], row_id: ColumnElement[Any], sort: Sort, after: Place
) -> ColumnElement[bool]:
    """Match what comes after a place where the unknown comes last."""
    row = literal(after.id)
    further = row_id < row if sort.is_descending else row_id > row
    if after.key is None:
        return and_(key.is_(None), further)
    at = literal(after.key, key.type)
    past = key < at if sort.is_descending else key > at
    return or_(past, and_(key == at, further), key.is_(None))


async def counted(
    connection: AsyncConnection, resource: Resource, question: Question
) -> int:
    """Count the rows of a list, and stop a little beyond what is told exactly."""
    some = (
        select(literal(1)).where(wanted(resource, question)).limit(COUNTED + 1)
    ).subquery()
    found = await connection.scalar(select(func.count()).select_from(some))
    return int(found or 0)


async def estimated(
    connection: AsyncConnection, resource: Resource, question: Question
) -> int:
    """Ask the planner how many rows a long list has."""
    query = select(resource.model.id).where(wanted(resource, question))
    plan = await connection.scalar(Explain(query))
    return max(int(plan[0]["Plan"]["Plan Rows"]), COUNTED + 1)


def read_key(column: InstrumentedAttribute[Any], key: Any) -> Any:  # noqa: ANN401
    """Read a sort key as `text_key` wrote it."""
    # A text of a record may be longer than one that people look for.
    if key is None or (not isinstance(column.type, ENUM) and is_text(column)):
        return key
    try:
        return converted(column, key)
    except InvalidCondition:
        raise InvalidCursor("The cursor is of another version.") from None


def is_text(column: InstrumentedAttribute[Any]) -> bool:
    """Say whether a column holds plain text."""
    return column.type.python_type is str


def text_key(key: Any) -> Any:  # noqa: ANN401 - a value of any column
    """Write a sort key so that it reads back as exactly the same value."""
    match key:
        case StrEnum():
            return key.value
        case datetime():
            return key.isoformat()
        case UUID() | Decimal():
            return str(key)
    return key
