"""Shapes that several operations share."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import Depends, Query
from pydantic import AfterValidator, Field
from sqlalchemy import Select, literal, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.problem import Problem
from scrapersky.api.records.cursor import cursor_key
from scrapersky.kit.cursor import read_cursor, write_cursor

BULK: Final = timedelta(seconds=25)
"""How long one statement about thousands of rows may take."""
COUNTED: Final = 10_000
"""Rows that are counted exactly."""


def storable(text: str) -> str:
    """Return a text that PostgreSQL can hold, or raise ValueError."""
    if "\x00" in text:
        raise ValueError("must not contain a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


Word = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(storable)]
"""The name of a stage, a kind, a status."""
Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=4_096)]
CursorKey = Annotated[bytes, Depends(cursor_key)]

NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "There is none of that id"}
}


def latest_first(
    query: Select[Any],
    moment: InstrumentedAttribute[datetime],
    key: InstrumentedAttribute[Any],
    place: tuple[datetime, Any] | None,
) -> Select[Any]:
    """Order a query by time, the latest first, from after a place in the list."""
    if place is not None:
        at, row_id = place
        beyond = tuple_(literal(at, moment.type), literal(row_id, key.type))
        query = query.where(tuple_(moment, key) < beyond)
    return query.order_by(moment.desc(), key.desc())


def read_place(
    key: bytes, scope: list[Any], cursor: str | None
) -> tuple[datetime, str] | None:
    """Read where a list by time was left."""
    if cursor is None:
        return None
    at, row_id = read_cursor(key, scope, cursor)
    return datetime.fromisoformat(at), row_id


def write_place(key: bytes, scope: list[Any], at: datetime, row_id: object) -> str:
    """Write where a list by time was left."""
    return write_cursor(key, scope, [at.isoformat(), str(row_id)])
