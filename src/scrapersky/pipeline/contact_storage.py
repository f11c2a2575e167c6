"""Contacts, people and the evidence of each value: stored by their natural keys."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from contact_extraction.contact_card import ContactCard
from contact_extraction.email_type import EmailType
from curation_sdk import Transaction
from scrapersky.pipeline.page_findings import (
    Row,
    address_facts,
    contact_key,
    phone_facts,
)
from scrapersky.pipeline.page_visit import AllowedFindings, ReadVisit
from scrapersky.pipeline.rows import rounds, write
from scrapersky.records.contact import BY_HAND
from scrapersky.records.status import ContactCurationStatus

# What a person wrote stays, and what a person took away stays away.
BY_A_PERSON: Final = f"""EXISTS (SELECT FROM contact_evidence h WHERE h.contact_id = c.id
    AND h.field = '{{field}}' AND h.method = '{BY_HAND}')"""
KNOWN: Final = ", ".join(
    f"{field} = CASE WHEN c.{field} IS NULL AND NOT {BY_A_PERSON.format(field=field)}"
    f" THEN excluded.{field} ELSE c.{field} END"
    for field in ("name", "role", "phone")
)
STORE_CONTACTS: Final = """
INSERT INTO contacts AS c (tenant_id, created_by, domain_id, page_id, email, email_type,
  name, role, phone, phones, address, social_links, confidence)
SELECT tenant_id, created_by, domain_id, page_id, email, email_type, name, role, phone,
  phones, address, social_links, confidence
FROM json_populate_recordset(NULL::contacts, $1) ORDER BY domain_id, {key}
ON CONFLICT (domain_id, {key}) WHERE {where} DO UPDATE SET
  {known},
  phones = c.phones || excluded.phones || (
    SELECT coalesce(jsonb_object_agg(number, facts), '{{}}')
    FROM jsonb_each(c.phones) AS e (number, facts) WHERE facts->>'whose' = 'staff'),
  address = CASE WHEN c.address->>'postal_code' IS NULL
    AND excluded.address->>'postal_code' IS NOT NULL
    THEN excluded.address ELSE coalesce(c.address, excluded.address) END,
  social_links = excluded.social_links || c.social_links,
  confidence = greatest(c.confidence, excluded.confidence), gone_at = NULL
RETURNING id, domain_id, {key} AS key
"""
STORE_BY_EMAIL: Final = STORE_CONTACTS.format(
    key="email", where="(email IS NOT NULL)", known=KNOWN
)
STORE_BY_PHONE: Final = STORE_CONTACTS.format(
    key="phone", where="(email IS NULL)", known=KNOWN
)
# A number that a contact with an e-mail address has is no contact of its own, unless it is
# somebody's. What people have written on, decided about or made themselves stays.
FIND_HOLDERS: Final = """
SELECT DISTINCT ON (g.domain_id, g.phone) g.domain_id, g.phone, c.id
FROM unnest($1::uuid[], $2::text[]) AS g (domain_id, phone)
JOIN contacts c ON c.domain_id = g.domain_id AND c.email IS NOT NULL AND c.phones ? g.phone
ORDER BY g.domain_id, g.phone, c.created_at, c.id
"""
UNTOUCHED: Final = f"""b.notes IS NULL AND b.tags = '{{}}'
  AND b.validation_processing_status IS NULL
  AND b.contact_curation_status = '{ContactCurationStatus.NEW}'
  AND NOT EXISTS (SELECT FROM contact_evidence e
    WHERE e.contact_id = b.id AND e.method = '{BY_HAND}')"""
REMOVE_BARE: Final = f"""
DELETE FROM contacts b WHERE b.domain_id = ANY($1) AND b.email IS NULL AND b.name IS NULL
  AND EXISTS (SELECT FROM contacts c WHERE c.domain_id = b.domain_id
    AND c.email IS NOT NULL AND c.phones ? b.phone)
  AND {UNTOUCHED}
