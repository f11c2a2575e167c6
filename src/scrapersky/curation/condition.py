"""Conditions on records: the one filter language of lists, decisions and rules.

A condition is `{"field": "rating", "is": "at_least", "value": 4}`. Fields are the
columns of the record; a field or comparison that does not exist is refused by name.
All conditions must hold. A condition with alternatives (`"or": [...]`) holds if it or
one of them does.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cache
from math import isfinite
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy import (
    Column,
    ColumnElement,
    SmallInteger,
    and_,
    false,
    func,
    literal,
    not_,
    or_,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.errors import InvalidCondition
from scrapersky.kit.canonical import stored_phone
from scrapersky.records.kind import Kind
from scrapersky.records.link import LinkedField

MOST_CONDITIONS = 50
MOST_VALUES = 1_000
MOST_IDS = 10_000
"""Records that somebody has chosen one by one."""
MOST_ALTERNATIVES = 20
OWN = "own"
"""The column in which a record keeps the values of its tenant's own columns."""

Attribute = InstrumentedAttribute[Any] | Column[Any]
Value = str | float | bool | None


class Comparison(StrEnum):
    """How a field is compared."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    ONE_OF = "one_of"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    KNOWN = "known"
    UNKNOWN = "unknown"


OF_LINKED = (
    Comparison.EQUAL,
    Comparison.ONE_OF,
    Comparison.CONTAINS,
    Comparison.STARTS_WITH,
)
"""How what stands in another table is compared: by what it is, not by what it lacks."""


class Alternative(BaseModel):
    """One field compared with one value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )

    field: str
    comparison: Comparison = Comparison.EQUAL
    value: Value | list[Value] = None


class Condition(Alternative):
    """One condition on one field, or on one of several."""

    alternatives: tuple[Alternative, ...] = Field(
        (),
        alias="or",
        max_length=MOST_ALTERNATIVES,
        exclude_if=lambda given: not given,
        description="The condition holds as well if one of these does.",
    )


def read_conditions(given: Iterable[Any]) -> tuple[Condition, ...]:
    """Read conditions from JSON, or raise InvalidCondition."""
    listed = list(given)
    if len(listed) > MOST_CONDITIONS:
        raise InvalidCondition(f"More than {MOST_CONDITIONS} conditions.")
    try:
        return tuple(reader_of(list[Condition]).validate_python(listed))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidCondition(f"Condition {where}: {first['msg']}.") from None


def unattended(kind: Kind) -> tuple[Condition, ...] | None:
    """Return which undecided records are taken where no person decides; None: none."""
    chosen = kind.decision.unattended if kind.decision else None
    if chosen is None:
        return None
    return tuple(
        Condition(field=field, comparison=Comparison(comparison), value=value)
        for field, comparison, value in chosen
    )


def where(kind: Kind, conditions: Iterable[Condition]) -> ColumnElement[bool]:
    """Translate conditions into SQL: all of them must hold."""
    return and_(true(), *(either(kind, condition) for condition in conditions))


def either(kind: Kind, condition: Condition) -> ColumnElement[bool]:
    """Translate a condition and its alternatives: one of them must hold."""
    first = compared(kind, condition)
    if not condition.alternatives:
        return first
    return or_(first, *(compared(kind, other) for other in condition.alternatives))


def compared(kind: Kind, condition: Alternative) -> ColumnElement[bool]:
    """Translate the comparison of one field."""
    if condition.field in kind.linked:
        return linked(kind.linked[condition.field], condition)
    return clause(kind.fields, condition)


def linked(field: LinkedField, condition: Alternative) -> ColumnElement[bool]:
    """Translate a condition on what the record belongs to."""
    if condition.comparison not in OF_LINKED:
        raise InvalidCondition(
            f"{condition.field} cannot be compared this way.",
            hint=f"Comparisons: {', '.join(OF_LINKED)}.",
        )
    return field.through(clause({condition.field: field.column}, condition))


def clause(
    fields: Mapping[str, Attribute], condition: Alternative
) -> ColumnElement[bool]:
    """Translate one condition."""
    name, dot, key = condition.field.partition(".")
    if dot and name == OWN and name in fields:
        return own_clause(fields[name], key, condition)
    if condition.field not in fields:
        raise InvalidCondition(
            f"There is no field '{condition.field[:50]}'.",
            hint=f"Fields: {', '.join(sorted(fields))}.",
        )
    column = fields[condition.field]
    match condition.comparison:
        case Comparison.KNOWN:
            return is_known(column)
        case Comparison.UNKNOWN:
            return not_(is_known(column))
        case Comparison.ONE_OF:
            values, most = condition.value, MOST_IDS if name == "id" else MOST_VALUES
            if not isinstance(values, list) or len(values) > most:
                raise InvalidCondition(f"one_of needs a list of at most {most} values.")
            return column.in_([converted(column, value) for value in values])
    if isinstance(condition.value, list):
        raise InvalidCondition(f"{condition.comparison} takes one value, not a list.")
    return COMPARED[condition.comparison](column, condition.value)


def own_clause(
    column: Attribute, key: str, condition: Alternative
) -> ColumnElement[bool]:
    """Translate a condition on a tenant's own column: `own.budget`."""
    text_of(key)
    given = condition.value
    match condition.comparison:
        case Comparison.KNOWN:
            return func.jsonb_exists(column, key)
        case Comparison.UNKNOWN:
            return not_(func.jsonb_exists(column, key))
        case Comparison.ONE_OF:
            values = given if isinstance(given, list) else []
            return or_(false(), *(own_equal(column, key, one) for one in values))
    if isinstance(given, list):
        raise InvalidCondition(f"{condition.comparison} takes one value, not a list.")
    return own_compared(column, key, condition.comparison, given)


