"""What an import would change: its lines beside the companies that are known, before it runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.companies.candidates import COLUMNS, facts_of
from scrapersky.companies.evidence import (
    Facts,
    locality_of,
    name_block,
    name_of,
    own_domain,
    postal_code_of,
    street_of,
)
from scrapersky.companies.score import compare
from scrapersky.curation.imported_line import ImportedLine
from scrapersky.curation.lead_import import NO_ID
from scrapersky.kit.json_text import json_text

MOST_ALIKE: Final = 20
"""Records with the same value that a line is compared with."""
COMPARED: Final = ("name", "street", "city", "postal_code", "phone", "website")
# The same row, imported before.
SAME_ROW: Final = text(
    """SELECT p.source_place_id AS place, m.company_id FROM places_staging p
    JOIN company_members m ON m.place_id = p.id
    WHERE p.tenant_id = :tenant AND p.source = :source AND p.source_place_id = ANY(:places)"""
)
ALIKE: Final = text(
    f"""SELECT w.place, {COLUMNS} FROM jsonb_to_recordset(CAST(:rows AS jsonb))
      AS w(place text, domain text, phone text, name_block text)
    CROSS JOIN LATERAL (
      (SELECT f.* FROM company_members f WHERE f.tenant_id = :tenant
        AND f.domain = w.domain LIMIT {MOST_ALIKE})
      UNION (SELECT f.* FROM company_members f WHERE f.tenant_id = :tenant
        AND f.phone = w.phone LIMIT {MOST_ALIKE})
      UNION (SELECT f.* FROM company_members f WHERE f.tenant_id = :tenant
        AND f.name_block = w.name_block LIMIT {MOST_ALIKE})) m"""  # noqa: S608 - our own columns
)
KNOWN: Final = text(
    """SELECT c.id, c.name, c.street, c.city, c.postal_code, c.phone, c.website,
      EXISTS (SELECT FROM company_members m WHERE m.company_id = c.id
        AND m.business_id IS NOT NULL) AS has_business
    FROM companies c WHERE c.tenant_id = :tenant AND c.id = ANY(:ids)"""
)
CONTACTS: Final = text(
    """SELECT x.email, x.name, x.role FROM contacts x
    JOIN domains d ON d.id = x.domain_id
    JOIN jsonb_to_recordset(CAST(:rows AS jsonb)) AS l(host text, email text)
      ON d.domain = l.host AND x.email = l.email
    WHERE d.tenant_id = :tenant"""
)


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A value of a line that a known company has otherwise, or not at all."""

    line: int
    company_id: UUID
    company: str | None
    field: str
    known: str | None
    imported: str
    is_kept: bool
    """Whether what is known is still shown after the import, unless it is replaced."""


@dataclass(frozen=True, slots=True)
class KnownCompanies:
    """Which lines are of known companies, and what they say otherwise."""

    lines: int
    differences: tuple[KnownDifference, ...]


async def compare_with_known(
    connection: AsyncConnection,
    tenant_id: UUID,
    source: str,
    lines: Sequence[tuple[int, ImportedLine]],
) -> KnownCompanies:
    """Compare numbered lines with what the tenant knows; nothing is written."""
    found = await companies_of(connection, tenant_id, source, [one for _, one in lines])
    values: dict[str, Any] = {"tenant": tenant_id, "ids": [*{*found.values()}]}
    known = {row.id: row for row in await connection.execute(KNOWN, values)}
    companies = {place: known[one] for place, one in found.items() if one in known}
    asked = [
        {"host": one.host, "email": email.lower()}
        for _, one in lines
        if one.host
        for email in one.facts.emails
    ]
    values = {"tenant": tenant_id, "rows": json_text(asked)}
    contacts = {row.email: row for row in await connection.execute(CONTACTS, values)}
    differences = [
        difference
        for number, line in lines
        if (company := companies.get(line.source_place_id))
        for difference in (
            *of_company(number, line, company),
            *of_contacts(number, line, company, contacts),
        )
    ]
    return KnownCompanies(len(companies), tuple(differences))


async def companies_of(
    connection: AsyncConnection,
    tenant_id: UUID,
    source: str,
    lines: Sequence[ImportedLine],
) -> dict[str, UUID]:
    """Say to which known companies lines would go, by the rules that matching has."""
    facts = {line.source_place_id: facts_of_line(line) for line in lines}
    values: dict[str, Any] = {"tenant": tenant_id, "source": source}
    same = await connection.execute(SAME_ROW, {**values, "places": [*facts]})
    found = {row.place: row.company_id for row in same if row.company_id}
    rows = [
        {"place": place, "domain": one.domain, "phone": one.phone,
         "name_block": one.name_block}
        for place, one in facts.items() if place not in found
    ]  # fmt: skip
    alike = (await connection.execute(ALIKE, {**values, "rows": json_text(rows)})).all()
    best: dict[str, float] = {}
    for place, *row in alike:
        ((other, _),) = facts_of([row]).values()
        score = compare(facts[place], other)
        if score.links and other.company_id and score.share > best.get(place, 0):
            best[place], found[place] = score.share, other.company_id
    return found


def facts_of_line(line: ImportedLine) -> Facts:
    """Read a line as companies are matched by it."""
    facts = line.facts
    code = postal_code_of(facts.postal_code, facts.address)
    return Facts(
        id=NO_ID,
        name=facts.name,
        domain=own_domain(facts.website),
        phone=facts.phone,
        street=street_of(facts.street, facts.address),
        locality=locality_of(facts.city, facts.address),
        postal_code=code,
        latitude=facts.latitude,
        longitude=facts.longitude,
        name_block=name_block(name_of(facts.name), code),
    )


def of_company(
    number: int,
    line: ImportedLine,
    company: Any,  # noqa: ANN401 - a row
) -> Iterator[KnownDifference]:
    """Yield what a line says of the company itself."""
    for name in COMPARED:
        known, said = getattr(company, name), getattr(line.facts, name)
        if said and not is_same(name, known, said):
            is_kept = known is not None and company.has_business
            yield KnownDifference(
                number, company.id, company.name, name, known, said, is_kept
            )


def is_same(name: str, known: str | None, said: str) -> bool:
    """Say whether two values are one to people: a slash of an address is none."""
    if known is None:
        return False
    if name == "website":
        known, said = known.rstrip("/"), said.rstrip("/")
    return known.casefold() == said.casefold()


def of_contacts(
    number: int,
    line: ImportedLine,
    company: Any,  # noqa: ANN401 - a row
    contacts: dict[str, Any],
) -> Iterator[KnownDifference]:
    """Yield what a line says of addresses that are known: their names and roles stay."""
    for email in line.facts.emails:
        contact = contacts.get(email.lower())
        for name, said in (("person", line.person), ("role", line.role)):
            known = contact and (contact.name if name == "person" else contact.role)
            if said and known and known != said:
                yield KnownDifference(
                    number, company.id, company.name, name, known, said, is_kept=True
                )
