"""Read what sources said into members: what companies are matched by."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.companies.evidence import (
    MAX_NAME_CHARACTERS,
    MAX_PHONE_CHARACTERS,
    locality_of,
    name_block,
    name_of,
    near_block,
    own_domain,
    postal_code_of,
    social_profile,
    street_of,
)
from scrapersky.kit.json_text import json_text
from scrapersky.privacy.suppression import hold_back

STEP_ROWS: Final = 1_000
"""Records read in one transaction."""
READ_OVERLAP: Final = timedelta(minutes=2)
"""How long a transaction that stores records may take: as far back is read again."""
NO_ID: Final = UUID(int=0)

SITE: Final = """
  p.id AS place_id, b.id AS business_id, coalesce(p.source, 'business') AS source,
  coalesce(b.name, p.name) AS name, coalesce(b.website, p.website, (SELECT 'https://' || x.domain
    FROM domains x WHERE x.id = b.domain_id)) AS website,
  coalesce(b.phone, p.phone) AS phone, p.address, b.street, b.city, b.postal_code,
  coalesce(b.latitude, p.latitude) AS latitude,
  coalesce(b.longitude, p.longitude) AS longitude, b.links, p.moved_to
"""
PLACES: Final = text(
    f"""SELECT p.id AS row_id, p.updated_at, {SITE} FROM places_staging p
    LEFT JOIN local_businesses b ON b.tenant_id = p.tenant_id AND b.place_id = p.id
    WHERE p.tenant_id = :tenant AND (p.updated_at, p.id) > (:at, :id)
    ORDER BY p.updated_at, p.id LIMIT :most"""  # noqa: S608 - our own columns
)
BUSINESSES: Final = text(
    f"""SELECT b.id AS row_id, b.updated_at, {SITE} FROM local_businesses b
    LEFT JOIN places_staging p ON p.id = b.place_id
    WHERE b.tenant_id = :tenant AND (b.updated_at, b.id) > (:at, :id)
    ORDER BY b.updated_at, b.id LIMIT :most"""  # noqa: S608 - our own columns
)
DOMAINS: Final = text(
    """SELECT d.id AS row_id, d.updated_at, d.id AS domain_id, 'website' AS source,
      d.organisation->>'name' AS name, d.domain, d.phones[1] AS phone,
      ARRAY(SELECT value FROM jsonb_each_text(d.social_links)) AS links,
      d.organisation->'address'->>'street' AS street,
      d.organisation->'address'->>'city' AS city,
      d.organisation->'address'->>'postal_code' AS postal_code,
      d.organisation->'address'->>'text' AS address,
      NOT EXISTS (SELECT FROM local_businesses b WHERE b.domain_id = d.id)
        AND d.verdict IN ('own_site', 'unreachable', 'login_wall', 'challenge_wall')
        AS is_alone
    FROM domains d
    WHERE d.tenant_id = :tenant AND (d.updated_at, d.id) > (:at, :id)
    ORDER BY d.updated_at, d.id LIMIT :most"""
)
CONTACTS: Final = text(
    """SELECT x.id AS row_id, x.updated_at, x.domain_id FROM contacts x
    WHERE x.tenant_id = :tenant AND (x.updated_at, x.id) > (:at, :id)
    ORDER BY x.updated_at, x.id LIMIT :most"""
)
PEOPLE: Final = text(
    """SELECT x.id AS row_id, x.updated_at, x.domain_id FROM people x
    WHERE x.tenant_id = :tenant AND (x.updated_at, x.id) > (:at, :id)
    ORDER BY x.updated_at, x.id LIMIT :most"""
)
QUERIES: Final[Mapping[str, TextClause]] = {
    "places": PLACES,
    "businesses": BUSINESSES,
    "domains": DOMAINS,
    "contacts": CONTACTS,
    "people": PEOPLE,
}

FACTS: Final = (
    "source", "name", "domain", "phone", "social", "street", "locality", "postal_code", "latitude",
    "longitude", "moved_to", "name_block", "near_block",
)  # fmt: skip


def upsert_statement(key: str, *beside: str) -> TextClause:
    """Write the statement that keeps members, and marks those that say something new."""
    columns = ", ".join((key, *beside, *FACTS))
    theirs = ", ".join(f"m.{name}" for name in (*beside, *FACTS))
    ours = ", ".join(f"excluded.{name}" for name in (*beside, *FACTS))
    changes = ", ".join(f"{name} = excluded.{name}" for name in (*beside, *FACTS))
    return text(
        f"""INSERT INTO company_members AS m (tenant_id, {columns})
        SELECT CAST(:tenant AS uuid), {columns} FROM jsonb_to_recordset(CAST(:rows AS jsonb))
          AS r(place_id uuid, business_id uuid, domain_id uuid, source text, name text,
            domain text, phone text, social text, street text, locality text,
            postal_code text, latitude float8, longitude float8, moved_to text, name_block text,
            near_block text)
        ON CONFLICT ({key}) DO UPDATE SET {changes}, is_matched = false
        WHERE ({theirs}) IS DISTINCT FROM ({ours})"""  # noqa: S608 - our own columns
    )


KEEP_PLACES: Final = upsert_statement("place_id", "business_id")
KEEP_BUSINESSES: Final = upsert_statement("business_id")
KEEP_DOMAINS: Final = upsert_statement("domain_id")

PROGRESS: Final = text(
    """SELECT clock_timestamp() AS now, p.read_until, p.began_at, p.cursor_at, p.cursor_id
    FROM (SELECT) AS one LEFT JOIN company_progress p
      ON p.tenant_id = :tenant AND p.kind = :kind"""
)
KEEP_CURSOR: Final = text(
    """INSERT INTO company_progress (tenant_id, kind, began_at, cursor_at, cursor_id)
    VALUES (:tenant, :kind, :began, :at, :id)
    ON CONFLICT (tenant_id, kind) DO UPDATE SET began_at = excluded.began_at,
      cursor_at = excluded.cursor_at, cursor_id = excluded.cursor_id"""
)
KEEP_READ: Final = text(
    """INSERT INTO company_progress (tenant_id, kind, read_until)
    VALUES (:tenant, :kind, :until)
    ON CONFLICT (tenant_id, kind) DO UPDATE SET
      read_until = greatest(company_progress.read_until, excluded.read_until),
      began_at = NULL, cursor_at = NULL, cursor_id = NULL"""
)
BY_DOMAINS: Final = text(
    "SELECT id FROM companies WHERE tenant_id = :tenant AND domain_id = ANY(:domains)"
)
BY_NAMES: Final = text(
    """SELECT DISTINCT company_id FROM company_members
    WHERE tenant_id = :tenant AND domain = ANY(:names) AND company_id IS NOT NULL"""
)
BY_SITES: Final = text(
    """SELECT company_id FROM company_members
      WHERE place_id = ANY(:places) AND company_id IS NOT NULL
    UNION SELECT company_id FROM company_members
      WHERE business_id = ANY(:businesses) AND company_id IS NOT NULL"""
)
Row = Any
Read = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RecordSlice:
    """Some records that changed, in the form in which they are kept."""

    kind: str
    last: "Cursor"
    read: Read


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the records of a kind have been read, since reading them began."""

    began: datetime
    at: datetime
    id: UUID = NO_ID


