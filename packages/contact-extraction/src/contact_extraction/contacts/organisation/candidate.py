"""Gather the nominations for each name and put a page's names in order."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from contact_extraction.contacts.organisation.domain_name import domain_similarity
from contact_extraction.contacts.organisation.institution import trade_of
from contact_extraction.contacts.organisation.name import (
    bare_name,
    is_name,
    spoken_name,
    tidy_name,
)
from contact_extraction.contacts.organisation.source import NameSource, Nomination
from contact_extraction.contacts.page_text import PageText

MAX_COUNTED: Final = 200_000
MIN_COUNTED: Final = 4


@dataclass(slots=True)
class NameCandidate:
    """A name in its spellings, where it was seen and what that is worth."""

    key: str
    names: Counter[str] = field(default_factory=Counter)
    sources: set[NameSource] = field(default_factory=set)
    domain_similarity: float = 0.0
    mentions: int = 0
    score: float = 0.0

    @property
    def name(self) -> str:
        """Give the spelling seen in most places, the shortest of several."""
        return max(self.names, key=lambda n: (self.names[n], -len(n)))

    @property
    def compact(self) -> str:
        """Give the folded name without the gaps between its words."""
        return self.key.replace(" ", "")

    @property
    def best_source(self) -> NameSource:
        """Give the place that speaks loudest for the name."""
        return max(self.sources, key=lambda s: (s.votes, s.value))


def merge_candidates(nominations: Iterable[Nomination]) -> dict[str, NameCandidate]:
    """Gather what could be a name, by its folded form."""
    candidates: dict[str, NameCandidate] = {}
    for nominated, source in nominations:
        name = tidy_name(nominated)
        is_small = source is NameSource.SPELLED and name.islower()
        if not (is_small or is_name(name)) or not (key := bare_name(name)):
            continue
        if " " not in name and trade_of(name):
            continue
        candidate = candidates.setdefault(key, NameCandidate(key))
        candidate.names[name] += 1
        candidate.sources.add(source)
    return candidates


def rank(
    sheet: PageText, labels: list[str], candidates: dict[str, NameCandidate]
) -> list[NameCandidate]:
    """Order names by votes, likeness to the domain and mentions."""
    low = sheet.lower[:MAX_COUNTED]
    for key, candidate in candidates.items():
        candidate.domain_similarity = max(
            (domain_similarity(key, label) for label in labels), default=0.0
        )
        spoken = spoken_name(candidate.name)
        candidate.mentions = low.count(spoken) if len(key) >= MIN_COUNTED else 0
        candidate.score = (
            sum(source.votes for source in candidate.sources)
            # A domain is always like itself.
            + (1.0 if NameSource.DOMAIN in candidate.sources else 2.5)
            * candidate.domain_similarity
            + min(1.0, 0.25 * candidate.mentions)
        )
    return sorted(candidates.values(), key=lambda c: (-c.score, c.key))
