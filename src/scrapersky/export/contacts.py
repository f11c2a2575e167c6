"""Contacts as CSV: one row each, with where every value came from."""

import csv
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

COLUMNS = (
    "business", "domain", "email", "email_type", "validation", "name", "role", "phone",
    "phones", "street", "city", "postal_code", "country", "website", "social_links",
    "confidence", "source_url", "method", "snippet",
)  # fmt: skip
CHUNK = 1_000
DANGEROUS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\x00",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)
"""What makes a spreadsheet take a cell for a formula."""

SELECT = """
SELECT c.id, b.name AS business, d.domain, c.email, c.email_type::text AS email_type,
  c.validation->>'verdict' AS validation, c.name, c.role, c.phone,
  (SELECT string_agg(k, ' ') FROM jsonb_object_keys(c.phones) AS k) AS phones,
  c.address->>'street' AS street, c.address->>'city' AS city,
  c.address->>'postal_code' AS postal_code, c.address->>'country' AS country,
  d.home_url AS website,
  (SELECT string_agg(value, ' ') FROM jsonb_each_text(c.social_links)) AS social_links,
  c.confidence, e.url AS source_url, e.method, e.snippet
FROM contacts c
JOIN domains d ON d.id = c.domain_id
LEFT JOIN LATERAL (SELECT name FROM local_businesses b WHERE b.domain_id = d.id
  ORDER BY b.created_at, b.id LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT url, method, snippet FROM contact_evidence e
  WHERE e.contact_id = c.id AND e.field IN ('email', 'phone', 'mobile')
  ORDER BY e.confidence DESC, e.id LIMIT 1) e ON true
WHERE c.tenant_id = :tenant AND c.id > :after
  AND (CAST(:search AS uuid) IS NULL OR d.id IN (
    SELECT b.domain_id FROM local_businesses b
    JOIN place_search_hits h ON h.place_id = b.place_id
    WHERE h.search_id = CAST(:search AS uuid)))
ORDER BY c.id LIMIT :chunk
"""


async def contact_rows(
    engine: AsyncEngine, tenant_id: UUID, search_id: UUID | None = None
) -> AsyncIterator[dict[str, Any]]:
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
            rows = (await connection.execute(text(SELECT), values)).mappings().all()
        for row in rows:
            yield dict(row)
        if len(rows) < CHUNK:
            return
        after = rows[-1]["id"]


async def write_csv(
    engine: AsyncEngine, tenant_id: UUID, path: Path, search_id: UUID | None = None
) -> int:
    """Write the contacts to a file that appears whole or not at all; return how many."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        # The mark makes Excel read it as UTF-8.
        with unfinished.open("w", newline="", encoding="utf-8-sig") as file:
            count = await write_rows(engine, tenant_id, file, search_id)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return count


async def write_rows(
    engine: AsyncEngine, tenant_id: UUID, file: TextIO, search_id: UUID | None
) -> int:
    """Write a header and every contact."""
    writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    count = 0
    async for row in contact_rows(engine, tenant_id, search_id):
        writer.writerow({name: harmless(row[name]) for name in COLUMNS})
        count += 1
    return count


def harmless(value: object) -> object:
    """Write a value so that a spreadsheet shows it and never runs it.

    A phone number keeps its plus: digits after it are no formula.
    """
    if not isinstance(value, str):
        return value
    cleaned = value.replace("\x00", "")
    bare = cleaned.lstrip(" \"'\ufeff")
    if bare.startswith("+") and bare[1:].replace(" ", "").replace("+", "").isdigit():
        return cleaned
    return f"'{cleaned}" if bare.startswith(DANGEROUS) else cleaned
