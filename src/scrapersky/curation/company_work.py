"""Assign, tag and fill in many companies at once; like decisions, it can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.curation.action import (
    ActionResult,
    ActionRow,
    audit,
    keep_counts,
    open_action,
    undo_result,
)
from scrapersky.curation.decision import Selection, selection_clause
from scrapersky.errors import InvalidDecision
from scrapersky.kit.json_text import json_text
from scrapersky.records import Company
from scrapersky.records.audit import Actor
from scrapersky.records.company import COMPANIES
from scrapersky.records.curation import ActionType

MAX_COMPANIES: Final = 10_000
CHANGED: Final = ("owner_id", "tags", "own", "follow_up_on")

WORK: Final = text(
    """WITH r AS MATERIALIZED (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb))
        AS r(id uuid, before jsonb, owner_id uuid, tags text[], own jsonb,
          follow_up_on date)),
      noted AS (INSERT INTO curation_changes
        (action_id, record_id, tenant_id, queued, before, after)
        SELECT CAST(:action AS uuid), r.id, CAST(:tenant AS uuid), false, r.before,
          jsonb_build_object('owner_id', r.owner_id, 'tags', to_jsonb(r.tags),
            'own', r.own, 'follow_up_on', r.follow_up_on) FROM r)
    UPDATE companies c SET owner_id = r.owner_id, tags = r.tags, own = r.own,
      follow_up_on = r.follow_up_on, worked_at = clock_timestamp() FROM r WHERE c.id = r.id"""
)
# Actions of before there were own columns or days in bulk say nothing about these.
RESTORE: Final = text(
    """UPDATE companies c SET owner_id = CAST(h.before->>'owner_id' AS uuid),
      tags = ARRAY(SELECT jsonb_array_elements_text(h.before->'tags')),
      own = coalesce(h.before->'own', c.own), follow_up_on = CASE WHEN
        h.before ? 'follow_up_on' THEN CAST(h.before->>'follow_up_on' AS date)
        ELSE c.follow_up_on END, worked_at = clock_timestamp()
    FROM curation_changes h
    WHERE h.action_id = :id AND h.tenant_id = :tenant AND c.id = h.record_id
      AND jsonb_build_object('owner_id', c.owner_id, 'tags', to_jsonb(c.tags),
        'own', c.own, 'follow_up_on', c.follow_up_on)
      = jsonb_build_object('own', c.own, 'follow_up_on', c.follow_up_on) || h.after
    RETURNING c.id"""
)


@dataclass(frozen=True, slots=True)
class CompanyWork:
    """What to change on every company that is meant."""

    assigns: bool = False
    owner_id: UUID | None = None
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()
    own: Mapping[str, str | float | None] = field(default_factory=dict)
    """Values of own columns that fit them; None takes one away."""
    sets_day: bool = False
    follow_up_on: date | None = None

    def after(self, row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
        """Return who works on a company then, its tags, own values and day."""
        tags = [*row.tags, *self.add_tags]
        own = {**row.own, **self.own}
        return {
            "owner_id": self.owner_id if self.assigns else row.owner_id,
            "tags": [
                *dict.fromkeys(tag for tag in tags if tag not in self.remove_tags)
            ],
            "own": {name: value for name, value in own.items() if value is not None},
            "follow_up_on": self.follow_up_on if self.sets_day else row.follow_up_on,
        }


async def work_on(
    connection: AsyncConnection, actor: Actor, selection: Selection, work: CompanyWork
) -> ActionResult:
    """Change all that is meant, in one transaction."""
    query = (
        select(*(getattr(Company, name) for name in ("id", *CHANGED)))
        .where(selection_clause(COMPANIES, actor.tenant_id, selection))
        .order_by(Company.id)
        .limit(MAX_COMPANIES + 1)
        .with_for_update()
    )
    rows = (await connection.execute(query)).all()
    if len(rows) > MAX_COMPANIES:
        raise InvalidDecision(
            f"More than {MAX_COMPANIES:,} companies at once; nothing was changed.",
            hint="Narrow the filter down.",
        )
    changes: list[dict[str, Any]] = []
    for row in rows:
        before = {name: getattr(row, name) for name in CHANGED}
        after = work.after(row)
        if after != before:
            changes.append({"id": row.id, "before": before, **after})
    same = len(rows) - len(changes)
    skipped = {"had this already": same} if same else {}
    if not changes:
        return ActionResult(skipped=skipped)
    action_id = await open_action(
        connection,
        actor,
        COMPANIES,
        ActionType.WORKED,
        selection=selection.as_json(),
        matched=len(rows),
    )
    total = ActionResult(len(changes), 0, skipped, action_id)
    values = {
        "rows": json_text(changes),
        "action": action_id,
        "tenant": actor.tenant_id,
    }
    await connection.execute(WORK, values)
    await keep_counts(connection, total)
    await audit(connection, actor, ActionType.WORKED, COMPANIES, total)
    return total


async def restore_work(
    connection: AsyncConnection, actor: Actor, action: ActionRow
) -> ActionResult:
    """Give every company back what it had, unless somebody has changed it since."""
    values = {"id": action.id, "tenant": actor.tenant_id}
    return undo_result(action, len((await connection.execute(RESTORE, values)).all()))
