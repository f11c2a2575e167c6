"""Find the name of the business behind a page, and of others it names as such.

No single place holds the name, so several are asked (title, site name, logo,
copyright line, letterhead, structured data, legal forms in the text) and names that
agree with each other and with the domain win.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from contact_extraction.contacts.model import (
    AddressSighting,
    Method,
    OrganisationSighting,
    Sighting,
)
from contact_extraction.contacts.organisation.candidate import (
    NameCandidate,
    merge_candidates,
    rank,
)
from contact_extraction.contacts.organisation.chance import chance, confidence_of
from contact_extraction.contacts.organisation.domain_name import (
    domain_names,
    kin_names,
    site_labels,
)
from contact_extraction.contacts.organisation.name import (
    bare_name,
    tidy_name,
    words_of,
)
from contact_extraction.contacts.organisation.nomination import nominations
from contact_extraction.contacts.organisation.source import MAX_FOUND, NameSource
from contact_extraction.contacts.organisation.trait import setting_of, traits
from contact_extraction.contacts.page_text import PageText

MAX_RANKED: Final = 300
MAX_SPELLINGS: Final = 4
MIN_CHANCE: Final = 0.33
"""The chance of being right from which a name is given: best F1 on annotated pages."""
MIN_BEST_VOTES: Final = 1.9
"""The votes a page's best name needs to be given at less than that chance,"""
MIN_BEST_CHANCE: Final = 0.2
"""and the chance it needs."""


@dataclass(frozen=True, slots=True)
class OrganisationClues:
    """What the other finders know of a page that helps to find its names."""

    streets: Sequence[AddressSighting] = ()
    mail_domains: Counter[str] = field(default_factory=Counter)
    stated: Sequence[Sighting] = ()
    """Names in structured data."""
    known: str | None = None
    """A name from elsewhere, which helps only if the page agrees."""


def find_organisations(
    sheet: PageText, url: str, clues: OrganisationClues
) -> list[OrganisationSighting]:
    """Find organisation names, the page's own first."""
    won = []
    for place, (candidate, described) in enumerate(describe_names(sheet, url, clues)):
        likely = chance(described)
        is_best = (
            place == 0
            and candidate.score >= MIN_BEST_VOTES
            and likely >= MIN_BEST_CHANCE
        )
        if likely >= MIN_CHANCE or is_best:
            won.append((likely, candidate))
    # Where people worked before is sure to be a firm, but not the page's own.
    won.sort(key=lambda one: (one[1].sources == {NameSource.EMPLOYER}, -one[0]))
    stated = {bare_name(tidy_name(f.value)): f.method for f in clues.stated}
    return [
        _found(sheet, candidate, likely, stated.get(candidate.key))
        for likely, candidate in won[:MAX_FOUND]
    ]


def describe_names(
    sheet: PageText, url: str, clues: OrganisationClues
) -> Iterator[tuple[NameCandidate, dict[str, float]]]:
    """Yield everything that may be a name with its traits, the likeliest own name first."""
    written = site_labels(sheet, url, clues.mail_domains)
    labels = list(dict.fromkeys(label.replace("-", "") for label in written))
    nominated = nominations(
        sheet,
        letterheads=[found.line for found in clues.streets],
        known=clues.known,
        stated=clues.stated,
    )
    candidates = merge_candidates(
        chain(nominated, kin_names(sheet, labels), domain_names(sheet, written))
    )
    cities = frozenset(found.city.casefold() for found in clues.streets if found.city)
    ranked = rank(sheet, labels, candidates)[:MAX_RANKED]
    setting = setting_of(sheet, cities, ranked)
    for place, candidate in enumerate(ranked):
        yield candidate, traits(sheet, candidate, ranked[:place], setting)


def spellings(sheet: PageText, candidate: NameCandidate) -> list[str]:
    """Give the name with its legal form, or without, if the page writes both."""
    kept = [set(words_of(candidate.name))]
    also = []
    for name in sorted(candidate.names, key=lambda n: -candidate.names[n]):
        mine = set(words_of(name))
        if mine not in kept and name in sheet.text:
            kept.append(mine)
            also.append(name)
    return also[:MAX_SPELLINGS]


def _found(
    sheet: PageText, candidate: NameCandidate, likely: float, stated: Method | None
) -> OrganisationSighting:
    name = candidate.name
    start = sheet.text.find(name)
    has_place = start >= 0
    return OrganisationSighting(
        key=candidate.key,
        value=name,
        method=stated or candidate.best_source.method,
        line=sheet.line_at(start) if has_place else -1,
        start=max(start, 0),
        end=start + len(name) if has_place else 0,
        snippet=sheet.snippet(start, start + len(name)) if has_place else name,
        confidence=round(confidence_of(likely), 3),
        also=tuple(spellings(sheet, candidate)),
    )
