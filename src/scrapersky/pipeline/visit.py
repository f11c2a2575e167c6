"""What visits to pages have shown: stored for all pages that settle together, at once.

Every statement takes the rows of all pages as one JSON array, in the columns of the table
it writes. A statement cannot write the same row twice, so what several pages of a site
say of the same contact or person follows in a second statement, and so on.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson

from contact_extraction.business_name import business_name
from contact_extraction.contact_card import ContactCard
from contact_extraction.contact_page import ContactPage
from contact_extraction.contacts import Address, Contacts, Phone
from contact_extraction.email_type import EmailType
from contact_extraction.other_value import other_values
from contact_extraction.person_card import PersonCard
from contact_extraction.urls import parse_url
from curation_sdk import Transaction
from scrapersky.crawler import Fetched, Rendered
from scrapersky.pipeline.naming import name_contacts
from scrapersky.pipeline.site import Whose, choose, store_links
from scrapersky.privacy.card import (
    allowed_cards,
    allowed_people,
    names_at,
    words_of,
    words_of_people,
)
from scrapersky.privacy.suppression_filter import SuppressionFilter, suppressions
from scrapersky.records import Page
from scrapersky.records.status import (
    ContactScrapeStatus,
    PageCurationStatus,
)

FACTS: Final = (
    "title", "description", "h1", "language", "canonical_url", "structured_data_types",
    "has_contact_form", "word_count", "http_status", "etag", "last_modified", "bytes",
    "fetch_ms", "fetch_facts", "organisation", "other_values",
)  # fmt: skip
# Complete, unless a person has decided against the page meanwhile.
COMPLETED: Final = f"""fetched_at = clock_timestamp(), page_curation_status = CASE
  WHEN p.page_curation_status = '{PageCurationStatus.SKIPPED}' THEN p.page_curation_status
  ELSE '{PageCurationStatus.COMPLETE}' END"""
STORE_UNCHANGED: Final = f"UPDATE pages AS p SET {COMPLETED} WHERE id = ANY($1)"  # noqa: S608 - our names
STORE_GONE: Final = f"""
UPDATE pages AS p SET {COMPLETED}, contact_scrape_status = '{ContactScrapeStatus.NO_CONTACT_FOUND}',
  http_status = g.http_status, gone_at = clock_timestamp()
FROM json_populate_recordset(NULL::pages, $1) AS g WHERE p.id = g.id
"""  # noqa: S608 - our names
STORE_FACTS: Final = f"""
UPDATE pages AS p SET {COMPLETED}, contact_scrape_status = g.contact_scrape_status,
  gone_at = NULL, {", ".join(f"{name} = g.{name}" for name in FACTS)}
FROM json_populate_recordset(NULL::pages, $1) AS g WHERE p.id = g.id
"""  # noqa: S608 - our names
STORE_CONTACTS: Final = """
INSERT INTO contacts AS c (tenant_id, created_by, domain_id, page_id, email, email_type,
  name, role, phone, phones, address, social_links, confidence)
SELECT tenant_id, created_by, domain_id, page_id, email, email_type, name, role, phone,
  phones, address, social_links, confidence
FROM json_populate_recordset(NULL::contacts, $1) ORDER BY domain_id, {key}
ON CONFLICT (domain_id, {key}) WHERE {where} DO UPDATE SET
  name = coalesce(c.name, excluded.name), role = coalesce(c.role, excluded.role),
  phone = coalesce(c.phone, excluded.phone),
  phones = c.phones || excluded.phones || (
    SELECT coalesce(jsonb_object_agg(number, facts), '{{}}')
    FROM jsonb_each(c.phones) AS e (number, facts) WHERE facts->>'whose' = 'staff'),
  address = CASE WHEN c.address->>'postal_code' IS NULL
    AND excluded.address->>'postal_code' IS NOT NULL
    THEN excluded.address ELSE coalesce(c.address, excluded.address) END,
  social_links = excluded.social_links || c.social_links,
  confidence = greatest(c.confidence, excluded.confidence)
RETURNING id, domain_id, {key} AS key
"""
STORE_BY_EMAIL: Final = STORE_CONTACTS.format(key="email", where="(email IS NOT NULL)")
STORE_BY_PHONE: Final = STORE_CONTACTS.format(key="phone", where="(email IS NULL)")
STORE_EVIDENCE: Final = """
INSERT INTO contact_evidence (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence)
SELECT tenant_id, page_id, robots, seen_at, contact_id, field, value, url, snippet, method,
  confidence