async def read_slice(
    engine: AsyncEngine, tenant_id: UUID, kind: str, after: Cursor
) -> RecordSlice | None:
    """Read the next records that changed; None: there are none.

    Nothing is kept yet, and no transaction is open while they are read for what counts.
    """
    values = {"tenant": tenant_id, "at": after.at, "id": after.id, "most": STEP_ROWS}
    async with engine.connect() as connection:
        rows = (await connection.execute(QUERIES[kind], values)).all()
    if not rows:
        return None
    last = Cursor(after.began, rows[-1].updated_at, rows[-1].row_id)
    return RecordSlice(kind, last, await asyncio.to_thread(read_rows, kind, rows))


async def store_slice(
    connection: AsyncConnection, tenant_id: UUID, stretch: RecordSlice
) -> frozenset[UUID]:
    """Keep what records say, and how far that is; return whose they are already."""
    kept = {"tenant": tenant_id, "kind": stretch.kind, **asdict(stretch.last)}
    await connection.execute(KEEP_CURSOR, kept)
    return await WRITERS[stretch.kind](connection, tenant_id, stretch.read)


async def start_of(engine: AsyncEngine, tenant_id: UUID, kind: str) -> Cursor:
    """Return from where on records of a kind are read: also where that was broken off."""
    async with engine.connect() as connection:
        values = {"tenant": tenant_id, "kind": kind}
        row = (await connection.execute(PROGRESS, values)).one()
    if row.began_at is not None:
        return Cursor(row.began_at, row.cursor_at, row.cursor_id)
    start = row.read_until or datetime.fromtimestamp(0, tz=row.now.tzinfo)
    return Cursor(row.now, start)


async def finish_reading(
    tenant_id: UUID, kind: str, began: datetime, connection: AsyncConnection
) -> None:
    """Keep that everything of a kind was read that had been stored by then."""
    kept = {"tenant": tenant_id, "kind": kind, "until": began - READ_OVERLAP}
    await connection.execute(KEEP_READ, kept)


