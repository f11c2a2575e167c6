"""What is fuzzed: each target reads bytes and either returns or refuses in its own words."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from contact_extraction.contact_page import read_contact_page
from contact_extraction.home_page import read_home_page
from contact_extraction.page_list import list_linked_pages, list_sitemap_pages
from contact_extraction.urls import parse_url
from scrapersky.crawler import RobotsState, StoredRobots
from scrapersky.crawler.charset import decide_charset
from scrapersky.crawler.head import read_hints
from scrapersky.crawler.robots import parse_robots
from scrapersky.errors import ScraperSkyError
from scrapersky.kit.canonical import canonical_domain, canonical_email, canonical_phone
from scrapersky.providers.files.lines import read_line

Target = Callable[[bytes], object]
HOME: Final = "http://shop.example/"
NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)


def home_page(data: bytes) -> None:
    """Read a home page, in the charset it declares."""
    charset = decide_charset(data, "text/html").name
    read_hints(data)
    read_home_page(data, HOME, HOME, charset, 200)


def contact_page(data: bytes) -> None:
    """Read the contacts of a page, and the pages it links."""
    charset = decide_charset(data, "").name
    read_contact_page(data, f"{HOME}contact", charset, "DE")
    list_linked_pages(data, HOME, charset)


def sitemap(data: bytes) -> None:
    """Read a sitemap, a feed or a list of addresses."""
    list_sitemap_pages(data, f"{HOME}sitemap.xml", "shop.example", 1_000)


def robots(data: bytes) -> None:
    """Read a robots.txt and ask it."""
    text = data.decode("utf-8", "replace").replace("\0", "")
    stored = StoredRobots(RobotsState.RULES, text, "", NEVER)
    parse_robots(stored, "ScraperSky").verdict(parse_url(f"{HOME}a/b?c=d"))


def address(data: bytes) -> None:
    """Parse a URL; what it is written as is the same URL."""
    url = parse_url(data.decode("utf-8", "replace"), parse_url(HOME))
    assert parse_url(str(url)) == url, url


def canonical_forms(data: bytes) -> None:
    """Give values their one form; it is its own."""
    text = data.decode("utf-8", "replace")
    for form in (canonical_email, canonical_domain, canonical_phone):
        with suppress(ScraperSkyError):
            once = form(text)
            assert form(once) == once, (form.__name__, once)


def place_line(data: bytes) -> None:
    """Read one line of a file of places."""
    read_line(1, data.decode("utf-8", "replace"))


TARGETS: Final[dict[str, Target]] = {
    one.__name__: one
    for one in (
        home_page,
        contact_page,
        sitemap,
        robots,
        address,
        canonical_forms,
        place_line,
    )
}


def run(name: str, data: bytes) -> None:
    """Give a target its bytes; its own refusals are fine, everything else is a finding."""
    with suppress(ScraperSkyError):
        TARGETS[name](data)
