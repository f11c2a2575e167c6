"""Conditions in SQL: what of a record a comparison asks, and with which value."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from math import isfinite
from typing import Annotated, Any, Final

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
)
from sqlalchemy import (
    Column,
    ColumnElement,
    SmallInteger,
    Text,
    and_,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.curation.condition import (
    LONGEST_SHOWN,
    LONGEST_VALUE,
    Alternative,
    Comparison,
    Condition,
    Value,
)
from scrapersky.errors import InvalidCondition
from scrapersky.kit.canonical import stored_phone
from scrapersky.records.kind import Kind
from scrapersky.records.link import COMPANY_STATUS, LinkedField
from scrapersky.records.status import LeadStatus

MOST_SPELLINGS: Final = 200
"""Phone numbers of a list that are not in E.164."""
PHONE: Final = "phone"
CATEGORIES: Final = "categories"
"""Codes that people know as words: `car_repair` is shown as Car repair."""
SEPARATORS: Final = "_- "
E164: Final = re.compile(r"\+[1-9][0-9]{5,14}")
OWN = "own"
MOMENTS: Final = (date, datetime)
"""Types that are also compared with a length of time before or after now."""
"""The column in which a record keeps the values of its tenant's own columns."""
Attribute = InstrumentedAttribute[Any] | Column[Any]
TEXT_ONLY: Final = (Comparison.CONTAINS, Comparison.STARTS_WITH)
RANGES: Final = (Comparison.AT_LEAST, Comparison.AT_MOST)
PRESENCE: Final = (Comparison.KNOWN, Comparison.UNKNOWN)
EQUALITY: Final = (Comparison.EQUAL, Comparison.NOT_EQUAL)
OF_LINKED: Final = (
    *EQUALITY,
    Comparison.ONE_OF,
    Comparison.CONTAINS,
    Comparison.STARTS_WITH,
)
"""How what stands in another table is compared: by what it is, not by what it lacks."""


def where(kind: Kind, conditions: Iterable[Condition]) -> ColumnElement[bool]:
    """Translate conditions into SQL: all of them must hold."""
    return and_(
        true(), *(alternatives_clause(kind, condition) for condition in conditions)
    )


def alternatives_clause(kind: Kind, condition: Condition) -> ColumnElement[bool]:
    """Translate a condition and its alternatives: one of them must hold."""
    first = comparison_clause(kind, condition)
    if not condition.alternatives:
        return first
    return or_(
        first, *(comparison_clause(kind, other) for other in condition.alternatives)
    )


def comparison_clause(kind: Kind, condition: Alternative) -> ColumnElement[bool]:
    """Translate the comparison of one field."""
    if condition.field in kind.linked:
        return linked_clause(kind.linked[condition.field], condition)
    return clause(kind.fields, condition)


def may_be_contacted(kind: Kind) -> tuple[Condition, ...]:
    """Return the condition under which records may leave for others to be contacted."""
    field = kind.deciding.column.key if kind.is_lead else COMPANY_STATUS
    if not kind.is_lead and field not in kind.linked:
        return ()
    stopped = LeadStatus.DO_NOT_CONTACT.value
    return (Condition(field=field, comparison=Comparison.NOT_EQUAL, value=stopped),)


def linked_clause(field: LinkedField, condition: Alternative) -> ColumnElement[bool]:
    """Translate a condition on what the record belongs to."""
    if condition.comparison not in OF_LINKED:
        raise InvalidCondition(
            f"{condition.field} cannot be compared this way.",
            hint=f"Comparisons: {', '.join(OF_LINKED)}.",
        )
    if condition.comparison is Comparison.NOT_EQUAL:
        same = condition.model_copy(update={"comparison": Comparison.EQUAL})
        # Of nothing it is not said to be equal.
        return not_(func.coalesce(linked_clause(field, same), False))
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
    meaningful = comparisons_of(column)
    if condition.comparison not in meaningful:
        raise InvalidCondition(
            f"{condition.field} cannot be compared with {condition.comparison}.",
            hint=f"Comparisons: {', '.join(meaningful)}.",
        )
    match condition.comparison:
        case Comparison.KNOWN:
            return is_known(column)
        case Comparison.UNKNOWN:
            return not_(is_known(column))
        case Comparison.ONE_OF:
            return is_one_of(column, list_of_values(condition))
    return COMPARED[condition.comparison](column, single_value(condition))


