"""What values the records of a list have, and how many each; what can be asked."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    cast,
    func,
    literal,
    literal_column,
    null,
    select,
    tablesample,
    text,
    true,
    union_all,
)
from sqlalchemy import Text as TextType
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.list_query import ListQuery, is_sortable, wanted
from scrapersky.api.records.list_statement import countable
from scrapersky.api.records.listing import COUNTING_COST, PLAN_ANEW
from scrapersky.api.records.schema import Facets, FacetValue, FieldOut, field_type
from scrapersky.api.schema import COUNTED_ROWS
from scrapersky.companies.own_column import OwnColumn
from scrapersky.compat.sqlalchemy import moved_to
from scrapersky.curation.clause import (
    EQUALITY,
    OF_LINKED,
    OWN,
    PRESENCE,
    RANGES,
    SEPARATORS,
    TEXT_ONLY,
    comparisons_of,
    fold_code,
    text_of,
)
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.db.explain import query_plan
from scrapersky.errors import InvalidCondition
from scrapersky.records.kind import Kind
from scrapersky.records.status import OwnType

MOST_VALUES = 50
COUNTED_WHOLE = 50_000
"""Records that are all counted; of a longer list, a sample is."""
SURELY_MANY = 60_000
"""Records expected of a list that is not worth counting up to there."""
SAMPLED_ROWS = 50_000
"""Rows of a table that are read for a sample."""
ROWS_OF: Final = text(
    "SELECT reltuples::float8 FROM pg_class WHERE oid = CAST(:table AS text)::regclass"
)
OF_OWN: Final = {
    OwnType.TEXT: (*TEXT_ONLY, *EQUALITY, *PRESENCE),
    OwnType.NUMBER: (*RANGES, *EQUALITY, *PRESENCE),
    OwnType.DATE: (*RANGES, *EQUALITY, *PRESENCE),
    OwnType.CHOICE: (*EQUALITY, Comparison.ONE_OF, *PRESENCE),
}


def read_facets(resource: Kind, text: str) -> tuple[str, ...]:
    """Read which fields are asked about; raise InvalidCondition for one of many values."""
    names = tuple(dict.fromkeys(text.split(","))) if text else resource.facets
    known = [*dict.fromkeys((*resource.facets, *resource.values))]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidCondition(
            f"'{unknown[0][:50]}' is not a field of few values.",
            hint=f"Choose of: {', '.join(known)}.",
        )
    return names


async def count_values(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    names: Sequence[str],
    words: str = "",
) -> Facets:
    """Count the most frequent values of each field, in a sample if the list is long.

    With words, only the values that people read them in.
    """
    await connection.execute(PLAN_ANEW)
    meant = wanted(resource, list_query)
    plan = await query_plan(connection, countable(meant))
    if plan.rows <= SURELY_MANY:
        some = part_of(None, resource, meant, names).limit(COUNTED_WHOLE + 1)
        count, found = await count_in(connection, some, names, words)
        if count <= COUNTED_WHOLE:
            return Facets(facets=found, is_exact=True)
    share, found = await count_in_sample(connection, resource, meant, names, words)
    for name in names:
        scaled = [
            FacetValue(value=one.value, count=round(one.count / share))
            for one in found[name]
        ]
        found[name] = await with_rare(connection, resource, list_query, name, scaled)
    return Facets(facets=found, is_exact=False)


def part_of(
    source: FromClause | None,
    resource: Kind,
    meant: ColumnElement[bool],
    names: Sequence[str],
) -> Select[Any]:
    """Select what is counted of the records that are meant: of all, or of a source's."""
    found = [*(value_of(resource, name) for name in names), meant]
    if source is not None:
        found = [moved_to(source, one) for one in found]
    *values, meant = found
    columns = [value.label(name) for name, value in zip(names, values, strict=True)]
    return select(*columns).where(meant)


def value_of(resource: Kind, name: str) -> ColumnElement[Any]:
    """Return what a record has of a field."""
    if name in resource.values:
        return resource.values[name]
    column: ColumnElement[Any] = resource.record.__table__.c[resource.fields[name].key]
    return column