def own_compared(
    column: Attribute, key: str, comparison: Comparison, given: Value
) -> ColumnElement[bool]:
    """Compare one value of a tenant's own column."""
    written: ColumnElement[str] = column[key].astext
    match comparison:
        case Comparison.EQUAL:
            return own_equal(column, key, given)
        case Comparison.NOT_EQUAL:
            return not_(own_equal(column, key, given))
        case Comparison.CONTAINS:
            return written.icontains(text_of(given), autoescape=True)
        case Comparison.STARTS_WITH:
            return written.istartswith(text_of(given), autoescape=True)
    # Numbers by what they are, days as they are written: 2026-11-01.
    number = number_of(given)
    kind = literal("string" if number is None else "number")
    at: ColumnElement[Any] = literal(given if number is None else number, JSONB)
    is_kind = func.jsonb_typeof(column[key]) == kind
    is_least = comparison is Comparison.AT_LEAST
    return and_(is_kind, column[key] >= at if is_least else column[key] <= at)


def own_equal(column: Attribute, key: str, given: Value) -> ColumnElement[bool]:
    """Match one value of a tenant's own column, as a text or as a number."""
    number = number_of(given)
    is_number = column.contains({key: number}) if number is not None else false()
    return or_(column.contains({key: given}), is_number)


def number_of(given: Value) -> float | None:
    """Return the number that a value is, or None."""
    try:
        number = float(given) if isinstance(given, str | int | float) else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None


def is_known(column: Attribute) -> ColumnElement[bool]:
    """Match what has a value; an empty list is as unknown as NULL."""
    if isinstance(column.type, ARRAY):
        return func.cardinality(column) > 0
    return column.is_not(None)


def contains(column: Attribute, value: Value) -> ColumnElement[bool]:
    """Match a part of a text, or a part of any text of a list, in any case."""
    part = text_of(value)
    if isinstance(column.type, ARRAY):
        joined = func.array_to_string(column, "\n")
        return joined.icontains(part, autoescape=True)
    require_text(column)
    return column.icontains(part, autoescape=True)


def starts_with(column: Attribute, value: Value) -> ColumnElement[bool]:
    """Match the beginning of a text, in any case."""
    require_text(column)
    return column.istartswith(text_of(value), autoescape=True)


def equal(column: Attribute, value: Value) -> ColumnElement[bool]:
    """Match one value; in a list, an element of it."""
    if isinstance(column.type, ARRAY):
        return literal(text_of(value)) == func.any(column)
    return column == converted(column, value)


COMPARED: dict[Comparison, Callable[[Attribute, Value], ColumnElement[bool]]] = {
    Comparison.EQUAL: equal,
    Comparison.NOT_EQUAL: lambda column, value: or_(
        not_(equal(column, value)), column.is_(None)
    ),
    Comparison.AT_LEAST: lambda column, value: column >= converted(column, value),
    Comparison.AT_MOST: lambda column, value: column <= converted(column, value),
    Comparison.CONTAINS: contains,
    Comparison.STARTS_WITH: starts_with,
}


def converted(column: Attribute, value: Value) -> object:
    """Read a value as the column's type, or raise InvalidCondition."""
    kind = column.type
    if isinstance(kind, (ARRAY, JSONB)):
        raise InvalidCondition(f"{column.key} cannot be compared this way.")
    target: Any = kind.enum_class if isinstance(kind, ENUM) else kind.python_type
    if target is datetime and isinstance(value, str) and value.startswith("-P"):
        return before_now(column, value)
    try:
        read = reader_of(target).validate_python(value)
    except ValidationError:
        raise InvalidCondition(
            f"{column.key} cannot be compared with {shown(value)}.", hint=None
        ) from None
    if isinstance(read, str):
        is_phone = column.key == "phone"
        return text_of((stored_phone(read) if is_phone else None) or read)
    if isinstance(read, datetime) and read.tzinfo is None:
        raise InvalidCondition(f"{column.key} needs a time with a time zone.")
    if isinstance(read, int) and abs(read) >= largest(kind):
        raise InvalidCondition(f"{column.key}: that number is too large.")
    if isinstance(read, (float, Decimal)) and not isfinite(read):
        raise InvalidCondition(f"{column.key} needs a finite number.")
    assert isinstance(read, (int, float, bool, Decimal, UUID, datetime, StrEnum))  # noqa: S101
    return read


def before_now(column: Attribute, written: str) -> ColumnElement[datetime]:
    """Read a length of time before now in ISO 8601: `-P7D` is a week ago."""
    try:
        return func.now() + literal(reader_of(timedelta).validate_python(written))
    except (ValidationError, OverflowError):
        raise InvalidCondition(
            f"{column.key} cannot be compared with {shown(written)}.",
            hint="A length of time is written like -P7D or -PT24H.",
        ) from None


@cache
def reader_of(target: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a type
    """Return what reads values of a type; to make one takes longer than to find a row."""
    return TypeAdapter(target)


def largest(kind: object) -> int:
    """Return the first number that a column of whole numbers cannot hold."""
    return 2**15 if isinstance(kind, SmallInteger) else 2**63


def require_text(column: Attribute) -> None:
    """Raise unless the column holds text."""
    if isinstance(column.type, ENUM) or column.type.python_type is not str:
        raise InvalidCondition(f"{column.key} is not a text.")


def text_of(value: Value) -> str:
    """Return a text PostgreSQL can hold, or raise InvalidCondition."""
    if not isinstance(value, str) or "\x00" in value or len(value) > MOST_VALUES:
        raise InvalidCondition(f"{shown(value)} is not a text to search for.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidCondition("A text to look for is not valid Unicode.") from None
    return value


def shown(value: object) -> str:
    """Write a value from outside shortly and harmlessly."""
    return ascii(value)[:60]
