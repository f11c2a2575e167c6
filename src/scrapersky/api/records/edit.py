"""Change one record by hand: lock it, see what differs, keep what it was."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.detail import Shown, record_of
from scrapersky.records import Kind
from scrapersky.records.audit import Actor, note


async def locked(connection: AsyncConnection, kind: Kind, record_id: UUID) -> Shown:
    """Return a record of the tenant that nobody else changes until the commit."""
    record = kind.record
    await connection.execute(
        select(record.id).where(record.id == record_id).with_for_update()
    )
    return await record_of(connection, kind, record_id)


def differing(row: Shown, changes: dict[str, Any]) -> dict[str, Any]:
    """Return those of the changes that change anything."""
    return {
        name: value for name, value in changes.items() if getattr(row, name) != value
    }


async def note_edit(
    connection: AsyncConnection,
    actor: Actor,
    kind: Kind,
    row: Shown,
    changes: dict[str, Any],
) -> None:
    """Write the audit line of an edit: every value before and after."""
    details = {
        "before": {name: plain(getattr(row, name)) for name in changes},
        "after": {name: plain(value) for name, value in changes.items()},
    }
    await note(connection, actor, "edited", kind.name, details, record_id=row.id)


def plain(value: object) -> object:
    """Write a value as JSON can."""
    return str(value) if isinstance(value, UUID) else value
