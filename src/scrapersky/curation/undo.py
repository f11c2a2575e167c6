"""Give records back the status they had before a decision."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
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

from scrapersky.curation.decision import CHUNK, NOTHING, Decided, audit
from scrapersky.db.transaction import Database, commit_chunk, committed, transaction
from scrapersky.errors import UnknownAction
from scrapersky.records import CURATED, CurationAction, CurationChange, Kind, kind_named
from scrapersky.records.audit import Actor
from scrapersky.records.work_queue import Attribute, WorkQueue


async def undo(database: Database, actor: Actor, action_id: UUID) -> Decided:
    """Give every record back the status it had, unless it has moved on since.

    A record whose status someone changed again keeps that; one whose stage has begun
    keeps its result and only gets its curation status back.
    """
    mine = and_(
        CurationAction.id == action_id,
        CurationAction.tenant_id == actor.tenant_id,
        CurationAction.undone_at.is_(None),
    )
    async with transaction(database) as connection:
        query = select(
            CurationAction.kind, CurationAction.status, CurationAction.created_at
        ).where(mine)
        action = (await connection.execute(query)).one_or_none()
    if action is None:
        raise UnknownAction("There is no such action, or it is already undone.")
    kind = kind_named(action.kind, CURATED)
    total = Decided(action_id=action_id)
    last: UUID | None = None

    async def take_back(connection: AsyncConnection) -> tuple[Decided, UUID | None]:
        step, reached = await restore(connection, kind, action_id, action, after=last)
        if reached is None:
            # Undone only when all of it is: after a crash it can be undone again.
            await connection.execute(
                update(CurationAction)
                .where(mine)
                .values(undone_at=func.clock_timestamp())
            )
            await audit(connection, actor, "undone", kind, total + step)
        return total + step, reached

    while True:
        total, last = await committed(database, take_back)
        if last is None:
            return total
        await commit_chunk(database)


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


def is_renewed(kind: Kind, action: Row[str, str, datetime]) -> ColumnElement[bool]:
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
    connection: AsyncConnection,
    kind: Kind,
    action_id: UUID,
    action: Row[str, str, datetime],
    *,
    after: UUID | None,
) -> tuple[Decided, UUID | None]:
    """Put back some of what one action changed; None when there is no more."""
    model, change, queue = kind.record, CurationChange, kind.deciding.queue
    changes = (
        select(change)
        .where(
            change.action_id == action_id,
            change.record_id > after if after is not None else true(),
        )
        .order_by(change.record_id)
        .limit(CHUNK)
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
    step = Decided(
        found.restored, 0, {"changed again since": left} if left else {}, action_id
    )
    return step, UUID(found.last) if found.seen == CHUNK else None
