"""What distinguishes companies, in forms that can be compared."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import cos, hypot, radians
from typing import Final, Generic, TypeVar
from uuid import UUID

from contact_extraction.errors import InvalidUrl
from contact_extraction.host_kind import HostKind, kind_of_host, site_name
from contact_extraction.text import fold
from contact_extraction.urls import parse_url
from contact_extraction.wordlist import load_words
from scrapersky.companies.lookalike import in_one_alphabet, mixes_alphabets

CELL_DEGREES: Final = 0.002
"""Degrees: about 200 metres; what is nearby is looked for in nine of these."""
METRES_PER_DEGREE: Final = 111_320
LONGEST_BLOCK: Final = 80
MAX_NAME_CHARACTERS: Final = 250
MAX_NAME_WORDS: Final = 16
"""Words of a name that are compared: every pair of words is, so more would cost their square."""
MAX_ADDRESS_CHARACTERS: Final = 500
MAX_PHONE_CHARACTERS: Final = 100
MAX_LINKS: Final = 50
"""Addresses of one record among which a social profile is looked for."""
FIRST_LETTERS: Final = 2
CACHED_NAMES: Final = 2_000
"""Readings of texts that come again soon: more would only fill a worker's memory."""

LEGAL: Final = load_words("company_legal_forms")
LINKING: Final = load_words("company_linking_words")

STREET_WORDS: Final = {
    "strasse": "str", "street": "st", "avenue": "ave", "road": "rd", "drive": "dr",
    "lane": "ln", "boulevard": "blvd", "square": "sq", "place": "pl",
}  # fmt: skip
POSTAL: Final = re.compile(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{4} ?[A-Z]{2}|\d{5}|\d{4})\b"
)
DIGRAPHS: Final = re.compile(r"([aou])e")
WORDS: Final = re.compile(r"[^\W_]+")


OwnerT = TypeVar("OwnerT")
ValueT = TypeVar("ValueT")