FROM json_populate_recordset(NULL::contact_evidence, $1)
ON CONFLICT DO NOTHING
"""
# A person's role and page are those of the sighting that says most about them.
STORE_PEOPLE: Final = """
INSERT INTO people AS p (tenant_id, created_by, domain_id, page_id, name, name_key, role,
  seniority, email, phone, confidence, standing, standing_reason, evidence)
SELECT tenant_id, created_by, domain_id, page_id, name, name_key, role, seniority, email,
  phone, confidence, standing, standing_reason, evidence
FROM json_populate_recordset(NULL::people, $1) ORDER BY domain_id, name_key
ON CONFLICT (domain_id, name_key) DO UPDATE SET
  (page_id, name, role, seniority, standing, standing_reason) = (
    SELECT excluded.page_id, excluded.name, excluded.role, excluded.seniority,
      excluded.standing, excluded.standing_reason
    WHERE excluded.standing > p.standing
    UNION ALL
    SELECT p.page_id, p.name, p.role, p.seniority, p.standing, p.standing_reason
    WHERE excluded.standing <= p.standing),
  email = coalesce(p.email, excluded.email), phone = coalesce(p.phone, excluded.phone),
  confidence = greatest(p.confidence, excluded.confidence),
  evidence = (SELECT jsonb_agg(seen) FROM (
    SELECT seen FROM jsonb_array_elements(excluded.evidence || p.evidence)
      WITH ORDINALITY AS e (seen, place)
    WHERE place <= jsonb_array_length(excluded.evidence)
      OR NOT excluded.evidence @> jsonb_build_array(
        jsonb_build_object('url', seen->>'url'))
    ORDER BY place LIMIT 5) AS kept)
"""
# What most pages call the business, each as sure as it is; the home page knows best, and
# a name that the domain has too counts double. Hours and address are the likeliest page's.
STORE_ORGANISATIONS: Final = """
WITH said AS MATERIALIZED (
  SELECT id, domain_id, organisation AS o, contact_likelihood FROM pages
  WHERE domain_id = ANY($1) AND organisation IS NOT NULL
), named AS (
  SELECT domain_id, o, 1 AS weight FROM said WHERE o->>'name' IS NOT NULL
  UNION ALL
  SELECT id, organisation->'home', 2 FROM domains
  WHERE id = ANY($1) AND organisation->'home'->>'name' IS NOT NULL
), best AS (
  SELECT DISTINCT ON (domain_id) domain_id, min(o->>'name') AS name FROM named
  GROUP BY domain_id, lower(o->>'name')
  ORDER BY domain_id, sum((o->>'confidence')::float8 * weight
    * CASE WHEN (o->>'is_in_domain')::boolean THEN 2 ELSE 1 END) DESC, 2
), hours AS (
  SELECT DISTINCT ON (domain_id) domain_id, o->'hours' AS hours FROM said
  WHERE o ? 'hours' ORDER BY domain_id, contact_likelihood DESC NULLS LAST, id
), addresses AS (
  SELECT DISTINCT ON (domain_id) domain_id, o->'address' AS address FROM said
  WHERE o ? 'address' ORDER BY domain_id, contact_likelihood DESC NULLS LAST, id
), known AS (
  SELECT d AS domain_id, jsonb_strip_nulls(jsonb_build_object(
    'name', best.name, 'hours', hours.hours, 'address', addresses.address)) AS facts
  FROM unnest($1::uuid[]) AS d LEFT JOIN best ON best.domain_id = d
  LEFT JOIN hours ON hours.domain_id = d LEFT JOIN addresses ON addresses.domain_id = d
)
UPDATE domains SET organisation = coalesce(organisation, '{}') || known.facts
FROM known WHERE id = known.domain_id
  AND NOT coalesce(organisation, '{}') @> known.facts
"""

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NotRead:
    """A page could not be had: its site goes on without it."""

    site: Whose


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A page was looked at and is as it was."""

    page: Page
    site: Whose


@dataclass(frozen=True, slots=True)
class Gone:
    """A link leads to nothing."""

    page: Page
    site: Whose
    status: int


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was read from one page."""

    page: ContactPage
    cards: list[ContactCard]
    people: list[PersonCard]
    rendered: Rendered | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """A page was read."""

    page: Page
    site: Whose
    fetched: Fetched
    found: Findings
    seen_at: datetime
    facts: Row = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", facts_of(self.fetched, self.found))

    @property
    def host(self) -> str:
        """The host that the page was listed under."""
        return parse_url(self.page.url).host

    @property
    def robots(self) -> str:
        """The rule of robots.txt by which the page was read."""
        return self.fetched.robots.rule or "allowed"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it was another site's page in the end."""
        return self.fetched.url.site != parse_url(self.page.url).site


