"""How far a batch is, counted from its items and from nothing else."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from curation_sdk.queries import literal
from scrapersky.curation.batch.kind import submission_named
from scrapersky.db.transaction import Database, transaction
from scrapersky.errors import UnknownBatch
from scrapersky.records import BatchJob
from scrapersky.records.status import TaskStatus


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, counted from its items."""

    status: TaskStatus
    total: int
    pending: int
    working: int
    done: int
    failed: int
    skipped: int
    refused: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A batch as a list shows it."""

    id: UUID
    name: str | None
    kind: str
    created_at: datetime
    created_by: UUID | None
    paused_at: datetime | None
    cancelled_at: datetime | None
    progress: BatchProgress


async def progress(
    database: Database, tenant_id: UUID, batch_id: UUID
) -> BatchProgress:
    """Count how far a batch is; raise UnknownBatch if this tenant has none."""
    async with transaction(database) as connection:
        found = await overviews(connection, tenant_id, ids=[batch_id])
    if not found:
        raise UnknownBatch("There is no such batch.")
    return found[0].progress


async def overviews(
    connection: AsyncConnection, tenant_id: UUID, *, ids: Collection[UUID]
) -> list[Overview]:
    """Count how far some batches of a tenant are, the latest first."""
    query = (
        select(BatchJob)
        .where(BatchJob.tenant_id == tenant_id, BatchJob.id.in_(ids))
        .order_by(BatchJob.created_at.desc(), BatchJob.id.desc())
    )
    batches = (await connection.execute(query)).all()
    counts: dict[UUID, Any] = {}
    for kind in {batch.kind for batch in batches}:
        named = [batch.id for batch in batches if batch.kind == kind]
        rows = await connection.execute(count_query(kind), {"batches": named})
        counts |= {row.batch_id: row for row in rows}
    return [overview(batch, counts.get(batch.id)) for batch in batches]


def count_query(kind: str) -> TextClause:
    """Write the query that counts the items of batches of one kind."""
    return text(f"""SELECT i.batch_id,
        count(*) AS total,
        count(*) FILTER (WHERE i.error IS NOT NULL) AS refused,
        count(*) FILTER (WHERE r.state = 'queued') AS pending,
        count(*) FILTER (WHERE r.state = 'processing') AS working,
        count(*) FILTER (WHERE r.state = 'done') AS done,
        count(*) FILTER (WHERE r.state = 'failed') AS failed,
        count(*) FILTER (WHERE r.state = 'skipped') AS skipped
      FROM batch_items i LEFT JOIN LATERAL ({state_query(kind)}) r ON true
      WHERE i.batch_id = ANY(:batches) GROUP BY i.batch_id""")  # noqa: S608 - constants


def overview(batch: Any, counts: Any) -> Overview:  # noqa: ANN401 - rows
    """Put a batch and what was counted of it together; None: it has no items."""
    numbers = {name: getattr(counts, name, 0) for name in COUNTED}
    return Overview(
        id=batch.id,
        name=batch.name,
        kind=batch.kind,
        created_at=batch.created_at,
        created_by=batch.created_by,
        paused_at=batch.paused_at,
        cancelled_at=batch.cancelled_at,
        progress=BatchProgress(status_of(batch, numbers), **numbers),
    )


COUNTED = ("total", "pending", "working", "done", "failed", "skipped", "refused")


# What became of a line's record, and why it failed. Skipped: it is in no queue.
def state_query(kind: str) -> str:
    """Write the query for the state of the record that a batch item `i` names."""
    submission = submission_named(kind)
    queue = submission.queue
    table, status = queue.record.__tablename__, f"m.{queue.column.key}"
    meaning = {
        queue.queued: "queued",
        queue.processing: "processing",
        queue.done: "done",
        queue.failed: "failed",
    }
    cases = " ".join(
        f"WHEN {literal(str(label))} THEN '{state}'" for label, state in meaning.items()
    )
    return (
        f"SELECT CASE {status} {cases} ELSE 'skipped' END AS state,"  # noqa: S608 - our names
        f" m.{queue.error.key} AS error FROM {table} m WHERE m.id = i.{submission.link}"
    )


def status_of(batch: Any, counts: Mapping[str, int]) -> TaskStatus:  # noqa: ANN401 - a row
    """Derive a batch's status from its items."""
    if batch.cancelled_at is not None:
        return TaskStatus.CANCELLED
    if counts["pending"] + counts["working"] == 0:
        is_lost = counts["total"] > 0 and counts["done"] + counts["skipped"] == 0
        return TaskStatus.ERROR if is_lost else TaskStatus.COMPLETED
    if batch.paused_at is not None:
        return TaskStatus.PAUSED
    started = counts["working"] + counts["done"] + counts["failed"]
    return TaskStatus.IN_PROGRESS if started else TaskStatus.QUEUED


async def batch_of(database: Database, tenant_id: UUID, batch_id: UUID) -> Any:  # noqa: ANN401
    """Return a tenant's batch, or raise UnknownBatch."""
    query = select(BatchJob).where(
        BatchJob.id == batch_id, BatchJob.tenant_id == tenant_id
    )
    async with transaction(database) as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownBatch("There is no such batch.")
    return found
