"""What a perfect, polite reader would find in the town, and how near another came."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from scrapersky.demo.business import Business, ExpectedVerdict, SiteKind
from scrapersky.demo.plan import TownPlan


class FindingKind(StrEnum):
    """What can be found on a site."""

    EMAIL = "email"
    PHONE = "phone"
    PERSON = "person"
    ADDRESS = "address"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class Finding:
    """One value found on the site of one domain.

    An address counts by its postal code, a person by name, a number as E.164.
    """

    domain: str
    kind: FindingKind
    value: str

    @property
    def normal(self) -> "Finding":
        """Return the finding in the form in which findings are compared."""
        return Finding(self.domain.lower(), self.kind, _NORMAL[self.kind](self.value))


@dataclass(frozen=True, slots=True)
class Tally:
    """How one kind of finding came out."""

    kind: FindingKind
    true: int
    found: int
    missed: tuple[Finding, ...]
    wrong: tuple[Finding, ...]
    """Found, but not true: invented, misread, bait taken, or on the wrong domain."""

    @property
    def share(self) -> float:
        """Return the share of the truth that was found, 1 when there is none."""
        return self.found / self.true if self.true else 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found, missed and wrong, by kind."""

    tallies: tuple[Tally, ...]

    def of(self, kind: FindingKind) -> Tally:
        """Return the tally of one kind."""
        return next(tally for tally in self.tallies if tally.kind is kind)

    def rows(self) -> Sequence[tuple[str, int, int, int, int, float]]:
        """Return a table: kind, true, found, missed, wrong, share found."""
        return [
            (t.kind.value, t.true, t.found, len(t.missed), len(t.wrong), t.share)
            for t in self.tallies
        ]


@dataclass(frozen=True, slots=True)
class Truth:
    """All that is true about the town's websites."""

    findings: frozenset[Finding]
    verdicts: Mapping[str, ExpectedVerdict]
    """By domain, for businesses that have one."""
    place_verdicts: Mapping[int, ExpectedVerdict]
    """By number of the business, also for those whose website is elsewhere."""
    decoys: frozenset[str]
    """Addresses that stand on pages and must never be taken."""

    def compare(
        self, found: Iterable[Finding], kinds: Iterable[FindingKind] = FindingKind
    ) -> Comparison:
        """Compare what was found with the truth, for these kinds."""
        normal = {finding.normal for finding in found}
        return Comparison(tuple(self._tally(kind, normal) for kind in kinds))

    def _tally(self, kind: FindingKind, found: Iterable[Finding]) -> Tally:
        true = {finding for finding in self.findings if finding.kind is kind}
        seen = {finding for finding in found if finding.kind is kind}
        return Tally(
            kind,
            len(true),
            len(true & seen),
            _sorted(true - seen),
            _sorted(seen - true),
        )


def truth_of(plan: TownPlan) -> Truth:
    """Write down all that is true about a town."""
    findings = {
        finding.normal
        for business in plan.sites
        if business.domain is not None
        for finding in _findings(business, business.domain)
    }
    return Truth(
        frozenset(findings),
        {domain: verdict_of(owners[0]) for domain, owners in plan.owners.items()},
        {business.number: verdict_of(business) for business in plan.businesses},
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


def _findings(business: Business, domain: str) -> Iterable[Finding]:
    for box in business.mailboxes:
        yield Finding(domain, FindingKind.EMAIL, box.address)
    for line in business.lines:
        yield Finding(domain, FindingKind.PHONE, line.e164)
    for person in business.people:
        yield Finding(domain, FindingKind.PERSON, person.name)
    for profile in business.profiles:
        yield Finding(domain, FindingKind.PROFILE, profile)
    if business.lines:
        yield Finding(domain, FindingKind.ADDRESS, business.address.postcode)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (f.domain, f.value)))


def _profile(url: str) -> str:
    bare = url.partition("://")[2] or url
    return bare.partition("?")[0].removeprefix("www.").rstrip("/").lower()


def _name(name: str) -> str:
    return " ".join(name.casefold().split())


def _code(code: str) -> str:
    return "".join(c for c in code.upper() if c.isalnum())


_NORMAL: Final[Mapping[FindingKind, Callable[[str], str]]] = {
    FindingKind.EMAIL: str.lower,
    FindingKind.PHONE: str.strip,
    FindingKind.PERSON: _name,
    FindingKind.ADDRESS: _code,
    FindingKind.PROFILE: _profile,
}
