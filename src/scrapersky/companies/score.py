"""How likely two records say about the same company at the same place, and why."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import exp
from typing import Final, NamedTuple

from rapidfuzz.distance import OSA

from scrapersky.companies.evidence import CompanyName, Facts, metres_between
from scrapersky.companies.lookalike import skeleton

LINK_SHARE: Final = 0.87
"""At least this sure: the records are linked without a person."""
REVIEW_SHARE: Final = 0.16
"""At least this sure: a person is asked."""

SAME_PLACE_METRES: Final = 75
NEAR_METRES: Final = 250
FAR_METRES: Final = 1_000
SHORTEST_TYPO: Final = 5
SHORTEST_TOGETHER: Final = 8


class NameLevel(StrEnum):
    """How two names stand to each other."""

    SAME = "same name"
    SPELLING = "names differ only in spelling"
    CONTAINED = "one name holds the other"
    UNKNOWN = "a name is missing"
    PARTIAL = "names share a word and differ in others"
    DIFFERENT = "different names"


class PlaceLevel(StrEnum):
    """How two locations stand to each other."""

    SAME = "same address"
    NEAR = "nearby"
    UNKNOWN = "a location is missing"
    AROUND = "some streets apart"
    FAR = "far apart"


class ValueLevel(StrEnum):
    """How two values of which a company has one stand to each other."""

    SAME = "same"
    SHARED = "shared"
    """The same, and of many others too."""
    UNKNOWN = "unknown"
    DIFFERENT = "different"


PRIOR_ODDS: Final = -4.0
NAME_WEIGHT: Final = {
    NameLevel.SAME: 3.5,
    NameLevel.SPELLING: 2.5,
    NameLevel.CONTAINED: 1.2,
    NameLevel.UNKNOWN: 0.0,
    NameLevel.PARTIAL: -2.0,
    NameLevel.DIFFERENT: -4.5,
}
PLACE_WEIGHT: Final = {
    PlaceLevel.SAME: 3.0,
    PlaceLevel.NEAR: 1.5,
    PlaceLevel.UNKNOWN: 0.0,
    PlaceLevel.AROUND: -1.0,
    PlaceLevel.FAR: -7.0,
}
PHONE_WEIGHT: Final = {
    ValueLevel.SAME: 4.5,
    ValueLevel.SHARED: 0.5,
    ValueLevel.UNKNOWN: 0.0,
    ValueLevel.DIFFERENT: -0.3,
}
DOMAIN_WEIGHT: Final = {
    ValueLevel.SAME: 3.5,
    ValueLevel.SHARED: 1.0,
    ValueLevel.UNKNOWN: 0.0,
    ValueLevel.DIFFERENT: -1.5,
}
SOCIAL_WEIGHT: Final = {
    ValueLevel.SAME: 3.5,
    ValueLevel.UNKNOWN: 0.0,
    ValueLevel.DIFFERENT: 0.0,
}
"""In log-odds: what each finding adds to the odds that both are one company."""
SLOPE, SHIFT = 1.6, -1.6
"""Fitted (`python -m bench.company_scores --fit`), so that a share means what it says."""
PHONE_SAID: Final = {
    ValueLevel.SAME: "same phone number",
    ValueLevel.SHARED: "same phone number, which many share",
    ValueLevel.DIFFERENT: "different phone numbers",
}
DOMAIN_SAID: Final = {
    ValueLevel.SAME: "same website",
    ValueLevel.SHARED: "same website, which several locations share",
    ValueLevel.DIFFERENT: "different websites",
}
STATED_SHARE: Final = 0.99
"""What a source says itself: that a place moved, which website is its own."""
CLAIMED: Final = "only the website itself says so"
MIXED: Final = "a name mixes alphabets"


class MatchLevels(NamedTuple):
    """How two records stand to each other in everything that both say."""

    name: NameLevel
    place: PlaceLevel
    phone: ValueLevel
    domain: ValueLevel
    social: ValueLevel
    is_mixed: bool = False
    """Only one of the names has a word of two alphabets: it may be an imitation."""

    @property
    def odds(self) -> float:
        """Return the log-odds that both are one company."""
        return (
            PRIOR_ODDS
            + NAME_WEIGHT[self.name]
            + PLACE_WEIGHT[self.place]
            + PHONE_WEIGHT[self.phone]
            + DOMAIN_WEIGHT[self.domain]
            + SOCIAL_WEIGHT[self.social]
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return what was found, in words."""
        is_one_profile = self.social is ValueLevel.SAME
        said = (
            None if self.name is NameLevel.UNKNOWN else self.name.value,
            PHONE_SAID.get(self.phone),
            DOMAIN_SAID.get(self.domain),
            "same social profile" if is_one_profile else None,
            None if self.place is PlaceLevel.UNKNOWN else self.place.value,
            MIXED if self.is_mixed else None,
        )
        return tuple(filter(None, said))


