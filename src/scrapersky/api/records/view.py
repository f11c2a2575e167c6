"""Saved views: lists that a person comes back to, under a name."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, field_validator
from sqlalchemy import (
    ColumnElement,
    and_,
    delete,
    func,
    literal,
    not_,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Reader, Transaction, actor_of
from scrapersky.api.field import LONGEST_QUERY, FilterTexts
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort, wanted
from scrapersky.api.records.query import of_caller, read_filters
from scrapersky.api.records.schema import LONGEST_WORDS
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, RequestModel
from scrapersky.api.title import Title
from scrapersky.errors import NotAllowed, RecordConflict, UnknownRecord
from scrapersky.records import SavedView, kind_named

PATH = "/api/v3/views"
MOST_COLUMNS = 100
MOST_VIEWS = 200
"""Views of one person: a list shows all of them."""

router = APIRouter(tags=["records"])


class ViewQuery(RequestModel):
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


class ViewIn(RequestModel):
    """A list under a name; a view of that name is replaced."""

    name: Title = Field(examples=["Good dentists"])
    kind: str = Field(max_length=50, examples=["places"])
    query: ViewQuery
    is_shared: bool = Field(
        default=False, description="Whether everybody of your tenant sees it."
    )


class ViewOut(BaseModel):
    """A saved view."""

    id: UUID
    name: str
    kind: str
    query: ViewQuery
    is_shared: bool
    is_mine: bool = Field(description="Whether the caller made it.")
    created_at: datetime
    updated_at: datetime


class ViewsAsked(RequestModel):
    """Of which kind."""

    kind: str | None = Field(None, max_length=50)


@router.get(PATH, operation_id="list_views", summary="List views", responses=REFUSALS)
async def list_views(
    who: Reader, connection: Transaction, asked: Annotated[ViewsAsked, Query()]
) -> list[ViewOut]:
    """List the views of the caller and those that others share, by name."""
    query = select(SavedView, mine(who).label("is_mine")).where(
        or_(mine(who), SavedView.is_shared)
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
    """Keep a list under a name, for the caller alone or for all of the tenant.

    `owner_id:equal:me` means in a shared view whoever looks at it.
    """
    if asked.is_shared:
        require_curator(who)
    resource = kind_named(asked.kind)
    actor = actor_of(who, request)
    list_query = ListQuery(
        tenant_id=who.tenant_id,
        conditions=of_caller(who.user_id, read_filters(asked.query.filter)),
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
        is_shared=asked.is_shared,
    )
    owner = text("coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)")
    made = await connection.execute(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", owner, "kind", "name"],
            set_={name: statement.excluded[name] for name in ("query", "is_shared")},
        ).returning(SavedView, literal(value=True).label("is_mine"))
    )
    return ViewOut.model_validate(made.one(), from_attributes=True)


def mine(who: Identity) -> ColumnElement[bool]:
    """Match the views of the caller."""
    return SavedView.created_by.is_not_distinct_from(who.user_id)


def require_curator(who: Identity) -> None:
    """Raise unless the caller may work for others."""
    if not who.may(Permission.CURATE):
        raise NotAllowed(
            "You may only look: keep the view for yourself.",
            hint="Ask an administrator for the role of a curator.",
        )


async def require_room(
    connection: AsyncConnection, who: Identity, kind: str, name: str
) -> None:
    """Raise unless a person may have one more view, or has this one already."""
    same = and_(SavedView.kind == kind, SavedView.name == name)
    query = select(func.count()).select_from(SavedView).where(mine(who), not_(same))
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
    """Delete a view of the caller; an administrator, also one that others share."""
    is_admin = literal(who.may(Permission.ADMINISTER))
    theirs = or_(mine(who), and_(is_admin, SavedView.is_shared))
    gone = await connection.execute(
        delete(SavedView).where(SavedView.id == view_id, theirs)
    )
    if not gone.rowcount:
        raise UnknownRecord("There is no such view.")