def comparisons_of(column: Attribute) -> tuple[Comparison, ...]:
    """Return the comparisons that mean something for a column."""
    match column.type:
        case JSONB():
            return PRESENCE
        case ARRAY():
            return (*EQUALITY, Comparison.ONE_OF, Comparison.CONTAINS, *PRESENCE)
        case ENUM():
            return tuple(c for c in Comparison if c not in (*TEXT_ONLY, *RANGES))
        case kind if kind.python_type is str:
            return tuple(Comparison)
        case kind if kind.python_type is bool:
            return tuple(c for c in Comparison if c not in (*TEXT_ONLY, *RANGES))
    return tuple(c for c in Comparison if c not in TEXT_ONLY)


def list_of_values(condition: Alternative) -> list[Value]:
    """Return the values of a list, or raise InvalidCondition."""
    if not isinstance(condition.value, list):
        raise InvalidCondition("one_of needs a list of values.")
    return condition.value


def single_value(condition: Alternative) -> Value:
    """Return the one value, or raise InvalidCondition."""
    if isinstance(condition.value, list):
        raise InvalidCondition(f"{condition.comparison} takes one value, not a list.")
    return condition.value


def is_one_of(column: Attribute, values: list[Value]) -> ColumnElement[bool]:
    """Match any of some values, which are one parameter together."""
    if isinstance(column.type, ARRAY):
        return has_element(column, values)
    read = converted_list(column, values)
    if len(read) == 1:
        # An index gives the rows of one status in order, those of a list it does not.
        only: ColumnElement[bool] = column == read[0]
        return only
    return column == func.any(literal(read, ARRAY(column.type)))


def own_clause(
    column: Attribute, key: str, condition: Alternative
) -> ColumnElement[bool]:
    """Translate a condition on a tenant's own column: `own.budget`."""
    text_of(key)
    match condition.comparison:
        case Comparison.KNOWN:
            return func.jsonb_exists(column, key)
        case Comparison.UNKNOWN:
            return not_(func.jsonb_exists(column, key))
        case Comparison.ONE_OF:
            return own_one_of(column, key, list_of_values(condition))
    return own_compared(column, key, condition.comparison, single_value(condition))


def own_compared(
    column: Attribute, key: str, comparison: Comparison, given: Value
) -> ColumnElement[bool]:
    """Compare one value of a tenant's own column."""
    written: ColumnElement[str] = column[key].astext
    match comparison:
        case Comparison.EQUAL:
            return own_one_of(column, key, [given])
        case Comparison.NOT_EQUAL:
            return not_(func.coalesce(own_one_of(column, key, [given]), False))
        case Comparison.CONTAINS:
            return written.icontains(text_of(given), autoescape=True)
        case Comparison.STARTS_WITH:
            return written.istartswith(text_of(given), autoescape=True)
    # Numbers by what they are, days as they are written: 2026-11-01.
    number = number_of(given)
    kind = literal("string" if number is None else "number")
    at: ColumnElement[Any] = literal(
        number if number is not None else text_of(given), JSONB
    )
    is_kind = func.jsonb_typeof(column[key]) == kind
    is_least = comparison is Comparison.AT_LEAST
    return and_(is_kind, column[key] >= at if is_least else column[key] <= at)


def own_one_of(column: Attribute, key: str, values: list[Value]) -> ColumnElement[bool]:
    """Match any of some values, each as a text or as a number, in one parameter."""
    numbers = [number for each in values if (number := number_of(each)) is not None]
    written = [text_of(each) if isinstance(each, str) else each for each in values]
    return column[key] == func.any(literal([*written, *numbers], ARRAY(JSONB)))


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
        if column.key == CATEGORIES:
            joined, part = func.translate(joined, SEPARATORS, ""), fold_code(part)
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
        return has_element(column, [value])
    return column == convert_value(column, value)


def has_element(column: Attribute, values: list[Value]) -> ColumnElement[bool]:
    """Match a list that has one of some values; of codes, as people read them."""
    wanted = [text_of(value) for value in values]
    if column.key != CATEGORIES:
        return column.bool_op("&&")(literal(wanted, ARRAY(Text)))
    element = func.unnest(column).column_valued("element")
    words = func.lower(func.translate(element, SEPARATORS, ""))
    read = literal([fold_code(value) for value in wanted], ARRAY(Text))
    is_one = words.op("=", is_comparison=True)(func.any(read))
    return exists(select(literal(1)).where(is_one))


def fold_code(words: str) -> str:
    """Write words as codes are compared: without capitals and what stands between."""
    return words.translate(dict.fromkeys(map(ord, SEPARATORS))).lower()


COMPARED: dict[Comparison, Callable[[Attribute, Value], ColumnElement[bool]]] = {
    Comparison.EQUAL: equal,
    Comparison.NOT_EQUAL: lambda column, value: or_(
        not_(equal(column, value)), column.is_(None)
    ),
    Comparison.AT_LEAST: lambda column, value: column >= convert_value(column, value),
    Comparison.AT_MOST: lambda column, value: column <= convert_value(column, value),
    Comparison.CONTAINS: contains,
    Comparison.STARTS_WITH: starts_with,
}


