"""Contacts as rows of a table: one each, with where every value came from."""

import csv
import sys
from collections.abc import AsyncIterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, TextIO
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.export.proof import PAGES_OF, PROOF, with_proofs
from scrapersky.export.withheld import allowed_rows, dicts
from scrapersky.kit.cell import csv_cell, harmless
from scrapersky.kit.private_file import appearing_whole
from scrapersky.privacy.stopped import stopped_among
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records.contact import CONTACTS
from scrapersky.records.contact_file import CONTACT_COLUMNS, SELECT_CONTACTS
from scrapersky.records.kind import Kind

__all__ = [
    "COLUMNS",
    "STANDARD_OUTPUT",
    "columns_of",
    "contact_rows",
    "harmless",
    "write_csv",
]

CHUNK_ROWS = 1_000
STANDARD_OUTPUT = "-"

COLUMNS: Final = (*CONTACT_COLUMNS, PROOF)


def columns_of(resource: Kind) -> Sequence[str]:
    """Return every column that a file of a kind may have."""
    proof = [PROOF] if resource.name in PAGES_OF else []
    if columns := resource.file.columns:
        return [*columns, *proof, "id", "created_at", "updated_at"]
    return [*dict.fromkeys((*resource.fields, *resource.extras)), *proof]


BY_SEARCH = (
    SELECT_CONTACTS  # noqa: S608 - constants
    + """WHERE c.tenant_id = :tenant AND c.id > :after
  AND (CAST(:search AS uuid) IS NULL OR d.id IN (
    SELECT b.domain_id FROM local_businesses b
    JOIN place_search_hits h ON h.place_id = b.place_id
    WHERE h.search_id = CAST(:search AS uuid)))
ORDER BY c.id LIMIT :chunk"""
)

Row = dict[str, Any]


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
            "chunk": CHUNK_ROWS,
        }
        async with engine.connect() as connection:
            rows = dicts(await connection.execute(text(BY_SEARCH), values))
            allowed = await not_suppressed(connection, tenant_id, rows)
            allowed = await with_proofs(connection, tenant_id, "contacts", allowed)
        for row in allowed:
            yield row
        if len(rows) < CHUNK_ROWS:
            return
        after = rows[-1]["id"]


async def not_suppressed(
    connection: AsyncConnection, tenant_id: UUID, rows: list[Row]
) -> list[Row]:
    """Leave out who must not be contacted, as the list is at this moment."""
    stopped = await stopped_among(connection, tenant_id, rows)
    rows = stopped.without_rows(rows) if stopped else rows
    domains = {row["domain"] for row in rows}
    suppressions = await look_up(connection, tenant_id, rows, domains=domains)
    return allowed_rows(CONTACTS, suppressions, rows)


async def write_csv(
    engine: AsyncEngine, tenant_id: UUID, path: Path, search_id: UUID | None = None
) -> int:
    """Write the contacts to a file that appears whole or not at all; return how many.

    `-` is standard output.
    """
    if str(path) == STANDARD_OUTPUT:
        return await write_rows(engine, tenant_id, sys.stdout, search_id)
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