AnyVisit = NotRead | Unchanged | Gone | Visit


async def store_visits(transaction: Transaction, visits: list[AnyVisit]) -> None:
    """Store what pages have shown, and go on with their sites."""
    if unchanged := [one.page.id for one in visits if isinstance(one, Unchanged)]:
        await transaction.fetch(STORE_UNCHANGED, unchanged)
    gone = [one for one in visits if isinstance(one, Gone)]
    rows = [{"id": one.page.id, "http_status": one.status} for one in gone]
    await write(transaction, STORE_GONE, rows)
    read = [one for one in visits if isinstance(one, Visit)]
    for one in visits:
        if not isinstance(one, Visit):
            choose(transaction, one.site)
    read.sort(key=lambda one: one.page.tenant_id)
    for tenant_id, group in groupby(read, key=lambda one: one.page.tenant_id):
        await store_read(transaction, tenant_id, list(group))


async def store_read(
    transaction: Transaction, tenant_id: UUID, visits: Sequence[Visit]
) -> None:
    """Store the pages that were read for one tenant, but nothing it must not keep."""
    guard = await ask_list(transaction, tenant_id, visits)
    kept = [Kept.of(one, guard) for one in visits]
    await write(transaction, STORE_FACTS, [page_row(one, guard) for one in kept])
    await store_contacts(transaction, kept)
    people = [row for one in kept for row in person_rows(one)]
    for some in rounds(people, lambda row: (row["domain_id"], row["name_key"])):
        await write(transaction, STORE_PEOPLE, some)
    named = {one.page.domain_id for one in visits if one.facts["organisation"]}
    if named:
        await transaction.fetch(STORE_ORGANISATIONS, sorted(named))
    for one in kept:
        visit = one.visit
        links = [] if one.is_hidden or visit.is_elsewhere else visit.found.page.links
        clicks = 1 if visit.page.clicks is None else visit.page.clicks + 1
        page = visit.page
        is_first = page.choice is not None and page.fetched_at is None
        read = page.id if is_first and not one.is_hidden else None
        store_links(transaction, visit.site, links, clicks=clicks, read=read)
        if one.cards or one.people:
            name_contacts(transaction, visit.page.domain_id)


