"""What the present readers make of a site's stored pages, against what is stored of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from contact_extraction.person_card import PersonCard
from scrapersky.pipeline.page_findings import PageFindings, contact_key
from scrapersky.pipeline.withdrawal import SiteReading
from scrapersky.proofs.stored_page import StoredPage

MOST_SAMPLES: Final = 200
ONE_AT_A_TIME: Final = ("name", "role")
"""Fields of which a contact has one: another value takes the place of the one before."""


@dataclass(frozen=True, slots=True)
class SiteValue:
    """A value that is stored of a site, and what its contact is known by."""

    key: str
    field: str
    value: str
    is_covered: bool
    """Whether all that it was seen on are pages that are read again."""


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that is new, gone or another one than before."""

    url: str
    key: str
    field: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """Return what happens to it."""
        if self.before is None:
            return "new"
        return "gone" if self.after is None else "changed"


@dataclass(slots=True)
class ReplayReport:
    """What a replay has come to so far."""

    sites: int = 0
    pages: int = 0
    unreadable: int = 0
    values: int = 0
    """Values that are stored of the sites that were read."""
    counts: Counter[str] = field(default_factory=Counter)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    samples: list[ValueDifference] = field(default_factory=list)
    after: UUID | None = None
    """The site that was read last."""

    def add(self, differences: Iterable[ValueDifference]) -> None:
        """Count what differs at a site."""
        for one in differences:
            self.counts[one.kind] += 1
            self.fields[one.field, one.kind] += 1
            if len(self.samples) < MOST_SAMPLES:
                self.samples.append(one)


def reading_of(
    domain_id: UUID, read: Sequence[tuple[StoredPage, PageFindings]]
) -> SiteReading:
    """Gather what all pages of a site say."""
    people: dict[str, PersonCard] = {}
    values: set[tuple[str, str]] = set()
    for _, found in read:
        for person in found.people:
            values.add(("name", person.name))
            known = people.get(person.key)
            if known is None or person.standing > known.standing:
                people[person.key] = person
        for card in found.cards:
            values.update((name, value) for name, value, *_ in card.values)
    return SiteReading(
        domain_id,
        [page.page_id for page, _ in read],
        [page.url for page, _ in read],
        values,
        [*people.values()],
    )


def differences_of(
    stored: Sequence[SiteValue],
    reading: SiteReading,
    read: Sequence[tuple[StoredPage, PageFindings]],
) -> list[ValueDifference]:
    """Compare what is stored of a site with what its pages say now."""
    known = {(one.field, one.value) for one in stored}
    gone = {
        (one.key, one.field, one.value)
        for one in stored
        if one.is_covered and (one.field, one.value) not in reading.values
    }
    found = {
        (contact_key(card), name, value): page.url
        for page, findings in read
        for card in findings.cards
        for name, value, *_ in card.values
        if (name, value) not in known
    }
    instead = {(key, name): value for key, name, value in gone if name in ONE_AT_A_TIME}
    differences = []
    for (key, name, value), url in found.items():
        before = instead.get((key, name)) if name in ONE_AT_A_TIME else None
        gone.discard((key, name, before or ""))
        differences.append(ValueDifference(url, key, name, before, value))
    url = read[0][0].url if read else ""
    return differences + [
        ValueDifference(url, key, name, value, None)
        for key, name, value in sorted(gone)
    ]
