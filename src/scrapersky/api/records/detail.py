"""One record with where its values came from and what belongs to it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from cachetools import LRUCache, cached
from fastapi import Response
from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Executable,
    Row,
    Select,
    Text,
    Uuid,
    bindparam,
    cast,
    literal,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.answer import as_dicts, json_answer
from scrapersky.api.records.listing import rows_by_id
from scrapersky.api.records.schema import EvidenceOut, MapVerdictOut
from scrapersky.api.records.version import etag_of
from scrapersky.errors import UnknownRecord
from scrapersky.records import (
    KINDS,
    Company,
    CompanyVerdict,
    Domain,
    Kind,
    Page,
)
from scrapersky.records.kind import Origin
from scrapersky.records.page import why_it_was_chosen

MOST_LINKS = 20
MOST_PAGES = 100

RecordRow = Row[Any]


async def record_of(
    connection: AsyncConnection, resource: Kind, record_id: UUID
) -> RecordRow:
    """Return a record of the tenant, or raise UnknownRecord."""
    rows = await rows_by_id(connection, resource, [record_id])
    if not rows:
        raise UnknownRecord(f"There is no such {resource.singular.replace('_', ' ')}.")
    return rows[0]


async def answer_detail(
    connection: AsyncConnection,
    resource: Kind,
    record_id: UUID,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """Answer with a record as it is now, or raise UnknownRecord."""
    row = await record_of(connection, resource, record_id)
    return await answer_with(connection, resource, row, more)


async def answer_with(
    connection: AsyncConnection,
    resource: Kind,
    row: RecordRow,
    more: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
) -> Response:
    """Answer with a record, where its values came from, and what belongs to it."""
    etag = etag_of(row.updated_at)
    answer = {
        "record": row._asdict(),
        "etag": etag,
        "evidence": await evidence_of(connection, resource, row),
        "related": await related_to(connection, resource, row),
        "people": [],
        "budget": [],
        "verdicts": await verdicts_on(connection, resource, row),
        **(more or {}),
    }
    return json_answer(answer, {"ETag": etag}, status=status)


async def evidence_of(
    connection: AsyncConnection, resource: Kind, row: RecordRow
) -> list[dict[str, Any]]:
    """Report where the values of a record came from."""
    found = resource.origins(row)
    if isinstance(found, Executable):
        return as_dicts((await connection.execute(found)).all())
    origins = [*found]
    if resource.record is Domain:
        origins += await chosen_pages(connection, row.id)
    return [EvidenceOut(**asdict(origin)).model_dump() for origin in origins]


async def verdicts_on(
    connection: AsyncConnection, resource: Kind, row: RecordRow
) -> list[dict[str, Any]]:
    """Report what a company's website says of what a map says of it."""
    if resource.record is not Company:
        return []
    query = (
        select(CompanyVerdict)
        .where(CompanyVerdict.company_id == row.id)
        .order_by(CompanyVerdict.field)
    )
    found = (await connection.execute(query)).all()
    return [MapVerdictOut.model_validate(one).model_dump() for one in found]


async def chosen_pages(connection: AsyncConnection, domain_id: UUID) -> list[Origin]:
    """Report which pages of a domain were chosen to be read, and why, the first one first."""
    query = (
        select(Page.url, Page.choice, Page.fetched_at)
        .where(Page.domain_id == domain_id, Page.choice.is_not(None))
        .order_by(Page.fetched_at.nulls_last(), Page.id)
        .limit(MOST_PAGES)
    )
    rows = await connection.execute(query)
    return [origin for row in rows for origin in why_it_was_chosen(row)]


async def related_to(
    connection: AsyncConnection, resource: Kind, row: RecordRow
) -> dict[str, list[dict[str, Any]]]:
    """Name the records that belong to one, of every kind the first few."""
    if not resource.related:
        return {}
    query, columns = related(resource)
    values = {name: getattr(row, name) for name in columns}
    found: dict[str, list[dict[str, Any]]] = {one.kind: [] for one in resource.related}
    for kind, row_id, label in await connection.execute(query, values):
        found[kind].append({"id": row_id, "label": label})
    return found


class Columns:
    """The columns of a row that is not known yet, as parameters of a query."""

    def __init__(self) -> None:
        self.named: dict[str, ColumnElement[Any]] = {}

    def __getattr__(self, name: str) -> ColumnElement[Any]:
        return self.named.setdefault(name, bindparam(name, type_=Uuid()))


@cached(LRUCache(100), key=lambda resource: resource.name)
def related(resource: Kind) -> tuple[CompoundSelect[Any], list[str]]:
    """Write one query for all that belongs to a record; return it with its parameters."""
    row: Any = Columns()
    parts = [
        links(KINDS[one.kind], one.clause(KINDS[one.kind].record, row))
        for one in resource.related
    ]
    return union_all(*parts), [*row.named]


def links(target: Kind, clause: ColumnElement[bool]) -> Select[Any]:
    """Name the first records that a clause matches."""
    label = cast(target.label_expression, Text).label("label")
    first = select(target.record.id, label).where(clause).limit(MOST_LINKS).subquery()
    return select(literal(target.name).label("kind"), first.c.id, first.c.label)
