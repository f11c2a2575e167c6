"""Batches: lines submitted together; how far they are, pause, resume, cancel, retry."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, status
from pydantic import AfterValidator, BaseModel, Field
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import (
    ChunkedConnection,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.records.schema import Priority, one_of
from scrapersky.api.schema import (
    NOT_FOUND,
    ListOut,
    RequestModel,
    storable,
)
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.api.time_list import PageAsked, read_latest
from scrapersky.api.title import Line
from scrapersky.curation.batch import (
    Overview,
    cancel_batch,
    overviews,
    pause_batch,
    resume_batch,
    retry_failed,
    submit,
)
from scrapersky.curation.batch.kind import SUBMITTED
from scrapersky.curation.batch.progress import state_query
from scrapersky.curation.batch.reason import LATER, Reason, reason_of, why_refused
from scrapersky.errors import UnknownBatch
from scrapersky.kit.cursor import read_cursor, write_cursor
from scrapersky.records import BatchJob
from scrapersky.records.audit import note
from scrapersky.records.status import TaskStatus

router = APIRouter(prefix="/api/v3/batches", tags=["batches"])

MOST_LINES: Final = 10_000
"""Lines in one JSON body; more come as a file to PATH/import, streamed."""

NOTHING: Final[dict[str, Any]] = {"reason": None, "hint": None}

BatchKindName = Annotated[str, one_of(SUBMITTED)]
ItemState = Literal["queued", "processing", "done", "failed", "skipped", "refused"]
Written = Annotated[str, Field(max_length=2_048), AfterValidator(storable)]


class BatchOut(BaseModel):
    """A batch; its counts are those of its items, now."""

    id: UUID
    name: str | None
    kind: str = Field(examples=["domains"])
    status: TaskStatus
    total: int
    pending: int
    working: int
    done: int
    failed: int
    skipped: int
    refused: int
    created_at: datetime
    paused_at: datetime | None
    cancelled_at: datetime | None


class BatchItemOut(BaseModel):
    """One submitted line, and what has become of it."""

    position: int
    submitted: str
    state: ItemState
    record_kind: str
    record_id: UUID | None
    is_duplicate: bool
    reason: str | None = Field(
        description="Why it failed, was refused or skipped, or that it was known.",
        examples=["the site's robots.txt forbids it"],
    )
    hint: str | None = Field(description="What to do about it.", examples=[LATER])


class BatchDetail(BaseModel):
    """A batch with some of its items."""

    batch: BatchOut
    items: list[BatchItemOut]
    next_cursor: str | None


class BatchIn(RequestModel):
    """Lines to submit: domains or URLs, with or without a scheme."""

    kind: BatchKindName
    items: list[Written] = Field(
        min_length=1,
        max_length=MOST_LINES,
        examples=[["harbour-dental.example", "https://quay.example/"]],
    )
    name: Line | None = None
    priority: Priority = 0


class RefusedItemOut(BaseModel):
    """A line that was not taken, and why."""

    line: int
    value: str
    reason: str
    hint: str


class BatchSubmissionOut(BaseModel):
    """What a submission came to."""

    batch_id: UUID
    accepted: int
    duplicates: int
    refused_count: int
    refused: list[RefusedItemOut] = Field(description="The first hundred.")


class BatchChanged(BaseModel):
    """A batch after a command, and how many of its items it touched."""

    changed: int
    batch: BatchOut


@router.get("", operation_id="list_batches")
async def list_batches(
    *,
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    kind: Annotated[BatchKindName | None, Query()] = None,
) -> ListOut[BatchOut]:
    """List the batches, the latest first."""
    scope = [str(who.tenant_id), "batches", kind]
    query = select(BatchJob).where(BatchJob.tenant_id == who.tenant_id)
    if kind is not None:
        query = query.where(BatchJob.kind == kind)
    listed = await read_latest(
        connection, query, BatchJob.created_at, BatchJob.id, scope=scope, page=page
    )
    ids = [row.id for row in listed.rows]
    found = await overviews(connection, who.tenant_id, ids=ids)
    return listed.listing([batch_out(batch) for batch in found])


@router.post("", operation_id="create_batch", status_code=status.HTTP_201_CREATED)
async def create_batch(
    who: Curator,
    request: Request,
    connection: ChunkedConnection,
    body: BatchIn,
) -> BatchSubmissionOut:
    """Submit lines together; a bad or known one is reported and fails nothing else."""
    actor = actor_of(who, request)
    async with statement_timeout(BULK_TIMEOUT, connection):
        found = await submit(
            connection,
            actor,
            body.kind,
            body.items,
            name=body.name,
            priority=body.priority,
        )
    return BatchSubmissionOut(
        batch_id=found.batch_id,
        accepted=found.accepted,
        duplicates=found.duplicates,
        refused_count=found.refused,
        refused=[
            RefusedItemOut(line=line, value=value, **words(why_refused(problem)))
            for line, value, problem in found.refusals
        ],
    )


@router.get("/{batch_id}", operation_id="read_batch", responses=NOT_FOUND)
async def read_batch(
    *,
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    batch_id: UUID,
    state: Annotated[ItemState | None, Query()] = None,
) -> BatchDetail:
    """Report how far a batch is, with its items in the order of their lines."""
    scope = [str(who.tenant_id), "items", str(batch_id), state]
    after = 0 if page.cursor is None else int(read_cursor(page.key, scope, page.cursor))
    batch = await one_batch(connection, who.tenant_id, batch_id)
    rows = await items_of(
        connection, batch, state=state, after=after, limit=page.limit + 1
    )
    items = [batch_item_out(batch.kind, row) for row in rows[: page.limit]]
    following = None
    if len(rows) > page.limit:
        following = write_cursor(page.key, scope, items[-1].position)
    return BatchDetail(batch=batch_out(batch), items=items, next_cursor=following)


@router.post("/{batch_id}/{command}", operation_id="control_batch", responses=NOT_FOUND)
async def control_batch(
    who: Curator,
    request: Request,
    connection: Transaction,
    batch_id: UUID,
    command: Literal["pause", "resume", "cancel", "retry"],
) -> BatchChanged:
    """Pause or resume what has not begun, cancel it, or try what failed again."""
    async with statement_timeout(BULK_TIMEOUT, connection):
        changed = await COMMANDS[command](connection, who.tenant_id, batch_id)
    details = {"command": command, "changed": changed}
    subject = f"batch {batch_id}"
    await note(connection, actor_of(who, request), "commanded", subject, details)
    batch = await one_batch(connection, who.tenant_id, batch_id)
    return BatchChanged(changed=changed, batch=batch_out(batch))


COMMANDS: Final = {
    "pause": pause_batch,
    "resume": resume_batch,
    "cancel": cancel_batch,
    "retry": retry_failed,
}


async def one_batch(
    connection: AsyncConnection, tenant_id: UUID, batch_id: UUID
) -> Overview:
    """Return a batch with its counts, or raise UnknownBatch."""
    found = await overviews(connection, tenant_id, ids=[batch_id])
    if not found:
        raise UnknownBatch("There is no such batch.")
    return found[0]


async def items_of(
    connection: AsyncConnection,
    batch: Overview,
    *,
    state: str | None,
    after: int,
    limit: int,
) -> list[Any]:
    """Return items of a batch, in the order of their lines."""
    wanted = "" if state is None else "AND i.state = :state"
    statement = text(
        f"""SELECT * FROM (
        SELECT i.position, i.submitted, i.is_duplicate, i.error AS problem, r.error,
          coalesce(i.domain_id, i.sitemap_file_id, i.page_id) AS record_id,
          CASE WHEN i.error IS NOT NULL THEN 'refused' ELSE r.state END AS state
        FROM batch_items i LEFT JOIN LATERAL ({state_query(batch.kind)}) r ON true
        WHERE i.batch_id = :batch AND i.position > :after) i
      WHERE true {wanted} ORDER BY i.position LIMIT :limit"""  # noqa: S608 - constants
    )
    values = {"batch": batch.id, "after": after, "limit": limit}
    if state is not None:
        values["state"] = state
    return list(await connection.execute(statement, values))


def batch_out(batch: Overview) -> BatchOut:
    """Show one batch."""
    facts = asdict(batch)
    facts.pop("created_by")
    return BatchOut(**facts.pop("progress"), **facts)


def batch_item_out(kind: str, row: Any) -> BatchItemOut:  # noqa: ANN401 - a row
    """Show one item."""
    state = row.state or "refused"
    reason = reason_of(
        state, error=row.error, problem=row.problem, is_duplicate=row.is_duplicate
    )
    return BatchItemOut(
        position=row.position,
        submitted=row.submitted,
        state=state,
        record_kind=SUBMITTED[kind].name,
        record_id=row.record_id,
        is_duplicate=row.is_duplicate,
        **words(reason),
    )


def words(reason: Reason | None) -> dict[str, Any]:
    """Write a reason as the fields of an answer."""
    return {"reason": reason.why, "hint": reason.hint} if reason else NOTHING
