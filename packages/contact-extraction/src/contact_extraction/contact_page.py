"""Everything WF7 wants to know of one page, read in one go."""

from dataclasses import dataclass

from contact_extraction.closure import says_closed_for_good
from contact_extraction.contacts import Contacts, Hints
from contact_extraction.discovery import PageLink, linked_pages
from contact_extraction.html import parse_page
from contact_extraction.scripted import needs_script
from contact_extraction.site import PageFacts, read_page_facts
from contact_extraction.soft_404 import says_not_found
from contact_extraction.verdict import stands_instead


@dataclass(frozen=True, slots=True)
class ContactPage:
    """A page's own facts and the contacts on it."""

    facts: PageFacts
    contacts: Contacts
    not_found: str | None
    """The words by which the page says that it does not exist; None if it does."""
    closed: str | None
    """The words by which the business says that it has closed for good; None: it does not."""
    links: list[PageLink]
    """Pages of the same site to go on to, the most promising first."""
    needs_script: str | None
    """Why it has to be rendered to be read; None if it has not."""
    instead: str | None = None
    """What stands there instead of a page of the business: a wall, a notice, nothing."""


def read_contact_page(
    body: bytes, url: str, encoding: str | None, country: str | None
) -> ContactPage:
    """Parse a page once and read its facts and its contacts."""
    # Only the process that parses loads the readers; a worker needs what they return.
    from contact_extraction.contacts.finder import contacts_of  # noqa: PLC0415

    page = parse_page(body, encoding=encoding)
    hints = Hints(country=country, encoding=encoding)
    contacts = contacts_of(page, url, hints=hints)
    return ContactPage(
        facts=read_page_facts(page, url),
        contacts=contacts,
        not_found=says_not_found(page),
        closed=says_closed_for_good(page),
        links=linked_pages(page, url),
        needs_script=needs_script(page, contacts),
        instead=stands_instead(page, url),
    )
