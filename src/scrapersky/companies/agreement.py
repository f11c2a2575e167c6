"""Whether a website says the same of a company as a map: name, phone, address, hours."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from contact_extraction.address_key import address_words
from contact_extraction.text import compact, fold
from scrapersky.companies.evidence import Facts
from scrapersky.companies.score import NAME_WEIGHT, NameLevel, level_of_names
from scrapersky.records.status import MapField

SAME_NAMES: Final = frozenset({NameLevel.SAME, NameLevel.SPELLING, NameLevel.CONTAINED})
TAIL_DIGITS: Final = 7
"""Digits by which a number is taken for another one that lacks its country or area."""
MIN_COMPARED_DAYS: Final = 3
"""Days that two weeks must both give before they are the same or two."""
MIN_DIFFERENT_DAYS: Final = 2
LESS_SURE: Final = 0.9
NO_ID: Final = UUID(int=0)
DAY_NAMES: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TITLE_PARTS: Final = re.compile(r"\s+[|:\u00b7\u2013\u2014-]\s+|\s*\|\s*")
Week = Mapping[int, frozenset[tuple[str, str]]]
"""By weekday (0 is Monday) when it opens and closes; an empty set: closed."""


class Agreement(StrEnum):
    """How what a website says stands to what a map claims."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WebsiteValue:
    """A value of a website, and where it stands."""

    value: str
    url: str | None = None
    snippet: str | None = None
    confidence: float = LESS_SURE


@dataclass(frozen=True, slots=True)
class WebsiteNumber:
    """A telephone number of a website; others are not the company's own, but are there."""

    e164: str
    is_own: bool
    seen: WebsiteValue


@dataclass(frozen=True, slots=True)
class WebsiteOffice:
    """An address of a website."""

    street: str | None
    postal_code: str | None
    city: str | None
    seen: WebsiteValue


@dataclass(frozen=True, slots=True)
class WebsiteHours:
    """Opening hours of a website."""

    days: Week
    seen: WebsiteValue


