"""Websites that copy a business of the town which has none, and that no register names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from random import Random
from typing import Final

from simulated_town.business import (
    Business,
    Disguise,
    LineKind,
    Mailbox,
    Markup,
    PageKind,
    SiteKind,
    TelephoneLine,
)
from simulated_town.invent import ENDING, Draft, invent
from simulated_town.locale import to_latin

LETTERS: Final = {"a": "\u0430", "e": "\u0435", "o": "\u043e"}
"""Latin letters, and the Cyrillic ones that look like them."""


class Imitation(StrEnum):
    """What a website copies."""

    NAME_AND_PHONE = "name_and_phone"
    OTHER_LETTERS = "other_letters"
    """The same, with a Cyrillic letter in the name."""
    PROFILE = "profile"
    """The name, and a link to the social profile."""
    ADDRESS = "address"
    """The name and the address."""
    NAME_ALONE = "name_alone"


@dataclass(frozen=True, slots=True)
class Impostor:
    """A website that passes for that of another business."""

    imitation: Imitation
    site: Business
    victim: Business


def impostors_among(businesses: Sequence[Business], seed: int) -> Iterator[Impostor]:
    """Invent a website for every business that one can pass for, of each kind in turn."""
    left = [one for one in businesses if is_without_website(one)]
    while left:
        victims = len(left)
        for imitation in Imitation:
            victim = next((one for one in left if fits(imitation, one)), None)
            if victim is not None:
                left.remove(victim)
                yield Impostor(imitation, imitate(victim, imitation, seed), victim)
        if len(left) == victims:
            return


def is_without_website(business: Business) -> bool:
    """Say whether a business has a name in Latin letters, and no website of its own."""
    has_none = business.kind in {SiteKind.NO_WEBSITE, SiteKind.SOCIAL}
    return has_none and bool(to_latin(business.name))


def fits(imitation: Imitation, victim: Business) -> bool:
    """Say whether there is something to copy."""
    return imitation is not Imitation.PROFILE or victim.kind is SiteKind.SOCIAL


def imitate(victim: Business, imitation: Imitation, seed: int) -> Business:
    """Invent the site: all on one page, with a mailbox of whoever made it."""
    own = stranger(victim, seed)
    domain = f"{to_latin(victim.name).replace('-', '')}-online.{ENDING}"
    has_phone = imitation in {Imitation.NAME_AND_PHONE, Imitation.OTHER_LETTERS}
    has_address = imitation is Imitation.ADDRESS
    is_profile = imitation is Imitation.PROFILE and victim.website is not None
    is_disguised = imitation is Imitation.OTHER_LETTERS
    return replace(
        own,
        number=victim.number,
        name=disguised(victim.name) if is_disguised else victim.name,
        trade=victim.trade,
        markup=Markup.JSON_LD,
        domain=domain,
        www=False,
        website=None,
        address=victim.address if has_address else own.address,
        lines=(line_of(victim),) if has_phone else own.lines[:1],
        mailboxes=(Mailbox(f"office@{domain}", PageKind.HOME, Disguise.MAILTO),),
        profiles=(str(victim.website),) if is_profile else (),
        decoys=(f"do-not-mail@{domain}", f"bait@{domain}"),
    )


def stranger(victim: Business, seed: int) -> Business:
    """Invent somebody of the same country, elsewhere and under another number."""
    draft = Draft(victim.number, SiteKind.ONE_PAGE)
    for attempt in count():
        random = Random(f"{seed}/{victim.number}/impostor/{attempt}")  # noqa: S311 - a town
        found = invent(draft, random, set())
        if found.locale == victim.locale:
            return found
    raise AssertionError  # count() never ends


def line_of(victim: Business) -> TelephoneLine:
    """Write the number that the register has."""
    return TelephoneLine(
        victim.source_e164,
        victim.source_phone,
        LineKind.PHONE,
        PageKind.HOME,
        is_link=False,
    )


def disguised(name: str) -> str:
    """Write the first letter that has a double in Cyrillic."""
    found = next((sign for sign in name if sign in LETTERS), "")
    return name.replace(found, LETTERS.get(found, ""), 1)
