"""WF7 - Page curation: one page becomes contacts, each value with its evidence."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, literal_column, update
from sqlalchemy.dialects.postgresql import insert

from scrapersky.crawler import Conditions, Fetched
from scrapersky.engine import Done, Effect, GiveUp, Outcome, Transaction, stage
from scrapersky.errors import FetchError
from scrapersky.extraction.contact_page import ContactPage, read_contact_page
from scrapersky.extraction.contacts import Contacts, Email, Evidence, Phone, PhoneKind
from scrapersky.kit.clock import utc_now
from scrapersky.models import Contact, Page
from scrapersky.models import Evidence as EvidenceRow
from scrapersky.models.status import (
    ContactScrapeStatus,
    EmailType,
    PageCurationStatus,
    PageProcessingStatus,
)
from scrapersky.stages.fetching import outcome_of
from scrapersky.stages.tools import Tools

GONE = (404, 410)


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
        if not fetched.is_success:
            return refused(fetched)
        found = await tools.sandbox.run(
            read_contact_page,
            fetched.body,
            str(fetched.url),
            fetched.charset.name,
            None,
        )
    except FetchError as error:
        return outcome_of(error)
    if found.not_found is not None:
        return GiveUp(f"the page says that it does not exist: {found.not_found!r}")
    people = contacts_of(found.contacts)
    nothing = None if people else "the page names no e-mail address or phone number"
    return Done(
        store(page, fetched, found, people, tools.system_user_id), nothing=nothing
    )


def refused(fetched: Fetched) -> Outcome:
    """Say what an answer without a page means."""
    return GiveUp(f"the server answered {fetched.status}")


@dataclass(frozen=True, slots=True)
class FoundContact:
    """A contact as it will be stored: by e-mail, or by phone without one."""

    email: Email | None
    phone: Phone | None
    name: str | None = None
    role: str | None = None
    phones: tuple[Phone, ...] = ()
    values: tuple[tuple[str, str, tuple[Evidence, ...], float], ...] = field(
        default_factory=tuple
    )

    @property
    def confidence(self) -> float:
        """How sure we are of what the contact is known by."""
        known_by = self.email or self.phone
        return known_by.confidence if known_by else 0.0


def contacts_of(contacts: Contacts) -> list[FoundContact]:
    """Arrange what a page says as contacts: one per e-mail, else one per phone.

    A phone that stands with an e-mail in a group belongs to that contact; a phone that
    belongs to none is a contact of its own.
    """
    owned: dict[str, tuple[Phone, ...]] = {}
    named: dict[str, tuple[str, str | None]] = {}
    for group in contacts.groups:
        for email in group.emails:
            owned.setdefault(email.address, group.phones)
            if group.person is not None and len(group.emails) == 1:
                named.setdefault(email.address, (group.person.name, group.person.role))
    found = [with_email(email, owned, named) for email in contacts.emails]
    taken = {phone.e164 for contact in found for phone in contact.phones}
    lone = [
        phone
        for phone in contacts.phones
        if phone.e164 not in taken and phone.kind is not PhoneKind.FAX
    ]
    return found + [with_phone(phone, contacts) for phone in lone]


def with_email(
    email: Email,
    owned: dict[str, tuple[Phone, ...]],
    named: dict[str, tuple[str, str | None]],
) -> FoundContact:
    """Make the contact of one e-mail address."""
    phones = owned.get(email.address, ())
    name, role = named.get(email.address, (None, None))
    voice = next((phone for phone in phones if phone.kind is not PhoneKind.FAX), None)
    values = [("email", email.address, email.evidence, email.confidence)]
    values += phone_values(phones)
    return FoundContact(email, voice, name, role, phones, tuple(values))


def with_phone(phone: Phone, contacts: Contacts) -> FoundContact:
    """Make the contact of a phone number that no e-mail address goes with."""
    person = next(
        (
            group.person
            for group in contacts.groups
            if group.person and not group.emails and phone in group.phones
        ),
        None,
    )
    name, role = (person.name, person.role) if person else (None, None)
    return FoundContact(None, phone, name, role, (phone,), tuple(phone_values([phone])))


def phone_values(
    phones: Iterable[Phone],
) -> Iterator[tuple[str, str, tuple[Evidence, ...], float]]:
    """Write phones as values with their evidence."""
    for phone in phones:
        yield phone.kind.value, phone.e164, phone.evidence, phone.confidence


def note_unchanged(page: Page) -> Effect:
    """Keep that the page was looked at and is as it was."""

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(
            update(Page)
            .where(Page.id == page.id)
            .values(
                fetched_at=func.clock_timestamp(),
                page_curation_status=PageCurationStatus.COMPLETE,
            )
        )

    return effect


def store(
    page: Page,
    fetched: Fetched,
    found: ContactPage,
    people: list[FoundContact],
    user_id: UUID,
) -> Effect:
    """Store the page's facts, its contacts and the evidence for every value."""
    seen_at = utc_now()

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(
            update(Page)
            .where(Page.id == page.id)
            .values(**facts(fetched, found, people))
        )
        for person in people:
            contact_id = await store_contact(transaction, page, person, user_id)
            rows = [*evidence_rows(page, contact_id, person, fetched, seen_at)]
            if rows:
                await transaction.execute(
                    insert(EvidenceRow).values(rows).on_conflict_do_nothing()
                )

    return effect


def facts(
    fetched: Fetched, found: ContactPage, people: list[FoundContact]
) -> dict[str, Any]:
    """Write what the visit told about the page itself."""
    told, has_contacts = found.facts, bool(people)
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
        "fetched_at": func.clock_timestamp(),
        "fetch_facts": {
            "final_url": str(fetched.url),
            "outcome": fetched.outcome,
            "charset": fetched.charset.name,
            "robots": fetched.robots.rule or "allowed",
            "x_robots_tag": list(fetched.x_robots_tag),
            "meta_robots": list(fetched.meta_robots),
            "wire_bytes": fetched.wire_bytes,
        },
        "page_curation_status": PageCurationStatus.COMPLETE,
        "contact_scrape_status": (
            ContactScrapeStatus.CONTACT_FOUND
            if has_contacts
            else ContactScrapeStatus.NO_CONTACT_FOUND
        ),
    }


async def store_contact(
    transaction: Transaction, page: Page, person: FoundContact, user_id: UUID
) -> UUID:
    """Upsert one contact by its natural key; what is known already is kept."""
    email = person.email.address if person.email else None
    quality = (
        person.email.quality.type.value if person.email else EmailType.UNKNOWN.value
    )
    statement = insert(Contact).values(
        tenant_id=page.tenant_id,
        created_by=user_id,
        domain_id=page.domain_id,
        page_id=page.id,
        email=email,
        email_type=EmailType(quality),
        name=person.name,
        role=person.role,
        phone=person.phone.e164 if person.phone else None,
        phones={phone.e164: phone_facts(phone) for phone in person.phones},
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
            "confidence": func.greatest(Contact.confidence, given.confidence),
        },
    )
    result = await transaction.execute(upserted.returning(Contact.id))
    return UUID(str(result.scalar_one()))


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
    person: FoundContact,
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
