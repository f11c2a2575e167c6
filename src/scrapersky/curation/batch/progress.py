"""How far a batch is, counted from its items and from nothing else."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.errors import UnknownBatch
from scrapersky.models import BatchJob
from scrapersky.models.status import TaskStatus


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, counted from its items."""

    status: TaskStatus
    total: int
    pending: int
    working: int
    done: int
    failed: int
    refused: int


async def progress(
    engine: AsyncEngine, tenant_id: UUID, batch_id: UUID
) -> BatchProgress:
    """Count how far a batch is; raise UnknownBatch if this tenant has none."""
    batch = await batch_of(engine, tenant_id, batch_id)
    statement = text(f"""SELECT
        count(*) AS total,
        count(*) FILTER (WHERE i.error IS NOT NULL) AS refused,
        count(*) FILTER (WHERE r.state = 'queued') AS pending,
        count(*) FILTER (WHERE r.state = 'processing') AS working,
        count(*) FILTER (WHERE r.state = 'done') AS done,
        count(*) FILTER (WHERE r.state = 'failed') AS failed
      FROM batch_items i LEFT JOIN LATERAL ({STATES[batch.kind]}) r ON true
      WHERE i.batch_id = :batch""")  # noqa: S608 - constants
    async with engine.connect() as connection:
        row = (await connection.execute(statement, {"batch": batch_id})).one()
    return BatchProgress(
        status=status_of(batch, row),
        total=row.total,
        pending=row.pending,
        working=row.working,
        done=row.done,
        failed=row.failed,
        refused=row.refused,
    )


STATES = {
    "domains": """SELECT CASE d.status WHEN 'pending' THEN 'queued'
        WHEN 'processing' THEN 'processing' WHEN 'completed' THEN 'done'
        ELSE 'failed' END AS state FROM domains d WHERE d.id = i.domain_id""",
    "sitemaps": """SELECT CASE s.sitemap_import_status WHEN 'Queued' THEN 'queued'
        WHEN 'Processing' THEN 'processing' WHEN 'Complete' THEN 'done'
        ELSE 'failed' END AS state FROM sitemap_files s WHERE s.id = i.sitemap_file_id""",
    "pages": """SELECT CASE p.page_processing_status WHEN 'Queued' THEN 'queued'
        WHEN 'Processing' THEN 'processing' WHEN 'Error' THEN 'failed'
        ELSE 'done' END AS state FROM pages p WHERE p.id = i.page_id""",
}


def status_of(batch: BatchJob, counts: Any) -> TaskStatus:  # noqa: ANN401 - a row
    """Derive a batch's status from its items."""
    if batch.cancelled_at is not None:
        return TaskStatus.CANCELLED
    if counts.pending + counts.working == 0:
        is_lost = counts.total > 0 and counts.done == 0
        return TaskStatus.ERROR if is_lost else TaskStatus.COMPLETED
    if batch.paused_at is not None:
        return TaskStatus.PAUSED
    started = counts.working + counts.done + counts.failed
    return TaskStatus.IN_PROGRESS if started else TaskStatus.QUEUED


async def batch_of(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> Any:  # noqa: ANN401
    """Return a tenant's batch, or raise UnknownBatch."""
    query = select(BatchJob).where(
        BatchJob.id == batch_id, BatchJob.tenant_id == tenant_id
    )
    async with engine.connect() as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownBatch("There is no such batch.")
    return found
