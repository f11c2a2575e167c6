"""Assign and tag many companies at once, and undo it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.errors import InvalidDecision, UnknownAction
from scrapersky.kit.json_text import json_text
from scrapersky.records import Company
from scrapersky.records.audit import Actor, note

MOST_AT_ONCE: Final = 10_000

OPEN: Final = text(
    """INSERT INTO company_actions (tenant_id, created_by, changed_count)
    VALUES (:tenant, :by, :count) RETURNING id"""
)
WORK: Final = text(
    """WITH r AS MATERIALIZED (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb))
        AS r(id uuid, before jsonb, owner_id uuid, tags text[])),
      noted AS (INSERT INTO company_changes
        (action_id, company_id, tenant_id, before, after)
        SELECT CAST(:action AS uuid), r.id, CAST(:tenant AS uuid), r.before,
          jsonb_build_object('owner_id', r.owner_id, 'tags', to_jsonb(r.tags)) FROM r)
    UPDATE companies c SET owner_id = r.owner_id, tags = r.tags,
      worked_at = clock_timestamp() FROM r WHERE c.id = r.id"""
)
UNDO: Final = text(
    """UPDATE companies c SET owner_id = CAST(h.before->>'owner_id' AS uuid),
      tags = ARRAY(SELECT jsonb_array_elements_text(h.before->'tags')),
      worked_at = clock_timestamp()
    FROM company_changes h
    WHERE h.action_id = :id AND h.tenant_id = :tenant AND c.id = h.company_id
      AND jsonb_build_object('owner_id', c.owner_id, 'tags', to_jsonb(c.tags)) = h.after
    RETURNING c.id"""
)
CLOSE: Final = text(
    """UPDATE company_actions SET undone_at = clock_timestamp()
    WHERE id = :id AND tenant_id = :tenant AND undone_at IS NULL
    RETURNING changed_count"""
)


@dataclass(frozen=True, slots=True)
class Work:
    """What to change on every company that is meant."""

    assigns: bool = False
    owner_id: UUID | None = None
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()

    def after(
        self, owner_id: UUID | None, tags: list[str]
    ) -> tuple[UUID | None, list[str]]:
        """Return who works on a company then, and its tags."""
        kept = [tag for tag in (*tags, *self.add_tags) if tag not in self.remove_tags]
        return (self.owner_id if self.assigns else owner_id), [*dict.fromkeys(kept)]


@dataclass(frozen=True, slots=True)
class Worked:
    """What work on many came to, and the handle to undo it by."""

    action_id: UUID | None
    matched: int
    changed: int


async def work_on(
    connection: AsyncConnection, actor: Actor, chosen: ColumnElement[bool], work: Work
) -> Worked:
    """Assign and tag all that is meant, in one transaction."""
    query = (
        select(Company.id, Company.owner_id, Company.tags)
        .where(Company.tenant_id == actor.tenant_id, chosen)
        .order_by(Company.id)
        .limit(MOST_AT_ONCE + 1)
        .with_for_update()
    )
    rows = (await connection.execute(query)).all()
    if len(rows) > MOST_AT_ONCE:
        raise InvalidDecision(
            f"More than {MOST_AT_ONCE:,} companies at once; nothing was changed.",
            hint="Narrow the filter down.",
        )
    changes: list[dict[str, Any]] = []
    for row in rows:
        owner, tags = work.after(row.owner_id, row.tags)
        if (owner, tags) != (row.owner_id, row.tags):
            before = {"owner_id": row.owner_id, "tags": row.tags}
            change = {"id": row.id, "before": before, "owner_id": owner, "tags": tags}
            changes.append(change)
    if not changes:
        return Worked(None, len(rows), 0)
    about = {"tenant": actor.tenant_id, "by": actor.user_id, "count": len(changes)}
    action_id = (await connection.execute(OPEN, about)).scalar_one()
    written = json_text(changes)
    values = {"rows": written, "action": action_id, "tenant": actor.tenant_id}
    await connection.execute(WORK, values)
    details = {"action_id": str(action_id), "changed": len(changes)}
    await note(connection, actor, "worked", "companies", details)
    return Worked(action_id, len(rows), len(changes))


async def undo_work(connection: AsyncConnection, actor: Actor, action_id: UUID) -> int:
    """Give every company back what it had, unless somebody has changed it since."""
    values = {"id": action_id, "tenant": actor.tenant_id}
    if (await connection.execute(CLOSE, values)).one_or_none() is None:
        raise UnknownAction("There is no such action to undo, or it is undone.")
    restored = len((await connection.execute(UNDO, values)).all())
    details = {"action_id": str(action_id), "changed": restored}
    await note(connection, actor, "undone", "companies", details)
    return restored
