"""What one page says, arranged as contacts and people and as columns of its row."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from contact_extraction.address_key import address_key
from contact_extraction.business_name import business_name
from contact_extraction.contact_card import ContactCard, cards_of
from contact_extraction.contact_page import ContactPage
from contact_extraction.contacts import Address, Phone
from contact_extraction.other_value import other_values
from contact_extraction.person_card import PersonCard, people_of
from scrapersky.crawler import FetchResult, RenderedPage
from scrapersky.privacy.card import canonical_cards

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PageFindings:
    """All that was read from one page."""

    page: ContactPage
    cards: list[ContactCard]
    people: list[PersonCard]
    rendered: RenderedPage | None = None


def findings_of(
    page: ContactPage, host: str, rendered: RenderedPage | None = None
) -> PageFindings:
    """Arrange what a page says as contacts and people of the business."""
    cards = canonical_cards(cards_of(page.contacts))
    return PageFindings(page, cards, people_of(page.contacts, cards, host), rendered)


def read_facts(findings: PageFindings, host: str) -> Row:
    """Return what a page says about itself and others."""
    values = findings.page.facts
    return {
        "title": values.title,
        "description": values.description,
        "h1": values.heading,
        "language": values.language,
        "canonical_url": values.canonical,
        "structured_data_types": list(values.structured_types),
        "has_contact_form": values.has_contact_form,
        "word_count": values.word_count,
        "other_values": other_values(findings.page.contacts),
        "organisation": organisation_facts(findings.page, host),
    }


def facts_of(fetched: FetchResult, findings: PageFindings) -> Row:
    """Return how a page was had."""
    found, rendered = findings.page, findings.rendered
    return {
        "http_status": fetched.status,
        "etag": fetched.headers.get("etag"),
        "last_modified": fetched.headers.get("last-modified"),
        "bytes": fetched.inflated_bytes,
        "fetch_ms": round(fetched.timings.total.total_seconds() * 1000),
        "fetch_facts": {
            "final_url": str(fetched.url),
            "content": None if is_named(fetched) else content_hash(fetched),
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
    }


def is_named(fetched: FetchResult) -> bool:
    """Say whether the server itself says when its answer is another one."""
    return not {"etag", "last-modified"}.isdisjoint(fetched.headers)


def content_hash(fetched: FetchResult) -> str:
    """Name what was received, to know it again where a server does not say so."""
    return blake2b(fetched.read_all(), digest_size=16).hexdigest()


def contact_key(card: ContactCard) -> str:
    """Return by what a contact is known at its site."""
    if card.email is not None:
        return card.email.address
    return card.phone.e164 if card.phone else ""


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


MOST_ADDRESSES: Final = 30
"""Addresses of one page that are kept."""


def organisation_facts(page: ContactPage, host: str) -> Row | None:
    """Keep what a page says of the business itself: name, hours, address, its end."""
    contacts = page.contacts
    values: Row = {**(business_name(contacts, host) or {})}
    if page.closed is not None:
        values["closed"] = page.closed
    if contacts.hours:
        hours = contacts.hours[0]
        days = [[one.day, one.opens, one.closes] for one in hours.intervals]
        values["hours"] = {"text": hours.text, "days": days}
    ours = [one for one in contacts.addresses if one.owner.is_ours]
    if len(ours) == 1:
        values["address"] = address_facts(ours[0])
    if ours:
        values["addresses"] = [office_facts(one) for one in ours[:MOST_ADDRESSES]]
    return values or None


def office_facts(address: Address) -> Row:
    """Keep one of the addresses of a business, with where it was read."""
    seen = address.evidence[0]
    return {
        **(address_facts(address) or {}),
        "key": address_key(address.street or address.text, address.postal_code),
        "confidence": address.confidence,
        "likelihood": address.owner.likelihood,
        "method": seen.method.value,
        "snippet": seen.snippet,
    }


def phone_facts(phone: Phone, *, is_staff: bool) -> dict[str, str | None]:
    """Keep a number as written, beside its E.164 form, and whether it is one person's."""
    return {
        "whose": "staff" if is_staff else "own",
        "written": phone.written,
        "kind": phone.kind.value,
        "extension": phone.extension,
        "region": phone.region,
    }
