"""Actions: what a person or a rule did to many records, kept so that it can be undone.

An action is one row, and one row for each record with the values it had: decisions, work
on companies and merges alike. `undo.py` takes any of them back by the action's id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import CurationAction, CurationChange, Kind
from scrapersky.records.audit import Actor, note
from scrapersky.records.change import log_as_part_of
from scrapersky.records.curation import ActionType

ActionRow = Row[*tuple[Any, ...]]
NO_STATUS = ""
"""The status of an action that sets none; older releases know no action without one."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action came to, or its undo."""

    changed: int = 0
    queued: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    action_id: UUID | None = None

    def __add__(self, other: "ActionResult") -> "ActionResult":
        reasons = {*self.skipped, *other.skipped}
        return ActionResult(
            self.changed + other.changed,
            self.queued + other.queued,
            {r: self.skipped.get(r, 0) + other.skipped.get(r, 0) for r in reasons},
            self.action_id or other.action_id,
        )


async def open_action(
    connection: AsyncConnection,
    actor: Actor,
    kind: Kind,
    what: ActionType,
    *,
    selection: Mapping[str, Any],
    status: str = NO_STATUS,
    rule_id: UUID | None = None,
    matched: int | None = None,
) -> UUID:
    """Record that something is being done, and to how many records.

    Until `keep_counts`, what the transaction changes is logged as a part of it.
    """
    result = await connection.execute(
        insert(CurationAction)
        .values(
            tenant_id=actor.tenant_id,
            created_by=actor.user_id,
            kind=kind.name,
            what=what,
            status=status,
            rule_id=rule_id,
            selection=selection,
            matched_count=matched,
        )
        .returning(CurationAction.id)
    )
    action_id = UUID(str(result.scalar_one()))
    await log_as_part_of(connection, action_id)
    return action_id


async def keep_counts(
    connection: AsyncConnection, total: ActionResult, *, is_last: bool = True
) -> None:
    """Keep with the action what it came to so far, and whether that is all."""
    await connection.execute(
        update(CurationAction)
        .where(CurationAction.id == total.action_id)
        .values(
            changed_count=total.changed,
            queued_count=total.queued,
            skipped=total.skipped,
            finished_at=func.clock_timestamp() if is_last else None,
        )
    )
    await log_as_part_of(connection, None)


async def audit(
    connection: AsyncConnection,
    actor: Actor,
    action: str,
    kind: Kind,
    total: ActionResult,
) -> None:
    """Write into the audit log who did what."""
    details = {
        "action_id": str(total.action_id),
        "changed": total.changed,
        "queued": total.queued,
    }
    await note(connection, actor, action, kind.name, details, record_id=total.action_id)


async def keep_merges(
    connection: AsyncConnection,
    actor: Actor,
    action_id: UUID,
    merges: Sequence[tuple[UUID, UUID]],
) -> None:
    """Keep with an action its merges, each with its id and that of the record that is gone."""
    rows = [
        {
            "action_id": action_id,
            "record_id": gone,
            "tenant_id": actor.tenant_id,
            "queued": False,
            "before": {},
            "after": {"merge_id": str(merge_id)},
        }
        for merge_id, gone in merges
    ]
    await connection.execute(insert(CurationChange), rows)
    await keep_counts(connection, ActionResult(len(merges), action_id=action_id))


async def merges_of(connection: AsyncConnection, action_id: UUID) -> list[UUID]:
    """Return the merges of an action."""
    query = select(CurationChange.after).where(CurationChange.action_id == action_id)
    rows = await connection.scalars(query.order_by(CurationChange.record_id))
    return [UUID(after["merge_id"]) for after in rows if after]


def undo_result(action: ActionRow, count: int) -> ActionResult:
    """Report an undo: how many records are as they were, and how many moved on."""
    left = action.changed_count - count
    return ActionResult(
        count, 0, {"changed again since": left} if left else {}, action.id
    )
