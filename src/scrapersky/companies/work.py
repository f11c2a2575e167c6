"""Assign, tag and fill in many companies at once, and undo it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        AS r(id uuid, before jsonb, owner_id uuid, tags text[], own jsonb)),
      noted AS (INSERT INTO company_changes
        (action_id, company_id, tenant_id, before, after)
        SELECT CAST(:action AS uuid), r.id, CAST(:tenant AS uuid), r.before,
          jsonb_build_object('owner_id', r.owner_id, 'tags', to_jsonb(r.tags),
            'own', r.own) FROM r)
    UPDATE companies c SET owner_id = r.owner_id, tags = r.tags, own = r.own,
      worked_at = clock_timestamp() FROM r WHERE c.id = r.id"""
)
# Actions of before there were own columns in bulk say nothing about these.
UNDO: Final = text(
    """UPDATE companies c SET owner_id = CAST(h.before->>'owner_id' AS uuid),
      tags = ARRAY(SELECT jsonb_array_elements_text(h.before->'tags')),
      own = coalesce(h.before->'own', c.own), worked_at = clock_timestamp()
    FROM company_changes h
    WHERE h.action_id = :id AND h.tenant_id = :tenant AND c.id = h.company_id
      AND jsonb_build_object('owner_id', c.owner_id, 'tags', to_jsonb(c.tags),
        'own', c.own) = jsonb_build_object('own', c.own) || h.after
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
    own: Mapping[str, str | float | None] = field(default_factory=dict)
    """Values of own columns that fit them; None takes one away."""

    def after(self, row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
        """Return who works on a company then, its tags and its own values."""
        tags = [*row.tags, *self.add_tags]
        own = {**row.own, **self.own}
        return {
            "owner_id": self.owner_id if self.assigns else row.owner_id,
            "tags": [
                *dict.fromkeys(tag for tag in tags if tag not in self.remove_tags)
            ],
            "own": {name: value for name, value in own.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Worked:
    """What work on many came to, and the handle to undo it by."""

    action_id: UUID | None
    matched: int
    changed: int


async def work_on(
    connection: AsyncConnection, actor: Actor, chosen: ColumnElement[bool], work: Work
) -> Worked:
    """Change all that is meant, in one transaction."""
    query = (
        select(Company.id, Company.owner_id, Company.tags, Company.own)
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
        before = {"owner_id": row.owner_id, "tags": row.tags, "own": row.own}
        after = work.after(row)
        if after != before:
            changes.append({"id": row.id, "before": before, **after})
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


async def undo_work(
    connection: AsyncConnection, actor: Actor, action_id: UUID
) -> Worked:
    """Give every company back what it had, unless somebody has changed it since."""
    values = {"id": action_id, "tenant": actor.tenant_id}
    changed = (await connection.execute(CLOSE, values)).scalar_one_or_none()
    if changed is None:
        raise UnknownAction("There is no such action to undo, or it is undone.")
    restored = len((await connection.execute(UNDO, values)).all())
    details = {"action_id": str(action_id), "changed": restored}
    await note(connection, actor, "undone", "companies", details)
    return Worked(action_id, changed, restored)
