"""Conditions on records: the one filter language of lists, decisions and rules.

A condition is `{"field": "rating", "is": "at_least", "value": 4}`. Fields are the
columns of the record; a field or comparison that does not exist is refused by name.
All conditions must hold. A condition with alternatives (`"or": [...]`) holds if it or
one of them does. How much a filter may hold is counted before any of it is read, and a
list of values is one parameter of the statement: what a filter costs has a bound.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Final

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from scrapersky.errors import InvalidCondition
from scrapersky.records.kind import Kind

MOST_CONDITIONS: Final = 50
MOST_ALTERNATIVES: Final = 20
MOST_COMPARISONS: Final = 100
"""Conditions of a filter together with all their alternatives."""
MOST_VALUES: Final = 1_000
"""Values of one list."""
MOST_IDS: Final = 10_000
"""Records that somebody has chosen one by one; values of all lists of a filter."""
LONGEST_FIELD: Final = 100
LONGEST_IN_SHORT: Final = 4_096
"""Bytes of conditions that are kept whole with what was decided by them."""
LONGEST_SHOWN: Final = 60
LONGEST_VALUE: Final = 1_000
"""Characters of one value."""

Value = Annotated[str, Field(max_length=LONGEST_VALUE)] | float | bool | None


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


Values = Annotated[list[Value], Field(max_length=MOST_IDS, fail_fast=True)]


class Alternative(BaseModel):
    """One field compared with one value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )

    field: str = Field(max_length=LONGEST_FIELD)
    comparison: Comparison = Comparison.EQUAL
    value: Value | Values = Field(
        None,
        description=f"For `one_of` a list: {MOST_VALUES:,} values, or {MOST_IDS:,} ids.",
    )


class Condition(Alternative):
    """One condition on one field, or on one of several."""

    alternatives: tuple[Alternative, ...] = Field(
        (),
        alias="or",
        max_length=MOST_ALTERNATIVES,
        exclude_if=lambda given: not given,
        description="The condition holds as well if one of these does.",
    )


def require_bounds(given: Any) -> Any:  # noqa: ANN401 - JSON that nobody has read yet
    """Raise InvalidCondition if a filter holds more than one may; else return it."""
    conditions = given if isinstance(given, (list, tuple)) else []
    if len(conditions) > MOST_CONDITIONS:
        raise InvalidCondition(
            f"The filter has more than {MOST_CONDITIONS} conditions.", hint=SHORTER
        )
    comparisons = [one for condition in conditions for one in comparisons_in(condition)]
    if len(comparisons) > MOST_COMPARISONS:
        raise InvalidCondition(
            f"The filter has more than {MOST_COMPARISONS} comparisons,"
            " alternatives included.",
            hint=SHORTER,
        )
    if sum(map(count_values, comparisons)) > MOST_IDS:
        raise InvalidCondition(
            f"The lists of the filter have more than {MOST_IDS:,} values together.",
            hint=SHORTER,
        )
    return given


SHORTER: Final = "Use fewer, or work in several steps."


def comparisons_in(condition: Any) -> list[Any]:  # noqa: ANN401 - JSON, or a Condition
    """Return a condition with its alternatives."""
    others = part_of(condition, "or", "alternatives")
    return [condition, *(others if isinstance(others, (list, tuple)) else ())]


def count_values(comparison: Any) -> int:  # noqa: ANN401 - JSON, or an Alternative
    """Return how many values a comparison lists; raise if one may not list as many."""
    values = part_of(comparison, "value")
    if not isinstance(values, list):
        return 0
    most = MOST_IDS if part_of(comparison, "field") == "id" else MOST_VALUES
    if len(values) > most:
        raise InvalidCondition(
            f"one_of needs a list of at most {most:,} values.", hint=SHORTER
        )
    return len(values)


def part_of(given: Any, *names: str) -> Any:  # noqa: ANN401 - JSON, or a model
    """Return a part of JSON, or of a model that was made of it."""
    if isinstance(given, BaseModel):
        return getattr(given, names[-1], None)
    found = given if isinstance(given, dict) else {}
    return next((found[name] for name in names if name in found), None)


Conditions = Annotated[
    list[Condition],
    Field(
        max_length=MOST_CONDITIONS,
        fail_fast=True,
        description=f"All must hold. At most {MOST_COMPARISONS} comparisons, alternatives"
        f" included, and {MOST_IDS:,} values in lists.",
        json_schema_extra={
            "x-max-comparisons": MOST_COMPARISONS,
            "x-max-values": MOST_IDS,
        },
    ),
    BeforeValidator(require_bounds),
]
"""A filter as requests bring it: the one type of all of them."""
READER: Final[TypeAdapter[list[Condition]]] = TypeAdapter(Conditions)


def read_conditions(given: Iterable[Any]) -> tuple[Condition, ...]:
    """Read conditions from JSON, or raise InvalidCondition."""
    try:
        return tuple(READER.validate_python(list(given)))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidCondition(f"Condition {where}: {first['msg']}.") from None


def in_short(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    """Write conditions for people to read later; of long ones, the beginning of values.

    Lists of what was done show two hundred of them at once.
    """
    written = [condition.model_dump(mode="json") for condition in conditions]
    if len(orjson.dumps(written)) <= LONGEST_IN_SHORT:
        return written
    return [
        {**each, "or": [*map(shorten_value, each["or"])]} if "or" in each else each
        for each in map(shorten_value, written)
    ]


def shorten_value(comparison: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison with the beginning of its value, or how many there are."""
    value = comparison["value"]
    if isinstance(value, list):
        value = f"{len(value):,} values"
    elif isinstance(value, str):
        value = value[:LONGEST_SHOWN]
    return {**comparison, "value": value}


def auto_select_conditions(kind: Kind) -> tuple[Condition, ...] | None:
    """Return which undecided records are taken where no person decides; None: none."""
    chosen = kind.decision.auto_select if kind.decision else None
    if chosen is None:
        return None
    return tuple(
        Condition(field=field, comparison=Comparison(comparison), value=value)
        for field, comparison, value in chosen
    )
