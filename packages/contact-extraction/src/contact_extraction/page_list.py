"""From a sitemap, or from a page's links, to a list of rated pages in columns.

Columns and not objects: fifty thousand pages cross from the parsing child to the
database, and a list of texts does so ten times as fast as a list of records. A rating
that many pages share crosses once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from contact_extraction.discovery import page_links
from contact_extraction.html import parse_page
from contact_extraction.page_type import PageRating, rate_page
from contact_extraction.sitemap import SitemapLimits, parse_sitemap


@dataclass(frozen=True, slots=True)
class PageList:
    """Pages as columns, and what was left out."""

    urls: list[str]
    lastmods: list[str | None]
    """ISO 8601, as the sitemap gave them."""
    ratings: list[PageRating]
    """Every rating that one of the pages has, once."""
    rated: list[int]
    """Which of them each page has."""
    kind: str
    children: list[str]
    """Sitemaps that an index names."""
    dropped: dict[str, int]
    cut: str | None = None
    empty_because: str | None = None
    generator: str | None = None


def list_sitemap_pages(  # noqa: PLR0917 - a sandboxed function is called without names
    body: bytes,
    url: str,
    site: str,
    max_urls: int,
    now: datetime | None = None,
    texts: Mapping[str, str] | None = None,
) -> PageList:
    """Read a sitemap, feed or URL list and rate every page of the site it names.

    `texts` are those of links to some of the pages, by address.
    """
    limits = SitemapLimits(max_urls=max_urls)
    found = parse_sitemap(body, url=url, site=site, limits=limits)
    text_of = {_bare(address): text for address, text in (texts or {}).items()}.get
    rated = [
        (
            entry.url,
            entry.lastmod,
            rate_page(
                entry.url,
                link_text=text_of(_bare(entry.url), "") if texts else "",
                lastmod=entry.lastmod,
                now=now,
            ),
        )
        for entry in found.entries
    ]
    return _columns(
        rated,
        kind=found.kind.value,
        children=[child.url for child in found.sitemaps],
        dropped={reason.value: count for reason, count in found.dropped.items()},
        cut=found.cut.value if found.cut else None,
        empty_because=found.empty_because,
        generator=found.generator,
    )


def list_linked_pages(body: bytes, url: str, encoding: str | None) -> PageList:
    """Rate the pages of the same site that a page links to, and the page itself."""
    page = parse_page(body, encoding=encoding)
    home = (url, None, rate_page(url))
    linked = [(link.url, None, link.rating) for link in page_links(page, url)]
    # A page all on its own links to parts of itself: what it calls them counts.
    rated = {entry[0]: entry for entry in [home, *linked]}
    return _columns(rated.values(), kind="links")


def _bare(url: str) -> str:
    """Write an address without what links and sitemaps of one site differ in."""
    return url.partition("://")[2].removeprefix("www.").rstrip("/")


def _columns(
    rated: Iterable[tuple[str, datetime | None, PageRating]],
    *,
    kind: str,
    children: list[str] | None = None,
    dropped: dict[str, int] | None = None,
    cut: str | None = None,
    empty_because: str | None = None,
    generator: str | None = None,
) -> PageList:
    listed = list(rated)
    places: dict[PageRating, int] = {}
    numbers = [places.setdefault(rating, len(places)) for _, _, rating in listed]
    return PageList(
        urls=[url for url, _, _ in listed],
        lastmods=[moment.isoformat() if moment else None for _, moment, _ in listed],
        ratings=list(places),
        rated=numbers,
        kind=kind,
        children=children or [],
        dropped=dropped or {},
        cut=cut,
        empty_because=empty_because,
        generator=generator,
    )
