"""Read leads as they go to a CRM: their values, their origin, and whether they may leave at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.connectors.protocol import CrmKind, CrmValue
from scrapersky.kit.plain_text import split_name
from scrapersky.privacy.stopped import stopped_among
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records.contact import BY_HAND

DO_NOT_CONTACT: Final = "It is marked Do Not Contact, or on the suppression list."
GONE: Final = "It is not here any more."
COMPANIES: Final = text(
    """SELECT c.id, c.name, c.website, c.phone, c.street, c.city, c.region, c.postal_code,
      c.country, c.categories, c.rating, c.lead_status::text AS lead_status, d.domain,
      u.email AS owner, NULL AS email, NULL::uuid AS company_id,
      coalesce(c.website, 'https://' || d.domain) AS evidence_url,
      c.seen_at::date::text AS verified_on,
      (SELECT string_agg(DISTINCT m.source, ', ') FROM company_members m
        WHERE m.company_id = c.id) AS source
    FROM companies c LEFT JOIN domains d ON d.id = c.domain_id
      LEFT JOIN users u ON u.id = c.owner_id
    WHERE c.tenant_id = :tenant AND c.id = ANY(:ids)"""
)
PEOPLE: Final = text(
    """SELECT x.id, x.name, x.email, x.phone, x.role, d.domain,
      x.deliverability::text AS deliverability,
      coalesce((SELECT c.id FROM companies c WHERE c.tenant_id = :tenant
          AND c.email_contact_id = x.id ORDER BY c.id LIMIT 1),
        (SELECT c.id FROM companies c WHERE c.tenant_id = :tenant
          AND c.domain_id = x.domain_id ORDER BY c.id LIMIT 1)) AS company_id,
      e.url AS evidence_url, e.method AS source,
      coalesce(x.validated_at, e.seen_at)::date::text AS verified_on
    FROM contacts x JOIN domains d ON d.id = x.domain_id
      LEFT JOIN LATERAL (SELECT v.url, v.method, v.seen_at FROM contact_evidence v
        WHERE v.contact_id = x.id AND v.method <> :by_hand
        ORDER BY v.field = 'email' DESC, v.confidence DESC, v.id LIMIT 1) e ON true
    WHERE x.tenant_id = :tenant AND x.id = ANY(:ids)"""
).bindparams(by_hand=BY_HAND)
QUERIES: Final = {CrmKind.COMPANY: COMPANIES, CrmKind.PERSON: PEOPLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedLead:
    """One of our records as it may go out."""

    id: UUID
    values: dict[str, CrmValue] = field(default_factory=dict)
    company_id: UUID | None = None
    refusal: str | None = None
    """Why it must not leave."""


async def read_leads(
    connection: AsyncConnection, tenant_id: UUID, kind: CrmKind, ids: Sequence[UUID]
) -> dict[UUID, SyncedLead]:
    """Read records; each that was asked for is there, at least with why it must not leave."""
    asked = {"tenant": tenant_id, "ids": list(ids)}
    rows = (await connection.execute(QUERIES[kind], asked)).all()
    plain = [row._asdict() for row in rows]
    stopped = await stopped_among(connection, tenant_id, plain)
    hosts = [row["domain"] for row in plain if row["domain"]]
    listed = await look_up(
        connection,
        tenant_id,
        [[row["email"], row["phone"]] for row in plain],
        domains=hosts,
        people=[
            (row["name"], row["domain"])
            for row in plain
            if kind is CrmKind.PERSON and row["name"] and row["domain"]
        ],
    )
    found = {one: SyncedLead(id=one, refusal=GONE) for one in ids}
    allowed = {
        row["id"]
        for row in (
            stopped.without_companies(plain)
            if kind is CrmKind.COMPANY
            else stopped.without_rows(plain)
        )
    }
    for row in rows:
        hidden = row.id not in allowed or is_listed(listed, kind, row)
        found[row.id] = SyncedLead(
            id=row.id,
            values={} if hidden else values_of(kind, row),
            company_id=row.company_id,
            refusal=DO_NOT_CONTACT if hidden else None,
        )
    return found


def is_listed(listed: Any, kind: CrmKind, row: Row[Any]) -> bool:  # noqa: ANN401 - a filter
    """Say whether the suppression list names a value by which the record is reached."""
    if row.domain and listed.hides_domain(row.domain):
        return True
    if row.phone and listed.hides_phone(row.phone):
        return True
    if kind is CrmKind.COMPANY:
        return False
    if row.email and listed.hides_email(row.email):
        return True
    return bool(row.name and listed.hides_person(row.name, row.domain))


def values_of(kind: CrmKind, row: Row[Any]) -> dict[str, CrmValue]:
    """Return the values of a record by our names."""
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in row._asdict().items()
        if name not in ("id", "company_id")
    }
    if kind is CrmKind.PERSON:
        values["first_name"], values["last_name"] = split_name(row.name)
        values.pop("domain")
        if values["source"]:
            values["source"] = f"{row.domain}: {values['source']}"
    return values
