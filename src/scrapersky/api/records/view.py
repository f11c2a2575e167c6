"""Saved views: lists that a person comes back to, under a name."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, field_validator
from sqlalchemy import and_, delete, func, not_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Transaction, actor_of, allow
from scrapersky.api.field import LONGEST_QUERY, FilterTexts
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort, wanted
from scrapersky.api.records.query import read_filters
from scrapersky.api.records.refusal import CONFLICT, NOT_FOUND, REFUSALS
from scrapersky.api.records.schema import LONGEST_WORDS, Strict
from scrapersky.api.title import Title
from scrapersky.errors import RecordConflict, UnknownRecord
from scrapersky.records import SavedView, kind_named

PATH = "/api/v3/views"
MOST_COLUMNS = 100
MOST_VIEWS = 200
"""Views of one person: a list shows all of them."""

router = APIRouter(tags=["records"])
Reader = Annotated[Identity, allow(Permission.READ)]


class ViewQuery(Strict):
    """What the view shows, as a list is asked for it."""

    filter: FilterTexts = Field(
        [],
        description=f"Together at most {LONGEST_QUERY:,} characters, as in an address.",
    )
    q: str | None = Field(None, max_length=LONGEST_WORDS)
    sort: str = Field(DEFAULT_SORT, max_length=60)
    columns: list[Annotated[str, Field(max_length=60)]] = Field(
        [], max_length=MOST_COLUMNS, description="The columns the page shows."
    )

    @field_validator("filter")
    @classmethod
    def fits_an_address(cls, filters: list[str]) -> list[str]:
        """Refuse what no list could be asked for."""
        if sum(map(len, filters)) > LONGEST_QUERY:
            raise ValueError(f"use at most {LONGEST_QUERY:,} characters in all filters")
        return filters


class ViewIn(Strict):
    """A list under a name; a view of that name is replaced."""

    name: Title = Field(examples=["Good dentists"])
    kind: str = Field(max_length=50, examples=["places"])
    query: ViewQuery


class ViewOut(BaseModel):
    """A saved view."""

    id: UUID
    name: str
    kind: str
    query: ViewQuery
    created_at: datetime
    updated_at: datetime


class ViewsAsked(Strict):
    """Of which kind."""

    kind: str | None = Field(None, max_length=50)


@router.get(PATH, operation_id="list_views", summary="List views", responses=REFUSALS)
async def list_views(
    who: Reader, connection: Transaction, asked: Annotated[ViewsAsked, Query()]
) -> list[ViewOut]:
    """List the views of the caller, by name."""
    query = select(SavedView).where(
        SavedView.created_by.is_not_distinct_from(who.user_id)
    )
    if asked.kind is not None:
        query = query.where(SavedView.kind == kind_named(asked.kind).name)
    rows = await connection.execute(query.order_by(SavedView.name).limit(500))
    return [ViewOut.model_validate(row, from_attributes=True) for row in rows]


@router.post(
    PATH,
    operation_id="save_view",
    summary="Save a view",
    status_code=201,
    responses=REFUSALS | CONFLICT,
)
async def save_view(
    request: Request, who: Reader, connection: Transaction, asked: ViewIn
) -> ViewOut:
    """Keep a list under a name, for the caller alone."""
    resource = kind_named(asked.kind)
    actor = actor_of(who, request)
    list_query = ListQuery(
        tenant_id=who.tenant_id,
        conditions=read_filters(asked.query.filter),
        words=asked.query.q,
        sort=read_sort(resource, asked.query.sort),
    )
    # A view that could not be shown is not kept.
    wanted(resource, list_query)
    await require_room(connection, who, resource.name, asked.name)
    statement = insert(SavedView).values(
        tenant_id=actor.tenant_id,
        created_by=actor.user_id,
        name=asked.name,
        kind=resource.name,
        query=asked.query.model_dump(),
    )
    owner = text("coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)")
    made = await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", owner, "kind", "name"],
            set_={"query": statement.excluded.query},
        ).returning(SavedView)
    )
    return ViewOut.model_validate(made.one(), from_attributes=True)


async def require_room(
    connection: AsyncConnection, who: Identity, kind: str, name: str
) -> None:
    """Raise unless a person may have one more view, or has this one already."""
    mine = SavedView.created_by.is_not_distinct_from(who.user_id)
    same = and_(SavedView.kind == kind, SavedView.name == name)
    query = select(func.count()).select_from(SavedView).where(mine, not_(same))
    if int(await connection.scalar(query) or 0) >= MOST_VIEWS:
        raise RecordConflict(
            f"You have {MOST_VIEWS} views, which is the most.", hint="Delete one first."
        )


@router.delete(
    f"{PATH}/{{view_id}}",
    operation_id="delete_view",
    summary="Delete a view",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def delete_view(who: Reader, connection: Transaction, view_id: UUID) -> None:
    """Delete a view of the caller."""
    mine = SavedView.created_by.is_not_distinct_from(who.user_id)
    gone = await connection.execute(
        delete(SavedView).where(SavedView.id == view_id, mine)
    )
    if not gone.rowcount:
        raise UnknownRecord("There is no such view.")
