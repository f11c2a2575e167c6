"""Judge from a URL, and the text of a link to it, what a page is and whether to fetch it.

The score says how likely the page says how to reach the business, with the reasons in
plain words. It orders the pages of one site; it is not a probability to compare sites by.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from contact_extraction.page_name import (
    MANY_WORDS,
    Match,
    best_match,
    is_person,
    is_plain_contact,
    means_other_contacts,
    parent_match,
    parent_tokens,
    tokens_of,
)
from contact_extraction.page_trap import filter_path, filter_query, split_url
from contact_extraction.page_word import NOISE, PLACE, PageType

__all__ = ["PageRating", "PageType", "rank_pages", "rate_page", "telling_text"]

_NO_TEXTS: Final[Mapping[str, Iterable[str]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PageRating:
    """What a URL promises."""

    type: PageType
    score: float
    """From 0 to 1: how likely the page says how to reach the business."""
    reasons: tuple[str, ...]
    filtered: str | None = None
    """Why the page is not worth fetching; None if it is."""


def rate_page(
    url: str,
    *,
    link_text: str = "",
    lastmod: datetime | None = None,
    now: datetime | None = None,
) -> PageRating:
    """Rate a canonical URL; never raises, whatever the text is."""
    segments, query, reason = _address_of(url)
    said = (
        parent_match(parent_tokens(link_text[:_MAX_LINK_TEXT])) if link_text else None
    )
    if reason and not _is_contact_after_all(reason, segments, query, said):
        return _filtered(reason)
    found = _from_path(segments, query)
    if said is None and link_text and found.score < _PERSON.score:
        found = _by_person(found, link_text)
    if said is not None and (by_text := _from_text(said, segments)) is not None:
        found = _stronger(found, by_text)
    return _aged(found, lastmod, now)


# A link is rated by its address alone, and again by each of its texts.
@lru_cache(64)
def _address_of(url: str) -> tuple[tuple[str, ...], str, str | None]:
    """Give the parts of the path and the query, and why it is not worth fetching."""
    path, query = split_url(url)
    segments = tuple(segment for segment in path.split("/") if segment)
    return segments, query, filter_path(path) or (query and filter_query(query)) or None


@lru_cache(256)
def _filtered(reason: str) -> PageRating:
    return PageRating(PageType.UNKNOWN, 0.0, (reason,), filtered=reason)


def rank_pages(
    urls: Iterable[str], texts: Mapping[str, Iterable[str]] = _NO_TEXTS
) -> list[tuple[str, PageRating]]:
    """Return the URLs worth fetching with their ratings, the most promising first.

    `texts` are those of the links to each URL, where known. Of pages that only a query
    distinguishes, the first stands for the others.
    """
    rated = [
        (url, rate_page(url, link_text=telling_text(url, texts.get(url, ()))))
        for url in urls
    ]
    kept = [pair for pair in rated if pair[1].filtered is None]
    kept.sort(key=lambda pair: (-pair[1].score, len(pair[0]), pair[0]))
    seen: set[tuple[str, str]] = set()
    ranked = []
    for url, rating in kept:
        what = _same_as(url, rating)
        ranked.append((url, _as_variant(rating) if what in seen else rating))
        seen.add(what)
    ranked.sort(key=lambda pair: -pair[1].score)
    return ranked


def _same_as(url: str, rating: PageRating) -> tuple[str, str]:
    """Report which pages are one page under several addresses."""
    reason = rating.reasons[0]
    return ("" if reason == _HOME else url.partition("?")[0], reason)


def telling_text(url: str, texts: Iterable[str]) -> str:
    """Return the text, of all links to a page, that promises most; '' if none does."""
    scores = {text: rate_page(url, link_text=text).score for text in ("", *texts)}
    return max(scores, key=scores.__getitem__)


def _as_variant(rating: PageRating) -> PageRating:
    reasons = (*rating.reasons, "much the same page came before")
    return PageRating(rating.type, round(rating.score * 0.75, 3), reasons)


@lru_cache(64)
def _from_path(segments: tuple[str, ...], query: str) -> PageRating:
    is_translated = bool(segments) and _is_locale(segments[0])
    if is_translated:
        segments = segments[1:]
    names = [parent_tokens(segment) for segment in segments[:-1]]
    names = [tokens for tokens in names if tokens and tokens not in _SHELLS]
    if segments and (last := tokens_of(segments[-1])) and last not in _HOMES:
        names.append(last)
    asked = _asked_page(query) if query else None
    if asked:
        names.append(asked)
    if not names:
        return _LOCALE_HOME if is_translated and not query else _no_name(query)
    if match := best_match(names[-1]):
        return _by_name(match, names, "query" if asked else "path")
    if _noisy_parent(names) is None and is_person(names[-1]):
        return _PERSON
    return _by_parent(names, query)


def _by_name(match: Match, names: Sequence[tuple[str, ...]], where: str) -> PageRating:
    reasons = [f'"{match.word}" stands in its {where}']
    score = match.meaning.likelihood * _extra(match)
    kind = match.meaning.type
    if match.extra >= MANY_WORDS:
        kind = PageType.UNKNOWN
        reasons.append("among many other words")
    score *= _DEPTH[min(len(names), len(_DEPTH)) - 1]
    if (noisy := _noisy_parent(names)) in _PARTS and not match.extra:
        score *= _BELOW_PART
        reasons.append(f'it stands below "{noisy}"')
    elif noisy:
        score *= _BELOW_NOISE
        kind = PageType.UNKNOWN
        reasons.append(f'it stands below "{noisy}"')
    return PageRating(kind, round(score, 3), tuple(reasons))


def _extra(match: Match) -> float:
    """Give what is left of a word's weight beside others: of "office" in "office chairs"."""
    return (_EXTRA_VAGUE if match.meaning is PLACE else _EXTRA)[match.extra]