async def keep_sites(
    connection: AsyncConnection, tenant_id: UUID, read: Read
) -> frozenset[UUID]:
    """Keep places, and the businesses made of them, as members; return whose they are."""
    # Asked here and not where they were read: whoever is erased meanwhile stays erased.
    guard = await hold_back(connection, tenant_id, [one["phone"] for one in read])
    sites = [{**one, "phone": guard.clean(one["phone"])} for one in read]
    of_places = [one for one in sites if one["place_id"]]
    alone = [one for one in sites if not one["place_id"]]
    await upsert_members(connection, tenant_id, KEEP_PLACES, of_places)
    await upsert_members(connection, tenant_id, KEEP_BUSINESSES, alone)
    values = {
        "places": [one["place_id"] for one in of_places],
        "businesses": [one["business_id"] for one in alone],
    }
    return frozenset((await connection.scalars(BY_SITES, values)).all())


async def keep_domains(
    connection: AsyncConnection, tenant_id: UUID, read: Read
) -> frozenset[UUID]:
    """Keep domains that no business names as members; return whom the others are of."""
    alone = [one for one in read if one["is_alone"]]
    await upsert_members(connection, tenant_id, KEEP_DOMAINS, alone)
    values = {"tenant": tenant_id, "names": [one["domain"] for one in read]}
    return frozenset((await connection.scalars(BY_NAMES, values)).all())


async def of_their_domains(
    connection: AsyncConnection, tenant_id: UUID, read: Read
) -> frozenset[UUID]:
    """Return the companies whose website contacts or people were found on."""
    values = {"tenant": tenant_id, "domains": [*{one["domain_id"] for one in read}]}
    return frozenset((await connection.scalars(BY_DOMAINS, values)).all())


WRITERS: Final = {
    "places": keep_sites,
    "businesses": keep_sites,
    "domains": keep_domains,
    "contacts": of_their_domains,
    "people": of_their_domains,
}


async def upsert_members(
    connection: AsyncConnection,
    tenant_id: UUID,
    statement: TextClause,
    rows: Iterable[Mapping[str, Any]],
) -> None:
    """Store members, unless there are none."""
    listed = [*rows]
    if listed:
        values = {"tenant": tenant_id, "rows": json_text(listed)}
        await connection.execute(statement, values)


def truncate(value: str | None, most: int) -> str | None:
    """Return what is read of a value: stored ones may be older than their limits."""
    return value and value[:most]


def place_facts(row: Row) -> dict[str, Any]:
    """Write what a place, or its business, is matched by."""
    name = name_of(row.name)
    code = postal_code_of(row.postal_code, row.address)
    urls = [url for url in (row.website, *(row.links or ())) if url]
    return {
        "place_id": row.place_id,
        "business_id": row.business_id,
        "source": row.source,
        "name": truncate(row.name, MAX_NAME_CHARACTERS),
        "domain": own_domain(row.website),
        "phone": truncate(row.phone, MAX_PHONE_CHARACTERS),
        "social": social_profile(urls),
        "street": street_of(row.street, row.address),
        "locality": locality_of(row.city, row.address),
        "postal_code": code,
        "latitude": row.latitude,
        "longitude": row.longitude,
        "moved_to": row.moved_to,
        "name_block": name_block(name, code),
        "near_block": near_block(name, row.latitude, row.longitude),
    }


def domain_facts(row: Row) -> dict[str, Any]:
    """Write what a domain that no business names is matched by: what it claims."""
    if not row.is_alone:
        return {"is_alone": False, "domain": row.domain}
    code = postal_code_of(row.postal_code, row.address)
    return {
        "is_alone": True,
        "domain_id": row.domain_id,
        "source": row.source,
        "name": truncate(row.name, MAX_NAME_CHARACTERS),
        "domain": row.domain,
        "phone": truncate(row.phone, MAX_PHONE_CHARACTERS),
        "social": social_profile([*row.links]),
        "street": street_of(row.street, row.address),
        "locality": locality_of(row.city, row.address),
        "postal_code": code,
        "name_block": name_block(name_of(row.name), code),
    }


def website_of_row(row: Row) -> dict[str, Any]:
    """Write on which website a contact or a person was found."""
    return {"domain_id": row.domain_id}


FORMS: Final = {
    "places": place_facts,
    "businesses": place_facts,
    "domains": domain_facts,
    "contacts": website_of_row,
    "people": website_of_row,
}


def read_rows(kind: str, rows: Sequence[Row]) -> Read:
    """Write rows of a kind in the form in which they are kept."""
    return [FORMS[kind](row) for row in rows]
