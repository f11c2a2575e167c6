"""Pause, resume, cancel a batch, or try its failed items again."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from curation_sdk.control import hold, queue_named, release, withdraw
from curation_sdk.queue import Queue
from scrapersky.curation.batch.kind import submission_named
from scrapersky.curation.batch.progress import batch_of
from scrapersky.curation.batch.submission import CANCELLED
from scrapersky.db.transaction import Database, transaction
from scrapersky.records import BatchItem, BatchJob
from scrapersky.records.kind import Submission

Act = Callable[[AsyncConnection, Queue, Sequence[str]], Awaitable[int]]
"""Holds items back, lets them go on, or takes them out."""


async def pause_batch(database: Database, tenant_id: UUID, batch_id: UUID) -> int:
    """Hold back what has not begun; what is in work is finished."""
    return await change_items(database, tenant_id, batch_id, "paused_at", hold)


async def resume_batch(database: Database, tenant_id: UUID, batch_id: UUID) -> int:
    """Let a paused batch go on."""
    batch = await batch_of(database, tenant_id, batch_id)
    count = await change_items(
        database, tenant_id, batch_id, "paused_at", release, clear=True
    )
    await curation_sdk.control.wake(database, submission_named(batch.kind).stage)
    return count


async def cancel_batch(database: Database, tenant_id: UUID, batch_id: UUID) -> int:
    """Take what has not begun out of the queue for good; nothing is left of mere lines."""

    async def cancelled(
        connection: AsyncConnection, queue: Queue, items: Sequence[str]
    ) -> int:
        count = await withdraw(connection, queue, items, CANCELLED)
        if (forget := submission_named(batch.kind).forget) is not None:
            values = {"batch": batch_id, "tenant": tenant_id, "why": CANCELLED}
            await connection.execute(forget, values)
        return count

    batch = await batch_of(database, tenant_id, batch_id)
    return await change_items(database, tenant_id, batch_id, "cancelled_at", cancelled)


async def retry_failed(database: Database, tenant_id: UUID, batch_id: UUID) -> int:
    """Queue the failed items of a batch again; return how many."""
    batch = await batch_of(database, tenant_id, batch_id)
    kind = submission_named(batch.kind)
    items = [item async for item in item_ids(database, kind, batch_id)]
    # No items would mean all of the stage's dead letters, of every batch and tenant.
    return (
        await curation_sdk.dead_letters.replay(database, kind.stage, *items)
        if items
        else 0
    )


async def change_items(
    database: Database,
    tenant_id: UUID,
    batch_id: UUID,
    column: str,
    act: Act,
    *,
    clear: bool = False,
) -> int:
    """Mark a batch and act on the items that only it brought into the queue."""
    batch = await batch_of(database, tenant_id, batch_id)
    kind = submission_named(batch.kind)
    queue = await queue_named(database, kind.stage)
    items = [str(item) async for item in item_ids(database, kind, batch_id)]
    moment = None if clear else func.clock_timestamp()
    async with transaction(database) as connection:
        await connection.execute(
            update(BatchJob).where(BatchJob.id == batch_id).values({column: moment})
        )
        return int(await act(connection, queue, items))


async def item_ids(
    database: Database, kind: Submission, batch_id: UUID
) -> AsyncIterator[UUID]:
    """Yield the ids of the records that a batch itself brought in."""
    column = getattr(BatchItem, kind.link)
    query = select(column).where(
        BatchItem.batch_id == batch_id, column.is_not(None), ~BatchItem.is_duplicate
    )
    async with transaction(database) as connection:
        for record_id in await connection.scalars(query):
            yield record_id
