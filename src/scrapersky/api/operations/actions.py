"""Actions: decisions about many records at once; how far they are, and their undo."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Chunks, Transaction, actor_of, allow
from scrapersky.api.operations.shape import (
    BULK,
    COUNTED,
    NOT_FOUND,
    Cursor,
    CursorKey,
    Limit,
    Word,
    latest_first,
    read_place,
    write_place,
)
from scrapersky.api.records.schema import RecordList, Total
from scrapersky.api.tenancy import statement_timeout
from scrapersky.curation.undo import undo
from scrapersky.errors import UnknownAction
from scrapersky.records import CurationAction, SelectionRule, User

router = APIRouter(prefix="/api/v3/actions", tags=["actions"])


class ActionOut(BaseModel):
    """One decision about one or many records, by a person or by a rule."""

    id: UUID
    kind: str = Field(examples=["pages"])
    status: str = Field(examples=["Selected"])
    rule_id: UUID | None
    rule_name: str | None
    who: str | None = Field(description="The person, where one decided.")
    created_at: datetime
    updated_at: datetime
    selection: dict[str, Any]
    matched: int | None = Field(description="Records that were meant, if counted.")
    changed: int
    queued: int
    skipped: dict[str, int]
    finished_at: datetime | None = Field(
        description="Null while it is being carried out."
    )
    undone_at: datetime | None
    is_undoable: bool


class UndoneOut(BaseModel):
    """What an undo came to."""

    action_id: UUID
    restored: int
    skipped: dict[str, int] = Field(examples=[{"changed again since": 2}])


@router.get("", operation_id="list_actions")
async def list_actions(
    *,
    who: Annotated[Identity, allow(Permission.READ)],
    connection: Transaction,
    key: CursorKey,
    kind: Annotated[Word | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> RecordList[ActionOut]:
    """List the decisions, the latest first."""
    return await actions_page(
        connection, who, key, limit=limit, cursor=cursor, kind=kind
    )


@router.get("/{action_id}", operation_id="read_action", responses=NOT_FOUND)
async def read_action(
    who: Annotated[Identity, allow(Permission.READ)],
    connection: Transaction,
    action_id: UUID,
) -> ActionOut:
    """Report how far a decision is, or what it came to."""
    query = action_query(who.tenant_id).where(CurationAction.id == action_id)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownAction("There is no such action.")
    return shown(row)


@router.post("/{action_id}/undo", operation_id="undo_action", responses=NOT_FOUND)
async def undo_action(
    who: Annotated[Identity, allow(Permission.CURATE)],
    request: Request,
    connection: Chunks,
    action_id: UUID,
) -> UndoneOut:
    """Give every record back the status it had, unless it has moved on since."""
    async with statement_timeout(BULK, connection):
        undone = await undo(connection, actor_of(who, request), action_id)
    return UndoneOut(
        action_id=action_id, restored=undone.changed, skipped=undone.skipped
    )


async def actions_page(
    connection: AsyncConnection,
    who: Identity,
    key: bytes,
    *,
    limit: int,
    cursor: str | None,
    kind: str | None = None,
    rule_id: UUID | None = None,
) -> RecordList[ActionOut]:
    """Return one page of decisions: all, of one kind, or of one rule."""
    scope = [str(who.tenant_id), "actions", kind, str(rule_id)]
    query = action_query(who.tenant_id)
    if kind is not None:
        query = query.where(CurationAction.kind == kind)
    if rule_id is not None:
        query = query.where(CurationAction.rule_id == rule_id)
    page = latest_first(
        query,
        CurationAction.created_at,
        CurationAction.id,
        read_place(key, scope, cursor),
    )
    rows = (await connection.execute(page.limit(limit + 1))).all()
    some = query.with_only_columns(CurationAction.id).limit(COUNTED + 1).subquery()
    count = await connection.scalar(select(func.count()).select_from(some)) or 0
    items = [shown(row) for row in rows[:limit]]
    following = None
    if len(rows) > limit:
        following = write_place(key, scope, items[-1].created_at, items[-1].id)
    return RecordList(
        items=items,
        next_cursor=following,
        total=Total(count=min(count, COUNTED), is_exact=count <= COUNTED),
    )


def action_query(tenant_id: UUID) -> Any:  # noqa: ANN401 - a select of three things
    """Select actions with the names of who made them."""
    return (
        select(
            CurationAction,
            SelectionRule.name.label("rule_name"),
            func.coalesce(User.name, User.email).label("who"),
        )
        .outerjoin(SelectionRule, SelectionRule.id == CurationAction.rule_id)
        .outerjoin(User, User.id == CurationAction.created_by)
        .where(CurationAction.tenant_id == tenant_id)
    )


def shown(row: Any) -> ActionOut:  # noqa: ANN401 - a row
    """Show one action."""
    return ActionOut(
        id=row.id,
        kind=row.kind,
        status=row.status,
        rule_id=row.rule_id,
        rule_name=row.rule_name,
        who=row.who,
        created_at=row.created_at,
        updated_at=row.updated_at,
        selection=row.selection,
        matched=row.matched_count,
        changed=row.changed_count,
        queued=row.queued_count,
        skipped=row.skipped,
        finished_at=row.finished_at,
        undone_at=row.undone_at,
        is_undoable=row.undone_at is None and row.changed_count > 0,
    )
