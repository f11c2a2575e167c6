"""Any list as a file: read in steps, so that neither memory nor a snapshot is held."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.records.answer import as_dicts
from scrapersky.api.records.export_reader import CHUNK_ROWS, ExportReader
from scrapersky.api.records.list_query import CursorPosition, ListQuery
from scrapersky.api.records.listing import ListPage, read_page
from scrapersky.api.records.schema import ExportFormat
from scrapersky.companies.own_column import OwnColumn, own_columns
from scrapersky.curation.clause import OWN, may_be_contacted
from scrapersky.curation.decision import Selection, count_selected
from scrapersky.errors import InvalidExport
from scrapersky.export.buffer import RowChunks, Rows
from scrapersky.export.contacts import columns_of
from scrapersky.export.preset import PRESETS_OF, Take, preset_named, take
from scrapersky.export.proof import PROOF, with_proofs
from scrapersky.export.table import (
    SHEET_ROWS,
    Parts,
    csv_bytes,
    jsonl_bytes,
    xlsx_bytes,
)
from scrapersky.export.turns import ExportTurns
from scrapersky.export.withheld import allowed_rows, rows_of_file
from scrapersky.kit.plain_text import visible
from scrapersky.privacy.stopped import StoppedCompanies
from scrapersky.records.kind import Kind
from scrapersky.records.status import OwnType


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What a file holds: the headings, and how what stands below them is made."""

    format: ExportFormat
    columns: Sequence[str]
    takes: Mapping[str, Take] | None = None
    """For headings that are not the records' own."""
    days: Collection[str] = ()
    """The headings under which there are dates."""


def read_export(
    resource: Kind, form: ExportFormat, columns: str, preset: str
) -> ExportPlan:
    """Read which columns are asked for, or raise InvalidExport."""
    known = columns_of(resource)
    if preset:
        if columns or resource.name not in PRESETS_OF:
            kinds = " and ".join(PRESETS_OF)
            raise InvalidExport(f"A preset is for {kinds}, and names all columns.")
        chosen = preset_named(preset, resource.name)
        takes = {name: take(source, resource.name) for name, source in chosen.items()}
        return ExportPlan(form, [*takes], takes)
    names = list(dict.fromkeys(columns.split(","))) if columns else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidExport(
            f"There is no column '{unknown[0][:50]}'.",
            hint=f"Columns: {', '.join(known)}.",
        )
    return ExportPlan(form, names)


async def export_bytes(
    engine: AsyncEngine,
    resource: Kind,
    list_query: ListQuery,
    plan: ExportPlan,
    turns: ExportTurns | None = None,
) -> Parts:
    """Begin a file; what is wrong with the list_query is raised before its first byte."""
    turns = turns or ExportTurns()
    without = (
        StoppedCompanies.without_companies
        if resource.is_lead
        else StoppedCompanies.without_rows
    )
    reader = ExportReader(engine, list_query.tenant_id, turns, without)
    # Whatever was asked for: who must not be contacted is in no file.
    allowed = (*list_query.conditions, *may_be_contacted(resource))
    list_query = replace(list_query, conditions=allowed)
    if resource.file.query is not None:
        list_query = replace(list_query, columns=())
    if OWN in resource.fields and plan.takes is not None:
        plan = await with_own_columns(reader, plan)
    first, rows = await read_step(reader, resource, list_query)
    allow = partial(allowed_rows, resource)
    chunks = reader.allowed(walk(reader, resource, list_query, first, rows), allow)
    if PROOF in plan.columns:
        chunks = proven(reader, resource.name, chunks)
    if plan.takes is not None:
        chunks = under_columns(chunks, plan.takes, turns)
    names = plan.columns
    if plan.format == "csv":
        return csv_bytes(names, chunks, turns)
    if plan.format == "jsonl":
        return jsonl_bytes(names, chunks, turns)
    count = first.estimate.count
    if not first.estimate.is_exact:
        meant = Selection(conditions=list_query.conditions, words=list_query.words)
        async with reader.step() as connection:
            count = await count_selected(
                connection, list_query.tenant_id, resource, meant
            )
    sheets = max(1, -(-count // SHEET_ROWS))
    title = resource.name.replace("_", " ")
    return xlsx_bytes(names, chunks, turns, title=title, sheets=sheets, days=plan.days)


async def with_own_columns(reader: ExportReader, plan: ExportPlan) -> ExportPlan:
    """Add the tenant's own columns of companies, under their titles."""
    async with reader.step() as connection:
        columns = await own_columns(connection, reader.tenant_id)
    takes = dict(plan.takes or {})
    # Titles were not always asked to be what they look like.
    titled = {visible(each.title) or each.name: each for each in columns}
    new = {title: each for title, each in titled.items() if title not in takes}
    takes |= {title: partial(own_value, each) for title, each in new.items()}
    days = [title for title, each in new.items() if each.type is OwnType.DATE]
    return replace(plan, columns=[*takes], takes=takes, days=days)


def own_value(column: OwnColumn, row: Mapping[str, Any]) -> object:
    """Return the value of one of the tenant's own columns."""
    value = row["own"].get(column.name)
    if column.type is OwnType.DATE and value:
        return date.fromisoformat(value)
    return value


async def walk(
    reader: ExportReader,
    resource: Kind,
    list_query: ListQuery,
    page: ListPage,
    rows: Rows,
) -> RowChunks:
    """Yield the rows of a list, page after page."""
    yield rows
    while page.next is not None:
        page, rows = await read_step(reader, resource, list_query, page.next)
        yield rows


async def read_step(
    reader: ExportReader,
    resource: Kind,
    list_query: ListQuery,
    after: CursorPosition | None = None,
) -> tuple[ListPage, Rows]:
    """Read a page and what is written of it."""
    async with reader.step() as connection:
        page = await read_page(
            connection, resource, list_query, limit=CHUNK_ROWS, after=after
        )
        query = resource.file.query
        if query is None:
            return page, as_dicts(page.rows)
        ids = [row.id for row in page.rows]
        return page, await rows_of_file(connection, query, list_query.tenant_id, ids)


async def proven(reader: ExportReader, kind: str, chunks: RowChunks) -> RowChunks:
    """Yield rows with what each follows from; the list is asked about values alone."""
    async with aclosing(chunks):
        async for rows in chunks:
            async with reader.step() as connection:
                proofs = await with_proofs(connection, reader.tenant_id, kind, rows)
            yield proofs


async def under_columns(
    chunks: RowChunks, takes: Mapping[str, Take], turns: ExportTurns
) -> RowChunks:
    """Yield rows under other headings."""
    async with aclosing(chunks):
        async for rows in chunks:
            yield await turns.compute(under_headings, rows, takes)


def under_headings(rows: Rows, takes: Mapping[str, Take]) -> Rows:
    """Return some rows under other headings."""
    return [{name: get(row) for name, get in takes.items()} for row in rows]
