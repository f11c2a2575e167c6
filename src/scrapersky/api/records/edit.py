"""Change one record by hand: lock it, see what differs, keep what it was."""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.detail import RecordRow, record_of
from scrapersky.records import Kind
from scrapersky.records.audit import Actor, note


async def locked(connection: AsyncConnection, kind: Kind, record_id: UUID) -> RecordRow:
    """Return a record of the tenant that nobody else changes until the commit."""
    record = kind.record
    await connection.execute(
        select(record.id).where(record.id == record_id).with_for_update()
    )
    return await record_of(connection, kind, record_id)


def differing(row: RecordRow, changes: dict[str, Any]) -> dict[str, Any]:
    """Return those of the changes that change anything."""
    return {
        name: value for name, value in changes.items() if getattr(row, name) != value
    }


async def note_edit(
    connection: AsyncConnection,
    actor: Actor,
    kind: Kind,
    row: RecordRow,
    changes: dict[str, Any],
) -> None:
    """Write the audit line of an edit: every value before and after."""
    details = {
        "before": {name: json_value(getattr(row, name)) for name in changes},
        "after": {name: json_value(value) for name, value in changes.items()},
    }
    await note(connection, actor, "edited", kind.name, details, record_id=row.id)


def json_value(value: object) -> object:
    """Write a value as JSON can."""
    return str(value) if isinstance(value, UUID | date) else value
