"""Everything the domain stages want to know of a home page, read in one go."""

from dataclasses import dataclass

from contact_extraction.contacts import Contacts, Hints
from contact_extraction.discovery import (
    FoundBy,
    PageLink,
    linked_pages,
    sitemap_candidates,
    telling_links,
)
from contact_extraction.html import parse_page
from contact_extraction.site import SiteFacts, read_site_facts
from contact_extraction.verdict import Verdict, judge_site

GUESSED = FoundBy.WELL_KNOWN


@dataclass(frozen=True, slots=True)
class HomePage:
    """What a home page says about its site and the business behind it."""

    facts: SiteFacts
    verdict: Verdict
    contacts: Contacts
    sitemaps: list[str]
    """Sitemaps and feeds that the page itself names."""
    link_texts: dict[str, str]
    """What it calls those pages of its site whose address says less."""
    links: list[PageLink]
    """Pages of the same site to go on to, the most promising first."""


def read_home_page(
    body: bytes, asked: str, final: str, encoding: str | None, status: int
) -> HomePage:
    """Parse a home page once; judge it and read its facts and contacts."""
    # Only the process that parses loads the readers; a worker needs what they return.
    from contact_extraction.contacts.finder import contacts_of  # noqa: PLC0415

    page = parse_page(body, encoding=encoding)
    return HomePage(
        facts=read_site_facts(page, final),
        verdict=judge_site(asked, final, page, status=status),
        contacts=contacts_of(page, final, hints=Hints(encoding=encoding)),
        sitemaps=[
            candidate.url
            for candidate in sitemap_candidates(final, page=page)
            if candidate.found_by is not GUESSED
        ],
        link_texts=telling_links(page, final),
        links=linked_pages(page, final),
    )
