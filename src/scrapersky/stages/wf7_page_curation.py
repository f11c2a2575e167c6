"""WF7 - Page curation: one page becomes contacts, each value with its evidence."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text

from curation_sdk import Done, Effect, GiveUp, Outcome, Transaction
from scrapersky.crawler import Conditions, Fetched
from scrapersky.errors import FetchError
from scrapersky.extraction.contact_card import ContactCard, cards_of
from scrapersky.extraction.contact_page import ContactPage, read_contact_page
from scrapersky.extraction.contacts import Address, Phone
from scrapersky.kit.clock import utc_now
from scrapersky.kit.email_type import EmailType
from scrapersky.kit.urls import parse_url
from scrapersky.pipeline.declaration import Endings, Job, Lane, stage
from scrapersky.pipeline.fetching import failure_of, outcome_of
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.card import allowed_cards, canonical_cards, words_of
from scrapersky.privacy.shield import shield
from scrapersky.records import Contact, Page
from scrapersky.records.page import PAGE_CURATION_QUEUE
from scrapersky.records.status import ContactScrapeStatus

COUNTRY = text(
    "SELECT country FROM local_businesses WHERE domain_id = :domain"
    " AND country IS NOT NULL ORDER BY id LIMIT 1"
)
FACTS = (
    "title", "description", "h1", "language", "canonical_url", "structured_data_types",
    "has_contact_form", "word_count", "http_status", "etag", "last_modified", "bytes",
    "fetch_ms", "fetch_facts",
)  # fmt: skip
# Complete, unless a person has decided against the page meanwhile.
COMPLETED = """fetched_at = clock_timestamp(), page_curation_status = CASE
  WHEN page_curation_status = 'Skipped' THEN page_curation_status
  ELSE 'Complete' END"""
STORE_VISIT = f"UPDATE pages SET {COMPLETED} WHERE id = $1"  # noqa: S608 - our names
STORE_FACTS = f"""
UPDATE pages SET {COMPLETED}, contact_scrape_status = $2,
  {", ".join(f"{name} = ${at}" for at, name in enumerate(FACTS, 3))}
WHERE id = $1
"""  # noqa: S608 - our names
STORE_CONTACT = """
INSERT INTO contacts AS c (tenant_id, created_by, domain_id, page_id, email, email_type,
  name, role, phone, phones, address, social_links, confidence)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT ({key}) DO UPDATE SET name = coalesce(c.name, excluded.name),
  role = coalesce(c.role, excluded.role), phone = coalesce(c.phone, excluded.phone),
  phones = c.phones || excluded.phones, address = coalesce(c.address, excluded.address),
  social_links = excluded.social_links || c.social_links,
  confidence = greatest(c.confidence, excluded.confidence)
RETURNING id
"""
STORE_BY_EMAIL = STORE_CONTACT.format(key="domain_id, email) WHERE (email IS NOT NULL")
STORE_BY_PHONE = STORE_CONTACT.format(key="domain_id, phone) WHERE (email IS NULL")
STORE_EVIDENCE = """
INSERT INTO contact_evidence (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence)
SELECT $1, $2, $3, $4, e.* FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[],
  $9::text[], $10::text[], $11::float8[]) AS e
