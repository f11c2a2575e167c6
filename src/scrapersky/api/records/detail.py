"""One record with where its values came from and what belongs to it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.listing import rows_by_id
from scrapersky.api.records.resource import RESOURCES, SEARCHES, Resource
from scrapersky.api.records.schema import EvidenceOut, Link
from scrapersky.errors import RecordChanged, UnknownRecord, VersionMissing
from scrapersky.records import (
    Contact,
    Domain,
    Evidence,
    LocalBusiness,
    Page,
    Place,
    PlaceSearchHit,
    SitemapFile,
)

MOST_LINKS = 20
MOST_EVIDENCE = 200

Shown = Row[Any]


async def record_of(
    connection: AsyncConnection, resource: Resource, record_id: UUID
) -> Shown:
    """Return a record of the tenant, or raise UnknownRecord."""
    rows = await rows_by_id(connection, resource, [record_id])
    if not rows:
        raise UnknownRecord(f"There is no such {resource.noun.replace('_', ' ')}.")
    return rows[0]


def etag_of(updated_at: datetime) -> str:
    """Return the version of a record, as it stands in `ETag` and `If-Match`."""
    return f'"{int(updated_at.timestamp() * 1_000_000):x}"'


def require_version(given: str | None, updated_at: datetime) -> None:
    """Raise unless a change was made of the record as it is now."""
    if given is None:
        raise VersionMissing(
            "Say which version of the record you have changed.",
            hint="Send the record's `etag` in the header If-Match.",
        )
    if given.strip() not in {"*", etag_of(updated_at)}:
        raise RecordChanged(
            "Someone has changed the record since you read it.",
            hint="Read it again, and make your change of what it is now.",
        )


async def evidence_of(
    connection: AsyncConnection, resource: Resource, row: Shown
) -> list[EvidenceOut]:
    """Tell where the values of a record came from."""
    if resource.name != "contacts":
        return TOLD.get(resource.name, nothing)(row)
    query = (
        select(
            Evidence.field,
            Evidence.value,
            Evidence.url,
            Evidence.snippet,
            Evidence.method,
            Evidence.confidence,
            Evidence.seen_at,
            Evidence.robots,
        )
        .where(Evidence.contact_id == row.id)
        .order_by(Evidence.field, Evidence.confidence.desc(), Evidence.id)
        .limit(MOST_EVIDENCE)
    )
    rows = (await connection.execute(query)).mappings()
    return [EvidenceOut(**found) for found in rows]


def nothing(_row: Shown) -> list[EvidenceOut]:
    """Tell nothing: what a person asked for needs no evidence."""
    return []


def place_told(row: Shown) -> list[EvidenceOut]:
    """Tell which source described a place, and under what terms."""
    return [evidence("all", row.source, seen_at=row.seen_at, snippet=row.licence)]


def business_told(row: Shown) -> list[EvidenceOut]:
    """Tell that a business was made of its place."""
    if row.place_id is None:
        return []
    return [evidence("all", "place", seen_at=row.created_at, value=str(row.place_id))]


def domain_told(row: Shown) -> list[EvidenceOut]:
    """Tell what a verdict rests on."""
    if row.verdict is None:
        return []
    signs = row.verdict_evidence or {}
    return [
        evidence("verdict", "home page", value=row.verdict, url=row.home_url,
                 snippet=f"{name}: {value}"[:500], seen_at=row.updated_at)
        for name, value in signs.items()
    ]  # fmt: skip


def sitemap_told(row: Shown) -> list[EvidenceOut]:
    """Tell how a sitemap was found."""
    found = row.found_by or "unknown"
    return [evidence("url", found, value=row.url, seen_at=row.created_at)]


def page_told(row: Shown) -> list[EvidenceOut]:
    """Tell why a page is thought to have contacts."""
    return [
        evidence("contact_likelihood", "address of the page", url=row.url,
                 snippet=reason, confidence=row.contact_likelihood)
        for reason in row.likelihood_reasons
    ]  # fmt: skip


TOLD = {
    "places": place_told,
    "businesses": business_told,
    "domains": domain_told,
    "sitemap_files": sitemap_told,
    "pages": page_told,
}


def evidence(
    field: str,
    method: str,
    *,
    value: str | None = None,
    url: str | None = None,
    snippet: str | None = None,
    confidence: float | None = None,
    seen_at: datetime | None = None,
) -> EvidenceOut:
    """Write one piece of evidence."""
    return EvidenceOut(
        field=field,
        value=value,
        url=url,
        snippet=snippet,
        method=method,
        confidence=confidence,
        seen_at=seen_at,
    )


async def related_to(
    connection: AsyncConnection, resource: Resource, row: Shown
) -> dict[str, list[Link]]:
    """Name the records that belong to one, of every kind the first few."""
    return {
        name: await links(connection, name, clause)
        for name, clause in relations(resource.name, row).items()
    }


def relations(name: str, row: Shown) -> Mapping[str, ColumnElement[bool]]:
    """Say which records of which kind belong to a record."""
    match name:
        case "searches":
            found = select(PlaceSearchHit.place_id).where(
                PlaceSearchHit.search_id == row.id
            )
            return {"places": Place.id.in_(found)}
        case "places":
            searches = select(PlaceSearchHit.search_id).where(
                PlaceSearchHit.place_id == row.id
            )
            return {
                "searches": SEARCHES.model.id.in_(searches),
                "businesses": LocalBusiness.place_id == row.id,
            }
        case "businesses":
            return {
                "places": Place.id == row.place_id,
                "domains": Domain.id == row.domain_id,
            }
        case "domains":
            return {
                "businesses": LocalBusiness.domain_id == row.id,
                "sitemap_files": SitemapFile.domain_id == row.id,
                "pages": Page.domain_id == row.id,
                "contacts": Contact.domain_id == row.id,
            }
        case "sitemap_files":
            return {
                "domains": Domain.id == row.domain_id,
                "pages": Page.sitemap_file_id == row.id,
            }
        case "pages":
            return {
                "domains": Domain.id == row.domain_id,
                "sitemap_files": SitemapFile.id == row.sitemap_file_id,
                "contacts": Contact.page_id == row.id,
            }
        case _:
            return {
                "domains": Domain.id == row.domain_id,
                "pages": Page.id == row.page_id,
                "businesses": LocalBusiness.domain_id == row.domain_id,
            }


async def links(
    connection: AsyncConnection, name: str, clause: ColumnElement[bool]
) -> list[Link]:
    """Name the first records that a clause matches."""
    target = SEARCHES if name == "searches" else RESOURCES[name]
    query = select(target.model.id, target.label.label("label")).where(clause)
    return [
        Link(id=found.id, label=found.label)
        for found in await connection.execute(query.limit(MOST_LINKS))
    ]
