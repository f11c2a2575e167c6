"""Runs of a connection: what they would change, what they did, and taking them back."""

from typing import Any, Final, TypeVar
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import Select, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity
from scrapersky.api.connections.account import noted, opened_of, shown_row
from scrapersky.api.connections.schema import (
    AnswerIn,
    CrmDifferenceOut,
    LeadPreviewOut,
    LeadsIn,
    QueuedLeadsOut,
    RecordInCrmOut,
    RunIn,
    SyncRecordOut,
    SyncWriteOut,
    UndoOut,
)
from scrapersky.api.dependency import (
    Admin,
    BulkEngine,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.records.decide import selection_of
from scrapersky.api.schema import NOT_FOUND, ListOut, whole_list
from scrapersky.api.tenancy import acting_for
from scrapersky.api.time_list import PageAsked, PageRequest, TimePage, read_latest
from scrapersky.connectors.control import PREVIEWED_LEADS, preview, queue_run
from scrapersky.connectors.difference import whole_difference
from scrapersky.connectors.outbox import open_problems
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.question import answer_difference, open_differences
from scrapersky.connectors.undo import undo_next, writes_of
from scrapersky.curation.decision import selection_clause
from scrapersky.errors import InvalidDecision, UnknownRecord
from scrapersky.records import (
    Company,
    Contact,
    SyncConnection,
    SyncRecord,
    SyncWrite,
    kind_named,
)

router = APIRouter()

MAX_RUN: Final = 200_000
"""Records of one run."""
KINDS: Final = {"companies": CrmKind.COMPANY, "contacts": CrmKind.PERSON}
OutT = TypeVar("OutT", SyncWriteOut, SyncRecordOut)


@router.post(
    "/connections/{connection_id}/preview",
    operation_id="preview_connection",
    responses=NOT_FOUND,
)
async def preview_connection(
    request: Request,
    connection_id: UUID,
    who: Admin,
    engine: BulkEngine,
    given: LeadsIn,
) -> ListOut[LeadPreviewOut]:
    """Show ten leads as they would stand there."""
    with acting_for(who.tenant_id):
        opened = await opened_of(request, engine, who, connection_id)
        async with engine.connect() as connection:
            ids = await ids_of(connection, who, given, PREVIEWED_LEADS)
        rows = await preview(engine, opened, KINDS[given.kind], ids)
    return whole_list([LeadPreviewOut.model_validate(row) for row in rows])


@router.post(
    "/connections/{connection_id}/difference",
    operation_id="compare_connection",
    responses=NOT_FOUND,
)
async def compare_connection(
    request: Request,
    connection_id: UUID,
    who: Admin,
    engine: BulkEngine,
    given: LeadsIn,
) -> CrmDifferenceOut:
    """Compare up to 1,000 leads with what is there now; nothing is written."""
    with acting_for(who.tenant_id):
        opened = await opened_of(request, engine, who, connection_id)
        async with engine.connect() as connection:
            ids = await ids_of(connection, who, given, MAX_RUN)
        found = await whole_difference(engine, opened, KINDS[given.kind], ids)
    return CrmDifferenceOut.model_validate(found, from_attributes=True)


@router.post(
    "/connections/{connection_id}/run",
    operation_id="run_connection",
    status_code=202,
    responses=NOT_FOUND,
)
async def run_connection(
    request: Request,
    connection_id: UUID,
    who: Admin,
    connection: Transaction,
    given: RunIn,
) -> QueuedLeadsOut:
    """Write leads to the CRM: they are queued at once, and written by a worker."""
    row = await shown_row(connection, who, connection_id)
    ids = await ids_of(connection, who, given, MAX_RUN + 1)
    if len(ids) > MAX_RUN:
        raise InvalidDecision(
            f"More than {MAX_RUN:,} records at once; nothing was queued.",
            hint="Narrow the filter down.",
        )
    queued = await queue_run(connection, row, KINDS[given.kind], ids, again=given.again)
    await noted(
        connection, actor_of(who, request), "run", row, f"{queued} {given.kind}"
    )
    return QueuedLeadsOut(queued=queued)


@router.post(
    "/connections/{connection_id}/undo",
    operation_id="undo_connection_run",
    responses=NOT_FOUND,
)
async def undo_run(
    request: Request, connection_id: UUID, who: Admin, engine: BulkEngine
) -> UndoOut:
    """Take back the next hundred writes of the last run; the connection must be paused."""
    with acting_for(who.tenant_id):
        opened = await opened_of(request, engine, who, connection_id)
        result = await undo_next(engine, opened)
        async with engine.begin() as connection:
            row = await shown_row(connection, who, connection_id)
            await noted(connection, actor_of(who, request), "undone", row)
    return UndoOut.model_validate(result, from_attributes=True)


@router.get(
    "/connections/{connection_id}/log",
    operation_id="list_connection_writes",
    responses=NOT_FOUND,
)
async def list_writes(
    connection_id: UUID, who: Admin, connection: Transaction, page: PageAsked
) -> ListOut[SyncWriteOut]:
    """List what was written there, the latest first, with what it replaced."""
    await shown_row(connection, who, connection_id)
    found = await read_latest(
        connection,
        writes_of(connection_id),
        SyncWrite.created_at,
        SyncWrite.id,
        scope=["connection-log", str(connection_id)],
        page=page,
    )
    return await labelled(connection, found, SyncWriteOut)


@router.get(
    "/connections/{connection_id}/problems",
    operation_id="list_connection_problems",
    responses=NOT_FOUND,
)
async def list_problems(
    connection_id: UUID, who: Admin, connection: Transaction, page: PageAsked
) -> ListOut[SyncRecordOut]:
    """List what a person may have to look at: refused, not known to be written, deleted there."""
    await shown_row(connection, who, connection_id)
    query = open_problems(connection_id)
    scope = ["connection-problems", str(connection_id)]
    return await list_records(connection, query, scope, page)


@router.get(
    "/connections/{connection_id}/differences",
    operation_id="list_connection_differences",
    responses=NOT_FOUND,
)
async def list_differences(
    connection_id: UUID, who: Admin, connection: Transaction, page: PageAsked
) -> ListOut[SyncRecordOut]:
    """List records that hold another value there, which was left as it is."""
    await shown_row(connection, who, connection_id)
    query = open_differences(connection_id)
    scope = ["connection-differences", str(connection_id)]
    return await list_records(connection, query, scope, page)


@router.post(
    "/connections/{connection_id}/differences",
    operation_id="answer_connection_difference",
    status_code=204,
    responses=NOT_FOUND,
)
async def answer(
    request: Request,
    connection_id: UUID,
    who: Admin,
    connection: Transaction,
    given: AnswerIn,
) -> None:
    """Say whose value stands in one field of a record; ours is written by a worker."""
    row = await shown_row(connection, who, connection_id)
    record, name = given.record_id, given.field
    await answer_difference(connection, row.id, record, name, given.answer)
    about = f"{given.answer} in {name} of {record}"
    await noted(connection, actor_of(who, request), "answered", row, about)


@router.get("/connections-of/{record_id}", operation_id="list_connections_of_record")
async def list_connections_of(
    record_id: UUID, who: Reader, connection: Transaction
) -> ListOut[RecordInCrmOut]:
    """Say in which CRMs a company or contact is, since when, and what differs there."""
    query = (
        select(*SyncRecord.__table__.c, SyncConnection.name)
        .join(SyncConnection, SyncConnection.id == SyncRecord.connection_id)
        .where(SyncRecord.tenant_id == who.tenant_id, SyncRecord.record_id == record_id)
        .order_by(SyncRecord.created_at)
        .limit(100)
    )
    rows = (await connection.execute(query)).all()
    if not rows:
        await require_record(connection, who.tenant_id, record_id)
    return whole_list([RecordInCrmOut.model_validate(row) for row in rows])


async def list_records(
    connection: AsyncConnection,
    query: Select[Any],
    scope: list[Any],
    page: PageRequest,
) -> ListOut[SyncRecordOut]:
    """List records of a connection, the latest first."""
    found = await read_latest(
        connection,
        query,
        SyncRecord.created_at,
        SyncRecord.id,
        scope=scope,
        page=page,
    )
    return await labelled(connection, found, SyncRecordOut)


async def labelled(
    connection: AsyncConnection, found: TimePage, shape: type[OutT]
) -> ListOut[OutT]:
    """Name each lead as people know it: the number it has there says nothing to them."""
    rows = [shape.model_validate(row) for row in found.rows]
    ids = [row.record_id for row in rows]
    companies = select(Company.id, Company.name).where(Company.id.in_(ids))
    title = func.coalesce(Contact.name, Contact.email)
    contacts = select(Contact.id, title).where(Contact.id.in_(ids))
    named = await connection.execute(companies.union_all(contacts))
    labels = {one[0]: one[1] for one in named}
    return found.listing(
        [row.model_copy(update={"label": labels.get(row.record_id)}) for row in rows]
    )


async def require_record(
    connection: AsyncConnection, tenant_id: UUID, record_id: UUID
) -> None:
    """Raise UnknownRecord unless it is a company or a contact of the tenant."""
    there = (
        exists().where(one.id == record_id, one.tenant_id == tenant_id)
        for one in (Company, Contact)
    )
    if not await connection.scalar(select(or_(*there))):
        raise UnknownRecord("There is no such company or contact.")


async def ids_of(
    connection: AsyncConnection, who: Identity, given: LeadsIn, most: int
) -> list[UUID]:
    """Return the ids of the leads that are meant, of the caller's tenant only."""
    kind = kind_named(given.kind)
    meant = selection_clause(kind, who.tenant_id, selection_of(given, who.user_id))
    query = select(kind.record.id).where(meant).order_by(kind.record.id).limit(most)
    return list(await connection.scalars(query))
