"""The statements that lists are read with, written once for every list of one shape."""

from collections.abc import Hashable
from typing import Any, Final

from cachetools import LRUCache, cached
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Enum,
    Float,
    Integer,
    Select,
    Subquery,
    Text,
    Uuid,
    and_,
    bindparam,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.visitors import iterate
from typing_extensions import override

from scrapersky.api.records.list_query import (
    FIRST_SORT,
    CursorPosition,
    ListQuery,
    Sort,
    meant_by,
    wanted,
)
from scrapersky.api.schema import COUNTED_ROWS
from scrapersky.compat.sqlalchemy import moved_to
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Condition
from scrapersky.curation.search import matches
from scrapersky.records.kind import Kind

LONGEST_REMEMBERED: Final = 4_096
"""Bytes of the name of a list whose statements are kept."""
TOTAL: Final = "list_total"
"""The last column of rows that were counted as they were read."""
PLACE: Final = "list_place"
"""What puts a row in its place, where that is nothing people read."""
StatementName = tuple[bytes, *tuple[Hashable, ...]]
"""What narrows the list, and all else that a statement differs by."""


def shown_columns(
    resource: Kind,
    columns: tuple[str, ...] | None = None,
    sort: Sort = FIRST_SORT,
) -> list[ColumnElement[Any]]:
    """Select what is shown of a record, and what its place in a list is known by."""
    shown: dict[str, Any] = {
        **{name: as_text(name, column) for name, column in resource.fields.items()},
        **more_columns(resource),
    }
    place = [
        column.label(PLACE)
        for name, column in resource.orders.items()
        if name == sort.field
    ]
    if columns is None:
        return [*shown.values(), *place]
    needed = dict.fromkeys(("id", sort.field, *columns))
    return [*(shown[name] for name in needed), *place]


def more_columns(resource: Kind) -> dict[str, ColumnElement[Any]]:
    """Select what is shown of a record beside its own columns, or in their place."""
    return {name: value.label(name) for name, value in resource.extras.items()}


def as_text(name: str, column: InstrumentedAttribute[Any]) -> Any:  # noqa: ANN401 - either
    """Select a status as the text that it is: pages of a list are written as they are."""
    if isinstance(column.type, Enum):
        return type_coerce(column, Text).label(name)
    return column


def place_name(resource: Kind, sort: Sort) -> str:
    """Return the column of a row that its place in a list is known by."""
    return PLACE if sort.field in resource.orders else sort.field


def in_order(resource: Kind, list_query: ListQuery, limit: int) -> Select[Any]:
    """Select the ids of the first page, for the planner to say how it would go."""
    key = resource.order_of(list_query.sort.field)
    query = select(resource.record.id).where(wanted(resource, list_query))
    if is_nullable(resource, list_query.sort):
        query = query.where(key.is_not(None))
    return in_its_order(query, resource, list_query.sort).limit(limit + 1)


def decided_in(resource: Kind) -> str | None:
    """Return the column that people decide in, by which lists have an index."""
    return resource.decision.column.key if resource.decision else None


class StatementCache(LRUCache[StatementName, Select[Any]]):
    """Statements by the names of their lists; those with thousands of values are not kept."""

    @override
    def __setitem__(self, key: StatementName, value: Select[Any], **named: Any) -> None:
        if len(key[0]) <= LONGEST_REMEMBERED:
            super().__setitem__(key, value, **named)


def list_name(
    resource: Kind, list_query: ListQuery, most: int, **how: Hashable
) -> StatementName:
    """Name a query for a list among those that were written before."""
    rest: tuple[Hashable, ...] = (list_query.columns, most, *how.values())
    return (list_query.name(resource), *rest)


# To write a statement of forty columns takes as long as to run it.
@cached(StatementCache(500), key=list_name)
def scan_top(
    resource: Kind, list_query: ListQuery, most: int, *, is_by_status: bool, among: int
) -> Select[Any]:
    """Write the query for the first rows among those at the top of a list."""
    model, sort = resource.record, list_query.sort
    key = resource.order_of(sort.field)
    inside: list[Condition] = []
    outside: list[Condition] = []
    for condition in list_query.conditions:
        is_led_by = (
            is_by_status
            and not condition.alternatives
            and condition.field == decided_in(resource)
        )
        (inside if is_led_by else outside).append(condition)
    meant = and_(where(resource, outside), matches(resource, list_query.words))
    names = {"id", key.key, *names_in(meant)}
    top = in_its_order(
        select(*(c for c in model.__table__.c if c.name in names)).where(
            model.tenant_id == list_query.tenant_id,
            where(resource, inside),
            key.is_not(None),
        ),
        resource,
        sort,
    )
    # A limit below the filter keeps the planner from looking at more.
    near = top.limit(among).subquery("near")
    found = (
        select(near.c.id, near.c[key.key].label("place"))
        .where(moved_to(near, meant))
        .order_by(*ways(sort, near.c[key.key], near.c.id))
        .limit(most)
        .subquery("found")
    )
    return with_columns(resource, list_query, found)


def with_columns(
    resource: Kind, list_query: ListQuery, found: Subquery, *more: ColumnElement[Any]
) -> Select[Any]:
    """Write the query for what is shown of the records whose ids were found."""
    columns = shown_columns(resource, list_query.columns, list_query.sort)
    return (
        select(*columns, *more)
        .join_from(found, resource.record, resource.record.id == found.c.id)
        .order_by(*unknown_last(list_query.sort, found.c.place, found.c.id))
    )


