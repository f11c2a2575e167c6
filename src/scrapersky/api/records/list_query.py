"""What a list shows, in which order, and where in it a reader is."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import orjson
from cachetools import LRUCache, cached
from sqlalchemy import ColumnElement, and_
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.curation.clause import convert_value, where
from scrapersky.curation.condition import Condition
from scrapersky.curation.search import matches
from scrapersky.errors import InvalidCondition, InvalidCursor
from scrapersky.records.kind import Kind

DEFAULT_SORT = "-updated_at"


@dataclass(frozen=True, slots=True)
class Sort:
    """By which column, which way; ties by id, what is unknown last."""

    field: str
    is_descending: bool

    @property
    def text(self) -> str:
        """Return it as it is asked for."""
        return f"-{self.field}" if self.is_descending else self.field


FIRST_SORT: Final = Sort("updated_at", is_descending=True)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a list shows, in which order."""

    tenant_id: UUID
    conditions: tuple[Condition, ...] = ()
    words: str | None = None
    sort: Sort = FIRST_SORT
    columns: tuple[str, ...] | None = None
    """What is read of the records besides their place in the list; None: all."""
    _names: dict[str, bytes] = field(default_factory=dict, init=False, compare=False)

    @property
    def is_narrowed(self) -> bool:
        """Say whether the list shows less than everything."""
        return bool(self.conditions or self.words)

    def name(self, resource: Kind) -> bytes:
        """Name the list, for what is remembered of it."""
        name = self._names.get(resource.name)
        if name is None:
            name = self._names[resource.name] = orjson.dumps(self.scope(resource))
        return name

    def scope(self, resource: Kind) -> list[Any]:
        """Name the list, for its cursors."""
        return [
            str(self.tenant_id),
            resource.name,
            [condition.model_dump(mode="json") for condition in self.conditions],
            self.words,
            self.sort.text,
        ]


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """What the first page found out about a list, for all that follow."""

    count: int
    is_exact: bool
    is_rare: bool = False
    """Few rows match: they are found first, and sorted then."""


@dataclass(frozen=True, slots=True)
class CursorPosition:
    """Where a page ended: the last row's key and id, and what is known of the list."""

    key: Any
    id: UUID
    estimate: CountEstimate

    def to_json(self) -> list[Any]:
        """Write it for a cursor."""
        estimate = self.estimate
        return [
            text_key(self.key), str(self.id),
            estimate.count, estimate.is_exact, estimate.is_rare,
        ]  # fmt: skip

    @classmethod
    def from_json(
        cls,
        value: Any,  # noqa: ANN401 - what JSON brought back
        column: InstrumentedAttribute[Any],
    ) -> "CursorPosition":
        """Read what a cursor brought back; it was signed, so its form is ours."""
        key, row_id, *estimate = value
        return cls(read_key(column, key), UUID(row_id), CountEstimate(*estimate))


# What a column is takes long to find out beside all else that a request needs.
@cached(LRUCache(500), key=lambda resource, text: (resource.name, text))
def read_sort(resource: Kind, text: str) -> Sort:
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


def wanted(resource: Kind, list_query: ListQuery) -> ColumnElement[bool]:
    """Translate what the list shows into SQL."""
    mine = resource.record.tenant_id == list_query.tenant_id
    return and_(mine, meant_by(resource, list_query))


def meant_by(resource: Kind, list_query: ListQuery) -> ColumnElement[bool]:
    """Translate what narrows the list down into SQL."""
    return and_(
        where(resource, list_query.conditions),
        matches(resource, list_query.words),
    )


def read_key(column: InstrumentedAttribute[Any], key: Any) -> Any:  # noqa: ANN401
    """Read a sort key as `text_key` wrote it."""
    # A text of a record may be longer than one that people look for.
    if key is None or (not isinstance(column.type, ENUM) and is_text(column)):
        return key
    try:
        return convert_value(column, key)
    except InvalidCondition:
        raise InvalidCursor("The cursor is from another version.") from None


def is_text(column: InstrumentedAttribute[Any]) -> bool:
    """Say whether a column holds plain text."""
    return column.type.python_type is str


def text_key(key: Any) -> Any:  # noqa: ANN401 - a value of any column
    """Write a sort key so that it reads back as exactly the same value."""
    match key:
        case StrEnum():
            return key.value
        case date():  # with or without a time
            return key.isoformat()
        case UUID() | Decimal():
            return str(key)
    return key
