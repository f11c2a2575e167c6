"""What the routes about people's data have in common."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import allow
from scrapersky.api.field import FilterTexts
from scrapersky.api.operations.shape import (
    COUNTED,
    latest_first,
    read_place,
    storable,
    write_place,
)
from scrapersky.api.problem import Problem
from scrapersky.api.records.cursor import cursor_key
from scrapersky.api.records.query import read_filters
from scrapersky.api.records.schema import Total
from scrapersky.curation.condition import clause

Admin = Annotated[Identity, allow(Permission.ADMINISTER)]

REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    401: {"model": Problem, "description": "Nobody we know"},
    403: {"model": Problem, "description": "Not allowed"},
    422: {"model": Problem, "description": "It does not fit"},
}
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


class Strict(BaseModel):
    """A request: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid")


class Filtered(Strict):
    """Which lines of a list."""

    filter: FilterTexts = Field(
        [],
        description="FIELD:COMPARISON[:VALUE], all of them must hold.",
    )


class Listed(Filtered):
    """Which page of a list that shows the latest first."""

    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = Field(
        None,
        max_length=4_096,
        description="`next_cursor` of the page before, with the same filters.",
    )


ListedBy = Annotated[Listed, Query()]


async def read_list(
    request: Request,
    connection: AsyncConnection,
    who: Identity,
    columns: Sequence[InstrumentedAttribute[Any]],
    asked: Listed,
) -> dict[str, Any]:
    """Read one page of the tenant's rows, the latest first."""
    fields = {column.key: column for column in columns}
    model: Any = columns[0].class_
    wanted: list[ColumnElement[bool]] = [
        model.tenant_id == who.tenant_id,
        *(clause(fields, condition) for condition in read_filters(asked.filter)),
    ]
    scope = [str(who.tenant_id), model.__tablename__, asked.filter]
    key = cursor_key(request)
    place = read_place(key, scope, asked.cursor)
    query = latest_first(
        select(*columns).where(*wanted), model.created_at, model.id, place
    )
    rows = (await connection.execute(query.limit(asked.limit + 1))).all()
    some = select(model.id).where(*wanted).limit(COUNTED + 1).subquery()
    count = int(await connection.scalar(select(func.count()).select_from(some)) or 0)
    following = None
    if len(rows) > asked.limit:
        last = rows[asked.limit - 1]
        following = write_place(key, scope, last.created_at, last.id)
    return {
        "items": [row._asdict() for row in rows[: asked.limit]],
        "next_cursor": following,
        "total": Total(count=min(count, COUNTED), is_exact=count <= COUNTED),
    }


def keep_no_copy(request: Request) -> None:
    """Let no copy of this answer lie in the database: it is about a person."""
    request.state.holds_secret = True
