"""What a list is asked for, as it stands in a URL."""

import re
from collections.abc import Iterable
from typing import Annotated, Final, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import AwareDatetime, Field

from scrapersky.api.auth.identity import Identity
from scrapersky.api.field import FilterTexts, ListCursor
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort
from scrapersky.api.records.schema import LONGEST_WORDS
from scrapersky.api.schema import RequestModel
from scrapersky.curation.clause import may_be_contacted
from scrapersky.curation.condition import (
    Alternative,
    Comparison,
    Condition,
    read_conditions,
)
from scrapersky.errors import InvalidCondition
from scrapersky.records.kind import Kind

MOST_ROWS = 200
OWNER: Final = "owner_id"
ME: Final = "me"
NO_ID: Final = UUID(int=0)
Compared = TypeVar("Compared", bound=Alternative)
NEEDS_NO_VALUE = (Comparison.KNOWN, Comparison.UNKNOWN)
OR: Final = re.compile(rf"\|(?=[a-z0-9_.]+:(?:{'|'.join(Comparison)})(?::|\||$))")
"""Between alternatives; a bar before anything else belongs to the value."""


class RecordFilter(RequestModel):
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
    changed_since: AwareDatetime | None = Field(
        None,
        description="Only what was made or changed since then; removals are only in the "
        "change feed.",
    )


class OutreachFilter(RecordFilter):
    """Which records are meant, and whether only who may be contacted."""

    outreach: bool = Field(
        default=False,
        description="Only who may be contacted: companies of the status Do Not Contact"
        " and all that is of them are left out, as files always leave them out.",
    )


class SortedRecordFilter(OutreachFilter):
    """Which records, in which order."""

    sort: str = Field(
        DEFAULT_SORT,
        max_length=60,
        description="A field; with - before it the other way round.",
    )


class ListRequest(SortedRecordFilter):
    """Which page of which list."""

    limit: int = Field(50, ge=1, le=MOST_ROWS)
    cursor: ListCursor | None = Field(
        None, description="`next_cursor` of the page before, with the same filters."
    )


ListParameters = Annotated[ListRequest, Query()]


def list_query_of(who: Identity, resource: Kind, asked: RecordFilter) -> ListQuery:
    """Read what is asked for, or raise what is wrong with it."""
    sort = asked.sort if isinstance(asked, SortedRecordFilter) else DEFAULT_SORT
    conditions = of_caller(who.user_id, conditions_of(asked))
    if isinstance(asked, OutreachFilter) and asked.outreach:
        conditions += may_be_contacted(resource)
    return ListQuery(
        tenant_id=who.tenant_id,
        conditions=conditions,
        words=asked.q or None,
        sort=read_sort(resource, sort),
    )


def conditions_of(asked: RecordFilter) -> tuple[Condition, ...]:
    """Read which records are asked for."""
    found = read_filters(asked.filter)
    if asked.changed_since is None:
        return found
    since = asked.changed_since.isoformat()
    at_least = {
        "field": "updated_at",
        "comparison": Comparison.AT_LEAST,
        "value": since,
    }
    return (*found, *read_conditions([at_least]))


def of_caller(
    user_id: UUID | None, conditions: Iterable[Condition]
) -> tuple[Condition, ...]:
    """Read `owner_id:equal:me` as the caller, so that a shared view is everybody's own."""

    def read(one: Compared) -> Compared:
        is_meant = one.field == OWNER and one.value == ME
        value = str(user_id or NO_ID)
        return one.model_copy(update={"value": value}) if is_meant else one

    return tuple(
        read(one).model_copy(
            update={"alternatives": tuple(map(read, one.alternatives))}
        )
        for one in conditions
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
