"""Lists of any size, page by page, in any order, while rows come, change and go.

A page begins after the sort key and id of the last row of the one before, so it costs
the same at row 50 and at row 900,000, and a row that does not change is shown once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
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
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.util import ClauseAdapter
from sqlalchemy.sql.visitors import iterate

from scrapersky.api.records.question import Known, Place, Question, Sort, wanted
from scrapersky.curation.condition import Condition, where
from scrapersky.curation.search import matches
from scrapersky.db.explain import Plan, planned
from scrapersky.records.kind import Kind

COUNTED = 10_000
"""Rows that are counted exactly; beyond, nobody reads to the end."""
LOOKED_AT = 20_000
"""Rows at the top of a list among which a page of matches must be, or they are rare."""
CHEAP = 2_000.0
"""What counting may cost, where reading a page of a table in order costs 1."""

Shown = Row[Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a list, what is known of all of it, and where to go on."""

    rows: Sequence[Shown]
    known: Known
    next: Place | None


async def read_page(
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    *,
    limit: int,
    after: Place | None = None,
) -> Page:
    """Read one page, and count on the first one what all of them have."""
    if after is None:
        rows, known = await begin(connection, resource, question, limit)
    else:
        known = after.known
        read = found_rows if known.is_rare else walked_rows
        rows = await read(connection, resource, question, limit, after)
    if len(rows) <= limit:
        return Page(rows, known, None)
    last = rows[limit - 1]
    key = getattr(last, question.sort.field)
    return Page(rows[:limit], known, Place(key, last.id, known))


async def begin(
    connection: AsyncConnection, resource: Kind, question: Question, limit: int
) -> tuple[Sequence[Shown], Known]:
    """Read the first page, by the way that reads the fewest rows, and count the list."""
    if question.is_narrowed:
        plan = await planned(connection, in_order(resource, question, limit))
        rows: Sequence[Shown] = []
        if not plan.sorts:
            rows = await near_rows(connection, resource, question, limit, plan)
        if len(rows) <= limit:
            # To walk on in the hope of meeting rare rows could mean to walk all of it.
            rows, count = await rare_rows(connection, resource, question, limit)
            if count <= COUNTED:
                return rows, Known(count, is_exact=True, is_rare=True)
            rows = await walked_rows(connection, resource, question, limit)
    else:
        rows = await walked_rows(connection, resource, question, limit)
    return rows, await counted(connection, resource, question, rows, limit)


