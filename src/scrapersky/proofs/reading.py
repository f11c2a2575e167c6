"""A stored page read again, by the readers as they are now."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from contact_extraction.contact_page import read_contact_page
from contact_extraction.email_type import EmailType
from contact_extraction.text import name_key
from contact_extraction.urls import parse_url
from scrapersky.crawler import Sandbox
from scrapersky.pipeline.page_findings import PageFindings, contact_key, findings_of
from scrapersky.proofs.stored_page import StoredPage

Values = dict[str, set[str]]
"""Values by field."""


async def read_again(sandbox: Sandbox, page: StoredPage) -> PageFindings:
    """Read the bytes of a page as they were read first; raises Trap for what is too much."""
    assert page.body is not None  # noqa: S101 - the caller has asked
    found = await sandbox.run_on(
        read_contact_page, page.body, page.url, page.encoding, page.country
    )
    return findings_of(found, parse_url(page.url).host)


@dataclass(frozen=True, slots=True)
class PageValues:
    """What follows from one page: by contact, by person, and of the business."""

    domain_id: UUID
    url: str
    cards: dict[str, Values] = field(default_factory=lambda: defaultdict(dict))
    people: dict[str, Values] = field(default_factory=lambda: defaultdict(dict))
    phones: set[str] = field(default_factory=set)
    quotes: set[tuple[str, str]] = field(default_factory=set)
    """Methods and snippets."""

    @classmethod
    def of(cls, page: StoredPage, found: PageFindings) -> "PageValues":
        """Arrange what was found by what it is looked up by."""
        values = cls(page.domain_id, page.url)
        for card in found.cards:
            mine = values.cards[contact_key(card)]
            for name, value, evidence, _ in card.values:
                mine.setdefault(name, set()).add(value)
                values.quotes.update(
                    (one.method.value, one.snippet) for one in evidence
                )
            if card.address is not None:
                for name in ("street", "city", "state", "postal_code", "country"):
                    add(mine, name, getattr(card.address, name))
            quality = card.email.quality.type if card.email else EmailType.UNKNOWN
            add(mine, "email_type", quality.value)
            values.phones.update(phone.e164 for phone in card.phones)
        for person in found.people:
            of_person = values.people[person.key]
            for name in ("name", "role", "email", "phone"):
                add(of_person, name, getattr(person, name))
            quotes = ((one.method.value, one.snippet) for one in person.evidence)
            values.quotes.update(quotes)
        return values

    def of_contact(self, key: str, name: str) -> set[str]:
        """Return the values of a field of a contact."""
        return self.cards[key].get(name, set()) if key in self.cards else set()

    def of_person(self, name: str, which: str) -> set[str]:
        """Return the values of a field of somebody."""
        key = name_key(name)
        return self.people[key].get(which, set()) if key in self.people else set()


def add(values: Values, name: str, value: Any) -> None:  # noqa: ANN401 - None, or a text
    """Add a value that is known."""
    if value:
        values.setdefault(name, set()).add(value)


def joined(pages: Iterable[set[str]]) -> set[str]:
    """Return what any of some pages says."""
    return {value for page in pages for value in page}