ON CONFLICT DO NOTHING
"""


@stage(
    "page_curation",
    title="Page curation",
    does="extracts the contacts",
    queue=PAGE_CURATION_QUEUE,
    hands_over="`contacts` rows with evidence",
    makes=Contact,
    feeds=("contact_validation",),
    lane=Lane.HARVEST,
    job=Job("v2_page_curation_processor", "Process Page Curation"),
    settings=SettingsSection(
        "PAGE_CURATION_SCHEDULER", StageSettings(concurrency=50, timeout_seconds=180)
    ),
    endings=Endings(
        nothing="`Complete` and `NoContactFound`; a page not worth a visit is `Filtered`",
        fails="4xx, robots.txt, a page that says it is none",
        retries="5xx, 429, timeouts",
    ),
)
async def curate_page(page: Page, tools: Tools) -> Outcome:
    """Fetch the page politely and take every contact that is on it, and no other."""
    held = Conditions(page.etag, page.last_modified)
    try:
        fetched = await tools.crawler.fetch(page.url, conditions=held)
        if fetched.not_modified:
            return Done(
                note_unchanged(page), nothing="not modified since the last visit"
            )
        if (failure := failure_of(fetched)) is not None:
            return failure
        found = await tools.sandbox.run(
            read_contact_page,
            fetched.body,
            str(fetched.url),
            fetched.charset.name,
            await country_of(page, tools),
        )
    except FetchError as error:
        return outcome_of(error)
    if found.not_found is not None:
        return GiveUp(f"the page says that it does not exist: {found.not_found!r}")
    people = canonical_cards(cards_of(found.contacts))
    nothing = None if people else "the page names no e-mail address or phone number"
    return Done(
        store(page, fetched, found, people, tools.system_user_id), nothing=nothing
    )


async def country_of(page: Page, tools: Tools) -> str | None:
    """Return where the business is, as its source says: it tells how to read numbers."""
    async with tools.reader.connect() as connection:
        found = await connection.scalar(COUNTRY, {"domain": page.domain_id})
    return str(found) if found else None


def note_unchanged(page: Page) -> Effect:
    """Keep that the page was looked at and is as it was."""

    async def effect(transaction: Transaction) -> None:
        await transaction.fetch(STORE_VISIT, page.id)

    return effect


def store(
    page: Page,
    fetched: Fetched,
    found: ContactPage,
    people: list[ContactCard],
    user_id: UUID,
) -> Effect:
    """Store the page's facts, its contacts and the evidence for every value."""
    seen_at = utc_now()

    async def effect(transaction: Transaction) -> None:
        told = facts(fetched, found)
        host = parse_url(page.url).host
        guard = await shield(
            transaction.connection,
            page.tenant_id,
            told,
            list(words_of(people)),
            domains=[host],
        )
        kept = [] if guard.hides_domain(host) else allowed_cards(people, guard)
        await store_facts(transaction, page, guard.clean(told), has_contacts=bool(kept))
        seen: list[Seen] = []
        for person in kept:
            contact_id = await store_contact(transaction, page, person, user_id)
            seen += sightings(contact_id, person)
        if seen:
            robots = fetched.robots.rule or "allowed"
            columns = [list(column) for column in zip(*seen, strict=True)]
            await transaction.fetch(
                STORE_EVIDENCE, page.tenant_id, page.id, robots, seen_at, *columns
            )

    return effect


async def store_facts(
    transaction: Transaction, page: Page, told: dict[str, Any], *, has_contacts: bool
) -> None:
    """Store what the visit told about the page itself."""
    found = (
        ContactScrapeStatus.CONTACT_FOUND
        if has_contacts
        else ContactScrapeStatus.NO_CONTACT_FOUND
    )
    given = {**told, "fetch_facts": json_of(told["fetch_facts"])}
    await transaction.fetch(
        STORE_FACTS, page.id, found.value, *(given.get(name) for name in FACTS)
    )


def facts(fetched: Fetched, found: ContactPage) -> dict[str, Any]:
    """Write what the visit told about the page itself."""
    told = found.facts
    return {
        "title": told.title,
        "description": told.description,
        "h1": told.heading,
        "language": told.language,
        "canonical_url": told.canonical,
        "structured_data_types": list(told.structured_types),
        "has_contact_form": told.has_contact_form,
        "word_count": told.word_count,
        "http_status": fetched.status,
        "etag": fetched.headers.get("etag"),
        "last_modified": fetched.headers.get("last-modified"),
        "bytes": len(fetched.body),
        "fetch_ms": round(fetched.timings.total.total_seconds() * 1000),
        "fetch_facts": {
            "final_url": str(fetched.url),
            "outcome": fetched.outcome,
            "charset": fetched.charset.name,
            "robots": fetched.robots.rule or "allowed",
            "x_robots_tag": list(fetched.x_robots_tag),
            "meta_robots": list(fetched.meta_robots),
            "wire_bytes": fetched.wire_bytes,
        },
    }


async def store_contact(
    transaction: Transaction, page: Page, person: ContactCard, user_id: UUID
) -> UUID:
    """Upsert one contact by its natural key; what is known already is kept."""
    email = person.email
    rows = await transaction.fetch(
        STORE_BY_EMAIL if email else STORE_BY_PHONE,
        page.tenant_id,
        user_id,
        page.domain_id,
        page.id,
        email.address if email else None,
        (email.quality.type if email else EmailType.UNKNOWN).value,
        person.name,
        person.role,
        person.phone.e164 if person.phone else None,
        json_of({phone.e164: phone_facts(phone) for phone in person.phones}),
        json_of(address_facts(person.address)),
        json_of({social.network: social.url for social in person.socials}),
        person.confidence,
    )
    return UUID(str(rows[0]["id"]))


def json_of(value: object) -> str | None:
    """Write a value as the driver takes JSON."""
    return None if value is None else orjson.dumps(value).decode()


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


def phone_facts(phone: Phone) -> dict[str, str | None]:
    """Keep a number as written, beside its E.164 form."""
    return {
        "written": phone.written,
        "kind": phone.kind.value,
        "extension": phone.extension,
        "region": phone.region,
    }


Seen = tuple[UUID, str, str, str, str, str, float]


def sightings(contact_id: UUID, person: ContactCard) -> Iterator[Seen]:
    """Write where each value of a contact was seen."""
    for name, value, evidence, confidence in person.values:
        for seen in evidence:
            yield (
                *(contact_id, name, value, seen.url, seen.snippet),
                *(seen.method.value, confidence),
            )
