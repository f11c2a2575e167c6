"""How long a file will be, and what its rows lack: said before it is downloaded."""

from typing import Final

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.list_query import ListQuery, wanted
from scrapersky.curation.clause import may_be_contacted, where
from scrapersky.records.kind import Kind

COUNTED_EXPORT: Final = 100_000
"""Rows that are looked at; of more, that there are more."""


class ExportCount(BaseModel):
    """What a file will hold."""

    count: int = Field(description="Rows, without those that are left out.")
    is_exact: bool = Field(description=f"Otherwise more than {COUNTED_EXPORT:,}.")
    without: dict[str, int] = Field(
        description="How many of them lack what programs need.",
        examples=[{"email": 89, "name": 0}],
    )
    held_back: int = Field(
        description="Rows that are left out: they must not be contacted."
    )


async def count_export(
    connection: AsyncConnection, resource: Kind, list_query: ListQuery
) -> ExportCount:
    """Count the rows of a file, and those without an address, a number or a name."""
    needed = resource.file.needed
    may_leave = where(resource, may_be_contacted(resource))
    part = (
        select(may_leave.label("may_leave"), *(c.label(n) for n, c in needed.items()))
        .where(wanted(resource, list_query))
        .limit(COUNTED_EXPORT + 1)
        .subquery()
    )
    left = part.c.may_leave
    row = (
        await connection.execute(
            select(
                func.count().label("seen"),
                func.count().filter(left).label("rows"),
                *(
                    func.count().filter(left, part.c[name].is_(None)).label(name)
                    for name in needed
                ),
            )
        )
    ).one()
    return ExportCount(
        count=row.rows,
        is_exact=row.seen <= COUNTED_EXPORT,
        without={name: getattr(row, name) for name in needed},
        held_back=row.seen - row.rows,
    )