def _by_parent(names: Sequence[tuple[str, ...]], query: str) -> PageRating:
    if noisy := _noisy_parent(names):
        return _below_noise(noisy)
    for tokens in reversed(names[:-1]):
        if match := parent_match(tokens):
            return _below_word(match)
    if _is_wordpress(query):
        return _WORDPRESS
    return _NAMELESS if len(names) == 1 else _NAMELESS_BELOW


@lru_cache(256)
def _below_word(match: Match) -> PageRating:
    """Rate what stands below a page we know: below a team, its people."""
    kind, share = PageType.UNKNOWN, _BELOW_WORD
    if match.meaning.type is PageType.TEAM_ROOT:
        kind, share = PageType.TEAM_ROOT, _BELOW_TEAM
    score = round(match.meaning.likelihood * share, 3)
    return PageRating(kind, score, (f'it stands below "{match.word}"',))


@lru_cache(256)
def _below_noise(name: str) -> PageRating:
    return PageRating(PageType.UNKNOWN, 0.03, (f'it stands below "{name}"',))


def _no_name(query: str) -> PageRating:
    if _is_wordpress(query):
        return _WORDPRESS
    if query:
        return PageRating(PageType.UNKNOWN, 0.1, ("only a query distinguishes it",))
    return PageRating(PageType.UNKNOWN, 0.6, (_HOME,))


def _from_text(said: Match, segments: Sequence[str]) -> PageRating | None:
    if said.extra >= MANY_WORDS:
        return None
    score = said.meaning.likelihood * _extra(said) * _BY_TEXT
    reason = f'a link to it says "{said.word}"'
    if not _is_doubtful(said, segments):
        return PageRating(said.meaning.type, round(score, 3), (reason,))
    reasons = (reason, "its address speaks of something else")
    return PageRating(PageType.UNKNOWN, round(score * _DOUBTED_FACTOR, 3), reasons)


def _by_person(found: PageRating, link_text: str) -> PageRating:
    """Rate a page by a link that is called as a person is."""
    is_name = found.score > _NOISY_LIKELIHOOD and is_person(
        parent_tokens(link_text[:_MAX_LINK_TEXT])
    )
    return _CALLED_PERSON if is_name else found


def _is_doubtful(said: Match, segments: Sequence[str]) -> bool:
    """Say whether the address shows that a link's text means something else.

    An optician's "Contacts" are lenses, and "Contact adhesive" stands below "products".
    """
    names = [parent_tokens(segment) for segment in segments]
    if said.extra and _noisy_parent(names) not in _DOUBTLESS:
        return True
    return any(means_other_contacts(tokens) for tokens in names)


def _is_contact_after_all(
    reason: str, segments: Sequence[str], query: str, said: Match | None
) -> bool:
    """Say whether a page that looks like a list or a trap is plainly called contact.

    `?page=12` may be a number in a list or the name of a page, `?q=contact` a search or
    Drupal: what links call it decides.
    """
    if is_plain_contact(said) and reason.startswith(_PERHAPS_PAGES):
        return True
    is_drupal = query.startswith("q=") and "".join(segments) in {"", "index.php"}
    if reason.startswith(_PERHAPS_NAMED) or is_drupal:
        asked = _asked_page(query) if query else None
        name = asked or (tokens_of(segments[-1]) if segments else ())
        return _is_contact(name)
    return False


def _stronger(by_path: PageRating, by_text: PageRating) -> PageRating:
    first, second = sorted((by_path, by_text), key=lambda rating: -rating.score)
    if first.type is second.type and first.type is not PageType.UNKNOWN:
        # Said twice, it does not matter how deep the page lies.
        score = min(1.0, max(by_path.score, by_text.score / _BY_TEXT) + _AGREED_BONUS)
        return PageRating(first.type, round(score, 3), first.reasons + second.reasons)
    return first


