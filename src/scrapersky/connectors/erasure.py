"""Erase there who was erased here: by their record's id, and with word where that cannot be."""

from datetime import timedelta
from typing import Final

from sqlalchemy import delete

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.outbox import RECORDS, OutboxEntry, in_state, save
from scrapersky.errors import CrmBusy, CrmError, CrmTokenRejected
from scrapersky.records.sync import SyncState

RETRY_PAUSE: Final = timedelta(hours=6)
SOON_AGAIN: Final = 8
"""How often a CRM that is busy is asked sooner than that."""
ERASED_AT_ONCE: Final = 20


async def erase_next(lease: Lease, account: CrmConnection) -> bool:
    """Erase the next records; return whether there were any."""
    async with lease.engine.connect() as connection:
        erasing = (SyncState.ERASING,)
        entries = await in_state(connection, lease.id, erasing, most=ERASED_AT_ONCE)
    for entry in entries:
        await erase(lease, account, entry)
    return bool(entries)


async def erase(lease: Lease, account: CrmConnection, entry: OutboxEntry) -> None:
    """Erase one record; what is known of it goes with it, or says what a person has to do."""
    try:
        if entry.their_id is None:
            # It may have been written without an answer.
            found = await account.crm.read_own(entry.kind, [entry.record_id], ())
            there = found.get(entry.record_id)
            entry.their_id = there.id if there is not None else None
        if entry.their_id is not None:
            await account.crm.erase(entry.kind, entry.their_id)
    except CrmTokenRejected:
        raise
    except CrmError as error:
        entry.problem = {"": account.session.mask(str(error))}
        entry.attempts, entry.wait = entry.attempts + 1, pause_after(error, entry)
        async with lease.transaction() as connection:
            await save(connection, account.row.connector, [entry])
        if isinstance(error, CrmBusy):
            raise
        return
    async with lease.transaction() as connection:
        await connection.execute(delete(RECORDS).where(RECORDS.c.id == entry.id))


def pause_after(error: CrmError, entry: OutboxEntry) -> timedelta:
    """Return when to try again: a CRM that is busy is asked sooner, and then less and less."""
    if not isinstance(error, CrmBusy) or entry.attempts >= SOON_AGAIN:
        return RETRY_PAUSE
    return min(error.after * (1 << entry.attempts), RETRY_PAUSE)
