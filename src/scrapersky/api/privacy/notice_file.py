"""Who must be notified, as a file: to write to them from another program."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from sqlalchemy import ColumnElement, func, literal, select

from scrapersky.api.dependency import Admin, BulkEngine
from scrapersky.api.privacy.notices import (
    NoticesWanted,
    notices_after,
    notices_wanted,
    notices_where,
    sources_of,
)
from scrapersky.api.records.attachment import A_FILE, Attachment
from scrapersky.api.records.export_reader import CHUNK_ROWS, ExportReader
from scrapersky.api.records.open_export import Exports
from scrapersky.api.records.schema import ExportFormat
from scrapersky.api.schema import REFUSALS
from scrapersky.export.table import (
    SHEET_ROWS,
    Parts,
    csv_bytes,
    jsonl_bytes,
    xlsx_bytes,
)
from scrapersky.export.withheld import allowed_rows
from scrapersky.records.contact import CONTACTS

router = APIRouter(prefix="/notices")

COLUMNS: Final = (
    "email", "name", "phone", "email_type", "domain", "obtained_at", "due_at",
    "is_overdue", "legal_basis", "informed_at", "how", "sources", "contact_id",
)  # fmt: skip


class NoticeFileAsked(NoticesWanted):
    """Which contacts, in which form."""

    format: ExportFormat = "csv"


@router.get(
    "/export",
    operation_id="export_notices",
    summary="Export who must be notified",
    response_class=StreamingResponse,
    responses=A_FILE | REFUSALS,
)
async def export_notices(
    who: Admin,
    engine: BulkEngine,
    exports: Exports,
    asked: Annotated[NoticeFileAsked, Query()],
) -> StreamingResponse:
    """Export the list as a file, the ones due first first, with where each was found."""
    wanted = notices_wanted(who, asked)
    with exports.begun(who) as export:
        reader = ExportReader(engine, who.tenant_id, exports.turns)
        body = await notice_bytes(reader, wanted, asked.format)
        return Attachment(f"notices-{asked.state}", asked.format, export, body)


async def notice_bytes(
    reader: ExportReader, wanted: list[ColumnElement[bool]], form: ExportFormat
) -> Parts:
    """Begin a file; what is wrong with the question is raised before its first byte."""
    turns = reader.turns
    async with reader.step() as connection:
        counted = notices_where(wanted).with_only_columns(literal(1)).subquery()
        count = await connection.scalar(select(func.count()).select_from(counted)) or 0
    lines = reader.allowed(
        notice_lines(reader, wanted), partial(allowed_rows, CONTACTS)
    )
    if form == "csv":
        return csv_bytes(COLUMNS, lines, turns)
    if form == "jsonl":
        return jsonl_bytes(COLUMNS, lines, turns)
    sheets = max(1, -(-count // SHEET_ROWS))
    return xlsx_bytes(COLUMNS, lines, turns, title="notices", sheets=sheets)


async def notice_lines(
    reader: ExportReader, wanted: list[ColumnElement[bool]]
) -> AsyncGenerator[Sequence[dict[str, Any]], None]:
    """Yield the contacts in steps."""
    place = None
    while True:
        async with reader.step() as connection:
            rows = await notices_after(connection, wanted, place, CHUNK_ROWS)
            found = await sources_of(connection, [row["contact_id"] for row in rows])
        yield [
            {**row, "sources": [one["url"] for one in found.get(row["contact_id"], [])]}
            for row in rows
        ]
        if len(rows) < CHUNK_ROWS:
            return
        place = (rows[-1]["due_at"], rows[-1]["contact_id"])
