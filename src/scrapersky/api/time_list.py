"""Lists by time, the latest first, page by page."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from sqlalchemy import Row, Select, func, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.schema import COUNTED_ROWS, Cursor, ItemT, Limit, ListOut, Total
from scrapersky.kit.cursor import read_cursor, write_cursor

PURPOSE: Final = b"cursors of lists"


def cursor_key(request: Request) -> bytes:
    """Return the key that cursors are signed with, one for all processes."""
    return signing_key(request.app.state.secret)


@lru_cache(1)
def signing_key(secret: bytes) -> bytes:
    """Derive a key of this use alone from the installation's secret."""
    return hmac.digest(secret, PURPOSE, hashlib.sha256)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of a list is asked for."""

    key: bytes
    limit: int
    cursor: str | None


async def page_request(
    request: Request, limit: Limit = 50, cursor: Cursor = None
) -> PageRequest:
    """Read which page is asked for from the address."""
    return PageRequest(cursor_key(request), limit, cursor)


PageAsked = Annotated[PageRequest, Depends(page_request)]


@dataclass(frozen=True, slots=True)
class TimePage:
    """Rows of a list by time, where to go on, and how many rows it has."""

    rows: Sequence[Row[Any]]
    next_cursor: str | None
    total: Total

    def listing(self, items: list[ItemT]) -> ListOut[ItemT]:
        """Answer with what its rows became."""
        return ListOut(items=items, next_cursor=self.next_cursor, total=self.total)


async def read_latest(
    connection: AsyncConnection,
    query: Select[Any],
    moment: InstrumentedAttribute[datetime],
    key: InstrumentedAttribute[Any],
    *,
    scope: list[Any],
    page: PageRequest,
) -> TimePage:
    """Read one page, the latest first, and count the list as far as one counts."""
    place = read_place(page.key, scope, page.cursor)
    ordered = latest_first(query, moment, key, place).limit(page.limit + 1)
    rows = (await connection.execute(ordered)).all()
    some = query.with_only_columns(key).limit(COUNTED_ROWS + 1).subquery()
    count = await connection.scalar(select(func.count()).select_from(some)) or 0
    following = None
    if len(rows) > page.limit:
        last = rows[page.limit - 1]
        at, row_id = getattr(last, moment.key), getattr(last, key.key)
        following = write_place(page.key, scope, at, row_id)
    return TimePage(rows[: page.limit], following, Total.up_to(count))


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