def ways(sort: Sort, *columns: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    """Order by these columns, the way a list is sorted."""
    return [c.desc() if sort.is_descending else c.asc() for c in columns]


def unknown_last(
    sort: Sort, key: ColumnElement[Any], row_id: ColumnElement[Any]
) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Order by key and id, where the key may be unknown: no index serves it."""
    first, second = ways(sort, key, row_id)
    return first.nulls_last(), second


def names_in(clause: ColumnElement[bool]) -> set[str]:
    """Return the names of the columns that a clause asks about."""
    return {part.name for part in iterate(clause) if isinstance(part, Column)}


@cached(StatementCache(500), key=list_name)
def find_all(
    resource: Kind, list_query: ListQuery, most: int, *, after: CursorPosition | None
) -> Select[Any]:
    """Write the query that finds rows in any order, up to what is counted, and sorts."""
    model, key = resource.record, resource.order_of(list_query.sort.field)
    inner = select(model.id, key.label("place")).where(wanted(resource, list_query))
    if after is None:
        inner = inner.limit(COUNTED_ROWS + 1)
    matching = inner.cte("matching").prefix_with("MATERIALIZED")
    place, row_id = matching.c.place, matching.c.id
    query = select(row_id, place).order_by(
        *unknown_last(list_query.sort, place, row_id)
    )
    if after is not None:
        query = query.where(beyond(place, row_id, list_query.sort, after))
    count = select(func.count()).select_from(matching).scalar_subquery()
    found = query.limit(most).subquery("found")
    return with_columns(resource, list_query, found, count.label(TOTAL))


@cached(LRUCache(500), key=lambda resource: resource.name)
def by_id(resource: Kind) -> Select[Any]:
    """Write the query for records of these ids."""
    ids = bindparam("ids", type_=ARRAY(Uuid()))
    shown: dict[str, Any] = {**resource.fields, **more_columns(resource)}
    return select(*shown.values()).where(resource.record.id == func.any(ids))


def walk_name(
    resource: Kind,
    list_query: ListQuery,
    most: int,
    *,
    is_known: bool,
    is_begun: bool,
    at_least: float | None = None,
) -> StatementName:
    """Name a walk among those that were written before."""
    narrowed = list_query.name(resource) if list_query.is_narrowed else b""
    what = (resource.name, list_query.sort, list_query.columns)
    return narrowed, *what, most, is_known, is_begun, at_least


# To write a statement of forty columns takes as long as to run it.
@cached(StatementCache(500), key=walk_name)
def walk(
    resource: Kind,
    list_query: ListQuery,
    most: int,
    *,
    is_known: bool,
    is_begun: bool,
    at_least: float | None = None,
) -> Select[Any]:
    """Write the query for one walk; an index on key and id serves it."""
    sort = list_query.sort
    key, row_id = resource.order_of(sort.field), resource.record.id
    query = select(*shown_columns(resource, list_query.columns, sort)).where(
        resource.record.tenant_id == bindparam("tenant", type_=Uuid())
    )
    if list_query.is_narrowed:
        query = query.where(meant_by(resource, list_query))
    order: tuple[Any, ...] = (key, row_id)
    values: tuple[ColumnElement[Any], ...] = (
        bindparam("key", type_=key.type),
        bindparam("id", type_=Uuid()),
    )
    if is_nullable(resource, sort):
        query = query.where(key.is_not(None) if is_known else key.is_(None))
    if at_least is not None:
        # As a number: the planner must see that the index of the top has them all.
        query = query.where(key >= literal_column(str(at_least), Float))
    if not is_known or sort.field == "id":
        order, values = order[1:], values[1:]
    if is_begun:
        here, there = tuple_(*order), tuple_(*values)
        query = query.where(here < there if sort.is_descending else here > there)
    # As a number, not as a parameter: a plan for any number of rows would sort them all.
    return query.order_by(*ways(sort, *order)).limit(literal_column(str(most), Integer))


@cached(LRUCache(500), key=lambda resource, sort: (resource.name, sort.field))
def is_nullable(resource: Kind, sort: Sort) -> bool:
    """Say whether a list has rows whose sort key is unknown."""
    return bool(resource.order_of(sort.field).property.columns[0].nullable)


def in_its_order(query: Select[Any], resource: Kind, sort: Sort) -> Select[Any]:
    """Put rows in the order of a list, which an index on key and id serves."""
    columns: tuple[Any, ...] = (resource.order_of(sort.field), resource.record.id)
    if sort.field == "id":
        columns = columns[1:]
    return query.order_by(*ways(sort, *columns))


def beyond(
    key: ColumnElement[Any],
    row_id: ColumnElement[Any],
    sort: Sort,
    after: CursorPosition,
) -> ColumnElement[bool]:
    """Match what comes after a place where the unknown comes last."""
    row = literal(after.id)
    further = row_id < row if sort.is_descending else row_id > row
    if after.key is None:
        return and_(key.is_(None), further)
    at = literal(after.key, key.type)
    past = key < at if sort.is_descending else key > at
    return or_(past, and_(key == at, further), key.is_(None))


def countable(meant: ColumnElement[bool]) -> Select[Any]:
    """Select a row for each record that is meant, up to what is counted."""
    return select(literal(1)).where(meant).limit(COUNTED_ROWS + 1)
