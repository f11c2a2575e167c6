"""What happened to a record: decisions, edits, and every attempt of its stages."""

from collections.abc import Iterator
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from curation_sdk import History, UnknownItem, UnknownStage
from curation_sdk.control import NEVER
from scrapersky.api.records.schema import Event
from scrapersky.records import AuditEntry, Company, CurationAction, CurationChange, User
from scrapersky.records.company import CompanyAction, CompanyChange
from scrapersky.records.kind import Kind
from scrapersky.stages import PIPELINE

MOST_EVENTS = 500


async def history_of(
    connection: AsyncConnection, resource: Kind, record_id: UUID
) -> list[Event]:
    """Report what happened to a record, the latest first."""
    events = [
        *await decisions(connection, record_id),
        *await edits(connection, record_id),
    ]
    if resource.record is Company:
        events += await work_in_bulk(connection, record_id)
    for stage in [stage.name for stage in PIPELINE if stage.model is resource.record]:
        try:
            events += stage_events(
                await curation_sdk.history(connection, stage, record_id)
            )
        except (UnknownItem, UnknownStage):
            continue
    return sorted(events, key=lambda event: event.at, reverse=True)[:MOST_EVENTS]


async def decisions(connection: AsyncConnection, record_id: UUID) -> list[Event]:
    """Report who decided what about a record, by hand or by a rule."""
    query = (
        select(
            CurationAction.id,
            CurationAction.created_at,
            CurationAction.status,
            CurationAction.rule_id,
            CurationAction.undone_at,
            CurationChange.status_before,
            CurationChange.queued,
            User.email,
        )
        .join(CurationAction, CurationAction.id == CurationChange.action_id)
        .outerjoin(User, User.id == CurationAction.created_by)
        .where(CurationChange.record_id == record_id)
        .order_by(CurationAction.created_at.desc())
        .limit(MOST_EVENTS)
    )
    events: list[Event] = []
    for row in await connection.execute(query):
        action = {"action_id": str(row.id), "queued": row.queued}
        if row.rule_id is not None:
            action["rule_id"] = str(row.rule_id)
        events.append(
            Event(
                at=row.created_at,
                what="decided",
                who=row.email,
                status_before=row.status_before,
                status_after=row.status,
                details=action,
            )
        )
        if row.undone_at is not None:
            events.append(
                Event(
                    at=row.undone_at,
                    what="undone",
                    who=None,
                    status_before=row.status,
                    status_after=row.status_before,
                    details={"action_id": str(row.id)},
                )
            )
    return events


async def edits(connection: AsyncConnection, record_id: UUID) -> list[Event]:
    """Report what the audit log has about a single record."""
    query = (
        select(AuditEntry)
        .where(AuditEntry.record_id == record_id)
        .order_by(AuditEntry.created_at.desc())
        .limit(MOST_EVENTS)
    )
    return [
        Event(
            at=row.created_at,
            what=row.action,
            who=row.actor,
            details=row.details or {},
        )
        for row in await connection.execute(query)
    ]


async def work_in_bulk(connection: AsyncConnection, company_id: UUID) -> list[Event]:
    """Tell what was changed on a company together with others, and undone."""
    query = (
        select(
            CompanyAction.created_at,
            CompanyAction.undone_at,
            CompanyChange.before,
            CompanyChange.after,
            User.email,
        )
        .join(CompanyAction, CompanyAction.id == CompanyChange.action_id)
        .outerjoin(User, User.id == CompanyAction.created_by)
        .where(CompanyChange.company_id == company_id)
        .order_by(CompanyAction.created_at.desc())
        .limit(MOST_EVENTS)
    )
    events: list[Event] = []
    for row in await connection.execute(query):
        details = {"before": row.before, "after": row.after}
        events.append(
            Event(at=row.created_at, what="edited", who=row.email, details=details)
        )
        if row.undone_at is not None:
            events.append(Event(at=row.undone_at, what="undone", who=None))
    return events


def stage_events(found: History) -> Iterator[Event]:
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
        yield Event(
            at=attempt.settled_at,
            what=f"{found.stage}: {attempt.outcome}",
            who=attempt.worker,
            details=details,
        )
    if found.next_try_at is not None and found.next_try_at < NEVER:
        yield Event(
            at=found.next_try_at,
            what=f"{found.stage}: will be tried",
            who=None,
            details={"stage": found.stage, "tries": found.tries},
        )
