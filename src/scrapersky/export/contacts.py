"""Contacts as rows of a table: one each, with where every value came from."""

import csv
from collections.abc import AsyncIterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from sqlalchemy import CursorResult, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.export.cell import csv_cell, harmless
from scrapersky.kit.private_file import appearing_whole
from scrapersky.privacy.suppression_filter import SuppressionFilter, look_up

__all__ = ["COLUMNS", "contact_cells", "contact_rows", "harmless", "write_csv"]

COLUMNS = (
    "business", "domain", "email", "email_type", "validation", "name", "role", "phone",
    "phones", "street", "city", "state", "postal_code", "country", "website",
    "social_links", "confidence", "status", "tags", "notes", "source_url", "method",
    "snippet", "decision_maker", "decision_maker_role", "categories", "rating",
    "reviews_count", "business_phone", "searches",
)  # fmt: skip
CHUNK = 1_000

SELECT = """
SELECT c.id, b.name AS business, d.domain, c.email, c.email_type::text AS email_type,
  c.deliverability::text AS validation, c.name, c.role, c.phone,
  CASE WHEN c.phones <> '{}' THEN (SELECT string_agg(k, ' ' ORDER BY k)
    FROM jsonb_object_keys(c.phones) AS k) END AS phones,
  a.street, a.city, a.state, a.postal_code, a.country, d.home_url AS website,
  CASE WHEN c.social_links <> '{}' THEN (SELECT string_agg(value, ' ' ORDER BY key)
    FROM jsonb_each_text(c.social_links)) END AS social_links,
  c.confidence, c.contact_curation_status::text AS status, c.tags, c.notes,
  c.created_at, c.updated_at,
  e.url AS source_url, e.method, e.snippet,
  p.name AS decision_maker, p.role AS decision_maker_role,
  b.categories, b.rating, b.reviews_count, b.phone AS business_phone,
  (SELECT string_agg(DISTINCT concat_ws(' in ', nullif(s.business_type, ''), s.location),
    '; ') FROM place_search_hits h JOIN place_searches s ON s.id = h.search_id
    WHERE h.place_id = b.place_id) AS searches
FROM contacts c
JOIN domains d ON d.id = c.domain_id
LEFT JOIN LATERAL (SELECT * FROM local_businesses b WHERE b.domain_id = d.id
  ORDER BY b.created_at, b.id LIMIT 1) b ON true
-- The contact's own address as a whole, or the one of the business.
LEFT JOIN LATERAL (
  SELECT c.address->>'street' AS street, c.address->>'city' AS city,
    c.address->>'state' AS state, c.address->>'postal_code' AS postal_code,
    c.address->>'country' AS country
  WHERE c.address->>'street' IS NOT NULL OR c.address->>'city' IS NOT NULL
  UNION ALL SELECT b.street, b.city, b.region, b.postal_code, b.country
  LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT url, method, snippet FROM contact_evidence e
  WHERE e.contact_id = c.id AND e.field IN ('email', 'phone', 'mobile')
  ORDER BY e.confidence DESC, e.id LIMIT 1) e ON true
LEFT JOIN LATERAL (SELECT name, role FROM people p WHERE p.domain_id = d.id
  ORDER BY p.standing DESC, p.id LIMIT 1) p ON true
"""
BY_ID = SELECT + "WHERE c.tenant_id = :tenant AND c.id = ANY(:ids)"
BY_SEARCH = (
    SELECT  # noqa: S608 - constants
    + """WHERE c.tenant_id = :tenant AND c.id > :after
  AND (CAST(:search AS uuid) IS NULL OR d.id IN (
    SELECT b.domain_id FROM local_businesses b
    JOIN place_search_hits h ON h.place_id = b.place_id
    WHERE h.search_id = CAST(:search AS uuid)))
ORDER BY c.id LIMIT :chunk"""
)

Row = dict[str, Any]


async def contact_cells(
    connection: AsyncConnection, tenant_id: UUID, ids: Sequence[UUID]
) -> list[Row]:
    """Return the cells of these contacts, in this order, also of who is suppressed."""
    values = {"tenant": tenant_id, "ids": list(ids)}
    rows = dicts(await connection.execute(text(BY_ID), values))
    found = {row["id"]: row for row in rows}
    return [found[each] for each in ids if each in found]


async def contact_rows(
    engine: AsyncEngine, tenant_id: UUID, search_id: UUID | None = None
) -> AsyncIterator[Row]:
    """Yield a tenant's contacts in steps, so that no snapshot and no memory is held."""
    after = UUID(int=0)
    while True:
        values = {
            "tenant": tenant_id,
            "search": search_id,
            "after": after,
            "chunk": CHUNK,
        }
        async with engine.connect() as connection:
            rows = dicts(await connection.execute(text(BY_SEARCH), values))
            allowed = await not_suppressed(connection, tenant_id, rows)
        for row in allowed:
            yield row
        if len(rows) < CHUNK:
            return
        after = rows[-1]["id"]


def dicts(result: CursorResult[Any]) -> list[Row]:
    """Return rows as plain dictionaries; at a million of them the difference counts."""
    names = [*result.keys()]
    return [dict(zip(names, row, strict=True)) for row in result]


async def not_suppressed(
    connection: AsyncConnection, tenant_id: UUID, rows: list[Row]
) -> list[Row]:
    """Leave out who must not be contacted, as the list is at this moment."""
    domains = {row["domain"] for row in rows}
    suppressions = await look_up(connection, tenant_id, rows, domains=domains)
    return allowed_contacts(suppressions, rows)


def allowed_contacts(suppressions: SuppressionFilter, rows: Sequence[Row]) -> list[Row]:
    """Leave out who is suppressed, by address, by number or with their domain."""
    allowed = (row for row in rows if not is_suppressed(suppressions, row))
    cleaned: list[Row] = suppressions.clean([*allowed])
    return cleaned


def is_suppressed(suppressions: SuppressionFilter, row: Row) -> bool:
    """Say whether a contact must not be contacted."""
    return (
        suppressions.hides_domain(row["domain"])
        or bool(row["email"] and suppressions.hides_email(row["email"]))
        or bool(row["phone"] and suppressions.hides_phone(row["phone"]))
    )


async def write_csv(
    engine: AsyncEngine, tenant_id: UUID, path: Path, search_id: UUID | None = None
) -> int:
    """Write the contacts to a file that appears whole or not at all; return how many."""
    # The mark makes Excel read it as UTF-8.
    with (
        appearing_whole(path) as file,
        TextIOWrapper(file, newline="", encoding="utf-8-sig") as lines,
    ):
        return await write_rows(engine, tenant_id, lines, search_id)


async def write_rows(
    engine: AsyncEngine, tenant_id: UUID, file: TextIO, search_id: UUID | None
) -> int:
    """Write a header and every contact."""
    writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    count = 0
    async for row in contact_rows(engine, tenant_id, search_id):
        writer.writerow({name: csv_cell(row[name]) for name in COLUMNS})
        count += 1
    return count
