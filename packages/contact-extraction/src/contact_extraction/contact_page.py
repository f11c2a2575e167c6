"""Everything WF7 wants to know of one page, read in one go."""

from dataclasses import dataclass

from contact_extraction.contacts import Contacts, Hints
from contact_extraction.discovery import PageLink, linked_pages
from contact_extraction.html import parse_page
from contact_extraction.scripted import needs_script
from contact_extraction.site import PageFacts, read_page_facts
from contact_extraction.soft_404 import says_not_found


@dataclass(frozen=True, slots=True)
class ContactPage:
    """A page's own facts and the contacts on it."""

    facts: PageFacts
    contacts: Contacts
    not_found: str | None
    """The words by which the page says that it does not exist; None if it does."""
    links: list[PageLink]
    """Pages of the same site to go on to, the most promising first."""
    needs_script: str | None
    """Why it has to be rendered to be read; None if it has not."""


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
        links=linked_pages(page, url),
        needs_script=needs_script(page, contacts),
    )
