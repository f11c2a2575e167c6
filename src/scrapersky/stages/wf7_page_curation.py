"""WF7 - Page curation: one page becomes contacts, each value with its evidence."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    case,
    func,
    literal,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from scrapersky.crawler import Conditions, Fetched
from scrapersky.engine import Done, Effect, GiveUp, Outcome, Transaction, stage
from scrapersky.errors import FetchError
from scrapersky.extraction.contact_card import ContactCard, cards_of
from scrapersky.extraction.contact_page import ContactPage, read_contact_page
from scrapersky.extraction.contacts import Address, Phone
from scrapersky.kit.clock import utc_now
from scrapersky.kit.email_type import EmailType
from scrapersky.kit.urls import parse_url
from scrapersky.models import Contact, LocalBusiness, Page
from scrapersky.models import Evidence as EvidenceRow
from scrapersky.models.status import (
    ContactScrapeStatus,
    PageCurationStatus,
    PageProcessingStatus,
)
from scrapersky.privacy.card import allowed_cards, words_of
from scrapersky.privacy.shield import shield
from scrapersky.stages.fetching import failure_of, outcome_of
from scrapersky.stages.tools import Tools


@stage(
    "page_curation",
    claims=Page.page_processing_status,
    error=Page.page_processing_error,
    tenant=Page.tenant_id,
    priority=Page.priority,
    queued=PageProcessingStatus.QUEUED,
    processing=PageProcessingStatus.PROCESSING,
    done=PageProcessingStatus.COMPLETE,
    failed=PageProcessingStatus.ERROR,
    feeds=("contact_validation",),
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
    people = cards_of(found.contacts)
    nothing = None if people else "the page names no e-mail address or phone number"
    return Done(
        store(page, fetched, found, people, tools.system_user_id), nothing=nothing
    )


async def country_of(page: Page, tools: Tools) -> str | None:
    """Return where the business is, as its source says: it tells how to read numbers."""
    query = select(LocalBusiness.country).where(
        LocalBusiness.domain_id == page.domain_id, LocalBusiness.country.is_not(None)
    )
    async with tools.database.connect() as connection:
        return await connection.scalar(query.order_by(LocalBusiness.id).limit(1))


def note_unchanged(page: Page) -> Effect:
    """Keep that the page was looked at and is as it was."""

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(
            update(Page)
            .where(Page.id == page.id)
            .values(
                fetched_at=func.clock_timestamp(),
                page_curation_status=completed(),
            )
        )

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
        await transaction.execute(
            update(Page)
            .where(Page.id == page.id)
            .values(
                **guard.clean(told),
                fetched_at=func.clock_timestamp(),
                page_curation_status=completed(),
                contact_scrape_status=(
                    ContactScrapeStatus.CONTACT_FOUND
                    if kept
                    else ContactScrapeStatus.NO_CONTACT_FOUND
                ),
            )
        )
        for person in kept:
            contact_id = await store_contact(transaction, page, person, user_id)
            rows = [*evidence_rows(page, contact_id, person, fetched, seen_at)]
            if rows:
                await transaction.execute(
                    insert(EvidenceRow).values(rows).on_conflict_do_nothing()
                )

    return effect


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


def completed() -> ColumnElement[PageCurationStatus]:
    """Complete the curation, unless a person has decided against the page meanwhile."""
    return case(
        (
            Page.page_curation_status == PageCurationStatus.SKIPPED,
            Page.page_curation_status,
        ),
        else_=literal(PageCurationStatus.COMPLETE, Page.page_curation_status.type),
    )


async def store_contact(
    transaction: Transaction, page: Page, person: ContactCard, user_id: UUID
) -> UUID:
    """Upsert one contact by its natural key; what is known already is kept."""
    email = person.email.address if person.email else None
    quality = person.email.quality.type if person.email else EmailType.UNKNOWN
    statement = insert(Contact).values(
        tenant_id=page.tenant_id,
        created_by=user_id,
        domain_id=page.domain_id,
        page_id=page.id,
        email=email,
        email_type=quality,
        name=person.name,
        role=person.role,
        phone=person.phone.e164 if person.phone else None,
        phones={phone.e164: phone_facts(phone) for phone in person.phones},
        address=address_facts(person.address),
        social_links={social.network: social.url for social in person.socials},
        confidence=person.confidence,
    )
    given = statement.excluded
    key = (
        {"index_elements": ["domain_id", "email"], "index_where": "email IS NOT NULL"}
        if email
        else {"index_elements": ["domain_id", "phone"], "index_where": "email IS NULL"}
    )
    upserted = statement.on_conflict_do_update(
        index_elements=key["index_elements"],
        index_where=literal_column(str(key["index_where"])),
        set_={
            "name": func.coalesce(Contact.name, given.name),
            "role": func.coalesce(Contact.role, given.role),
            "phone": func.coalesce(Contact.phone, given.phone),
            "phones": Contact.phones.op("||")(given.phones),
            "address": func.coalesce(Contact.address, given.address),
            "social_links": given.social_links.op("||")(Contact.social_links),
            "confidence": func.greatest(Contact.confidence, given.confidence),
        },
    )
    result = await transaction.execute(upserted.returning(Contact.id))
    return UUID(str(result.scalar_one()))


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


def evidence_rows(
    page: Page,
    contact_id: UUID,
    person: ContactCard,
    fetched: Fetched,
    seen_at: datetime,
) -> Iterator[dict[str, Any]]:
    """Write where each value of a contact was seen."""
    for name, value, evidence, confidence in person.values:
        for seen in evidence:
            yield {
                "tenant_id": page.tenant_id,
                "contact_id": contact_id,
                "field": name,
                "value": value,
                "url": seen.url,
                "snippet": seen.snippet,
                "method": seen.method.value,
                "confidence": confidence,
                "robots": fetched.robots.rule or "allowed",
                "seen_at": seen_at,
            }
