"""Actions: what was done to many records at once; how far it is, and its undo."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import (
    ChunkedConnection,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.schema import (
    NOT_FOUND,
    ListOut,
    Word,
)
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.api.time_list import (
    PageAsked,
    PageRequest,
    read_latest,
)
from scrapersky.companies.correction import take_back_merge
from scrapersky.curation.action import ActionResult, ActionRow, merges_of, undo_result
from scrapersky.curation.undo import undo
from scrapersky.errors import UnknownAction, UnknownRecord
from scrapersky.records import CurationAction, SelectionRule, User
from scrapersky.records.audit import Actor
from scrapersky.records.curation import ActionType

router = APIRouter(prefix="/api/v3/actions", tags=["actions"])


class ActionOut(BaseModel):
    """What was done to one or many records at once, by a person or by a rule."""

    id: UUID
    kind: str = Field(examples=["pages"])
    what: ActionType
    status: str | None = Field(
        description="The status that was set, if any.", examples=["Selected"]
    )
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
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    kind: Annotated[Word | None, Query()] = None,
) -> ListOut[ActionOut]:
    """List what was done, the latest first."""
    return await actions_page(connection, who, page, kind=kind)


@router.get("/{action_id}", operation_id="read_action", responses=NOT_FOUND)
async def read_action(
    who: Reader,
    connection: Transaction,
    action_id: UUID,
) -> ActionOut:
    """Report how far an action is, or what it came to."""
    query = action_query(who.tenant_id).where(CurationAction.id == action_id)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownAction("There is no such action.")
    return action_out(row)


@router.post("/{action_id}/undo", operation_id="undo_action", responses=NOT_FOUND)
async def undo_action(
    who: Curator,
    request: Request,
    connection: ChunkedConnection,
    action_id: UUID,
) -> UndoneOut:
    """Give every record back what it had, unless it has moved on since.

    Decisions, work on companies and merges of companies are all undone so.
    """
    actor = actor_of(who, request)
    others = {ActionType.MERGED: restore_merges}
    async with statement_timeout(BULK_TIMEOUT, connection):
        undone = await undo(connection, actor, action_id, others=others)
    return UndoneOut(
        action_id=action_id, restored=undone.changed, skipped=undone.skipped
    )


async def restore_merges(
    connection: AsyncConnection, actor: Actor, action: ActionRow
) -> ActionResult:
    """Make two companies again of each pair that is still together."""
    count = 0
    for merge_id in await merges_of(connection, action.id):
        with suppress(UnknownRecord):
            await take_back_merge(connection, actor, merge_id)
            count += 1
    return undo_result(action, count)


async def actions_page(
    connection: AsyncConnection,
    who: Identity,
    page: PageRequest,
    *,
    kind: str | None = None,
    rule_id: UUID | None = None,
) -> ListOut[ActionOut]:
    """Return one page of decisions: all, of one kind, or of one rule."""
    scope = [str(who.tenant_id), "actions", kind, str(rule_id)]
    query = action_query(who.tenant_id)
    if kind is not None:
        query = query.where(CurationAction.kind == kind)
    if rule_id is not None:
        query = query.where(CurationAction.rule_id == rule_id)
    found = await read_latest(
        connection,
        query,
        CurationAction.created_at,
        CurationAction.id,
        scope=scope,
        page=page,
    )
    return found.listing([action_out(row) for row in found.rows])


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


def action_out(row: Any) -> ActionOut:  # noqa: ANN401 - a row
    """Show one action."""
    return ActionOut(
        id=row.id,
        kind=row.kind,
        what=row.what,
        status=row.status or None,
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
