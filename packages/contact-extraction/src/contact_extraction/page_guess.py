"""Where a site's contact page may be when nothing links it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.discovery import PageLink
from contact_extraction.html import parse_page
from contact_extraction.page_type import PageRating, PageType
from contact_extraction.soft_404 import says_not_found
from contact_extraction.urls import parse_url

GUESSED: Final = PageRating(
    PageType.CONTACT_ROOT, 0.9, ("nothing links it: its address was guessed",)
)
GUESSED_PEOPLE: Final = PageRating(
    PageType.ABOUT_ROOT, 0.5, ("nothing links it: its address was guessed",)
)
GUESSED_TEAM: Final = PageRating(
    PageType.TEAM_ROOT, 0.5, ("nothing that was chosen is there: it was guessed",)
)
MOST_GUESSES: Final = 2
MIN_PAGES: Final = 3
"""Pages a site must have for it to be likely that one is about its people."""


@dataclass(frozen=True, slots=True)
class GuessedPage:
    """What was found where a page was guessed."""

    title: str
    is_missing: bool


def contact_guesses(
    home: str, *, language: str | None, known: Iterable[str]
) -> list[str]:
    """Return where to look for a contact page, written as the site writes its pages."""
    names = _NAMES.get((language or "").lower()[:2], ())
    return _guesses((*names, "contact", "contact-us"), home, known)


def people_guesses(
    home: str, *, language: str | None, known: Iterable[str]
) -> list[str]:
    """Return where to look for a page about the people, written as the site's others.

    One place only, and none for a site of a page or two: those say all at once.
    """
    pages = {url for url in known if urlsplit(url).path.strip("/")}
    if len(pages) < MIN_PAGES:
        return []
    name = _PEOPLE_NAMES.get((language or "").lower()[:2], "about")
    return _guesses((name,), home, pages)


def _guesses(names: Iterable[str], home: str, known: Iterable[str]) -> list[str]:
    base = parse_url(home)
    ending = _ending(known)
    paths = dict.fromkeys(names)
    return [f"{base.origin}/{name}{ending}" for name in paths][:MOST_GUESSES]


def fallback_pages(
    home: str, *, language: str | None, known: Iterable[str]
) -> list[PageLink]:
    """Return the usual addresses of a site all of whose chosen pages are gone."""
    base = parse_url(home)
    names = _NAMES.get((language or "").lower()[:2], ())
    ending = _ending(known)
    paths = dict.fromkeys((*names[:1], *_USUAL_CONTACTS), GUESSED)
    paths |= dict.fromkeys(_USUAL_TEAMS, GUESSED_TEAM)
    return [
        PageLink(f"{base.origin}/{name}{ending}", "", rating)
        for name, rating in paths.items()
    ]


def read_guessed_page(body: bytes, encoding: str | None) -> GuessedPage:
    """Look whether a page is there, and what it is called."""
    page = parse_page(body, encoding=encoding)
    return GuessedPage(page.title, says_not_found(page) is not None)


def _ending(known: Iterable[str]) -> str:
    """Return how most of the site's own addresses end."""
    endings = Counter(
        found[0].lower() if (found := _FILE.search(path)) else "/" * path.endswith("/")
        for path in (urlsplit(url).path for url in known)
        if path.strip("/")
    )
    return endings.most_common(1)[0][0] if endings else ""


_USUAL_CONTACTS: Final = ("contact", "contact-us", "contact_us")
_USUAL_TEAMS: Final = ("staff", "team", "meet-the-team", "about-us")
_FILE: Final = re.compile(r"\.(?:html?|php|aspx?|shtml)$", re.IGNORECASE)
_NAMES: Final = {
    "de": ("kontakt", "impressum"),
    "sv": ("kontakt", "kontakta-oss"),
    "da": ("kontakt", "kontakt-os"),
    "nb": ("kontakt", "kontakt-oss"),
    "nn": ("kontakt", "kontakt-oss"),
    "no": ("kontakt", "kontakt-oss"),
    "fi": ("yhteystiedot", "ota-yhteytta"),
    "pl": ("kontakt",),
    "cs": ("kontakt", "kontakty"),
    "sk": ("kontakt", "kontakty"),
    "hu": ("kapcsolat",),
    "hr": ("kontakt",),
    "sr": ("kontakt",),
    "sl": ("kontakt",),
    "et": ("kontakt",),
    "lt": ("kontaktai",),
    "lv": ("kontakti",),
    "fr": ("contact", "mentions-legales"),
    "es": ("contacto", "aviso-legal"),
    "ca": ("contacte", "contacto"),
    "pt": ("contacto", "contato"),
    "it": ("contatti", "chi-siamo"),
    "nl": ("contact", "over-ons"),
    "tr": ("iletisim",),
    "ro": ("contact",),
}
_PEOPLE_NAMES: Final = {
    "de": "team", "nl": "over-ons", "fr": "equipe", "es": "quienes-somos",
    "ca": "qui-som", "pt": "quem-somos", "it": "chi-siamo", "pl": "o-nas", "cs": "o-nas",
    "sk": "o-nas", "sl": "o-nas", "hr": "o-nama", "sr": "o-nama", "hu": "rolunk",
    "ro": "despre-noi", "sv": "om-oss", "da": "om-os", "nb": "om-oss", "nn": "om-oss",
    "no": "om-oss", "fi": "yritys", "tr": "hakkimizda", "lt": "apie-mus",
    "lv": "par-mums", "et": "meist",
}  # fmt: skip
