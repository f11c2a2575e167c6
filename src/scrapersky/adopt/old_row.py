"""One row of the old system, brought into the types of our columns."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

import orjson
from sqlalchemy import Boolean, Column, DateTime, Float, Integer, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB

from scrapersky.adopt.label import our_label, released_label
from scrapersky.adopt.report import RowFate

LONGEST_VALUE: Final = 2_000
LARGEST_INTEGER: Final = 2**31
SHOWN_OF_LABEL: Final = 40
NOT_STORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
KEYS: Final = UUID("6f1d9c1e-5a0b-5c57-9d0e-3a6c5a1f7b20")
"""The namespace of keys for rows whose old key is not a UUID."""

Values = dict[str, Any]
Columns = Mapping[str, Column[Any]]


class RowRefused(Exception):
    """A row cannot be adopted: the column that is to blame, and why."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"{column}: {reason}")
        self.column = column
        self.reason = reason


class ValueUnfit(Exception):
    """A value does not fit its column; the message says why."""


@dataclass(slots=True)
class OldRow:
    """A row on its way: its old key, its values under our names, what was changed."""

    key: str
    values: Values
    extra: Values = field(default_factory=dict)
    """Values that have no column of their own here."""
    changes: list[tuple[str, RowFate, str]] = field(default_factory=list)
    """Column, fate and reason of values that are not as they were."""

    def copy(self) -> "OldRow":
        """Return a row that can be changed without changing this one."""
        return OldRow(self.key, {**self.values}, {**self.extra}, [*self.changes])

    def why_empty(self, column: str) -> str:
        """Say why there is no value in a column."""
        reasons = (reason for name, _, reason in self.changes if name == column)
        return next(reasons, "it is empty")

    def leave_out(self, column: str, reason: str) -> None:
        """Do without a value."""
        self.values[column] = None
        self.changes.append((column, RowFate.LEFT_OUT, reason))


def key_from(table: str, written: object) -> UUID:
    """Return the key of an old row here: its own if it is a UUID, else always the same."""
    try:
        return UUID(str(written))
    except ValueError:
        return uuid5(KEYS, f"{table}:{written}")


def fitted_row(key: str, columns: Columns, given: Mapping[str, object]) -> OldRow:
    """Bring the values of a row into the types of our columns; what does not fit is left out."""
    row = OldRow(key, {})
    for name, column in columns.items():
        value = given.get(name)
        try:
            row.values[name] = None if value is None else fit_value(row, column, value)
        except ValueUnfit as error:
            row.leave_out(name, str(error))
    return row


def fit_value(row: OldRow, column: Column[Any], value: object) -> object:
    """Return a value in the type of its column; raise ValueUnfit if it has none."""
    match column.type:
        case ENUM() as kind:
            return fitted_label(row, column.name, str(value), kind)
        case ARRAY():
            return [text for each in list_items(value) if (text := fitted_text(each))]
        case JSONB():
            return fitted_object(value)
        case Uuid():
            return value
        case Boolean():
            return value if isinstance(value, bool) else None
        case DateTime():
            return fitted_time(value)
        case Integer() | Float() as kind:
            return fitted_number(value, int if isinstance(kind, Integer) else float)
    return fitted_text(value, getattr(column.type, "length", None))


def fitted_label(row: OldRow, column: str, written: str, kind: ENUM) -> str:
    """Return our label for an old one; a row that was in work waits again."""
    label = our_label(written, kind.enum_class)
    if label is None:
        raise ValueUnfit(f"unknown label {written[:SHOWN_OF_LABEL]!r}")
    after = released_label(label)
    if after != label:
        row.changes.append((column, RowFate.CHANGED, f"was {label}: {after} again"))
    elif label != written:
        row.changes.append((column, RowFate.CHANGED, f"{written} is {label} here"))
    return after.value


def fitted_text(value: object, longest: int | None = None) -> str | None:
    """Return a text that can be stored; one of a column with a limit is cut there."""
    if isinstance(value, Mapping | list):
        raise ValueUnfit("not a text")
    text = NOT_STORABLE.sub("", str(value)).strip()
    if longest is not None:
        return text[:longest] or None
    if len(text) > LONGEST_VALUE:
        raise ValueUnfit(f"longer than {LONGEST_VALUE:,} characters")
    return text or None


def fitted_number(value: Any, kind: Callable[[Any], float]) -> float:  # noqa: ANN401 - of any type
    """Return a number that can be stored."""
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueUnfit("not a number") from None
    if not math.isfinite(number) or abs(number) >= LARGEST_INTEGER:
        raise ValueUnfit("not a number that can be stored")
    return number


def fitted_time(value: object) -> datetime:
    """Return a time with its zone; the old system wrote UTC without saying so."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueUnfit("not a time") from None
    if not isinstance(value, datetime):
        raise ValueUnfit("not a time")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def fitted_object(value: object) -> Values | None:
    """Return a JSON object without what PostgreSQL does not store."""
    try:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        found = orjson.loads(text.replace("\\u0000", ""))
    except (TypeError, orjson.JSONDecodeError):
        raise ValueUnfit("not JSON") from None
    if not isinstance(found, dict):
        raise ValueUnfit("not a JSON object")
    return found


def list_items(value: object) -> list[object]:
    """Return the values of an array, a list in JSON, or a text of one value."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise ValueUnfit("not a list") from None
    return [*value] if isinstance(value, list | tuple) else [value]


def default_of(column: Column[Any]) -> object:
    """Return what a column that must have a value has where the old row has none."""
    match column.type:
        case ARRAY():
            return []
        case JSONB():
            return {}
    return str(column.server_default.arg) if column.server_default else None  # type: ignore[attr-defined]
