"""What a list is asked for, as it stands in a URL."""

import re
from typing import Annotated, Final

from fastapi import Query
from pydantic import Field

from scrapersky.api.auth.identity import Identity
from scrapersky.api.field import FilterTexts, ListCursor
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort
from scrapersky.api.records.schema import LONGEST_WORDS, Strict
from scrapersky.curation.condition import (
    Comparison,
    Condition,
    read_conditions,
)
from scrapersky.errors import InvalidCondition
from scrapersky.records.kind import Kind

MOST_ROWS = 200
NEEDS_NO_VALUE = (Comparison.KNOWN, Comparison.UNKNOWN)
OR: Final = re.compile(rf"\|(?=[a-z0-9_.]+:(?:{'|'.join(Comparison)})(?::|\||$))")
"""Between alternatives; a bar before anything else belongs to the value."""


class Narrowed(Strict):
    """Which records are meant, the same in lists, facets and exports."""

    filter: FilterTexts = Field(
        [],
        description="FIELD:COMPARISON[:VALUE], all of them must hold; values of "
        "`one_of` are separated by commas, alternatives of which one must hold by `|`. "
        "`fields` of the same kind lists the fields.",
        examples=[["status:equal:New", "rating:at_least:4|reviews_count:at_least:50"]],
    )
    q: str | None = Field(
        None, max_length=LONGEST_WORDS, description="Words, all of which must occur."
    )


class Sorted(Narrowed):
    """Which records, in which order."""

    sort: str = Field(
        DEFAULT_SORT,
        max_length=60,
        description="A field; with - before it the other way round.",
    )


class Listed(Sorted):
    """Which page of which list."""

    limit: int = Field(50, ge=1, le=MOST_ROWS)
    cursor: ListCursor | None = Field(
        None, description="`next_cursor` of the page before, with the same filters."
    )


ListedBy = Annotated[Listed, Query()]


def list_query_of(who: Identity, resource: Kind, asked: Narrowed) -> ListQuery:
    """Read what is asked for, or raise what is wrong with it."""
    sort = asked.sort if isinstance(asked, Sorted) else DEFAULT_SORT
    return ListQuery(
        tenant_id=who.tenant_id,
        conditions=read_filters(asked.filter),
        words=asked.q or None,
        sort=read_sort(resource, sort),
    )


def read_filters(filters: list[str]) -> tuple[Condition, ...]:
    """Read `rating:at_least:4` and the like."""
    return read_conditions(read_group(text) for text in filters)


def read_group(text: str) -> dict[str, object]:
    """Read a filter, and what may hold in its place."""
    first, *others = (read_filter(part) for part in OR.split(text))
    return {**first, "or": others} if others else first


def read_filter(text: str) -> dict[str, object]:
    """Split one filter; the value may hold colons."""
    field, _, rest = text.partition(":")
    comparison, has_value, value = rest.partition(":")
    if comparison not in list(Comparison):
        raise InvalidCondition(
            "A filter is written FIELD:COMPARISON:VALUE.",
            hint=f"Comparisons: {', '.join(Comparison)}.",
        )
    if bool(has_value) == (comparison in NEEDS_NO_VALUE):
        needs = "no value" if comparison in NEEDS_NO_VALUE else "a value"
        raise InvalidCondition(f"'{comparison}' needs {needs}.")
    found: dict[str, object] = {"field": field, "comparison": comparison}
    if has_value:
        found["value"] = value.split(",") if comparison == "one_of" else value
    return found
