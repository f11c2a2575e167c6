"""Describe a candidate by numbers between 0 and 1, for the fitted weights to judge."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.organisation.candidate import NameCandidate
from contact_extraction.contacts.organisation.institution import trade_of
from contact_extraction.contacts.organisation.legal import is_legal_name
from contact_extraction.contacts.organisation.name import (
    generic_share,
    has_generic_end,
    is_district,
    words_of,
)
from contact_extraction.contacts.organisation.source import NameSource
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person import has_role_word, looks_like_person

MAX_BETTER: Final = 40
MAX_TITLE: Final = 1_000
MAX_PLACES: Final = 6
MAX_PROSE: Final = 160
SOME_WORDS: Final = 3
MANY_WORDS: Final = 5
_OWN: Final = {
    NameSource.ABOVE_ADDRESS, NameSource.LETTERHEAD, NameSource.STATED, NameSource.SITE_NAME,
    NameSource.LOGO, NameSource.COPYRIGHT, NameSource.COPYRIGHT_FORM,
}  # fmt: skip
"""Where a name is written by itself, not as a part of a text."""
_CAREER: Final = {NameSource.EMPLOYER, NameSource.OFFICE}
_CAMEL: Final = re.compile(r"[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class NameContext:
    """What a page says around its names."""

    title: str
    """The words of the title, folded, a gap before and after each."""
    cities: frozenset[str]
    registered: Counter[str]
    """How many names with a legal form begin with a word."""


def setting_of(
    sheet: PageText, cities: frozenset[str], candidates: Sequence[NameCandidate]
) -> NameContext:
    """Gather once what every name of a page is compared with."""
    return NameContext(
        title=f" {' '.join(words_of(sheet.page.title[:MAX_TITLE]))} ",
        cities=cities,
        registered=Counter(
            _head(candidate)
            for candidate in candidates
            if is_legal_name(candidate.name)
        ),
    )


def traits(
    sheet: PageText,
    candidate: NameCandidate,
    better: Sequence[NameCandidate],
    setting: NameContext,
) -> dict[str, float]:
    """Describe a name; `better` are those before it in the page's order."""
    found: dict[str, float] = (
        dict.fromkeys(candidate.sources, 1.0)
        | _of_name(sheet, candidate)
        | _of_rank(candidate, better)
        | _of_setting(candidate, setting)
        | _of_places(sheet, candidate)
    )
    return found | {
        # Bold or a link right above an address: the head of a card.
        "card_head": found.get("marked", 0.0)
        and NameSource.ABOVE_ADDRESS in candidate.sources,
        # A headline about something else: what the page is about, not whose it is.
        "topic": found.get("headline", 0.0) and found["apart"],
        # Acme Learning Center is a part of Acme.
        "annex": found["more_than_better"]
        and found["same_head"]
        and found["house_end"]
        and not found["form"]
        and candidate.sources.isdisjoint(_OWN),
    }


def _of_name(sheet: PageText, candidate: NameCandidate) -> dict[str, float]:
    spelt = _of_spelling(candidate.name)
    parts = candidate.key.split()
    is_lone = (
        len(parts) == 1
        # OpenSesame is two words.
        and not (spelt["form"] or spelt["camel"])
        and candidate.sources.isdisjoint(_CAREER)
    )
    long = [p for p in parts if len(p) > 2]
    return {
        **spelt,
        "kin": candidate.domain_similarity,
        "same_as_domain": candidate.domain_similarity == 1.0,
        "mentions": min(1.0, math.log1p(candidate.mentions) / 3.0),
        "sources": min(1.0, len(candidate.sources) / 5),
        "lone_word": is_lone and not candidate.domain_similarity,
        "kin_word": is_lone and bool(candidate.domain_similarity),
        "three_words": len(parts) >= SOME_WORDS,
        "many_words": len(parts) > MANY_WORDS,
        "plain": (sum(p in sheet.words for p in long) / len(long) if long else 0.0),
    }