class once(Generic[OwnerT, ValueT]):  # noqa: N801 - written as a decorator
    """Like `functools.cached_property`, which until Python 3.12 takes a lock each time.

    Whoever asks in two threads at the same moment has it worked out twice.
    """

    def __init__(self, work_out: Callable[[OwnerT], ValueT]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    def __get__(self, owner: OwnerT, _type: type[OwnerT]) -> ValueT:
        """Work it out, and put it where it is found before this is asked again."""
        value = owner.__dict__[self._name] = self._work_out(owner)
        return value


def without_digraphs(word: str) -> str:
    """Write Mueller as Müller is written without its dots."""
    return DIGRAPHS.sub(r"\1", word) if "e" in word else word


COMMON: Final = frozenset(map(without_digraphs, load_words("company_common_words")))
"""Words that say what a company does, and not which one it is."""


@dataclass(frozen=True, slots=True)
class CompanyName:
    """A name in the words that matter."""

    words: frozenset[str]
    core: frozenset[str]
    """Those that say which company it is; all of them if none does."""
    together: str = ""
    """All of them in their order, without anything between."""

    def without(self, words: frozenset[str]) -> "CompanyName":
        """Return it without some words, unless nothing were left."""
        if self.core.isdisjoint(words) or self.core <= words:
            return self
        return CompanyName(self.words - words, self.core - words, self.together)

    @property
    def key(self) -> str:
        """Return what every spelling of the same words shares."""
        return " ".join(sorted(self.core))[:LONGEST_BLOCK]


@lru_cache(maxsize=CACHED_NAMES)
def name_of(text: str | None) -> CompanyName:
    """Read a name: no accents, capitals, legal forms or linking words."""
    bare = fold(in_one_alphabet((text or "")[:MAX_NAME_CHARACTERS]))
    bare = bare.replace("'", "").replace("\u2019", "")
    every = WORDS.findall(bare)
    kept = [word for word in every if word not in LEGAL and word not in LINKING]
    listed = [without_digraphs(word) for word in (kept or every)[:MAX_NAME_WORDS]]
    words = frozenset(listed)
    return CompanyName(words, frozenset(words - COMMON) or words, "".join(listed))


@dataclass(frozen=True)
class Facts:
    """One record of a source, as companies are matched by it."""

    id: UUID
    name: str | None = None
    domain: str | None = None
    phone: str | None = None
    social: str | None = None
    street: str | None = None
    locality: str | None = None
    postal_code: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    is_domain: bool = False
    """All that is known is a website: it has no place of its own."""
    company_id: UUID | None = None
    moved_to: UUID | None = None
    """The record that the source says took its place."""
    name_block: str | None = None
    near_block: str | None = None

    @once
    def read_name(self) -> CompanyName:
        """Return the name in the words that matter."""
        return name_of(self.name)

    @once
    def mixes_alphabets(self) -> bool:
        """Say whether the name has a word of two alphabets, as imitations have."""
        return mixes_alphabets(self.name)

    @once
    def towns(self) -> frozenset[str]:
        """Return the words of the town, which a name may have beside it."""
        return frozenset((self.locality or "").split())

    @once
    def has_country(self) -> bool:
        """Say whether the country of the phone number is known."""
        return (self.phone or "").startswith("+")

    @once
    def has_number(self) -> bool:
        """Say whether the street comes with the number of a door."""
        return any(sign.isdecimal() for sign in self.street or "")

    @once
    def shared_values(self) -> dict[str, str | None]:
        """Return what everybody of the same website, phone, profile or name has too."""
        return {
            "domain": self.domain,
            "phone": self.phone,
            "social": self.social,
            "name": self.name_block,
        }

    @once
    def shared_blocks(self) -> list[str]:
        """Return the blocks of these values."""
        values = self.shared_values.items()
        return [f"{kind} {value}" for kind, value in values if value]

    @property
    def blocks(self) -> list[str]:
        """Return the blocks in which others find this record."""
        return [*self.shared_blocks, *([self.near_block] if self.near_block else ())]

    @property
    def wanted_blocks(self) -> list[str]:
        """Return the blocks in which this record finds others."""
        return [*self.shared_blocks, *self.probes]

    @once
    def probes(self) -> list[str]:
        """Return the blocks in which something nearby would stand."""
        if not self.near_block:
            return []
        row, column, letters = self.near_block.split(":", 2)
        return [
            f"{north}:{east}:{letters}"
            for north in range(int(row) - 1, int(row) + 2)
            for east in range(int(column) - 1, int(column) + 2)
        ]


def cell_of(latitude: float, longitude: float) -> tuple[int, int]:
    """Return the square of the map in which a point lies."""
    return int(latitude // CELL_DEGREES), int(longitude // CELL_DEGREES)


def first_letters(name: CompanyName) -> str:
    """Return the first letters of the longest word that matters."""
    longest = max(name.core, key=lambda word: (len(word), word), default="")
    return longest[:FIRST_LETTERS]


def near_block(
    name: CompanyName, latitude: float | None, longitude: float | None
) -> str | None:
    """Return the block of what lies nearby and begins alike."""
    letters = first_letters(name)
    if latitude is None or longitude is None or not letters:
        return None
    row, column = cell_of(latitude, longitude)
    return f"{row}:{column}:{letters}"


def name_block(name: CompanyName, postal_code: str | None) -> str | None:
    """Return the block of the same words in the same postal code."""
    return f"{name.key}|{postal_code}" if name.key and postal_code else None


def metres_between(one: Facts, other: Facts) -> float | None:
    """Return how far apart two records lie; None: one of them does not say."""
    if None in (one.latitude, one.longitude, other.latitude, other.longitude):
        return None
    assert one.latitude is not None and one.longitude is not None  # noqa: S101, PT018
    assert other.latitude is not None and other.longitude is not None  # noqa: S101, PT018
    north = one.latitude - other.latitude
    east = (one.longitude - other.longitude + 180) % 360 - 180
    shrunk = cos(radians((one.latitude + other.latitude) / 2))
    return hypot(north, east * shrunk) * METRES_PER_DEGREE


def postal_code_of(given: str | None, address: str | None) -> str | None:
    """Return a postal code in one form: as given, or the last one of an address."""
    if given:
        return re.sub(r"\s", "", given[:MAX_ADDRESS_CHARACTERS].upper())[:12] or None
    # What stands before the first comma is the street, whose number may look like one.
    written = (address or "")[:MAX_ADDRESS_CHARACTERS].upper()
    found = POSTAL.findall(written.partition(",")[2])
    return re.sub(r"\s", "", found[-1]) if found else None


def street_of(given: str | None, address: str | None) -> str | None:
    """Return a street with its number in one form."""
    written = given or (address or "").partition(",")[0]
    words = WORDS.findall(fold(written[:MAX_ADDRESS_CHARACTERS]))
    short = (STREET_WORDS.get(word, word) for word in words)
    joined = " ".join(
        f"{word.removesuffix('strasse')}str" if word.endswith("strasse") else word
        for word in short
    )
    return joined[:LONGEST_BLOCK] or None


def locality_of(city: str | None, address: str | None) -> str | None:
    """Return the words of the town: as given, or what an address has after the street."""
    written = city or (address or "").partition(",")[2]
    listed = WORDS.findall(fold(written[:MAX_ADDRESS_CHARACTERS]))
    words = (without_digraphs(word) for word in listed)
    kept = dict.fromkeys(word for word in words if not word.isdecimal())
    return " ".join(kept)[:LONGEST_BLOCK] or None


@lru_cache(maxsize=CACHED_NAMES)
def own_domain(website: str | None) -> str | None:
    """Return the domain of a company's own website; None for what others host."""
    return site_name(website) if website else None


def social_profile(urls: list[str]) -> str | None:
    """Return the first social profile of some addresses, in one form."""
    return min(filter(None, map(profile_of, urls[:MAX_LINKS])), default=None)


@lru_cache(maxsize=CACHED_NAMES)
def profile_of(url: str) -> str | None:
    """Return whose profile an address is; None unless it is one."""
    try:
        parsed = parse_url(url)
    except InvalidUrl:
        return None
    path = parsed.path.strip("/").lower()
    if not path or kind_of_host(parsed.host).kind is not HostKind.SOCIAL:
        return None
    host = parsed.host.removeprefix("www.").removeprefix("m.")
    return f"{host}/{path}"[:200]
