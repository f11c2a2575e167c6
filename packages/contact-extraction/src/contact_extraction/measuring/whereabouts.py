"""Say where what was missed stands: on a page that was read, or only on others.

It tells whether the choice of pages or the readers lost a value, without anybody having to
open the page: for the sites that are only scored it is all there is to know.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from contact_extraction.measuring.corpus import Facts, TrueSite
from contact_extraction.measuring.likeness import street_key, words_of_name
from contact_extraction.measuring.outcome import FoundPage, Outcome
from contact_extraction.page_choice import LIKELY_GAIN
from contact_extraction.text import fold

NATIONAL_DIGITS: Final = 7
"""Last digits by which a number is known however its beginning is written."""
BESIDE_LETTERS: Final = 60
"""Letters and digits between a street and its code that still stand beside each other."""


class Whereabouts(StrEnum):
    """Where a value stands that was missed."""

    READ = "on a page that was read"
    APART = "on a page that was read, its code elsewhere"
    UNREAD = "only on pages that were not read"
    NOWHERE = "on no page as it is written"


class UnreadBecause(StrEnum):
    """Why a page was not read."""

    UNLINKED = "no page of the site links it"
    LINKED_ELSEWHERE = "only pages that were not read link it"
    OVERLOOKED = "a page that was read links it, and it is not listed"
    RATED_LOW = "listed, rated too low"
    NOT_CHOSEN = "listed, rated well, not chosen"
    FAILED = "chosen, and it could not be read"


@dataclass(frozen=True)
class SiteTexts:
    """The pages of a site as text, with what was read of them."""

    site: TrueSite
    found: Outcome

    @cached_property
    def files(self) -> list[tuple[str, bool]]:
        """Return the text of every page, and whether it was read."""
        read = {bare_path(page.url) for page in self.found.pages if page.is_read}
        return [
            (
                _text(path),
                bare_name(path.relative_to(self.site.root).as_posix()) in read,
            )
            for path in sorted(self.site.root.rglob("*.htm*"))
            if path.is_file()
        ]

    def of_email(self, email: Facts) -> Whereabouts:
        """Find an address; the truth knows pages that write it in their own way."""
        address = email["address"].lower()
        named = {bare_name(str(page)) for page in email.get("pages") or ()}
        read = {bare_path(page.url) for page in self.found.pages if page.is_read}
        if named & read:
            return Whereabouts.READ
        where = self._find(lambda text: address in text.lower())
        return Whereabouts.UNREAD if named and where != Whereabouts.READ else where

    def of_phone(self, phone: Facts) -> Whereabouts:
        """Find a number, whatever stands between its digits."""
        digits = _NOT_DIGIT.sub("", str(phone["e164"]))[-NATIONAL_DIGITS:]
        return self._find(lambda text: digits in _BETWEEN_DIGITS.sub("", text))

    def of_person(self, person: Facts) -> Whereabouts:
        """Find a name, whatever its case and accents."""
        name = " ".join(words_of_name(person["name"]))
        return self._find(lambda text: name in " ".join(_WORD.findall(fold(text))))

    def of_address(self, address: Facts) -> Whereabouts:
        """Find a street, or the town where there is none, and its code beside it."""
        key = street_key(address.get("street") or address.get("city"))
        code = street_key(address.get("postal_code"))
        where = self._find(lambda text: key in street_key(text))
        if where is not Whereabouts.READ or not code:
            return where
        beside = re.compile(
            rf"{key}.{{0,{BESIDE_LETTERS}}}{code}|{code}.{{0,{BESIDE_LETTERS}}}{key}"
        )
        is_beside = self._find(lambda text: bool(beside.search(street_key(text))))
        return where if is_beside is Whereabouts.READ else Whereabouts.APART

    def _find(self, stands_in: Callable[[str], bool]) -> Whereabouts:
        hits = [is_read for text, is_read in self.files if stands_in(text)]
        if not hits:
            return Whereabouts.NOWHERE
        return Whereabouts.READ if any(hits) else Whereabouts.UNREAD


def why_unread(site: TrueSite, found: Outcome, file: str) -> UnreadBecause:
    """Say why a page was not read."""
    listed = list(_listed(found, file))
    if not listed:
        return _why_unlisted(site, found, file)
    if any(page.status for page in listed):
        return UnreadBecause.FAILED
    if max(page.likelihood or 0.0 for page in listed) < LIKELY_GAIN:
        return UnreadBecause.RATED_LOW
    return UnreadBecause.NOT_CHOSEN


def _why_unlisted(site: TrueSite, found: Outcome, file: str) -> UnreadBecause:
    """Look for the last part of a page's address in what links of other pages say."""
    wanted = bare_name(file).rpartition("/")[2]
    read = {bare_path(page.url) for page in found.pages if page.is_read}
    linking = {
        bare_name(path.relative_to(site.root).as_posix())
        for path in site.root.rglob("*.htm*")
        if path.is_file()
        and any(
            bare_path(html.unescape(href)).rpartition("/")[2] == wanted
            for href in _HREF.findall(path.read_bytes().decode("utf-8", "replace"))
        )
    } - {bare_name(file)}
    if not linking:
        return UnreadBecause.UNLINKED
    if linking & read:
        return UnreadBecause.OVERLOOKED
    return UnreadBecause.LINKED_ELSEWHERE


def _listed(found: Outcome, file: str) -> Iterator[FoundPage]:
    name = bare_name(file)
    return (page for page in found.pages if bare_path(page.url) == name)


def bare_path(url: str) -> str:
    """Return what the addresses of one file have in common, however a server names it."""
    return bare_name(unquote(urlsplit(url).path))


def bare_name(path: str) -> str:
    """Return the name of a file without what a server may leave out."""
    name = path.strip("/").lower()
    for ending in (".html", ".htm"):
        name = name.removesuffix(ending)
    return "" if name in {"index", "home"} else name.removesuffix("/index")


def _text(path: Path) -> str:
    source = path.read_bytes().decode("utf-8", "replace")
    return html.unescape(_TAG.sub(" ", _SCRIPT.sub(" ", source)))


_SCRIPT: Final = re.compile(
    r"<(script|style)\b[^>]*>.*?</\1>", re.IGNORECASE | re.DOTALL
)
_HREF: Final = re.compile(r"""\b(?:href|src)\s?=\s?["']([^"'#]+)""", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]*>")
_WORD: Final = re.compile(r"[a-z0-9]+")
_NOT_DIGIT: Final = re.compile(r"\D")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s().\-/\u2010-\u2015]+(?=\d)")