# Pages of a site name the same firms.
@lru_cache(4_096)
def _of_spelling(name: str) -> Mapping[str, float]:
    """Describe what a name says by itself, on whatever page it stands."""
    form = is_legal_name(name)
    trade = trade_of(name)
    return {
        "form": form,
        "house_end": trade == "house",
        "goods_end": trade == "goods",
        "person": not (trade or form) and looks_like_person(name),
        "role": not (trade or form) and has_role_word(name),
        "district": not trade and is_district(name),
        "last_generic": not form and has_generic_end(name),
        "generic": generic_share(name),
        "ampersand": "&" in name,
        "digit": any(map(str.isdigit, name)),
        "camel": _CAMEL.search(name) is not None,
        "shouted": name.isupper() and len(name) > 3,
        "dotted": "." in name.rstrip("."),
    }


def _of_rank(
    candidate: NameCandidate, better: Sequence[NameCandidate]
) -> dict[str, float]:
    key = f" {candidate.key} "
    near = better[:MAX_BETTER]
    mine = candidate.key.split()
    best = better[0].key.split() if better else []
    return {
        "same_head": bool(better) and mine[0] == best[0],
        "first": not better,
        "same_letters": any(b.compact == candidate.compact for b in near),
        "apart": bool(better)
        and not candidate.domain_similarity
        and set(mine).isdisjoint(best),
        "part_of_better": any(key in f" {b.key} " for b in near),
        "more_than_better": any(f" {b.key} " in key for b in near),
    }


def _of_setting(candidate: NameCandidate, setting: NameContext) -> dict[str, float]:
    others = setting.registered[_head(candidate)] - is_legal_name(candidate.name)
    return {
        "in_title": f" {candidate.key} " in setting.title,
        "city": candidate.key in setting.cities,
        # Acme Valves stands beside Acme Holding Ltd.
        "firm_family": " " in candidate.key and others > 0,
    }


def _head(candidate: NameCandidate) -> str:
    return candidate.key.partition(" ")[0]


def _of_places(sheet: PageText, candidate: NameCandidate) -> dict[str, float]:
    name = candidate.name
    seen: list[int] = []
    acts = follows = made = False
    text = sheet.text
    start = text.find(name)
    while start >= 0 and len(seen) < MAX_PLACES:
        end = start + len(name)
        seen.append(sheet.line_at(start))
        made = made or _MAKING.search(text, max(0, start - 30), start) is not None
        acts = acts or _ACTS.match(text, end) is not None
        follows = follows or (
            text[start - 1 : start] == " "
            and _PREPOSITION.search(text, max(0, start - 12), start) is not None
        )
        start = text.find(name, end)
    if not seen:
        return {"unseen": 1.0}
    most = len(name) + 2
    lines = [sheet.lines[number] for number in seen]
    return {
        "acts": acts,
        "after_preposition": follows,
        "maker": made,
        "bare_line": candidate.sources.isdisjoint(_HEADS)
        and all(len(line.text) <= most for line in lines),
        "prose": any(len(line.text) > MAX_PROSE for line in lines),
        "in_list": all(line.tag in ("li", "option") for line in lines),
        "in_table": all(line.tag in ("td", "th") for line in lines),
        "in_nav": all(line.region == "nav" for line in lines),
        "headline": any(line.heading and len(line.text) <= most for line in lines),
        "marked": any(name in line.marks for line in lines),
    }


_HEADS: Final = {NameSource.ABOVE_ADDRESS, NameSource.LETTERHEAD}
_MAKING: Final = re.compile(
    r"(?i)(?:design|power|develop|host|creat|site|built|mainten|manag)\w*"
    r"(?: and \w+)?(?: by| -|:)? ?\Z"
)
_ACTS: Final = re.compile(
    r"(?: (?:is|was|has|have|are|can|will|offers?|provides?|specializes|serves|began|"
    r"started|makes?|does|strives|believes|takes|wants|guarantees|may|shall|reserves)\b|['’]s\b)"
)
_PREPOSITION: Final = re.compile(
    r"(?i)(?<!\w)(?:at|by|with|from|of|to|about|joined|for|and|in|via|through) \Z"
)
