"""What a perfect, polite reader would find in the town, and how near another came."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from simulated_town.business import Business, ExpectedVerdict, SiteKind
from simulated_town.plan import TownPlan


class FactKind(StrEnum):
    """What can be found on a site."""

    EMAIL = "email"
    PHONE = "phone"
    PERSON = "person"
    ADDRESS = "address"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class SiteFact:
    """One value found on the site of one domain.

    An address counts by its postal code, a person by name, a number as E.164.
    """

    domain: str
    kind: FactKind
    value: str

    @property
    def normal(self) -> "SiteFact":
        """Return the fact in the form in which facts are compared."""
        return SiteFact(self.domain.lower(), self.kind, _NORMAL[self.kind](self.value))


@dataclass(frozen=True, slots=True)
class FactScore:
    """How one kind of fact came out."""

    kind: FactKind
    true: int
    found: int
    missed: tuple[SiteFact, ...]
    wrong: tuple[SiteFact, ...]
    """Found, but not true: invented, misread, bait taken, or on the wrong domain."""

    @property
    def share(self) -> float:
        """Return the share of the truth that was found, 1 when there is none."""
        return self.found / self.true if self.true else 1.0


@dataclass(frozen=True, slots=True)
class TruthComparison:
    """What was found, missed and wrong, by kind."""

    scores: tuple[FactScore, ...]

    def of(self, kind: FactKind) -> FactScore:
        """Return the score of one kind."""
        return next(score for score in self.scores if score.kind is kind)

    def rows(self) -> Sequence[tuple[str, int, int, int, int, float]]:
        """Return a table: kind, true, found, missed, wrong, share found."""
        return [
            (t.kind.value, t.true, t.found, len(t.missed), len(t.wrong), t.share)
            for t in self.scores
        ]


@dataclass(frozen=True, slots=True)
class Truth:
    """All that is true about the town's websites."""

    facts: frozenset[SiteFact]
    verdicts: Mapping[str, ExpectedVerdict]
    """By domain, for businesses that have one."""
    decoys: frozenset[str]
    """Addresses that stand on pages and must never be taken."""

    def compare(
        self, found: Iterable[SiteFact], kinds: Iterable[FactKind] = FactKind
    ) -> TruthComparison:
        """Compare what was found with the truth, for these kinds."""
        normal = {fact.normal for fact in found}
        return TruthComparison(tuple(self._score(kind, normal) for kind in kinds))

    def _score(self, kind: FactKind, found: Iterable[SiteFact]) -> FactScore:
        true = {fact for fact in self.facts if fact.kind is kind}
        seen = {fact for fact in found if fact.kind is kind}
        return FactScore(
            kind,
            len(true),
            len(true & seen),
            _sorted(true - seen),
            _sorted(seen - true),
        )


def truth_of(plan: TownPlan) -> Truth:
    """Write down all that is true about a town."""
    facts = {
        fact.normal
        for business in plan.sites
        if business.domain is not None
        for fact in _facts(business, business.domain)
    }
    return Truth(
        frozenset(facts),
        {domain: verdict_of(owners[0]) for domain, owners in plan.owners.items()},
        frozenset(decoy for b in plan.sites for decoy in b.decoys),
    )


def verdict_of(business: Business) -> ExpectedVerdict:
    """Return what the website is to its business."""
    return _VERDICTS.get(business.kind, ExpectedVerdict.OWN_SITE)


_VERDICTS: Final = {
    SiteKind.NO_WEBSITE: ExpectedVerdict.NO_WEBSITE,
    SiteKind.SOCIAL: ExpectedVerdict.SOCIAL_PROFILE,
    SiteKind.BOOKING: ExpectedVerdict.BOOKING_PAGE,
    SiteKind.LINK_PAGE: ExpectedVerdict.LINK_PAGE,
    SiteKind.DIRECTORY: ExpectedVerdict.DIRECTORY,
    SiteKind.PARKED: ExpectedVerdict.PARKED,
    SiteKind.FOR_SALE: ExpectedVerdict.FOR_SALE,
    SiteKind.OTHER_BRAND: ExpectedVerdict.OTHER_BRAND,
    SiteKind.NO_SUCH_NAME: ExpectedVerdict.UNREACHABLE,
    SiteKind.SERVER_ERROR: ExpectedVerdict.UNREACHABLE,
    SiteKind.GZIP_BOMB: ExpectedVerdict.UNREACHABLE,
    SiteKind.ENDLESS: ExpectedVerdict.UNREACHABLE,
    SiteKind.REDIRECT_LOOP: ExpectedVerdict.UNREACHABLE,
    SiteKind.PRIVATE_REDIRECT: ExpectedVerdict.UNREACHABLE,
    SiteKind.ROBOTS_ERROR: ExpectedVerdict.UNREACHABLE,
    SiteKind.HANGING: ExpectedVerdict.UNREACHABLE,
}


def _facts(business: Business, domain: str) -> Iterable[SiteFact]:
    for box in business.mailboxes:
        yield SiteFact(domain, FactKind.EMAIL, box.address)
    for line in business.lines:
        yield SiteFact(domain, FactKind.PHONE, line.e164)
    for person in business.people:
        yield SiteFact(domain, FactKind.PERSON, person.name)
    for profile in business.profiles:
        yield SiteFact(domain, FactKind.PROFILE, profile)
    if business.lines:
        yield SiteFact(domain, FactKind.ADDRESS, business.address.postcode)


def _sorted(facts: Iterable[SiteFact]) -> tuple[SiteFact, ...]:
    return tuple(sorted(facts, key=lambda f: (f.domain, f.value)))


def _profile(url: str) -> str:
    bare = url.partition("://")[2] or url
    return bare.partition("?")[0].removeprefix("www.").rstrip("/").lower()


def _name(name: str) -> str:
    return " ".join(name.casefold().split())


def _code(code: str) -> str:
    return "".join(c for c in code.upper() if c.isalnum())


_NORMAL: Final[Mapping[FactKind, Callable[[str], str]]] = {
    FactKind.EMAIL: str.lower,
    FactKind.PHONE: str.strip,
    FactKind.PERSON: _name,
    FactKind.ADDRESS: _code,
    FactKind.PROFILE: _profile,
}
