"""The columns that a tenant has added to its companies."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import CompanyColumn
from scrapersky.records.status import OwnType


@dataclass(frozen=True, slots=True)
class OwnColumn:
    """One column of a tenant's own."""

    id: UUID
    name: str
    title: str
    type: OwnType
    choices: list[str]


async def own_columns(connection: AsyncConnection, tenant_id: UUID) -> list[OwnColumn]:
    """Return the tenant's own columns, in the order in which they were made."""
    query = (
        select(
            CompanyColumn.id,
            CompanyColumn.name,
            CompanyColumn.title,
            CompanyColumn.type,
            CompanyColumn.choices,
        )
        .where(CompanyColumn.tenant_id == tenant_id)
        .order_by(CompanyColumn.created_at, CompanyColumn.id)
    )
    return [OwnColumn(*row) for row in await connection.execute(query)]