async def count_in(
    connection: AsyncConnection, query: Select[Any], names: Sequence[str], words: str
) -> tuple[int, dict[str, list[FacetValue]]]:
    """Read records once; return how many there are, and the values of each field."""
    part = query.cte("part").prefix_with("MATERIALIZED")
    nothing = cast(null(), JSONB)
    whole = select(literal("").label("name"), nothing.label("value"), func.count())
    counts = [whole.select_from(part)]
    for name in names:
        column = part.c[name]
        value = func.unnest(column) if isinstance(column.type, ARRAY) else column
        values = select(value.label("value")).subquery()
        counts.append(
            select(literal(name), func.to_jsonb(values.c.value), func.count())
            .where(has_words(values.c.value, words))
            .group_by(values.c.value)
            .order_by(func.count().desc(), values.c.value)
            .limit(MOST_VALUES)
        )
    rows = (await connection.execute(union_all(*counts))).all()
    found: dict[str, list[FacetValue]] = {name: [] for name in names}
    total = 0
    for name, value, count in rows:
        if name:
            found[name].append(FacetValue(value=value, count=count))
        else:
            total = count
    return total, found


async def count_in_sample(
    connection: AsyncConnection,
    resource: Kind,
    meant: ColumnElement[bool],
    names: Sequence[str],
    words: str,
) -> tuple[float, dict[str, list[FacetValue]]]:
    """Count in blocks chosen at random; return which share of the table they are."""
    table = resource.record.__table__
    rows = await connection.scalar(ROWS_OF, {"table": table.fullname})
    share = min(1.0, SAMPLED_ROWS / max(float(rows or 0), 1.0))
    blocks = tablesample(table, func.system(literal_column(f"{share * 100:.9f}")))
    query = part_of(blocks, resource, meant, names)
    _, found = await count_in(connection, query, names, words)
    return share, found


def has_words(value: ColumnElement[Any], words: str) -> ColumnElement[bool]:
    """Match values that people read these words in, whatever stands between them."""
    if not words:
        return true()
    read = func.translate(cast(value, TextType), SEPARATORS, "")
    return read.icontains(fold_code(text_of(words)), autoescape=True)


async def with_rare(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    name: str,
    sampled: list[FacetValue],
) -> list[FacetValue]:
    """Count the rare values of a status one by one: a sample has none or too many."""
    column = resource.fields.get(name)
    if column is None or not isinstance(column.type, ENUM):
        return sampled
    counts = {one.value: one.count for one in sampled}
    for value in column.type.enums:
        if counts.get(value, 0) > COUNTED_ROWS:
            continue
        only = Condition(field=name, comparison=Comparison.EQUAL, value=value)
        narrowed = replace(list_query, conditions=(*list_query.conditions, only))
        rows = countable(wanted(resource, narrowed))
        if (await query_plan(connection, rows)).cost <= COUNTING_COST:
            count = select(func.count()).select_from(rows.subquery())
            counts[value] = int(await connection.scalar(count) or 0)
    found = [FacetValue(value=value, count=n) for value, n in counts.items() if n]
    return sorted(found, key=lambda one: -one.count)


def describe_fields(resource: Kind) -> list[FieldOut]:
    """Report what lists of this kind can be filtered and sorted by."""
    linked = [
        FieldOut(
            name=name,
            type=field_type(link.column),
            values=None,
            comparisons=[
                each.value for each in comparisons_of(link.column) if each in OF_LINKED
            ],
            sortable=False,
        )
        for name, link in resource.linked.items()
    ]
    return linked + [
        FieldOut(
            name=name,
            type=field_type(column),
            values=list(column.type.enums) if isinstance(column.type, ENUM) else None,
            comparisons=[each.value for each in comparisons_of(column)],
            sortable=is_sortable(column),
        )
        for name, column in resource.fields.items()
    ]


def describe_own(columns: Iterable[OwnColumn]) -> list[FieldOut]:
    """Tell what lists can be filtered by that the tenant has added itself."""
    return [
        FieldOut(
            name=f"{OWN}.{column.name}",
            title=column.title,
            type="text" if column.type is OwnType.CHOICE else column.type.value,
            values=column.choices or None,
            comparisons=[each.value for each in OF_OWN[column.type]],
            sortable=False,
        )
        for column in columns
    ]