def _aged(
    found: PageRating, lastmod: datetime | None, now: datetime | None
) -> PageRating:
    if lastmod is None or now is None or now - lastmod < _OLD_AGE:
        return found
    years = (now - lastmod) // timedelta(days=365)
    reasons = (*found.reasons, f"it was last changed {years} years ago")
    return PageRating(found.type, round(found.score * 0.9, 3), reasons, found.filtered)


def _noisy_parent(names: Sequence[tuple[str, ...]]) -> str | None:
    for tokens in names[:-1]:
        name = "-".join(tokens)
        if name in NOISE:
            return name
    return None


def _asked_page(query: str) -> tuple[str, ...] | None:
    """Return the name of the page that a query asks for: ?page=contact."""
    for pair in query.split("&")[:_MAX_PAIRS] if query else ():
        key, _, value = pair.partition("=")
        key = key.lower()
        tokens = () if value.isdigit() else tokens_of(unquote(value))
        if not tokens or tokens[0].isdigit():
            continue
        if key in _PAGE_KEYS or "page" in key:
            return tokens
        # Whatever the key is called, "contact" is a page; where a visitor came from is not.
        if not key.startswith(_ORIGINS) and _is_contact(tokens):
            return tokens
    return None


def _is_contact(tokens: tuple[str, ...]) -> bool:
    return is_plain_contact(best_match(tokens))


def _is_locale(segment: str) -> bool:
    return _LOCALE.fullmatch(segment) is not None


def _is_wordpress(query: str) -> bool:
    return _WORDPRESS_PAGE.match(query) is not None


_HOME: Final = "it is the home page"
_LOCALE_HOME: Final = PageRating(
    PageType.UNKNOWN, 0.3, ("it is the home page in one of its languages",)
)
_PERSON: Final = PageRating(PageType.TEAM_ROOT, 0.5, ("it is named after a person",))
_CALLED_PERSON: Final = PageRating(
    PageType.TEAM_ROOT, 0.5, ("a link to it is a person's name",)
)
_NOISY_LIKELIHOOD: Final = 0.03
"""What stands below a blog or a shop is about anything."""
# What an address may look like without being it: here the text of a link decides,
_PERHAPS_PAGES: Final = (
    *("trap: a session", "trap: a combination", "pagination", "asset: a folder"),
    *("archive: a list", "archive: search", "machinery: an action"),
)
# and here a plain name is enough.
_PERHAPS_NAMED: Final = ("trap: a session", "trap: a combination", "asset: a folder")
_MAX_LINK_TEXT: Final = 120
_MAX_PAIRS: Final = 8
_EXTRA: Final = (1.0, 0.92, 0.78, 0.35)
_EXTRA_VAGUE: Final = (1.0, 0.7, 0.5, 0.3)
_DEPTH: Final = (1.0, 0.96, 0.9, 0.8, 0.65)
_BELOW_NOISE: Final = 0.2
_BELOW_PART: Final = 0.7
# A shop has a contact page of its own; among products or posts it is none.
_PARTS: Final = frozenset(("shop", "store"))
_BELOW_WORD: Final = 0.45
_BELOW_TEAM: Final = 0.8
_BY_TEXT: Final = 0.97
_AGREED_BONUS: Final = 0.02
_DOUBTED_FACTOR: Final = 0.5
_DOUBTLESS: Final = frozenset((None, *_PARTS))
_OLD_AGE: Final = timedelta(days=8 * 365)
_LOCALE: Final = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
_PAGE_KEYS: Final = frozenset(
    (
        *(
            "page",
            "site",
            "seite",
            "p",
            "pagina",
            "id",
            "view",
            "section",
            "show",
            "do",
        ),
        *("content", "nav", "menu", "action", "inc", "file", "name", "pg", "s", "c"),
        *("go", "mod", "module", "task"),
    )
)
_ORIGINS: Final = ("utm", "ref", "from", "source", "src", "via")
_WORDPRESS_PAGE: Final = re.compile(r"(?:page_id|p)=\d+$")
_WORDPRESS: Final = PageRating(
    PageType.WP_PROSPECT, 0.3, ("a WordPress page without a name",)
)
_NAMELESS: Final = PageRating(
    PageType.UNKNOWN, 0.15, ("the path says nothing we know",)
)
_NAMELESS_BELOW: Final = PageRating(PageType.UNKNOWN, 0.08, _NAMELESS.reasons)
_HOMES: Final = frozenset(
    (("index",), ("home",), ("default",), ("main",), ("index", "php"), ("start",))
)
# Parents that only hold other pages, and say nothing about them.
_SHELLS: Final = frozenset(
    (
        *(
            ("index",),
            ("pages",),
            ("page",),
            ("home",),
            ("info",),
            ("meta",),
            ("site",),
        ),
        *(("web",), ("default",), ("main",), ("index", "php"), ("cgi", "bin")),
        *(("content",), ("cms",), ("node",), ("seiten",), ("paginas",), ("pagine",)),
    )
)
