"""What a stage has to know of a domain before an item of it begins."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncEngine

READ_USAGE: Final = text("""
SELECT d.id, d.budget, t.budget AS tenant_budget,
  coalesce(u.pages_fetched, 0) AS pages_fetched,
  coalesce(u.bytes, 0) AS bytes, coalesce(u.parse_ms, 0) / 1000.0 AS parse_seconds,
  coalesce(v.pages_fetched, 0) AS day_pages, coalesce(v.bytes, 0) AS day_bytes,
  coalesce(v.parse_ms, 0) / 1000.0 AS day_parse_seconds,
  coalesce(s.bytes, 0) AS snapshot_bytes,
  coalesce((SELECT country FROM local_businesses WHERE domain_id = d.id
      AND country IS NOT NULL ORDER BY id LIMIT 1),
    -- What its other pages say: a page of prices says nothing of the country.
    (SELECT mode() WITHIN GROUP (ORDER BY o->>'country')
      FROM jsonb_array_elements(d.organisation->'addresses') AS e (o))) AS country
FROM domains d JOIN tenants t ON t.id = d.tenant_id
LEFT JOIN site_usage u ON u.domain_id = d.id
LEFT JOIN snapshot_usage s ON s.tenant_id = d.tenant_id
LEFT JOIN tenant_usage v ON v.tenant_id = d.tenant_id
  AND v.day = (clock_timestamp() AT TIME ZONE 'UTC')::date
WHERE d.id = ANY(:domains)
""")


async def read_domain_usage(
    reader: AsyncEngine, domains: list[UUID]
) -> Mapping[UUID, Row[Any]]:
    """Read budgets, what was taken so far, and the country, of several domains at once."""
    async with reader.connect() as connection:
        rows = await connection.execute(READ_USAGE, {"domains": domains})
        return {row.id: row for row in rows}
