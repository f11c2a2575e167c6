"""Imported cells that go into a tenant's own columns: read as what the column holds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.providers.files.column import OWN_FIELD
from scrapersky.records import CompanyColumn
from scrapersky.records.status import OwnType

LONGEST_TEXT: Final = 2_000
DAY: Final = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
NUMBER: Final = re.compile(r"-?\d[\d.,'\s]*")


@dataclass(frozen=True, slots=True)
class ColumnOfOwn:
    """What a cell of a column of one's own is read as."""

    title: str
    type: OwnType
    choices: tuple[str, ...]

    def read(self, cell: str) -> str | float | None:
        """Return the value of a cell; None: it is none of this column."""
        match self.type:
            case OwnType.NUMBER:
                return number_in(cell)
            case OwnType.DATE:
                return day_in(cell)
            case OwnType.CHOICE:
                wanted = cell.strip().casefold()
                same = (one for one in self.choices if one.casefold() == wanted)
                return next(same, None)
            case OwnType.TEXT:
                return cell[:LONGEST_TEXT]


async def columns_of_own(
    connection: AsyncConnection, tenant_id: UUID
) -> dict[str, ColumnOfOwn]:
    """Return the tenant's own columns by their names."""
    column = CompanyColumn
    query = select(column.name, column.title, column.type, column.choices)
    rows = await connection.execute(query.where(column.tenant_id == tenant_id))
    return {
        row.name: ColumnOfOwn(row.title, row.type, tuple(row.choices)) for row in rows
    }


def split_cells(
    extra: Mapping[str, Any], columns: Mapping[str, ColumnOfOwn]
) -> tuple[dict[str, str | float], dict[str, Any]]:
    """Part cells beside our columns: those of own columns, and all others.

    A cell that its column cannot hold stays beside the others, under the column's title.
    """
    own: dict[str, str | float] = {}
    rest: dict[str, Any] = {}
    for heading, cell in extra.items():
        column = columns.get(heading.removeprefix(OWN_FIELD))
        if column is None or not heading.startswith(OWN_FIELD):
            rest[heading] = cell
        elif (value := column.read(str(cell))) is not None:
            own[heading.removeprefix(OWN_FIELD)] = value
        else:
            rest[column.title] = cell
    return own, rest


def number_in(cell: str) -> float | None:
    """Read a number as people write it: 1.200,50 and 1,200.50 alike."""
    if not NUMBER.fullmatch(cell.strip()):
        return None
    bare = re.sub(r"[\s']", "", cell)
    last = max(bare.rfind(","), bare.rfind("."))
    whole, part = (bare[:last], bare[last + 1 :]) if last >= 0 else (bare, "")
    marks = {mark for mark in bare if mark in ",."}
    is_thousands = len(part) == 3 and len(marks) == 1  # noqa: PLR2004 - digits of a group
    digits = re.sub(r"[.,]", "", whole)
    value = float(digits + part if is_thousands else f"{digits or 0}.{part or 0}")
    return value if isfinite(value) else None


def day_in(cell: str) -> str | None:
    """Read a day, written 2026-11-01 or 1.11.2026."""
    try:
        if found := DAY.fullmatch(cell.strip()):
            day, month, year = map(int, found.groups())
            return date(year, month, day).isoformat()
        return date.fromisoformat(cell.strip()).isoformat()
    except ValueError:
        return None
