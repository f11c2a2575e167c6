"""Statements that store rows of the old system and find what is there already.

What is there is left as it is, and keys are the same each time: nothing is stored twice.
"""
# ruff: noqa: S608 - built only from names of our tables

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.adopt.old_row import OldRow, Values, default_of, fitted_text
from scrapersky.adopt.old_table import GOOGLE, OldReference, OldTable

ADOPTED_FROM: Final = "adopted from the old database"
"""The method of a value that the old system had found."""
LONGEST_SNIPPET: Final = 500
PARENT_COLUMNS: Final = {
    "domains": "id, domain, NULL::uuid AS domain_id",
    "pages": "id, NULL AS domain, domain_id",
    "sitemap_files": "id, NULL AS domain, domain_id",
    "places_staging": "id, NULL AS domain, NULL::uuid AS domain_id",
}
STORE_SOURCES: Final = text("""
INSERT INTO contact_evidence (tenant_id, created_by, contact_id, page_id, field, value, url,
  snippet, method, confidence, robots, seen_at)
SELECT c.tenant_id, c.created_by, c.id, c.page_id, v.field, v.value,
  coalesce(g.source_url, p.url, 'https://' || d.domain || '/'), coalesce(g.context, ''),
  :method, c.confidence, 'not known', c.created_at
FROM json_to_recordset(CAST(:rows AS json)) AS g(id uuid, source_url text, context text)
JOIN contacts c ON c.id = g.id JOIN domains d ON d.id = c.domain_id
LEFT JOIN pages p ON p.id = c.page_id
CROSS JOIN LATERAL (VALUES ('email', c.email), ('phone', c.phone), ('name', c.name),
  ('role', c.role)) AS v(field, value)
WHERE v.value IS NOT NULL
ON CONFLICT DO NOTHING""")


async def insert_rows(
    connection: AsyncConnection, table: OldTable, rows: Sequence[OldRow]
) -> set[UUID]:
    """Insert what is not there yet; return the keys of what was inserted."""
    if not rows:
        return set()
    target = table.target
    names = [c.name for c in target.c if any(c.name in row.values for row in rows)]
    needed = {name: target.c[name] for name in names if not target.c[name].nullable}
    values = [row.values | defaults(row.values, needed) for row in rows]
    columns = ", ".join(names)
    statement = (
        f"INSERT INTO {target.name} ({columns}) SELECT {columns}"
        f" FROM json_populate_recordset(NULL::{target.name}, CAST(:rows AS json))"
        " ON CONFLICT DO NOTHING RETURNING id"
    )
    stored = await connection.scalars(text(statement), {"rows": as_json(values)})
    return set(stored)


def defaults(values: Values, needed: Mapping[str, Any]) -> Values:
    """Return what columns that must have a value have where a row has none."""
    return {
        name: default_of(column)
        for name, column in needed.items()
        if values.get(name) is None
    }


async def store_sources(connection: AsyncConnection, rows: Sequence[OldRow]) -> None:
    """Keep with every value of new contacts where the old system had found it."""
    sources = [
        {"id": row.values["id"]}
        | {
            name: fitted_text(written, LONGEST_SNIPPET) if written else None
            for name, written in row.extra.items()
        }
        for row in rows
    ]
    given = {"rows": as_json(sources), "method": ADOPTED_FROM}
    await connection.execute(STORE_SOURCES, given)


async def known_keys(
    connection: AsyncConnection, table: OldTable, tenant_id: UUID, keys: Sequence[UUID]
) -> set[UUID]:
    """Return which of these keys rows of the tenant have."""
    query = f"SELECT id FROM {table.target.name} WHERE tenant_id = :tenant AND id = ANY(:keys)"
    given = {"tenant": tenant_id, "keys": [*keys]}
    return set(await connection.scalars(text(query), given))


async def find_same(
    connection: AsyncConnection,
    table: OldTable,
    tenant_id: UUID,
    rows: Sequence[OldRow],
) -> dict[UUID, UUID]:
    """Find by what makes two rows one which rows here these are, by their keys."""
    same: dict[UUID, UUID] = {}
    for key in table.keys:
        some = [row for row in rows if key_columns(table, row) == key]
        if not some:
            continue
        columns = ", ".join(key)
        # A contact is known by its number only if it has no address.
        more = " AND email IS NULL" if key[-1] == "phone" else ""
        query = (
            f"SELECT id, {columns} FROM {table.target.name} WHERE tenant_id = :tenant"
            f" AND ({columns}) IN (SELECT {columns} FROM json_populate_recordset("
            f"NULL::{table.target.name}, CAST(:rows AS json))){more}"
        )
        asked = as_json([{name: row.values[name] for name in key} for row in some])
        answer = await connection.execute(
            text(query), {"tenant": tenant_id, "rows": asked}
        )
        found = {tuple(map(str, rest)): one for one, *rest in answer}
        for row in some:
            if one := found.get(tuple(str(row.values[name]) for name in key)):
                same[row.values["id"]] = one
    return same


def key_columns(table: OldTable, row: OldRow) -> tuple[str, ...]:
    """Return the columns that make another row the same as this one."""
    return next(
        (key for key in table.keys if all(row.values[n] is not None for n in key)), ()
    )


async def find_parents(
    connection: AsyncConnection,
    reference: OldReference,
    tenant_id: UUID,
    keys: Sequence[UUID],
    names: Sequence[str],
) -> dict[str, Any]:
    """Find the rows that references name: by their keys, and by their names if they have any."""
    shown = PARENT_COLUMNS[reference.table]
    where = f"FROM {reference.table} WHERE tenant_id = :tenant"
    query = f"SELECT {shown} {where} AND id = ANY(:keys)"
    given: Values = {"tenant": tenant_id, "keys": keys}
    found = {str(one.id): one for one in await connection.execute(text(query), given)}
    if reference.by is not None:
        query = (
            f"SELECT {shown}, {reference.by} AS name {where} AND source = :source"
            f" AND {reference.by} = ANY(:names)"
        )
        given = {"tenant": tenant_id, "source": GOOGLE, "names": names}
        found |= {one.name: one for one in await connection.execute(text(query), given)}
    return found


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows for the database."""
    return orjson.dumps(rows, default=str).decode()