def shown_columns(
    resource: Kind, question: Question | None = None
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


def in_order(resource: Kind, question: Question, limit: int) -> Select[Any]:
    """Select the ids of the first page, for the planner to say how it would go."""
    key = resource.fields[question.sort.field]
    query = select(resource.record.id).where(wanted(resource, question))
    if key.property.columns[0].nullable:
        query = query.where(key.is_not(None))
    return ordered(query, resource, question.sort, None).limit(limit + 1)


def decided_in(resource: Kind) -> str | None:
    """Return the column that people decide in, by which lists have an index."""
    return resource.decision.column.key if resource.decision else None


async def near_rows(
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    limit: int,
    plan: Plan,
) -> Sequence[Shown]:
    """Walk the order of the list, but not far: fewer rows than asked mean it was far."""
    if plan.reads_matches_only:
        return await walked_rows(connection, resource, question, limit)
    model, key = resource.record, resource.fields[question.sort.field]
    inside: list[Condition] = []
    outside: list[Condition] = []
    for condition in question.conditions:
        is_led_by = plan.is_by_status and condition.field == decided_in(resource)
        (inside if is_led_by else outside).append(condition)
    meant = and_(where(resource, outside), matches(resource, question.words))
    names = {"id", key.key, *names_in(meant)}
    top = ordered(
        select(*(c for c in model.__table__.c if c.name in names)).where(
            model.tenant_id == question.tenant_id,
            where(resource, inside),
            key.is_not(None),
        ),
        resource,
        question.sort,
        None,
    )
    near = top.limit(LOOKED_AT).subquery("near")
    # A limit below the filter keeps the planner from looking at more.
    query = select(near.c.id).where(ClauseAdapter(near).traverse(meant))
    order = (near.c[key.key], near.c.id)
    if question.sort.is_descending:
        query = query.order_by(*(column.desc() for column in order))
    else:
        query = query.order_by(*order)
    ids = (await connection.scalars(query.limit(limit + 1))).all()
    if len(ids) <= limit:
        return []
    return await rows_by_id(connection, resource, ids, question)


def names_in(clause: ColumnElement[bool]) -> set[str]:
    """Return the names of the columns that a clause asks about."""
    return {part.name for part in iterate(clause) if isinstance(part, Column)}


async def rare_rows(
    connection: AsyncConnection, resource: Kind, question: Question, limit: int
) -> tuple[Sequence[Shown], int]:
    """Find all matching rows, sort those, and count them; none if they are not rare."""
    listed, count = await found(connection, resource, question, limit, None)
    if count > COUNTED:
        return [], count
    return await rows_by_id(connection, resource, listed, question), count


async def found_rows(
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    limit: int,
    after: Place,
) -> Sequence[Shown]:
    """Find all matching rows again, and go on in their order."""
    listed, _ = await found(connection, resource, question, limit, after)
    return await rows_by_id(connection, resource, listed, question)


async def found(
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    limit: int,
    after: Place | None,
) -> tuple[Sequence[UUID], int]:
    """Find matching rows in any order, up to what is counted, and sort those."""
    model, key = resource.record, resource.fields[question.sort.field]
    inner = select(model.id, key.label("key")).where(wanted(resource, question))
    if after is None:
        inner = inner.limit(COUNTED + 1)
    matching = inner.cte("matching").prefix_with("MATERIALIZED")
    count = select(func.count()).select_from(matching).scalar_subquery()
    order = (
        (matching.c.key.desc().nulls_last(), matching.c.id.desc())
        if question.sort.is_descending
        else (matching.c.key.asc().nulls_last(), matching.c.id.asc())
    )
    query = select(matching.c.id, count.label("total")).order_by(*order)
    if after is not None:
        query = query.where(beyond(matching.c.key, matching.c.id, question.sort, after))
    listed = (await connection.execute(query.limit(limit + 1))).all()
    return [row.id for row in listed], listed[0].total if listed else 0


async def rows_by_id(
    connection: AsyncConnection,
    resource: Kind,
    ids: Sequence[UUID],
    question: Question | None = None,
) -> list[Shown]:
    """Read records in the order of these ids; who is gone meanwhile is left out."""
    query = select(*shown_columns(resource, question)).where(
        resource.record.id == func.any(literal(list(ids)))
    )
    found = {row.id: row for row in await connection.execute(query)}
    return [found[row_id] for row_id in ids if row_id in found]


async def walked_rows(
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    limit: int,
    after: Place | None = None,
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
    query: Select[Any], resource: Kind, sort: Sort, after: Place | None
) -> Select[Any]:
    """Put rows in order, from a place on; an index on key and id serves both."""
    key, row_id = resource.fields[sort.field], resource.record.id
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
    connection: AsyncConnection,
    resource: Kind,
    question: Question,
    rows: Sequence[Shown],
    limit: int,
) -> Known:
    """Count a list that is walked: exactly if that is cheap, or else as planned."""
    if len(rows) <= limit:
        return Known(len(rows), is_exact=True)
    some = select(literal(1)).where(wanted(resource, question)).limit(COUNTED + 1)
    plan = await planned(connection, some)
    if plan.cost <= CHEAP:
        count = await connection.scalar(
            select(func.count()).select_from(some.subquery())
        )
        if int(count or 0) <= COUNTED:
            return Known(int(count or 0), is_exact=True)
    return Known(max(plan.rows, len(rows)), is_exact=False)
