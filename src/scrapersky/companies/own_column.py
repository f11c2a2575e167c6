"""The columns that a tenant has added to its companies, and what imports bring into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records import CompanyColumn
from scrapersky.records.status import OwnType

# What people have written stays; a file that replaces what is known does so until they write.
FILL: Final = text(
    """WITH brought AS (
      SELECT m.company_id, b.attributes->'own' AS own, b.updated_at,
        b.attributes->>'known_values' = 'replaced' AS replaces
      FROM company_members m JOIN local_businesses b ON b.id = m.business_id
      WHERE m.id = ANY(:members) AND jsonb_exists(b.attributes, 'own')),
    summed AS (
      SELECT c.id, jsonb_object_agg(v.key, v.value ORDER BY g.updated_at) AS own
      FROM brought g JOIN companies c ON c.id = g.company_id, jsonb_each(g.own) v
      WHERE NOT jsonb_exists(c.own, v.key)
        OR g.replaces AND coalesce(c.worked_at < g.updated_at, true)
      GROUP BY c.id)
    UPDATE companies c SET own = c.own || s.own FROM summed s
    WHERE c.id = s.id AND NOT c.own @> s.own"""
)


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


async def fill_own_columns(
    connection: AsyncConnection, members: Sequence[UUID]
) -> None:
    """Give companies the own values that imported lines have brought them."""
    await connection.execute(FILL, {"members": [*members]})
