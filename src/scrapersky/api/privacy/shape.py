"""What the routes about people's data have in common."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import AfterValidator, Field
from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.auth.identity import Identity
from scrapersky.api.field import FilterTexts
from scrapersky.api.records.query import read_filters
from scrapersky.api.schema import (
    MAX_CURSOR,
    MAX_LIMIT,
    ListOut,
    RequestModel,
    storable,
)
from scrapersky.api.time_list import (
    PageRequest,
    cursor_key,
    read_latest,
)
from scrapersky.curation.clause import clause

Written = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(storable)]
"""An e-mail address, a phone number or a domain, as people write it."""
Region = Annotated[
    str,
    Field(
        pattern="^[A-Z]{2}$",
        description="The country of numbers that are written without their code.",
        examples=["GB"],
    ),
]


class FilterRequest(RequestModel):
    """Which lines of a list."""

    filter: FilterTexts = Field(
        [],
        description="FIELD:COMPARISON[:VALUE], all of them must hold.",
    )


class FilteredListRequest(FilterRequest):
    """Which page of a list that shows the latest first."""

    limit: int = Field(50, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(
        None,
        max_length=MAX_CURSOR,
        description="`next_cursor` of the page before, with the same filters.",
    )


FilteredListParameters = Annotated[FilteredListRequest, Query()]


async def read_list(
    request: Request,
    connection: AsyncConnection,
    who: Identity,
    columns: Sequence[InstrumentedAttribute[Any]],
    asked: FilteredListRequest,
) -> ListOut[dict[str, Any]]:
    """Read one page of the tenant's rows, the latest first."""
    fields = {column.key: column for column in columns}
    model: Any = columns[0].class_
    wanted: list[ColumnElement[bool]] = [
        model.tenant_id == who.tenant_id,
        *(clause(fields, condition) for condition in read_filters(asked.filter)),
    ]
    found = await read_latest(
        connection,
        select(*columns).where(*wanted),
        model.created_at,
        model.id,
        scope=[str(who.tenant_id), model.__tablename__, asked.filter],
        page=PageRequest(cursor_key(request), asked.limit, asked.cursor),
    )
    return found.listing([row._asdict() for row in found.rows])


def keep_no_copy(request: Request) -> None:
    """Let no copy of this answer lie in the database: it is about a person."""
    request.state.holds_secret = True
