"""Give records back what they had before an action."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy import Text as TextType
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from scrapersky.curation.action import ActionResult, ActionRow, audit
from scrapersky.curation.company_work import restore_work
from scrapersky.curation.decision import CHUNK_ROWS, NOTHING
from scrapersky.curation.lead_import import ImportCursor, restore_import
from scrapersky.db.transaction import (
    Database,
    commit_chunk,
    run_in_transaction,
    transaction,
)
from scrapersky.errors import UnknownAction
from scrapersky.records import CURATED, CurationAction, CurationChange, Kind, kind_named
from scrapersky.records.audit import Actor
from scrapersky.records.change import log_as_part_of
from scrapersky.records.curation import ActionType
from scrapersky.records.work_queue import Attribute, WorkQueue

Restore = Callable[[AsyncConnection, Actor, ActionRow], Awaitable[ActionResult]]
"""Puts back all that an action of one type changed, in one transaction."""


async def undo(
    database: Database,
    actor: Actor,
    action_id: UUID,
    *,
    others: Mapping[ActionType, Restore] | None = None,
) -> ActionResult:
    """Give every record back what it had, unless it has moved on since.

    A record that someone changed again keeps that; one whose stage has begun keeps its
    result and only gets its curation status back. `others` knows further types of actions.
    """
    async with transaction(database) as connection:
        action = await open_to_undo(connection, actor, action_id)
    what = ActionType(action.what)
    whole = {ActionType.WORKED: restore_work, **(others or {})}.get(what)
    total = ActionResult(action_id=action_id)
    last: UUID | ImportCursor | None = None
    if what is ActionType.IMPORTED:
        last = ImportCursor()

    async def take_back(
        connection: AsyncConnection,
    ) -> tuple[ActionResult, UUID | ImportCursor | None]:
        await log_as_part_of(connection, action_id)
        step: ActionResult
        reached: UUID | ImportCursor | None
        if whole is not None:
            step, reached = await whole(connection, actor, action), None
        elif isinstance(last, ImportCursor):
            step, reached = await restore_import(connection, action, after=last)
        else:
            step, reached = await restore(connection, action, after=last)
        if reached is None:
            await close_undone(connection, actor, action, total + step)
        await log_as_part_of(connection, None)
        return total + step, reached

    while True:
        total, last = await run_in_transaction(database, take_back)
        if last is None:
            return total
        await commit_chunk(database)


async def open_to_undo(
    connection: AsyncConnection, actor: Actor, action_id: UUID
) -> ActionRow:
    """Return an action of the actor's tenant, or raise UnknownAction if there is none."""
    query = select(
        CurationAction.id,
        CurationAction.kind,
        CurationAction.what,
        CurationAction.status,
        CurationAction.changed_count,
        CurationAction.created_at,
    ).where(is_open(actor, action_id))
    action = (await connection.execute(query)).one_or_none()
    if action is None:
        raise UnknownAction("There is no such action, or it is already undone.")
    return action


def is_open(actor: Actor, action_id: UUID) -> ColumnElement[bool]:
    """Match an action of the actor's tenant that nobody has undone."""
    return and_(
        CurationAction.id == action_id,
        CurationAction.tenant_id == actor.tenant_id,
        CurationAction.undone_at.is_(None),
    )


async def close_undone(
    connection: AsyncConnection, actor: Actor, action: ActionRow, total: ActionResult
) -> None:
    """Note that all of an action is undone: after a crash it can be undone again."""
    closed = await connection.execute(
        update(CurationAction)
        .where(is_open(actor, action.id))
        .values(undone_at=func.clock_timestamp())
    )
    if not closed.rowcount:
        raise UnknownAction("There is no such action, or it is already undone.")
    kind = kind_named(action.kind, CURATED)
    await audit(connection, actor, "undone", kind, total)


def taken_back(
    queue: WorkQueue | None, before: ReadOnlyColumnCollection[str, Any]
) -> dict[Attribute, ColumnElement[Any]]:
    """Return what an undo changes beside the status, where the stage has not begun."""
    if queue is None:
        return {}
    still_queued = and_(before.queued, before.stage_status_now == queue.queued)
    status = cast(before.stage_status_before, queue.column.type)
    return {
        queue.column: case((still_queued, status), else_=queue.column),
        queue.error: case((still_queued, before.error_before), else_=queue.error),
    }


def is_renewed(kind: Kind, action: ActionRow) -> ColumnElement[bool]:
    """Say whether a record would have the status that an action gave it without that.

    Only a status that lasts is looked after so: one that was set again since, by another
    decision or by what came to the record, stays.
    """
    decision = kind.deciding
    if action.status != decision.lasting:
        return false()
    since = literal(action.created_at)
    again = (
        select(CurationAction.id)
        .join(CurationChange, CurationChange.action_id == CurationAction.id)
        .where(
            CurationChange.record_id == kind.record.id,
            CurationAction.status == action.status,
            CurationAction.undone_at.is_(None),
            CurationAction.created_at > since,
        )
        .correlate(kind.record)
        .exists()
    )
    return or_(again, decision.renewed(since)) if decision.renewed else again


async def restore(
    connection: AsyncConnection, action: ActionRow, *, after: UUID | None
) -> tuple[ActionResult, UUID | None]:
    """Put back some of the statuses that one action set; None when there is no more."""
    kind = kind_named(action.kind, CURATED)
    model, change, queue = kind.record, CurationChange, kind.deciding.queue
    changes = (
        select(change)
        .where(
            change.action_id == action.id,
            change.record_id > after if after is not None else true(),
        )
        .order_by(change.record_id)
        .limit(CHUNK_ROWS)
        .cte("changes")
        .prefix_with("MATERIALIZED")
    )
    # Found by their ids alone, one by one: after a bulk decision the planner's figures
    # know nothing of the new status yet, and would have it compare all with all.
    found_now = (
        select(
            kind.deciding.column.label("status_now"),
            (queue.column if queue else NOTHING).label("stage_status_now"),
        )
        .where(model.id == changes.c.record_id)
        .with_for_update()
        .lateral("found_now")
    )
    now = (
        select(changes, found_now.c.status_now, found_now.c.stage_status_now)
        .join(found_now, true())
        .cte("now")
        .prefix_with("MATERIALIZED")
    )
    before = now.c
    restored = (
        update(model)
        .where(
            model.id == before.record_id,
            before.status_now == kind.status_named(action.status),
            ~is_renewed(kind, action),
        )
        .values(
            {
                kind.deciding.column: cast(
                    before.status_before, kind.deciding.column.type
                ),
                **taken_back(queue, before),
            }
        )
        .returning(model.id)
        .cte("restored")
    )
    summary = select(
        select(func.count()).select_from(changes).scalar_subquery().label("seen"),
        select(func.count()).select_from(restored).scalar_subquery().label("restored"),
        select(func.max(cast(changes.c.record_id, TextType)))
        .scalar_subquery()
        .label("last"),
    )
    found = (await connection.execute(summary)).one()
    left = found.seen - found.restored
    step = ActionResult(
        found.restored, 0, {"changed again since": left} if left else {}, action.id
    )
    return step, UUID(found.last) if found.seen == CHUNK_ROWS else None