def convert_value(column: Attribute, value: Value) -> object:
    """Read a value as the column's type, or raise InvalidCondition."""
    is_length = isinstance(value, str) and value.startswith(("-P", "P"))
    if is_length and target_of(column) in MOMENTS:
        return from_now(column, str(value))
    return converted_list(column, [value])[0]


def converted_list(column: Attribute, values: list[Value]) -> list[Any]:
    """Read values as the column's type, or raise InvalidCondition.

    All are read at once: one by one, ten thousand ids take a tenth of a second.
    """
    target = target_of(column)
    try:
        read: list[Any] = reader_of(listed_type(target)).validate_python(values)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]["loc"][0]
        raise InvalidCondition(
            f"{column.key} cannot be compared with {quoted_value(values[int(wrong)])}.",
            hint=None,
        ) from None
    if (require_fit := FITTING.get(target)) is not None:
        for each in read:
            require_fit(column, each)
    return stored_phones(read) if column.key == PHONE else read


def stored_phones(numbers: list[str]) -> list[str]:
    """Return phone numbers as they are stored, or raise InvalidCondition for too many.

    To read a spelling takes long; a number in E.164 is not read.
    """
    spelt = sum(E164.fullmatch(number) is None for number in numbers)
    if spelt > MOST_SPELLINGS:
        raise InvalidCondition(
            f"More than {MOST_SPELLINGS} phone numbers that are not in E.164.",
            hint="Write them as +4315123456.",
        )
    return [
        number if E164.fullmatch(number) else stored_phone(number) or number
        for number in numbers
    ]


@cache
def listed_type(target: Any) -> Any:  # noqa: ANN401 - types
    """Return the type of a list of which the first wrong value is enough."""
    return Annotated[list[target], Field(fail_fast=True)]


def target_of(column: Attribute) -> Any:  # noqa: ANN401 - a type
    """Return what a value of a column is in Python, or raise InvalidCondition."""
    kind = column.type
    if isinstance(kind, (ARRAY, JSONB)):
        raise InvalidCondition(f"{column.key} cannot be compared this way.")
    return kind.enum_class if isinstance(kind, ENUM) else kind.python_type


def require_time_zone(column: Attribute, moment: datetime) -> None:
    """Raise unless everyone means the same time by it."""
    if moment.tzinfo is None:
        raise InvalidCondition(f"{column.key} needs a time with a time zone.")


def require_small(column: Attribute, number: int) -> None:
    """Raise unless the column could hold a whole number."""
    if abs(number) >= largest_integer(column.type):
        raise InvalidCondition(f"{column.key}: that number is too large.")


def require_finite(column: Attribute, number: float | Decimal) -> None:
    """Raise unless it is a number with an end."""
    if not isfinite(number):
        raise InvalidCondition(f"{column.key} needs a finite number.")


FITTING: Final[dict[Any, Callable[[Attribute, Any], object]]] = {
    str: lambda _column, value: text_of(value),
    datetime: require_time_zone,
    int: require_small,
    float: require_finite,
    Decimal: require_finite,
}
"""What values of a type must be besides; other types have no values that do not fit."""


def from_now(column: Attribute, written: str) -> ColumnElement[datetime]:
    """Read a length of time from now in ISO 8601: `-P7D` is a week ago."""
    try:
        return func.now() + literal(reader_of(timedelta).validate_python(written))
    except (ValidationError, OverflowError):
        raise InvalidCondition(
            f"{column.key} cannot be compared with {quoted_value(written)}.",
            hint="A length of time is written like -P7D, -PT24H or P7D.",
        ) from None


@cache
def reader_of(target: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a type
    """Return what reads values of a type; to make one takes longer than to find a row."""
    return TypeAdapter(target)


def largest_integer(kind: object) -> int:
    """Return the first number that a column of whole numbers cannot hold."""
    return 2**15 if isinstance(kind, SmallInteger) else 2**63


def require_text(column: Attribute) -> None:
    """Raise unless the column holds text."""
    if isinstance(column.type, ENUM) or column.type.python_type is not str:
        raise InvalidCondition(f"{column.key} is not a text.")


def text_of(value: Value) -> str:
    """Return a text PostgreSQL can hold, or raise InvalidCondition."""
    if not isinstance(value, str) or "\x00" in value or len(value) > LONGEST_VALUE:
        raise InvalidCondition(f"{quoted_value(value)} is not a text to search for.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidCondition("A text to look for is not valid Unicode.") from None
    return value


def quoted_value(value: object) -> str:
    """Write a value from outside shortly and harmlessly."""
    return ascii(value)[:LONGEST_SHOWN]
