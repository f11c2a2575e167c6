"""How a town changes between two visits: what is planted, and what a visitor must notice.

Every change is of another business, so that what is noticed can be compared one by one. New
values are those of businesses that the town does not have.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from simulated_town.business import (
    Business,
    Disguise,
    LineKind,
    Mailbox,
    PageKind,
    SiteKind,
)
from simulated_town.plan import TownPlan, plan_town
from simulated_town.register import place_id
from simulated_town.sites.own import own_site

STEADY: Final = (
    SiteKind.WORDPRESS,
    SiteKind.WORDPRESS_CORE,
    SiteKind.WIX,
    SiteKind.SQUARESPACE,
    SiteKind.SHOPIFY,
    SiteKind.PLAIN,
    SiteKind.ROBOTS_SITEMAP,
    SiteKind.LINKED_SITEMAP,
)
"""Kinds of websites that are changed; the others have troubles enough."""
ONE_IN: Final = 10
"""So many of these websites are changed."""
DONOR_COUNT: Final = 400
PRESS: Final = "press"


class PlantedType(StrEnum):
    """What may happen to a business between two visits."""

    PHONE = "phone"
    LEFT = "left"
    MOVED = "moved"
    RENAMED = "renamed"
    CLOSED = "closed"
    UNREACHABLE = "unreachable"
    PAGE = "page"
    RESTLESS = "restless"
    """Its pages are written anew for every visitor, and say the same."""
    OPENED = "opened"
    DELISTED = "delisted"
    """The register does not have it any more."""


@dataclass(frozen=True, slots=True)
class NoticedChange:
    """What a visitor must notice: of a place or a website, what became of which value."""

    subject: str
    """A domain, or the id of a place."""
    what: str
    field: str | None = None
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True, slots=True)
class PlantedChange:
    """One business that is not what it was."""

    type: PlantedType
    number: int
    noticed: tuple[NoticedChange, ...]
    """Nothing where there is nothing to notice."""


@dataclass(frozen=True, slots=True)
class Evolution:
    """A town before and after, and what is between."""

    before: TownPlan
    after: TownPlan
    changes: tuple[PlantedChange, ...]

    @property
    def noticed(self) -> frozenset[NoticedChange]:
        """All that a visitor must notice, and nothing else."""
        return frozenset(one for change in self.changes for one in change.noticed)

    @property
    def restless(self) -> frozenset[str]:
        """The domains whose pages differ on every visit."""
        return frozenset(self._domains(PlantedType.RESTLESS))

    @property
    def silent(self) -> frozenset[str]:
        """The domains that do not answer any more."""
        return frozenset(self._domains(PlantedType.UNREACHABLE))

    def numbers(self, type_: PlantedType) -> frozenset[int]:
        """Return the businesses that one thing happens to."""
        return frozenset(one.number for one in self.changes if one.type is type_)

    def _domains(self, type_: PlantedType) -> Iterator[str]:
        for number in sorted(self.numbers(type_)):
            if (domain := self.before.businesses[number].domain) is not None:
                yield domain


def evolve(plan: TownPlan) -> Evolution:
    """Plan what happens to a town; the same town always changes in the same way."""
    donors = plan_town(len(plan.businesses) + DONOR_COUNT, seed=plan.seed).businesses
    donors = donors[len(plan.businesses) :]
    chosen = [
        business
        for business in plan.businesses
        if business.kind in STEADY and len(plan.owners[business.domain or ""]) == 1
    ]
    changed = {business.number: business for business in plan.businesses}
    changes: list[PlantedChange] = []
    wanted = iter(_turns(len(chosen)))
    type_ = next(wanted, None)
    for business in chosen:
        if type_ is None:
            break
        donor = next(
            (
                one
                for one in donors[business.number % DONOR_COUNT // 2 :]
                if one.locale == business.locale and one.lines
            ),
            None,
        )
        made = None if donor is None else _CHANGES[type_](business, donor)
        if made is None:
            continue
        after, noticed = made
        changed[business.number] = _edited(business, after)
        changes.append(PlantedChange(type_, business.number, noticed))
        type_ = next(wanted, None)
    businesses = tuple(changed[business.number] for business in plan.businesses)
    return Evolution(plan, replace(plan, businesses=businesses), tuple(changes))


def _turns(sites: int) -> Sequence[PlantedType]:
    types = list(PlantedType)
    count = max(len(types), sites // ONE_IN)
    return [types[number % len(types)] for number in range(count)]


_Made = tuple[Business, tuple[NoticedChange, ...]] | None


def _phone(business: Business, donor: Business) -> _Made:
    numbers = [line for line in business.lines if line.kind is LineKind.PHONE]
    if len(numbers) != 1 or numbers[0].page is not PageKind.CONTACT:
        return None
    old, given = numbers[0], donor.lines[0]
    new = replace(old, e164=given.e164, written=given.written, is_link=True)
    lines = tuple(new if line is old else line for line in business.lines)
    noticed = NoticedChange(
        business.domain or "", "changed", "phone", old.e164, new.e164
    )
    return replace(business, lines=lines), (noticed,)


def _left(business: Business, _: Business) -> _Made:
    if len(business.people) < 2 or PageKind.IMPRINT.value in business.locale.paths:  # noqa: PLR2004
        return None
    person = business.people[-1]
    domain = business.domain or ""
    noticed = [NoticedChange(domain, "gone", "person", person.name)]
    if person.mailbox is not None:
        noticed.append(NoticedChange(domain, "gone", "email", person.mailbox))
    after = replace(
        business,
        people=business.people[:-1],
        mailboxes=tuple(b for b in business.mailboxes if b.address != person.mailbox),
    )
    return after, tuple(noticed)


def _moved(business: Business, donor: Business) -> _Made:
    if donor.address.postcode == business.address.postcode:
        return None
    after = replace(business, address=donor.address)
    old, new = (", ".join(one.address.lines) for one in (business, donor))
    return after, (
        NoticedChange(place_id(business), "moved", "address", old, new),
        NoticedChange(business.domain or "", "moved", "address"),
    )


def _renamed(business: Business, donor: Business) -> _Made:
    noticed = NoticedChange(
        place_id(business), "renamed", "name", business.name, donor.name
    )
    return replace(business, name=donor.name), (noticed,)


def _closed(business: Business, _: Business) -> _Made:
    noticed = NoticedChange(
        place_id(business),
        "closed",
        "business_status",
        "operating",
        "closed_permanently",
    )
    return business, (noticed,)


def _unreachable(business: Business, _: Business) -> _Made:
    return business, (NoticedChange(business.domain or "", "unreachable"),)


def _page(business: Business, _: Business) -> _Made:
    domain = business.domain or ""
    box = Mailbox(f"{PRESS}@{domain}", PageKind.PRESS, Disguise.MAILTO)
    if any(one.address == box.address for one in business.mailboxes):
        return None
    after = replace(business, mailboxes=(*business.mailboxes, box))
    return after, (NoticedChange(domain, "new", "email", None, box.address),)


def _restless(business: Business, _: Business) -> _Made:
    return business, ()


def _opened(business: Business, _: Business) -> _Made:
    return business, (
        NoticedChange(place_id(business), "new", None, None, business.name),
    )


def _delisted(business: Business, _: Business) -> _Made:
    return business, (NoticedChange(place_id(business), "gone", None, business.name),)


_CHANGES: Final[dict[PlantedType, Callable[[Business, Business], _Made]]] = {
    PlantedType.PHONE: _phone,
    PlantedType.LEFT: _left,
    PlantedType.MOVED: _moved,
    PlantedType.RENAMED: _renamed,
    PlantedType.CLOSED: _closed,
    PlantedType.UNREACHABLE: _unreachable,
    PlantedType.PAGE: _page,
    PlantedType.RESTLESS: _restless,
    PlantedType.OPENED: _opened,
    PlantedType.DELISTED: _delisted,
}


def _edited(before: Business, after: Business) -> Business:
    """Note which pages are written anew, as a program that keeps a sitemap does."""
    if after is before:
        return after
    origin = f"http://{before.host}"
    old, new = (own_site([one], origin).replies for one in (before, after))
    paths = frozenset(path for path in new if old.get(path) != new[path])
    return replace(after, edited=paths)