"""  # noqa: S608 - our own labels
# What was seen before is seen in the newer page too: the older one may be gone first.
STORE_EVIDENCE: Final = """
INSERT INTO contact_evidence AS e (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence, snapshot_id, span_start, span_end)
SELECT DISTINCT ON (contact_id, field, value, url, method) tenant_id, page_id, robots, seen_at,
  contact_id, field, value, url, snippet, method, confidence, snapshot_id, span_start, span_end
FROM json_populate_recordset(NULL::contact_evidence, $1) WITH ORDINALITY
ORDER BY contact_id, field, value, url, method, ordinality
ON CONFLICT (contact_id, field, md5(value), md5(url), method) DO UPDATE SET
  snippet = excluded.snippet, snapshot_id = excluded.snapshot_id,
  span_start = excluded.span_start, span_end = excluded.span_end, gone_at = NULL
WHERE e.snapshot_id IS DISTINCT FROM excluded.snapshot_id OR e.gone_at IS NOT NULL
"""
# A person's role and page are those of the sighting that says most about them, as that page
# says it now; what somebody wrote of them is theirs.
IS_NEWER: Final = f"""((excluded.standing > p.standing
      OR excluded.page_id IS NOT DISTINCT FROM p.page_id)
    AND NOT p.evidence @> '[{{"method": "{BY_HAND}"}}]')"""
STORE_PEOPLE: Final = f"""
INSERT INTO people AS p (tenant_id, created_by, domain_id, page_id, name, name_key, role,
  seniority, email, phone, confidence, standing, standing_reason, evidence)
SELECT tenant_id, created_by, domain_id, page_id, name, name_key, role, seniority, email,
  phone, confidence, standing, standing_reason, evidence
FROM json_populate_recordset(NULL::people, $1) ORDER BY domain_id, name_key
ON CONFLICT (domain_id, name_key) DO UPDATE SET
  (page_id, name, role, seniority, standing, standing_reason) = (
    SELECT excluded.page_id, excluded.name, excluded.role, excluded.seniority,
      excluded.standing, excluded.standing_reason
    WHERE {IS_NEWER}
    UNION ALL
    SELECT p.page_id, p.name, p.role, p.seniority, p.standing, p.standing_reason
    WHERE NOT {IS_NEWER}),
  email = coalesce(p.email, excluded.email), phone = coalesce(p.phone, excluded.phone),
  gone_at = NULL, confidence = greatest(p.confidence, excluded.confidence),
  evidence = (SELECT jsonb_agg(seen) FROM (
    SELECT seen FROM jsonb_array_elements(excluded.evidence || p.evidence)
      WITH ORDINALITY AS e (seen, place)
    WHERE place <= jsonb_array_length(excluded.evidence)
      OR NOT excluded.evidence @> jsonb_build_array(
        jsonb_build_object('url', seen->>'url'))
    ORDER BY place LIMIT 5) AS kept)
