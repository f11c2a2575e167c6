"""One record with where its values came from and what belongs to it."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.listing import rows_by_id
from scrapersky.api.records.schema import EvidenceOut, Link
from scrapersky.errors import RecordChanged, UnknownRecord, VersionMissing
from scrapersky.records import KINDS, Kind

MOST_LINKS = 20

Shown = Row[Any]


async def record_of(
    connection: AsyncConnection, resource: Kind, record_id: UUID
) -> Shown:
    """Return a record of the tenant, or raise UnknownRecord."""
    rows = await rows_by_id(connection, resource, [record_id])
    if not rows:
        raise UnknownRecord(f"There is no such {resource.singular.replace('_', ' ')}.")
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
    connection: AsyncConnection, resource: Kind, row: Shown
) -> list[EvidenceOut]:
    """Tell where the values of a record came from."""
    told = resource.origins(row)
    if isinstance(told, Executable):
        rows = (await connection.execute(told)).mappings()
        return [EvidenceOut(**found) for found in rows]
    return [EvidenceOut(**asdict(origin)) for origin in told]


async def related_to(
    connection: AsyncConnection, resource: Kind, row: Shown
) -> dict[str, list[Link]]:
    """Name the records that belong to one, of every kind the first few."""
    found = {}
    for relation in resource.related:
        target = KINDS[relation.kind]
        clause = relation.clause(target.record, row)
        found[relation.kind] = await links(connection, target, clause)
    return found


async def links(
    connection: AsyncConnection, target: Kind, clause: ColumnElement[bool]
) -> list[Link]:
    """Name the first records that a clause matches."""
    query = select(target.record.id, target.label_expression.label("label")).where(
        clause
    )
    return [
        Link(id=found.id, label=found.label)
        for found in await connection.execute(query.limit(MOST_LINKS))
    ]