@dataclass(frozen=True, slots=True)
class MatchScore:
    """How likely two records are one company, and what that rests on."""

    share: float
    reasons: tuple[str, ...]
    is_apart: bool = False
    """They contradict each other: they are never linked without a person."""
    is_claim: bool = False
    """Only one of the two says so: a website about itself."""

    @property
    def links(self) -> bool:
        """Say whether they are linked without a person."""
        return self.share >= LINK_SHARE and not self.is_apart and not self.is_claim

    @property
    def asks(self) -> bool:
        """Say whether a person is asked."""
        return self.share >= REVIEW_SHARE and not self.links


MOVED: Final = MatchScore(STATED_SHARE, ("its source says that it moved",))


def compare(
    one: Facts,
    other: Facts,
    *,
    is_switchboard: bool = False,
    is_brand: bool = False,
) -> MatchScore:
    """Weigh everything that two records say.

    `is_switchboard`: their phone number is that of many; `is_brand`: so is their
    website.
    """
    if one.moved_to == other.id or other.moved_to == one.id:
        return MOVED
    found = findings(one, other, is_switchboard=is_switchboard, is_brand=is_brand)
    if one.is_domain or other.is_domain:
        return of_website(one, other, found)
    is_apart = (
        found.name is NameLevel.DIFFERENT
        or found.is_mixed
        or is_elsewhere(one, other, found.place)
    )
    return weigh(found, is_apart=is_apart)


def contradict(one: Facts, other: Facts) -> bool:
    """Say whether two records are never linked without a person: `compare`'s `is_apart`."""
    if one.is_domain or other.is_domain:
        return compare(one, other).is_apart
    return (
        is_elsewhere(one, other, place_level(one, other))
        or level_of_names(one, other) is NameLevel.DIFFERENT
        or one.mixes_alphabets != other.mixes_alphabets
    )


def is_elsewhere(one: Facts, other: Facts, place: PlaceLevel) -> bool:
    """Say whether two records are of different locations."""
    if place is PlaceLevel.AROUND:
        return street_level(one, other) is ValueLevel.DIFFERENT
    return place is PlaceLevel.FAR


@cache
def weigh(found: MatchLevels, *, is_apart: bool) -> MatchScore:
    """Weigh what was found; kept, since there are no more than 5,760 ways to differ."""
    share = share_of(found.odds)
    # Of most pairs nobody asks why they are two.
    return MatchScore(share, found.reasons if share >= REVIEW_SHARE else (), is_apart)


def findings(
    one: Facts, other: Facts, *, is_switchboard: bool = False, is_brand: bool = False
) -> MatchLevels:
    """Compare everything that two records say."""
    return MatchLevels(
        name=level_of_names(one, other),
        place=place_level(one, other),
        phone=phone_level(one, other, is_shared=is_switchboard),
        domain=value_level(one.domain, other.domain, is_shared=is_brand),
        social=value_level(one.social, other.social),
        is_mixed=one.mixes_alphabets != other.mixes_alphabets,
    )


def of_website(one: Facts, other: Facts, found: MatchLevels) -> MatchScore:
    """Weigh a website that no business names: it belongs to whoever names it.

    What it says about itself anybody can write on a page: that is a question at most.
    """
    if found.domain is ValueLevel.SAME:
        return MatchScore(STATED_SHARE, ("it is its website",))
    is_near = found.place in {PlaceLevel.SAME, PlaceLevel.NEAR}
    claimed = found._replace(
        name=level_of_looks(one, other),
        # Its address may be that of the head office, or of whoever made it.
        place=found.place if is_near else PlaceLevel.UNKNOWN,
    )
    is_other = found.domain is not ValueLevel.UNKNOWN
    is_apart = is_other or claimed.name is NameLevel.DIFFERENT
    reasons = (*claimed.reasons, CLAIMED)
    return MatchScore(share_of(claimed.odds), reasons, is_apart, is_claim=True)


def share_of(odds: float) -> float:
    """Turn weighed evidence into the share of such pairs that are one company."""
    return 1 / (1 + exp(-(SLOPE * odds + SHIFT)))


def value_level(
    one: str | None, other: str | None, *, is_shared: bool = False
) -> ValueLevel:
    """Compare two values of which a company has one."""
    if not one or not other:
        return ValueLevel.UNKNOWN
    if one != other:
        return ValueLevel.DIFFERENT
    return ValueLevel.SHARED if is_shared else ValueLevel.SAME


def phone_level(one: Facts, other: Facts, *, is_shared: bool = False) -> ValueLevel:
    """Compare two phone numbers; one whose country is not known contradicts none."""
    level = value_level(one.phone, other.phone, is_shared=is_shared)
    if level is ValueLevel.DIFFERENT and not (one.has_country and other.has_country):
        return ValueLevel.UNKNOWN
    return level


