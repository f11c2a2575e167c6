"""Queue what changed here: the change log, read for one connection."""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.changes.cursor import parse_cursor
from scrapersky.changes.reader import ChangeEntry, head_cursor, read_changes
from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.outbox import queue, queue_contacts
from scrapersky.connectors.protocol import CrmKind
from scrapersky.errors import ChangesForgotten
from scrapersky.records import Contact
from scrapersky.records.change import ChangeEvent
from scrapersky.records.status import ContactProcessingStatus
from scrapersky.records.sync import STATUS_COLUMNS, SyncState

PAGE_ENTRIES: Final = 1_000
KINDS: Final = {"companies": CrmKind.COMPANY, "contacts": CrmKind.PERSON}
NOT_SENT: Final = frozenset(
    {
        "created_by", "notes", "contact_curation_status", "validation_processing_status",
        "validation_processing_error", "worked_at", "follow_up_on", "confidence",
        *(column.key for column in STATUS_COLUMNS.values()),
    }
)  # fmt: skip
"""Fields that go to no CRM, whatever is mapped."""
THERE: Final = text(
    f"""SELECT record_id, company_id FROM sync_records WHERE connection_id = :connection
    AND kind = :kind AND record_id = ANY(:ids) AND NOT is_shared
    AND state IN ('{SyncState.DONE}', '{SyncState.SENDING}', '{SyncState.UNKNOWN}')"""  # noqa: S608 - our own labels
)
TAKE_OVER: Final = text(
    f"""UPDATE sync_records r SET record_id = :into, state = '{SyncState.QUEUED}'
    WHERE connection_id = :connection AND kind = :kind AND record_id = :gone
      AND their_id IS NOT NULL AND NOT EXISTS (SELECT FROM sync_records o
        WHERE o.connection_id = :connection AND o.kind = :kind AND o.record_id = :into)"""  # noqa: S608
)
EVERYTHING: Final = text(
    f"""UPDATE sync_records SET state = '{SyncState.QUEUED}'
    WHERE connection_id = :connection AND state = '{SyncState.DONE}'"""  # noqa: S608
)


async def feed(lease: Lease, row: Row[Any]) -> bool:
    """Queue what the next page of the log says; return whether there may be more."""
    cursor = parse_cursor(row.cursor)
    try:
        async with lease.engine.connect() as connection:
            page = await read_changes(connection, lease.tenant_id, cursor, PAGE_ENTRIES)
    except ChangesForgotten:
        await start_over(lease)
        return True
    if page.cursor == cursor or not (page.entries or page.more):
        return False
    async with lease.transaction({"cursor": str(page.cursor)}) as connection:
        await take_entries(connection, lease, row.connector, page.entries)
    return page.more


async def start_over(lease: Lease) -> None:
    """Compare everything with the CRM again: what changed is not known any more."""
    async with lease.engine.connect() as connection:
        cursor = await head_cursor(connection, lease.tenant_id)
    async with lease.transaction({"cursor": str(cursor)}) as connection:
        await connection.execute(EVERYTHING, {"connection": lease.id})


async def take_entries(
    connection: AsyncConnection,
    lease: Lease,
    connector: str,
    entries: Iterable[ChangeEntry],
) -> None:
    """Queue what is there and changed, and contacts that somebody set to queued."""
    changed: dict[CrmKind, list[UUID]] = {kind: [] for kind in CrmKind}
    asked: list[UUID] = []
    column = STATUS_COLUMNS.get(connector)
    for entry in entries:
        kind = KINDS.get(entry.kind)
        if kind is None:
            continue
        if entry.event is ChangeEvent.MERGED:
            await take_over(connection, lease.id, kind, entry)
        elif entry.event is ChangeEvent.CHANGED and {*entry.fields} - NOT_SENT:
            changed[kind].append(entry.record_id)
        is_asked = entry.event is ChangeEvent.CREATED or (
            column is not None and column.key in entry.fields
        )
        if kind is CrmKind.PERSON and is_asked:
            asked.append(entry.record_id)
    for kind, ids in changed.items():
        values = {"connection": lease.id, "kind": kind.value, "ids": ids}
        rows = (await connection.execute(THERE, values)).all() if ids else []
        records = {row.record_id: row.company_id for row in rows}
        await queue(connection, lease.tenant_id, lease.id, kind, records)
    if asked and column is not None:
        wanted = select(Contact.id).where(
            Contact.tenant_id == lease.tenant_id,
            Contact.id.in_(asked),
            column == ContactProcessingStatus.QUEUED,
        )
        ids = list(await connection.scalars(wanted))
        await queue_contacts(connection, lease.tenant_id, lease.id, ids)


async def take_over(
    connection: AsyncConnection, sync_id: UUID, kind: CrmKind, entry: ChangeEntry
) -> None:
    """Give what was merged here to the record that it became a part of."""
    into = (entry.details or {}).get("into")
    if into is None:
        return
    values = {
        "connection": sync_id,
        "kind": kind.value,
        "gone": entry.record_id,
        "into": UUID(str(into)),
    }
    await connection.execute(TAKE_OVER, values)
