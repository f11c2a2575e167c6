"""What happened to a record: decisions, edits, attempts of its stages, other changes."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from curation_sdk.control import NEVER
from curation_sdk.errors import UnknownItem, UnknownStage
from curation_sdk.history import History
from scrapersky.api.records.schema import RecordEvent
from scrapersky.changes.reader import latest_changes
from scrapersky.records import AuditEntry, CurationAction, CurationChange, User
from scrapersky.records.curation import ActionType
from scrapersky.records.kind import Kind
from scrapersky.stages import PIPELINE

MOST_EVENTS = 500


async def history_of(
    connection: AsyncConnection, tenant_id: UUID, resource: Kind, record_id: UUID
) -> list[RecordEvent]:
    """Report what happened to a record, the latest first."""
    edited = await edits(connection, record_id)
    people = {event.who for event in edited}
    events = [
        *await actions(connection, record_id),
        *edited,
        *await other_changes(connection, tenant_id, record_id, people),
    ]
    for stage in [stage.name for stage in PIPELINE if stage.model is resource.record]:
        try:
            events += stage_events(
                await curation_sdk.history(connection, stage, record_id)
            )
        except (UnknownItem, UnknownStage):
            continue
    return sorted(events, key=lambda event: event.at, reverse=True)[:MOST_EVENTS]


async def actions(connection: AsyncConnection, record_id: UUID) -> list[RecordEvent]:
    """Report what was done to a record alone or with others, by hand or by a rule."""
    query = (
        select(
            CurationAction.id,
            CurationAction.created_at,
            CurationAction.what,
            CurationAction.status,
            CurationAction.rule_id,
            CurationAction.undone_at,
            CurationChange.status_before,
            CurationChange.queued,
            CurationChange.before,
            CurationChange.after,
            User.email,
        )
        .join(CurationAction, CurationAction.id == CurationChange.action_id)
        .outerjoin(User, User.id == CurationAction.created_by)
        .where(CurationChange.record_id == record_id)
        .order_by(CurationAction.created_at.desc())
        .limit(MOST_EVENTS)
    )
    events: list[RecordEvent] = []
    for row in await connection.execute(query):
        is_decision = row.what == ActionType.DECIDED
        events.append(
            RecordEvent(
                at=row.created_at,
                what="edited" if row.what == ActionType.WORKED else row.what,
                who=row.email,
                status_before=row.status_before,
                status_after=row.status if is_decision else None,
                details=action_details(row),
            )
        )
        if row.undone_at is not None:
            events.append(
                RecordEvent(
                    at=row.undone_at,
                    what="undone",
                    who=None,
                    status_before=row.status if is_decision else None,
                    status_after=row.status_before,
                    details={"action_id": str(row.id)},
                )
            )
    return events


def action_details(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
    """Return what the history shows of an action beside the status."""
    details = {"action_id": str(row.id)}
    if row.what != ActionType.DECIDED:
        return {**details, "before": row.before, "after": row.after}
    rule = {"rule_id": str(row.rule_id)} if row.rule_id is not None else {}
    return {**details, "queued": row.queued, **rule}


async def edits(connection: AsyncConnection, record_id: UUID) -> list[RecordEvent]:
    """Report what the audit log has about a single record."""
    query = (
        select(AuditEntry)
        .where(AuditEntry.record_id == record_id)
        .order_by(AuditEntry.created_at.desc())
        .limit(MOST_EVENTS)
    )
    return [
        RecordEvent(
            at=row.created_at,
            what=row.action,
            who=row.actor,
            details=row.details or {},
        )
        for row in await connection.execute(query)
    ]


async def other_changes(
    connection: AsyncConnection,
    tenant_id: UUID,
    record_id: UUID,
    people: AbstractSet[str | None],
) -> list[RecordEvent]:
    """Report what the change log alone has: what stages, visits, matching and CRMs did.

    What people did is told by their actions and the audit log, with the values.
    """
    found = await latest_changes(connection, tenant_id, [record_id], MOST_EVENTS)
    return [
        RecordEvent(
            at=entry.created_at,
            what=entry.event,
            who=entry.actor,
            details={"fields": [*entry.fields], **(entry.details or {})},
        )
        for entry in found
        if entry.action_id is None and entry.actor not in people
    ]


def stage_events(found: History) -> Iterator[RecordEvent]:
    """Report every attempt of a stage, and when it tries again."""
    for attempt in found.attempts:
        details = {
            "stage": found.stage,
            "tries": attempt.tries,
            "why": attempt.why,
            "correlation_id": attempt.correlation_id,
        }
        if attempt.claimed_at is not None:
            took = attempt.settled_at - attempt.claimed_at
            details["seconds"] = round(took.total_seconds(), 3)
        if attempt.due_at is not None:
            details["next_try_at"] = attempt.due_at.isoformat()
        yield RecordEvent(
            at=attempt.settled_at,
            what=f"{found.stage}: {attempt.outcome}",
            who=attempt.worker,
            details=details,
        )
    if found.next_try_at is not None and found.next_try_at < NEVER:
        yield RecordEvent(
            at=found.next_try_at,
            what=f"{found.stage}: will be tried",
            who=None,
            details={"stage": found.stage, "tries": found.tries},
        )
