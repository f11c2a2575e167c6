"""The story of a company: found, confirmed, contacted, replied, changed on its website."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.history import actions, edits
from scrapersky.api.records.schema import RecordEvent
from scrapersky.changes.reader import latest_changes
from scrapersky.records.change import ChangeEvent

MOST_EVENTS: Final = 200
MOST_OF_SITE: Final = 100
SHOWN_FIELDS: Final = frozenset(
    {
        "name", "categories", "street", "city", "region", "postal_code", "country", "phone",
        "website", "business_status", "email_contact_id", "decision_maker_id",
    }
)  # fmt: skip
"""What of a company is news: the rest people wrote, or it changes with every reading."""

What = Literal[
    "found", "confirmed", "status", "edited", "merged", "undone", "changed",
    "contact_found", "person_found",
]  # fmt: skip

FOUND: Final = text(
    """SELECT h.found_at AS at, s.id AS search_id,
      concat_ws(' in ', nullif(s.business_type, ''), s.location) AS search, s.source
    FROM company_members m JOIN place_search_hits h ON h.place_id = m.place_id
    JOIN place_searches s ON s.id = h.search_id
    WHERE m.company_id = :company ORDER BY h.found_at DESC LIMIT :most"""
)
OF_SITE: Final = text(
    """(SELECT 'contact_found' AS what, created_at AS at, coalesce(email, phone) AS value,
        name FROM contacts WHERE domain_id = :domain ORDER BY created_at DESC LIMIT :most)
    UNION ALL (SELECT 'person_found', created_at, role, name
      FROM people WHERE domain_id = :domain ORDER BY created_at DESC LIMIT :most)"""
)
DIFFERED: Final = text(
    """SELECT created_at AS at, what, field, old_value, new_value FROM (
      SELECT * FROM differences WHERE domain_id = :domain
      UNION SELECT d.* FROM company_members m JOIN differences d ON d.place_id = m.place_id
        WHERE m.company_id = :company) d
    WHERE tenant_id = :tenant AND what <> 'new' ORDER BY created_at DESC LIMIT :most"""
)
LOGGED: Final[Mapping[ChangeEvent, What]] = {
    ChangeEvent.CHANGED: "changed",
    ChangeEvent.MERGED: "merged",
}


class TimelineEvent(BaseModel):
    """One thing that happened."""

    at: datetime
    what: What
    who: str | None = Field(description="A person, or the stage that did it.")
    status_before: str | None = None
    status_after: str | None = None
    fields: list[str] = Field([], description="What changed.")
    name: str | None = Field(None, description="Whom it is about.")
    value: str | None = Field(
        None,
        description="The address, the role or the search; of a change what it is now.",
    )
    value_before: str | None = None
    search_id: UUID | None = None


class TimelineOut(BaseModel):
    """What happened to a company, the latest first."""

    events: list[TimelineEvent] = Field(description=f"At most {MOST_EVENTS}.")


async def timeline_of(
    connection: AsyncConnection, tenant_id: UUID, row: Row[Any]
) -> TimelineOut:
    """Tell what happened to a company, from its decisions, its site and the change log."""
    found = await found_by(connection, row)
    events = [
        *map(of_action, await actions(connection, row.id)),
        *map(of_edit, await edits(connection, row.id)),
        *found,
        *await seen_on_site(connection, row),
        *await differed(connection, tenant_id, row),
        *await logged(connection, tenant_id, row),
    ]
    # What has just been found is there: only a later look confirms it.
    if row.seen_at and all(row.seen_at > one.at for one in found):
        events.append(TimelineEvent(at=row.seen_at, what="confirmed", who=None))
    latest = sorted(events, key=lambda event: event.at, reverse=True)
    return TimelineOut(events=latest[:MOST_EVENTS])


def of_action(event: RecordEvent) -> TimelineEvent:
    """Tell of a decision, of work in bulk, or that it was undone."""
    by_name: dict[str, What] = {"decided": "status", "undone": "undone"}
    before, after = (event.details.get(name) or {} for name in ("before", "after"))
    return TimelineEvent(
        at=event.at,
        what=by_name.get(event.what, "edited"),
        who=event.who,
        status_before=event.status_before,
        status_after=event.status_after,
        fields=[name for name in after if before.get(name) != after[name]],
    )


def of_edit(event: RecordEvent) -> TimelineEvent:
    """Tell of what somebody wrote, or put together."""
    return TimelineEvent(
        at=event.at,
        what="merged" if event.what == "merged" else "edited",
        who=event.who,
        fields=[*(event.details.get("after") or {})],
    )


async def found_by(connection: AsyncConnection, row: Row[Any]) -> list[TimelineEvent]:
    """Tell which searches found it."""
    values = {"company": row.id, "most": MOST_OF_SITE}
    found = [
        TimelineEvent(
            at=hit.at, what="found", who=hit.source, value=hit.search,
            search_id=hit.search_id,
        )
        for hit in await connection.execute(FOUND, values)
    ]  # fmt: skip
    if not found and row.first_seen_at is not None:
        found = [TimelineEvent(at=row.first_seen_at, what="found", who=None)]
    return found


async def seen_on_site(
    connection: AsyncConnection, row: Row[Any]
) -> list[TimelineEvent]:
    """Tell which addresses and people were found on its website."""
    if row.domain_id is None:
        return []
    values = {"domain": row.domain_id, "most": MOST_OF_SITE}
    return [
        TimelineEvent(who=None, **one._asdict())
        for one in await connection.execute(OF_SITE, values)
    ]


async def differed(
    connection: AsyncConnection, tenant_id: UUID, row: Row[Any]
) -> list[TimelineEvent]:
    """Tell what its website and its sources said otherwise than before."""
    values = {
        "company": row.id, "domain": row.domain_id, "tenant": tenant_id,
        "most": MOST_OF_SITE,
    }  # fmt: skip
    return [
        TimelineEvent(
            at=one.at, what="changed", who=None,
            fields=[one.field] if one.field else [],
            value=one.new_value if one.field else one.what,
            value_before=one.old_value,
        )
        for one in await connection.execute(DIFFERED, values)
    ]  # fmt: skip


async def logged(
    connection: AsyncConnection, tenant_id: UUID, row: Row[Any]
) -> list[TimelineEvent]:
    """Tell what the change log has of a company."""
    events = []
    for entry in await latest_changes(connection, tenant_id, [row.id], MOST_EVENTS):
        fields = [one for one in entry.fields if one in SHOWN_FIELDS]
        what = LOGGED.get(entry.event) if entry.action_id is None else None
        if what == "merged" or (what and fields):
            events.append(
                TimelineEvent(
                    at=entry.created_at, what=what, who=entry.actor, fields=fields
                )
            )
    return events
