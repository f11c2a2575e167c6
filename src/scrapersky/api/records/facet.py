"""What values the records of a list have, and how many each; what can be asked."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.list_query import ListQuery, is_sortable, wanted
from scrapersky.api.records.schema import FacetValue, FieldOut, field_type
from scrapersky.companies.own_column import OwnColumn
from scrapersky.curation.condition import OF_LINKED, OWN, Attribute, Comparison
from scrapersky.errors import InvalidCondition
from scrapersky.records.kind import Kind
from scrapersky.records.status import OwnType

MOST_VALUES = 50
TEXT_ONLY = (Comparison.CONTAINS, Comparison.STARTS_WITH)
RANGES = (Comparison.AT_LEAST, Comparison.AT_MOST)
PRESENCE = (Comparison.KNOWN, Comparison.UNKNOWN)
EQUALITY = (Comparison.EQUAL, Comparison.NOT_EQUAL)
OF_OWN: Final = {
    OwnType.TEXT: (*TEXT_ONLY, *EQUALITY, *PRESENCE),
    OwnType.NUMBER: (*RANGES, *EQUALITY, *PRESENCE),
    OwnType.DATE: (*RANGES, *EQUALITY, *PRESENCE),
    OwnType.CHOICE: (*EQUALITY, Comparison.ONE_OF, *PRESENCE),
}


def read_facets(resource: Kind, text: str) -> tuple[str, ...]:
    """Read which fields are asked about; raise InvalidCondition for one of many values."""
    names = tuple(dict.fromkeys(text.split(","))) if text else resource.facets
    unknown = [name for name in names if name not in resource.facets]
    if unknown:
        raise InvalidCondition(
            f"'{unknown[0][:50]}' is not a field of few values.",
            hint=f"Choose of: {', '.join(resource.facets)}.",
        )
    return names


async def count_values(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    names: Sequence[str],
) -> dict[str, list[FacetValue]]:
    """Count the most frequent values of each field."""
    found = {}
    for name in names:
        column = resource.fields[name]
        value = func.unnest(column) if isinstance(column.type, ARRAY) else column
        inner = select(value.label("value")).where(wanted(resource, list_query))
        values = inner.subquery()
        rows = await connection.execute(
            select(values.c.value, func.count().label("found"))
            .group_by(values.c.value)
            .order_by(func.count().desc(), values.c.value)
            .limit(MOST_VALUES)
        )
        found[name] = [FacetValue(value=row.value, count=row.found) for row in rows]
    return found


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


def comparisons_of(column: Attribute) -> list[Comparison]:
    """Return the comparisons that mean something for a column."""
    match column.type:
        case JSONB():
            return [*PRESENCE]
        case ARRAY():
            return [
                Comparison.EQUAL,
                Comparison.NOT_EQUAL,
                Comparison.CONTAINS,
                *PRESENCE,
            ]
        case ENUM():
            return [c for c in Comparison if c not in (*TEXT_ONLY, *RANGES)]
        case kind if kind.python_type is str:
            return [*Comparison]
    return [c for c in Comparison if c not in TEXT_ONLY]
