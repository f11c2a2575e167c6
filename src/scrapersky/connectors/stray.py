"""Records there that bear our id and are not the one in our map.

There are two ways to them. People merge two records, and the one that is left is not the one we
knew. And a process that was held up, after its last look at its lease and before the first byte,
writes what another has written meanwhile, in a CRM without an upsert. What it made is known to be
ours, so it is taken away again; what somebody else may have made is a question to a person.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import structlog
from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.outbox import (
    RECORDS,
    OutboxEntry,
    entry_of,
    save,
)
from scrapersky.connectors.protocol import CrmKind, CrmRecord
from scrapersky.connectors.undo import WRITES, is_as_written, writes_of
from scrapersky.privacy.synced import KNOWN_BY
from scrapersky.records.sync import SyncState

log = structlog.get_logger(__name__)

SETTLED: Final = (SyncState.DONE, SyncState.REFUSED, SyncState.UNLINKED)
OURS_STILL: Final = (*SETTLED, SyncState.QUEUED, SyncState.SENDING, SyncState.UNKNOWN)


async def keep_made(
    engine: AsyncEngine,
    entries: Sequence[OutboxEntry],
    notes: Sequence[Mapping[str, Any]],
) -> None:
    """Keep what was made by a process whose lease is over: nobody else knows of it.

    Where nobody has taken it up, their id is known now; where somebody has, the log says that
    this record is of our making.
    """
    made = {one["record_id"]: one for one in notes if one["is_new"]}
    async with engine.begin() as connection:
        for entry in entries:
            note = made.get(entry.record_id)
            if note is None:
                continue
            query = select(RECORDS).where(RECORDS.c.id == entry.id).with_for_update()
            row = (await connection.execute(query)).one_or_none()
            if row is None or row.state not in OURS_STILL:
                # Erased or suppressed meanwhile: nothing of the person is stored again.
                continue
            if row.their_id == note["their_id"]:
                continue
            await connection.execute(insert(WRITES).values(note))
            if row.state == SyncState.SENDING and row.sent_at == entry.sent_at:
                theirs = {"their_id": note["their_id"]}
                mine = RECORDS.c.id == entry.id
                await connection.execute(update(RECORDS).where(mine).values(theirs))


async def settle_strays(
    lease: Lease, account: CrmConnection, kind: CrmKind, records: Sequence[CrmRecord]
) -> None:
    """Settle what bears our id among the records of a page, and is not the one we know."""
    bearing = {one.our_id: one for one in records if one.our_id and not one.is_deleted}
    if not bearing:
        return
    query = select(RECORDS).where(
        RECORDS.c.connection_id == lease.id,
        RECORDS.c.kind == kind.value,
        RECORDS.c.record_id.in_(bearing),
        RECORDS.c.state.in_(SETTLED),
        RECORDS.c.their_id.is_not(None),
        ~RECORDS.c.is_shared,
    )
    async with lease.engine.connect() as connection:
        rows = (await connection.execute(query)).all()
    strays = [
        (entry_of(row), bearing[row.record_id])
        for row in rows
        if row.their_id != bearing[row.record_id].id
    ]
    if not strays:
        return
    names = account.names(kind)
    known = await account.crm.read(
        kind, [str(entry.their_id) for entry, _ in strays], names
    )
    for entry, stray in strays:
        there = known.get(str(entry.their_id))
        if there is None or there.is_deleted or there.id == stray.id:
            await take_up(lease, account, entry, stray)
        else:
            await settle_twins(lease, account, entry, stray)


async def take_up(
    lease: Lease, account: CrmConnection, entry: OutboxEntry, stray: CrmRecord
) -> None:
    """Follow a merge to the record that is left, and compare it with what we have."""
    entry.their_id = stray.id
    if entry.state is SyncState.UNLINKED and KNOWN_BY not in entry.snapshot:
        entry.state = SyncState.QUEUED
    async with lease.transaction() as connection:
        await save(connection, str(account.row.connector), [entry])


async def settle_twins(
    lease: Lease, account: CrmConnection, entry: OutboxEntry, stray: CrmRecord
) -> None:
    """Delete the second of two, if we made it and nobody has touched it; else ask a person."""
    kind = entry.kind
    note = await note_of(lease, kind, entry.record_id, stray.id)
    schema = await account.schema(kind)
    is_ours = note is not None and is_as_written(note, stray, schema)
    if is_ours and account.crm.info.can_delete:
        await account.crm.delete(kind, [stray.id])
        log.warning(
            "crm.duplicate_deleted",
            connection=str(lease.id),
            kind=kind.value,
            record=str(entry.record_id),
            kept=entry.their_id,
            deleted=stray.id,
        )
        entry.problem = {}
    else:
        both = f"{entry.their_id} and {stray.id}"
        entry.problem = {"": f"Two records there bear our id: {both}. Merge them."}
    async with lease.transaction() as connection:
        await save(connection, str(account.row.connector), [entry])
        if is_ours and note is not None:
            undone = {"undone_at": func.clock_timestamp()}
            mine = WRITES.c.id == note.id
            await connection.execute(update(WRITES).where(mine).values(undone))


async def note_of(
    lease: Lease, kind: CrmKind, record_id: UUID, their_id: str
) -> Row[Any] | None:
    """Return what the log says of a record there that we made."""
    query = (
        writes_of(lease.id)
        .where(
            WRITES.c.kind == kind.value,
            WRITES.c.record_id == record_id,
            WRITES.c.their_id == their_id,
            WRITES.c.is_new,
            WRITES.c.undone_at.is_(None),
        )
        .limit(1)
    )
    async with lease.engine.connect() as connection:
        found: Row[Any] | None = (await connection.execute(query)).one_or_none()
    return found