async def ask_list(
    transaction: Transaction, tenant_id: UUID, visits: Sequence[Visit]
) -> SuppressionFilter:
    """Ask the suppression list about all that is on some pages."""
    return await suppressions(
        transaction.connection,
        tenant_id,
        [one.facts for one in visits],
        [word for one in visits for word in words_of(one.found.cards)],
        [word for one in visits for word in words_of_people(one.found.people)],
        domains={one.host for one in visits},
        people={
            name
            for one in visits
            for name in names_at(one.host, one.found.cards, one.found.people)
        },
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """What may be kept of a visit."""

    visit: Visit
    is_hidden: bool
    """Whether the whole site is on the suppression list."""
    cards: list[ContactCard]
    people: list[PersonCard]

    @classmethod
    def of(cls, visit: Visit, guard: SuppressionFilter) -> "Kept":
        """Leave out what is on the list."""
        host = visit.host
        if guard.hides_domain(host):
            return cls(visit, True, [], [])  # noqa: FBT003 - the field says it
        return cls(
            visit,
            False,  # noqa: FBT003 - the field says it
            allowed_cards(visit.found.cards, guard, host),
            allowed_people(visit.found.people, guard, host),
        )


async def store_contacts(transaction: Transaction, kept: Sequence[Kept]) -> None:
    """Upsert contacts by their natural keys, and the evidence for every value."""
    cards = [(one.visit, card) for one in kept for card in one.cards]
    by_email = [contact_row(*each) for each in cards if each[1].email]
    by_phone = [contact_row(*each) for each in cards if not each[1].email]
    ids: dict[tuple[UUID, str], UUID] = {}
    for statement, rows, key in (
        (STORE_BY_EMAIL, by_email, "email"),
        (STORE_BY_PHONE, by_phone, "phone"),
    ):
        for some in rounds(rows, lambda row: (row["domain_id"], row[key])):  # noqa: B023 - used at once
            stored = await write(transaction, statement, some)
            ids |= {(row["domain_id"], row["key"]): row["id"] for row in stored}
    seen = [
        row
        for visit, card in cards
        for row in sightings(visit, card, ids[visit.page.domain_id, key_of(card)])
    ]
    await write(transaction, STORE_EVIDENCE, seen)


async def write(
    transaction: Transaction, statement: str, rows: Sequence[Row]
) -> Sequence[Any]:
    """Write rows by one statement, if there are any."""
    if not rows:
        return ()
    written = orjson.dumps(rows, default=plain).decode()
    return await transaction.fetch(statement, written)


def plain(value: object) -> str:
    """Write an id that is of the driver's own class."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError


def rounds(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Share out rows so that no two of a round have the same key, in their order."""
    met: dict[Hashable, int] = defaultdict(int)
    shared: list[list[T]] = []
    for row in rows:
        turn = met[key(row)]
        met[key(row)] += 1
        if turn == len(shared):
            shared.append([])
        shared[turn].append(row)
    return shared


# Rows, as their tables name the columns


def page_row(kept: Kept, guard: SuppressionFilter) -> Row:
    """Write what the visit showed about the page itself."""
    found = (
        ContactScrapeStatus.CONTACT_FOUND
        if kept.cards
        else ContactScrapeStatus.NO_CONTACT_FOUND
    )
    return {
        **guard.clean(kept.visit.facts),
        "id": kept.visit.page.id,
        "contact_scrape_status": found.value,
    }


def facts_of(fetched: Fetched, findings: Findings) -> Row:
    """Return what a page says about itself, and how it was had."""
    found, rendered = findings.page, findings.rendered
    values = found.facts
    return {
        "title": values.title,
        "description": values.description,
        "h1": values.heading,
        "language": values.language,
        "canonical_url": values.canonical,
        "structured_data_types": list(values.structured_types),
        "has_contact_form": values.has_contact_form,
        "word_count": values.word_count,
        "http_status": fetched.status,
        "etag": fetched.headers.get("etag"),
        "last_modified": fetched.headers.get("last-modified"),
        "bytes": fetched.inflated_bytes,
        "fetch_ms": round(fetched.timings.total.total_seconds() * 1000),
        "fetch_facts": {
            "final_url": str(fetched.url),
            "outcome": fetched.outcome,
            "charset": fetched.charset.name,
            "robots": fetched.robots.rule or "allowed",
            "x_robots_tag": list(fetched.x_robots_tag),
            "meta_robots": list(fetched.meta_robots),
            "wire_bytes": fetched.wire_bytes,
            "needs_script": found.needs_script,
            "rendered": rendered
            and {"requests": rendered.requests, "refused": rendered.refused},
        },
        "other_values": other_values(found.contacts),
        "organisation": organisation_facts(found.contacts, fetched.url.host),
    }


def contact_row(visit: Visit, card: ContactCard) -> Row:
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


def key_of(card: ContactCard) -> str:
    """Return by what a contact is known at its site."""
    if card.email is not None:
        return card.email.address
    return card.phone.e164 if card.phone else ""


def sightings(visit: Visit, card: ContactCard, contact_id: UUID) -> Iterator[Row]:
    """Write where each value of a contact was seen."""
    for name, value, evidence, confidence in card.values:
        for seen in evidence:
            yield {
                "tenant_id": visit.page.tenant_id,
                "page_id": visit.page.id,
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


def person_rows(kept: Kept) -> Iterator[Row]:
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
                }
                for seen in person.evidence
            ],
        }


def address_facts(address: Address | None) -> dict[str, str | None] | None:
    """Keep an address as written and in its parts."""
    if address is None:
        return None
    return {
        "text": address.text,
        "street": address.street,
        "city": address.city,
        "state": address.state,
        "postal_code": address.postal_code,
        "country": address.country,
    }


def organisation_facts(contacts: Contacts, host: str) -> Row | None:
    """Keep what a page says of the business itself: name, opening hours, address."""
    values: Row = {**(business_name(contacts, host) or {})}
    if contacts.hours:
        hours = contacts.hours[0]
        days = [[one.day, one.opens, one.closes] for one in hours.intervals]
        values["hours"] = {"text": hours.text, "days": days}
    ours = [one for one in contacts.addresses if one.owner.is_ours]
    if len(ours) == 1:
        values["address"] = address_facts(ours[0])
    return values or None


def phone_facts(phone: Phone, *, is_staff: bool) -> dict[str, str | None]:
    """Keep a number as written, beside its E.164 form, and whether it is one person's."""
    return {
        "whose": "staff" if is_staff else "own",
        "written": phone.written,
        "kind": phone.kind.value,
        "extension": phone.extension,
        "region": phone.region,
    }
