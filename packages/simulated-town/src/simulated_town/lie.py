"""What the register says wrongly about businesses of the town, and of which field each is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from random import Random
from typing import Final

from simulated_town.business import Business, Opening, SiteKind
from simulated_town.invent import NOTHING_TO_READ, Draft, invent

BUSINESSES_PER_LIE: Final = 2
"""The register is wrong about one of so many businesses."""
HOURS_LATER: Final = 2


class LieKind(StrEnum):
    """What the register is wrong about."""

    WRONG_PHONE = "wrong_phone"
    MOVED = "moved"
    """The address is one where the business is not, or no longer."""
    RENAMED = "renamed"
    CLOSED = "closed"
    """The business has closed for good, says its website; the register does not know."""
    SAID_CLOSED = "said_closed"
    """The register says so, and the business is open."""
    WRONG_WEBSITE = "wrong_website"
    """The website is that of another business."""
    OTHER_HOURS = "other_hours"

    @property
    def field(self) -> str:
        """Return the field of a place that is wrong."""
        return _FIELDS[self]


_FIELDS: Final = {
    LieKind.WRONG_PHONE: "phone",
    LieKind.MOVED: "address",
    LieKind.RENAMED: "name",
    LieKind.CLOSED: "business_status",
    LieKind.SAID_CLOSED: "business_status",
    LieKind.WRONG_WEBSITE: "website",
    LieKind.OTHER_HOURS: "hours",
}


@dataclass(frozen=True, slots=True)
class Lie:
    """One business as it is, and as the register has it."""

    kind: LieKind
    business: Business
    told: Business


def lies_among(businesses: Sequence[Business], seed: int) -> Iterator[Lie]:
    """Tell a lie about every second business that has a website to ask, of each kind in turn.

    A chain has none: which of its branches a page means is another question.
    """
    kinds = [*LieKind]
    told = [
        one
        for one in businesses
        if one.kind not in NOTHING_TO_READ and one.kind is not SiteKind.CHAIN
    ]
    for number, business in enumerate(told[::BUSINESSES_PER_LIE]):
        kind = kinds[number % len(kinds)]
        other = stranger_to(business, seed)
        host = told[(number * BUSINESSES_PER_LIE + 1) % len(told)]
        is_true = replace(business, is_closed=kind is LieKind.CLOSED)
        yield Lie(kind, is_true, told_as(kind, business, other, host))


def told_as(
    kind: LieKind, business: Business, other: Business, host: Business
) -> Business:
    """Return a business as the register has it: one field is that of another."""
    match kind:
        case LieKind.WRONG_PHONE:
            return replace(
                business,
                source_phone=other.source_phone,
                source_e164=other.source_e164,
            )
        case LieKind.MOVED:
            return replace(business, address=other.address)
        case LieKind.RENAMED:
            return replace(business, name=other.name)
        case LieKind.SAID_CLOSED:
            return replace(business, is_closed=True)
        case LieKind.WRONG_WEBSITE:
            return replace(business, website=host.website)
        case LieKind.OTHER_HOURS:
            return replace(business, hours=tuple(map(later, business.hours)))
        case LieKind.CLOSED:
            return business


def later(opening: Opening) -> Opening:
    """Return the hours of a day when all begins and ends later."""
    if opening.opens is None or opening.closes is None:
        return opening
    hours = (shifted(opening.opens), shifted(opening.closes))
    return Opening(opening.day, *hours)


def shifted(clock: str) -> str:
    """Write a time of day some hours later."""
    hour, _, minute = clock.partition(":")
    return f"{int(hour) + HOURS_LATER:02}:{minute}"


def stranger_to(business: Business, seed: int) -> Business:
    """Invent a business of the same country that has nothing in common with another."""
    taken = {business.address.street.strip("0123456789 "), business.name}
    draft = Draft(business.number, SiteKind.ONE_PAGE)
    for attempt in count():
        random = Random(f"{seed}/{business.number}/lie/{attempt}")  # noqa: S311 - a town
        found = invent(draft, random, set())
        own = {found.address.street.strip("0123456789 "), found.name}
        shared = {*words_of(found.name)} & {*words_of(business.name)}
        if found.locale == business.locale and not own & taken and not shared:
            return found
    raise AssertionError  # count() never ends


def words_of(name: str) -> list[str]:
    """Return the words that tell a name from others."""
    return name.casefold().split() if " " in name else [*name]
