"""Which pages of a site to read next: those that promise most, within a small budget.

A page's rating says what its name promises. What the site's other pages held says how far
to believe it: where one profile gave a new address, the next one will, and the third
list of services will not. So pages are chosen a few at a time, the best first. What
pages of a kind held on other sites built with the same program says the same more softly.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.page_type import PageType

HOME_GAIN: Final = 1.0
LIKELY_GAIN: Final = 0.25
"""A page that promises so much is read even where others held nothing new."""
MOST_IN_VAIN: Final = 6
"""Unlikely pages in a row that held nothing new, after which the others are left alone."""
MIN_KIND_PAGES: Final = 10
"""Pages of a kind after which other sites of the same program have something to say."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page that may be read."""

    url: str
    type: PageType
    score: float
    clicks: int | None = None
    """Links between the home page and this one; None if that is not known."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read, or is about to be."""

    url: str
    type: PageType
    score: float
    gained: int | None
    """How much on it was new; None while that is not known."""


@dataclass(frozen=True, slots=True)
class PageYield:
    """What pages of one kind held on sites built with one program."""

    pages: int
    promised: float
    """What was expected of them together."""
    paid: int
    """How many held something new."""

    @property
    def factor(self) -> float:
        """How much of what they promise such pages hold."""
        known = (self.paid + _PRIOR_PAGES) / (self.promised + _PRIOR_PAGES)
        return min(_MOST_FACTOR, max(_LEAST_FACTOR, known))


@dataclass(frozen=True, slots=True)
class Program:
    """What the site is built with, and what pages of other such sites held."""

    name: str
    paid: Mapping[PageType, PageYield]


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A page to read next, and why."""

    url: str
    gain: float
    reasons: tuple[str, ...]
    promised: float
    """The gain without what other sites have taught: what is learnt is measured by it."""


@dataclass(slots=True)
class _Memory:
    """What the pages of a site have held so far."""

    barren_types: Counter[PageType] = field(default_factory=Counter)
    barren_folders: Counter[str] = field(default_factory=Counter)
    fertile_folders: set[str] = field(default_factory=set)
    in_vain: int = 0
    """The least likely of the unlikely pages, up to the first that held something new."""
    known: set[str] = field(default_factory=set)


def next_pages(
    listed: Iterable[ListedPage],
    read: Iterable[ReadPage],
    *,
    home: str,
    most: int,
    program: Program | None = None,
) -> list[PageChoice]:
    """Choose at most so many pages, the most promising first.

    `read` are also pages that are about to be read; several addresses of one page
    count as one. The order of reading makes no difference: it changes with the number of
    workers, and with every restart.
    """
    home_key = page_key(home)
    memory = _remember(read, home_key)
    waiting: dict[str, ListedPage] = {}
    for page in listed:
        key = page_key(page.url)
        is_better = page.score > waiting.get(key, _NOTHING).score or page.url == home
        if key not in memory.known and is_better:
            waiting[key] = page
    picks: list[PageChoice] = []
    while waiting and len(picks) < most:
        gains = {
            key: _gain(page, memory, home_key, program) for key, page in waiting.items()
        }
        best = min(waiting, key=lambda key: (-gains[key].gain, len(key), key))
        pick = gains[best]
        if pick.gain < LIKELY_GAIN and memory.in_vain >= MOST_IN_VAIN:
            break
        picks.append(pick)
        page = waiting.pop(best)
        # What is chosen but not read yet is taken to hold nothing the next one has.
        memory.barren_types[page.type] += 1
        memory.in_vain += pick.gain < LIKELY_GAIN
    return picks


def page_key(url: str) -> str:
    """Write an address so that several of one page are the same."""
    parts = urlsplit(url)
    path = _INDEX.sub(r"\1", parts.path).rstrip("/")
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{parts.netloc.removeprefix('www.')}{path}?{query}"


def _remember(read: Iterable[ReadPage], home: str) -> _Memory:
    memory = _Memory()
    for page in sorted(read, key=lambda page: (-page.score, page.url)):
        key = page_key(page.url)
        if page.score < LIKELY_GAIN and key != home:
            memory.in_vain = 0 if page.gained else memory.in_vain + 1
        memory.known.add(key)
        if page.gained is None:
            continue
        folder = _folder(key)
        if page.gained:
            memory.fertile_folders.add(folder)
            memory.barren_folders[folder] = 0
            continue
        memory.barren_folders[folder] += 1
        memory.barren_types[page.type] += 1
    return memory


def _gain(
    page: ListedPage, memory: _Memory, home: str, program: Program | None
) -> PageChoice:
    key = page_key(page.url)
    if key == home:
        return PageChoice(page.url, HOME_GAIN, ("it is the home page",), HOME_GAIN)
    gain, reasons = page.score, [page.reason] if page.reason else []
    if page.type in _ONE_IS_ENOUGH and (seen := memory.barren_types[page.type]):
        gain *= _SAME_TYPE**seen
        reasons.append("a page of this kind came before")
    folder = _folder(key)
    if "/" in folder:
        if folder in memory.fertile_folders and not memory.barren_folders[folder]:
            if gain < _BESIDE_FERTILE:
                gain = _BESIDE_FERTILE
                reasons.append("a page beside it held something new")
        elif barren := memory.barren_folders[folder]:
            gain *= _BESIDE_BARREN**barren
            reasons.append("a page beside it held nothing new")
    if page.clicks is not None and page.clicks > 1:
        gain *= _CLICK_FACTOR ** (page.clicks - 1)
        reasons.append(f"it is {page.clicks} clicks from the home page")
    promised = round(gain, 3)
    paid = program.paid.get(page.type) if program else None
    if program is not None and paid is not None and paid.pages >= MIN_KIND_PAGES:
        # A promise is believed as far as such pages have kept theirs.
        gain = min(HOME_GAIN, gain * paid.factor)
        reasons.append(
            f"{paid.paid} of {paid.pages} pages of this kind held something new"
            f" on {program.name} sites"
        )
    return PageChoice(page.url, round(gain, 3), tuple(reasons), promised)


def _folder(key: str) -> str:
    return key.partition("?")[0].rpartition("/")[0]


_NOTHING: Final = ListedPage("", PageType.UNKNOWN, -1.0)
_ONE_IS_ENOUGH: Final = frozenset(PageType) - {PageType.UNKNOWN, PageType.TEAM_ROOT}
_SAME_TYPE: Final = 0.6
_BESIDE_FERTILE: Final = 0.45
_BESIDE_BARREN: Final = 0.6
_CLICK_FACTOR: Final = 0.97
_PRIOR_PAGES: Final = 20.0
"""So many pages that hold what they promise are assumed to have been read before."""
_LEAST_FACTOR: Final = 0.5
_MOST_FACTOR: Final = 1.5
_INDEX: Final = re.compile(
    r"(^|/)(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE
)
