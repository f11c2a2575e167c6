"""Any list as a file: read in steps, so that neither memory nor a snapshot is held."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from operator import itemgetter
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.middleware.tenancy import statement_timeout
from scrapersky.api.records.answer import as_dicts
from scrapersky.api.records.list_query import CursorPosition, ListQuery
from scrapersky.api.records.listing import ListPage, read_page
from scrapersky.api.records.schema import ExportFormat
from scrapersky.companies.own_column import OwnColumn, own_columns
from scrapersky.curation.decision import Selection, count_selected
from scrapersky.errors import InvalidExport
from scrapersky.export.contacts import COLUMNS, contact_cells
from scrapersky.export.preset import PRESETS_OF, Take, preset_named, take
from scrapersky.export.table import SHEET_ROWS, csv_bytes, jsonl_bytes, xlsx_bytes
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records.company import COMPANIES
from scrapersky.records.kind import Kind
from scrapersky.records.status import OwnType

CHUNK: Final = 1_000
STEP_TIMEOUT: Final = timedelta(seconds=60)
"""How long one step may take: a file that has begun cannot be begun again."""


Row = dict[str, Any]
Chunks = AsyncGenerator[Sequence[Row], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file holds: the headings, and how what stands below them is made."""

    format: ExportFormat
    columns: Sequence[str]
    made: Mapping[str, Take] | None = None
    """For headings that are not the records' own."""
    days: Collection[str] = ()
    """The headings under which there are dates."""


def read_export(resource: Kind, form: ExportFormat, columns: str, preset: str) -> Plan:
    """Read which columns are asked for, or raise InvalidExport."""
    known = columns_of(resource)
    if preset:
        if columns or resource.name not in PRESETS_OF:
            kinds = " and ".join(PRESETS_OF)
            raise InvalidExport(f"A preset is for {kinds}, and names all columns.")
        chosen = preset_named(preset, resource.name)
        is_made = resource.name == "contacts"
        made = {
            name: take(source) if is_made else itemgetter(source)
            for name, source in chosen.items()
        }
        return Plan(form, [*made], made)
    names = list(dict.fromkeys(columns.split(","))) if columns else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidExport(
            f"There is no column '{unknown[0][:50]}'.",
            hint=f"Columns: {', '.join(known)}.",
        )
    return Plan(form, names)


def columns_of(resource: Kind) -> Sequence[str]:
    """Return every column that a file of this kind may have."""
    if resource.name == "contacts":
        return [*COLUMNS, "id", "created_at", "updated_at"]
    return [*dict.fromkeys((*resource.fields, *resource.extras))]


async def export_bytes(
    engine: AsyncEngine, resource: Kind, list_query: ListQuery, plan: Plan
) -> AsyncIterator[bytes]:
    """Begin a file; what is wrong with the list_query is raised before its first byte."""
    if resource.name == "contacts":
        list_query = replace(list_query, columns=())
    if resource is COMPANIES and plan.made is not None:
        plan = await with_own_columns(engine, list_query, plan)
    first, rows = await read_step(engine, resource, list_query, None)
    chunks = ahead(walk(engine, resource, list_query, first, rows))
    if plan.made is not None:
        chunks = remade(chunks, plan.made)
    names = plan.columns
    if plan.format == "csv":
        return csv_bytes(names, chunks)
    if plan.format == "jsonl":
        return jsonl_bytes(names, chunks)
    count = first.estimate.count
    if not first.estimate.is_exact:
        meant = Selection(conditions=list_query.conditions, words=list_query.words)
        count = await count_selected(engine, list_query.tenant_id, resource, meant)
    sheets = max(1, -(-count // SHEET_ROWS))
    title = resource.name.replace("_", " ")
    return xlsx_bytes(names, chunks, title=title, sheets=sheets, days=plan.days)


async def with_own_columns(
    engine: AsyncEngine, list_query: ListQuery, plan: Plan
) -> Plan:
    """Add the tenant's own columns of companies, under their titles."""
    async with engine.connect() as connection:
        columns = await own_columns(connection, list_query.tenant_id)
    made = dict(plan.made or {})
    new = {each.title: each for each in columns if each.title not in made}
    made |= {title: partial(own_value, each) for title, each in new.items()}
    days = [title for title, each in new.items() if each.type is OwnType.DATE]
    return replace(plan, columns=[*made], made=made, days=days)


def own_value(column: OwnColumn, row: Row) -> object:
    """Return the value of one of the tenant's own columns."""
    value = row["own"].get(column.name)
    if column.type is OwnType.DATE and value:
        return date.fromisoformat(value)
    return value


async def walk(
    engine: AsyncEngine,
    resource: Kind,
    list_query: ListQuery,
    page: ListPage,
    rows: Sequence[Row],
) -> Chunks:
    """Yield the rows of a list, page after page, without who is suppressed."""
    yield rows
    while page.next is not None:
        page, rows = await read_step(engine, resource, list_query, page.next)
        yield rows


async def read_step(
    engine: AsyncEngine,
    resource: Kind,
    list_query: ListQuery,
    after: CursorPosition | None,
) -> tuple[ListPage, Sequence[Row]]:
    """Read a page and what is written of it, in a transaction of its own."""
    async with statement_timeout(STEP_TIMEOUT), engine.connect() as connection:
        page = await read_page(
            connection, resource, list_query, limit=CHUNK, after=after
        )
        return page, await shown(connection, resource, list_query, page)


async def ahead(chunks: Chunks) -> Chunks:
    """Yield rows while the next are read: neither the database nor we wait in turn."""
    async with aclosing(chunks):
        coming = asyncio.create_task(following(chunks))
        try:
            while (rows := await coming) is not None:
                coming = asyncio.create_task(following(chunks))
                yield rows
        finally:
            coming.cancel()
            await asyncio.wait([coming])


async def following(chunks: Chunks) -> Sequence[Row] | None:
    """Return the next rows, or None when there are no more."""
    return await anext(chunks, None)


async def shown(
    connection: AsyncConnection, resource: Kind, list_query: ListQuery, page: ListPage
) -> Sequence[Row]:
    """Return what is written of a page's rows, as the suppression list is now."""
    tenant = list_query.tenant_id
    if resource.name == "contacts":
        return await contact_cells(connection, tenant, [row.id for row in page.rows])
    rows = as_dicts(page.rows)
    hosts = [row["domain"] for row in rows if row.get("domain")]
    suppressions = await look_up(connection, tenant, rows, domains=hosts)
    if not suppressions:
        return rows
    return [
        suppressions.clean(row)
        for row in rows
        if not (row.get("domain") and suppressions.hides_domain(row["domain"]))
    ]


async def remade(chunks: Chunks, made: Mapping[str, Take]) -> Chunks:
    """Yield rows under other headings."""
    async with aclosing(chunks):
        async for rows in chunks:
            yield [{name: get(row) for name, get in made.items()} for row in rows]