"""  # noqa: S608 - our own words
SnapshotIds = dict[UUID, UUID]
"""The snapshot of each page."""


async def store_contacts(
    transaction: Transaction,
    kept: Sequence[AllowedFindings],
    snapshots: SnapshotIds,
) -> list[Row]:
    """Upsert contacts by their natural keys; store and return the evidence of every value."""
    cards = [(one.visit, card) for one in kept for card in one.cards]
    by_email = [contact_row(*each) for each in cards if each[1].email]
    by_phone = [contact_row(*each) for each in cards if not each[1].email]
    ids = await upsert(transaction, STORE_BY_EMAIL, by_email, "email")
    held = await holders(transaction, by_phone)
    own = [row for row in by_phone if (row["domain_id"], row["phone"]) not in held]
    ids |= held | await upsert(transaction, STORE_BY_PHONE, own, "phone")
    if domains := {row["domain_id"] for row in by_email if row["phones"]}:
        await transaction.fetch(REMOVE_BARE, sorted(domains))
    seen = [
        row
        for visit, card in cards
        for row in evidence_rows(
            visit,
            card,
            ids[visit.page.domain_id, contact_key(card)],
            snapshots[visit.page.id],
        )
    ]
    await write(transaction, STORE_EVIDENCE, seen)
    return seen


async def upsert(
    transaction: Transaction, statement: str, rows: Sequence[Row], key: str
) -> dict[tuple[UUID, str], UUID]:
    """Store contacts by a natural key; return the id of each by domain and key."""
    ids: dict[tuple[UUID, str], UUID] = {}
    for some in rounds(rows, lambda row: (row["domain_id"], row[key])):
        stored = await write(transaction, statement, some)
        ids |= {(row["domain_id"], row["key"]): row["id"] for row in stored}
    return ids


async def holders(
    transaction: Transaction, rows: Sequence[Row]
) -> dict[tuple[UUID, str], UUID]:
    """Find the contacts that already have numbers which nobody is named beside."""
    bare = [(row["domain_id"], row["phone"]) for row in rows if row["name"] is None]
    if not bare:
        return {}
    domains, phones = zip(*bare, strict=True)
    found = await transaction.fetch(FIND_HOLDERS, list(domains), list(phones))
    return {(row["domain_id"], row["phone"]): row["id"] for row in found}


async def store_people(
    transaction: Transaction, kept: Sequence[AllowedFindings], snapshots: SnapshotIds
) -> None:
    """Upsert people by their natural keys, each with where they are named."""
    people = [row for one in kept for row in person_rows(one, snapshots)]
    for some in rounds(people, lambda row: (row["domain_id"], row["name_key"])):
        await write(transaction, STORE_PEOPLE, some)


def contact_row(visit: ReadVisit, card: ContactCard) -> Row:
    """Write one contact; what is known already is kept."""
    email = card.email
    direct = {phone.e164 for phone in card.direct}
    return {
        "tenant_id": visit.page.tenant_id,
        "created_by": visit.site.user_id,
        "domain_id": visit.page.domain_id,
        "page_id": visit.page.id,
        "email": email.address if email else None,
        "email_type": (email.quality.type if email else EmailType.UNKNOWN).value,
        "name": card.name,
        "role": card.role,
        "phone": card.phone.e164 if card.phone else None,
        "phones": {
            phone.e164: phone_facts(phone, is_staff=phone.e164 in direct)
            for phone in card.phones
        },
        "address": address_facts(card.address),
        "social_links": {social.network: social.url for social in card.socials},
        "confidence": card.confidence,
    }


def evidence_rows(
    visit: ReadVisit, card: ContactCard, contact_id: UUID, snapshot_id: UUID
) -> Iterator[Row]:
    """Write where each value of a contact was seen."""
    for name, value, evidence, confidence in card.values:
        for seen in evidence:
            start, end = seen.span or (None, None)
            yield {
                "tenant_id": visit.page.tenant_id,
                "page_id": visit.page.id,
                "snapshot_id": snapshot_id,
                "span_start": start,
                "span_end": end,
                "robots": visit.robots,
                "seen_at": visit.seen_at,
                "contact_id": contact_id,
                "field": name,
                "value": value,
                "url": seen.url,
                "snippet": seen.snippet,
                "method": seen.method.value,
                "confidence": confidence,
            }


def person_rows(kept: AllowedFindings, snapshots: SnapshotIds) -> Iterator[Row]:
    """Write the people of a page, with where they are named."""
    visit = kept.visit
    for person in kept.people:
        yield {
            "tenant_id": visit.page.tenant_id,
            "created_by": visit.site.user_id,
            "domain_id": visit.page.domain_id,
            "page_id": visit.page.id,
            "name": person.name,
            "name_key": person.key,
            "role": person.role,
            "seniority": person.seniority,
            "email": person.email,
            "phone": person.phone,
            "confidence": person.confidence,
            "standing": person.standing,
            "standing_reason": person.reason,
            "evidence": [
                {
                    "url": seen.url,
                    "snippet": seen.snippet,
                    "method": seen.method.value,
                    "robots": visit.robots,
                    "seen_at": visit.seen_at,
                    "snapshot": snapshots[visit.page.id],
                    "span": seen.span,
                }
                for seen in person.evidence
            ],
        }