@dataclass(frozen=True, slots=True, kw_only=True)
class MapClaim:
    """What a map says of a place."""

    source: str
    name: str | None = None
    phone: str | None = None
    street: str | None = None
    address: str | None = None
    postal_code: str | None = None
    city: str | None = None
    hours: Week | None = None
    website: str | None = None
    business_status: str | None = None

    @property
    def written(self) -> dict[MapField, str]:
        """Return the fields that it gives, as people read them."""
        parts = (self.street, self.postal_code, self.city)
        joined = ", ".join(part for part in parts if part)
        address = joined if self.street else self.address or joined
        values = {
            MapField.NAME: self.name,
            MapField.PHONE: self.phone,
            MapField.ADDRESS: address,
            MapField.HOURS: written_week(self.hours) if self.hours else None,
            MapField.WEBSITE: self.website,
            MapField.STATUS: self.business_status,
        }
        return {field: value for field, value in values.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebsiteFacts:
    """What a company's website says, of all pages that were read."""

    kind: str
    kind_confidence: float = 1.0
    kind_snippet: str | None = None
    domain: str = ""
    home_url: str | None = None
    title: str | None = None
    names: Sequence[WebsiteValue] = ()
    numbers: Sequence[WebsiteNumber] = ()
    offices: Sequence[WebsiteOffice] = ()
    weeks: Sequence[WebsiteHours] = ()
    closed: WebsiteValue | None = None
    """The notice that the business has closed for good."""
    is_of_several: bool = False
    """Whether several places of one name have this website, or it lists several addresses."""


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """How one field stands, why, and where that is written."""

    agreement: Agreement
    why: str
    seen: WebsiteValue | None = None
    sure: float = 1.0

    @property
    def confidence(self) -> float:
        """How sure it is that the website says so."""
        return self.sure * (self.seen.confidence if self.seen else LESS_SURE)

    @property
    def is_same(self) -> bool:
        """Whether both say the same."""
        return self.agreement is Agreement.SAME

    @property
    def is_different(self) -> bool:
        """Whether one says what the other does not."""
        return self.agreement is Agreement.DIFFERENT


def unknown(why: str) -> FieldComparison:
    """Say that a website does not tell."""
    return FieldComparison(Agreement.UNKNOWN, why)


def name_agreement(claim: MapClaim, site: WebsiteFacts) -> FieldComparison:
    """Compare the name with everything that the website calls itself."""
    towns = frozenset(fold(claim.city or "").split())
    mine = replace_town(claim.name, towns)
    stated = [*site.names]
    titles = [
        WebsiteValue(part, site.home_url, site.title)
        for part in TITLE_PARTS.split(site.title or "")
        if part.strip()
    ]
    levels = [
        (level_of_names(mine, replace_town(each.value, towns)), each)
        for each in (*stated, *titles)
    ]
    if not levels:
        return unknown("the website does not say what the business is called")
    level, seen = max(levels, key=lambda pair: NAME_WEIGHT[pair[0]])
    if level in SAME_NAMES:
        sure = 1.0 if level is not NameLevel.CONTAINED else LESS_SURE
        return FieldComparison(Agreement.SAME, level.value, seen, sure)
    core = [compact(word) for word in mine.read_name.core]
    label = compact(site.domain.partition(".")[0])
    if core and all(word and word in label for word in core):
        said = WebsiteValue(site.domain, site.home_url, None)
        return FieldComparison(Agreement.SAME, "the domain has the name", said)
    if not stated or level is not NameLevel.DIFFERENT:
        return unknown(f"the name of the website is not clear: {level.value}")
    return FieldComparison(
        Agreement.DIFFERENT, "the website has another name", stated[0]
    )


def replace_town(name: str | None, towns: frozenset[str]) -> Facts:
    """Read a name in whose words the town may stand."""
    return Facts(NO_ID, name=name, locality=" ".join(towns))


def phone_agreement(claim: MapClaim, site: WebsiteFacts) -> FieldComparison:
    """Compare the number with every number that stands anywhere on the website."""
    mine = digits_of(claim.phone or "")
    own = [each for each in site.numbers if each.is_own]
    for each in own:
        if is_one_number(mine, claim.phone, each.e164):
            return FieldComparison(Agreement.SAME, "the number is there", each.seen)
    if not own:
        return unknown("the website gives no telephone number of the business")
    tails = {digits_of(each.e164)[-TAIL_DIGITS:] for each in site.numbers}
    if mine[-TAIL_DIGITS:] in tails:
        return unknown("the number is there, as a fax number or as somebody else's")
    if not (claim.phone or "").startswith("+"):
        return unknown("the map gives a number without its country")
    best = max(own, key=lambda each: each.seen.confidence)
    return FieldComparison(
        Agreement.DIFFERENT, "the website has other numbers", best.seen
    )


def is_one_number(mine: str, written: str | None, theirs: str) -> bool:
    """Say whether two numbers are one, of which ours may lack its country."""
    if (written or "").startswith("+"):
        return written == theirs
    return len(mine) >= TAIL_DIGITS and digits_of(theirs).endswith(mine.lstrip("0"))


def digits_of(number: str) -> str:
    """Return the digits of a number."""
    return "".join(sign for sign in number if sign.isdecimal())


def address_agreement(claim: MapClaim, site: WebsiteFacts) -> FieldComparison:
    """Compare the address with every address of the website."""
    if not site.offices:
        return unknown("the website gives no address of the business")
    findings = [(office_agreement(claim, office), office) for office in site.offices]
    for agreement, office in findings:
        if agreement is Agreement.SAME:
            return FieldComparison(agreement, "the address is there", office.seen)
    if all(agreement is Agreement.DIFFERENT for agreement, _ in findings):
        best = max((one for _, one in findings), key=lambda one: one.seen.confidence)
        return FieldComparison(
            Agreement.DIFFERENT, "the website has another address", best.seen
        )
    return unknown("the address of the website is not clear")


def office_agreement(claim: MapClaim, office: WebsiteOffice) -> Agreement:
    """Compare two addresses by house number, words of the street and postal code."""
    theirs = address_words(fold(office.street or ""))
    whole = address_words(fold(claim.street or claim.address or ""))
    numbers, words = split_street_words(theirs)
    my_numbers, my_words = split_street_words(whole)
    if not words or not my_words or not numbers or not my_numbers:
        return Agreement.UNKNOWN
    codes = {code_of(claim.postal_code), code_of(office.postal_code)}
    one_code = len(codes) == 1 or None in codes
    has_words = 2 * len(words & my_words) >= len(words)
    if numbers & my_numbers and has_words and one_code:
        return Agreement.SAME
    is_elsewhere = not words & my_words or not one_code
    if not numbers & my_numbers and is_elsewhere:
        return Agreement.DIFFERENT
    is_far = not words & my_words and not one_code
    return Agreement.DIFFERENT if is_far else Agreement.UNKNOWN


def split_street_words(words: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Part the words of a street into those with a digit and the others."""
    listed = frozenset(words)
    numbers = frozenset(w for w in listed if any(sign.isdecimal() for sign in w))
    return numbers, listed - numbers


def code_of(code: str | None) -> str | None:
    """Return a postal code in one form."""
    return "".join(filter(str.isalnum, (code or "").upper())) or None


def hours_agreement(claim: MapClaim, site: WebsiteFacts) -> FieldComparison:
    """Compare the opening hours day by day, of the days that both give."""
    findings = [
        (week_agreement(claim.hours or {}, week.days), week) for week in site.weeks
    ]
    for agreement, week in findings:
        if agreement is Agreement.SAME:
            return FieldComparison(agreement, "the hours are there", week.seen)
    if findings and all(each is Agreement.DIFFERENT for each, _ in findings):
        return FieldComparison(
            Agreement.DIFFERENT, "the website has other hours", findings[0][1].seen
        )
    return unknown("the website does not give hours that can be compared")


def week_agreement(mine: Week, theirs: Week) -> Agreement:
    """Compare two weeks."""
    common = mine.keys() & theirs.keys()
    different = sum(mine[day] != theirs[day] for day in common)
    if len(common) < MIN_COMPARED_DAYS:
        return Agreement.UNKNOWN
    if not different:
        return Agreement.SAME
    is_other = different >= MIN_DIFFERENT_DAYS
    return Agreement.DIFFERENT if is_other else Agreement.UNKNOWN


def written_week(week: Week) -> str:
    """Write a week as people read it."""
    return "; ".join(
        f"{DAY_NAMES[day]} {spans_of(week[day])}"
        for day in sorted(week)
        if 0 <= day < len(DAY_NAMES)
    )


def spans_of(spans: frozenset[tuple[str, str]]) -> str:
    """Write the hours of a day."""
    return ", ".join(f"{a}-{b}" for a, b in sorted(spans)) or "closed"