def place_level(one: Facts, other: Facts) -> PlaceLevel:
    """Compare two locations: by metres where both are known, else by address."""
    metres, streets = metres_between(one, other), street_level(one, other)
    if metres is not None:
        return by_metres(metres, streets)
    codes = value_level(one.postal_code, other.postal_code)
    if streets is ValueLevel.SAME:
        is_one_door = codes is ValueLevel.UNKNOWN and is_one_town(one, other)
        return PlaceLevel.SAME if is_one_door else BY_CODE_ON_ONE_STREET[codes]
    if codes is ValueLevel.SAME:
        other_door = streets is ValueLevel.DIFFERENT
        return PlaceLevel.AROUND if other_door else PlaceLevel.NEAR
    return PlaceLevel.FAR if codes is ValueLevel.DIFFERENT else PlaceLevel.UNKNOWN


def is_one_town(one: Facts, other: Facts) -> bool:
    """Say whether two towns are the same: New York is New York City."""
    if not (one.towns and other.towns and one.has_number):
        return False
    return one.towns <= other.towns or other.towns <= one.towns


def by_metres(metres: float, streets: ValueLevel) -> PlaceLevel:
    """Judge a distance; another door makes it a step farther, the same one nearer."""
    if metres <= SAME_PLACE_METRES:
        return PlaceLevel.SAME
    other_door = streets is ValueLevel.DIFFERENT
    if metres <= NEAR_METRES:
        if streets is ValueLevel.SAME:
            return PlaceLevel.SAME
        return PlaceLevel.AROUND if other_door else PlaceLevel.NEAR
    is_far = metres > FAR_METRES or other_door
    return PlaceLevel.FAR if is_far else PlaceLevel.AROUND


def street_level(one: Facts, other: Facts) -> ValueLevel:
    """Compare two streets with their numbers; without a number one says too little."""
    level = value_level(one.street, other.street)
    if level is not ValueLevel.DIFFERENT:
        return level
    is_clear = one.has_number and other.has_number
    return ValueLevel.DIFFERENT if is_clear else ValueLevel.UNKNOWN


BY_CODE_ON_ONE_STREET: Final = {
    ValueLevel.SAME: PlaceLevel.SAME,
    ValueLevel.UNKNOWN: PlaceLevel.NEAR,
    ValueLevel.DIFFERENT: PlaceLevel.AROUND,
}


def level_of_names(one: Facts, other: Facts) -> NameLevel:
    """Compare the names of two records; their town may stand in one of them."""
    name, other_name = one.read_name, other.read_name
    if name is other_name:
        return NameLevel.SAME if name.words else NameLevel.UNKNOWN
    towns = one.towns if one.towns == other.towns else one.towns | other.towns
    return name_level(name.without(towns), other_name.without(towns))


def level_of_looks(one: Facts, other: Facts) -> NameLevel:
    """Compare two names as they are written and as they look; the nearer one counts."""
    seen = (replace(each, name=skeleton(each.name or "")) for each in (one, other))
    levels = (level_of_names(one, other), level_of_names(*seen))
    return max(levels, key=NAME_WEIGHT.__getitem__)


def name_level(one: CompanyName, other: CompanyName) -> NameLevel:
    """Compare two names by the words that say which company it is."""
    if not one.words or not other.words:
        return NameLevel.UNKNOWN
    if one.words <= other.words and one.core == other.core:
        return NameLevel.SAME
    if one.core == other.core:
        # Hotel Adler and Apotheke Adler are two, Bakery Huber and Huber are one.
        is_wider = other.words <= one.words
        return NameLevel.SAME if is_wider else NameLevel.CONTAINED
    only_one, only_other = without_typos(one.core - other.core, other.core - one.core)
    shared = len(one.core) - len(only_one)
    if not only_one and not only_other:
        return NameLevel.SPELLING
    if is_written_together(one, other):
        return NameLevel.SPELLING
    if (
        shared
        and not (only_one and only_other)
        and not any_number(only_one | only_other)
    ):
        return NameLevel.CONTAINED
    return NameLevel.PARTIAL if shared else NameLevel.DIFFERENT


def without_typos(
    one: frozenset[str], other: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Take away the words that one slip of the pen makes the same."""
    left, right = set(one), sorted(other)
    for word in sorted(one):
        found = next((each for each in right if is_typo(word, each)), None)
        if found is not None:
            left.discard(word)
            right.remove(found)
    return frozenset(left), frozenset(right)


def is_typo(one: str, other: str) -> bool:
    """Say whether one letter makes two words the same."""
    size, other_size = len(one), len(other)
    if abs(size - other_size) > 1 or min(size, other_size) < SHORTEST_TYPO:
        return False
    return not one.isdecimal() and OSA.distance(one, other, score_cutoff=1) <= 1


def is_written_together(one: CompanyName, other: CompanyName) -> bool:
    """Say whether two names are the same but for where their words end."""
    shortest = min(len(one.together), len(other.together))
    if any_number(one.words ^ other.words) or shortest < SHORTEST_TOGETHER:
        return False
    return OSA.distance(one.together, other.together, score_cutoff=1) <= 1


def any_number(words: frozenset[str]) -> bool:
    """Say whether one of some words is a number, which distinguishes two."""
    return any(word.isdecimal() for word in words)
