"""Hold what a map claims of a place against what the company's own website says.

A field is contradicted only where the website is shown to be the company's by another field:
else a wrong website would make every right value wrong. What a website does not say
contradicts nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from contact_extraction.verdict import VerdictKind
from scrapersky.companies.agreement import (
    Agreement,
    FieldComparison,
    MapClaim,
    WebsiteFacts,
    address_agreement,
    hours_agreement,
    name_agreement,
    phone_agreement,
)
from scrapersky.providers.source import BusinessStatus
from scrapersky.records.status import MapField, MapVerdict

OWN: Final = frozenset({VerdictKind.OWN_SITE, VerdictKind.CANDIDATE})
NOBODYS: Final = frozenset(
    {VerdictKind.PARKED, VerdictKind.FOR_SALE, VerdictKind.OTHER_BRAND}
)
"""Websites that are certainly not the company's any more."""
CLOSED_TO_US: Final = frozenset(
    {VerdictKind.UNREACHABLE, VerdictKind.LOGIN_WALL, VerdictKind.CHALLENGE_WALL}
)
SHOWN_BY: Final = (0.0, 0.93, 0.98, 0.99)
"""How sure a website is the company's when so many fields agree."""
OPEN_BY_HOURS: Final = 0.9
"""How sure a company is open whose website gives opening hours."""
MIN_DISAGREEING: Final = 2
"""Fields that must differ for a website to be that of somebody else."""
CLOSED: Final = frozenset({BusinessStatus.CLOSED_PERMANENTLY})


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """What the website says of one field, how surely, and where."""

    field: MapField
    verdict: MapVerdict
    confidence: float
    claimed: str
    why: str
    said: str | None = None
    url: str | None = None
    snippet: str | None = None


def judge_claim(claim: MapClaim, site: WebsiteFacts) -> tuple[FieldVerdict, ...]:
    """Give every field that the map has a verdict."""
    kind = VerdictKind(site.kind)
    if kind in CLOSED_TO_US:
        why = f"the website could not be read: {kind.replace('_', ' ')}"
        return tuple(same_verdict_for_all(claim, MapVerdict.UNREACHABLE, why))
    if kind not in OWN:
        return tuple(of_other_kind(claim, site, kind))
    return tuple(Judge(claim, site).verdicts())


def same_verdict_for_all(
    claim: MapClaim, verdict: MapVerdict, why: str, *, besides: MapField | None = None
) -> Iterator[FieldVerdict]:
    """Give all fields but one the same verdict."""
    for field, claimed in claim.written.items():
        if field is not besides:
            yield FieldVerdict(field, verdict, 1.0, claimed, why)


def of_other_kind(
    claim: MapClaim, site: WebsiteFacts, kind: VerdictKind
) -> Iterator[FieldVerdict]:
    """Judge by a website that is no company's own: it can only tell of itself."""
    what = kind.replace("_", " ")
    is_wrong = kind in NOBODYS and MapField.WEBSITE in claim.written
    if is_wrong:
        yield FieldVerdict(
            MapField.WEBSITE,
            MapVerdict.CONTRADICTED,
            site.kind_confidence,
            claim.written[MapField.WEBSITE],
            f"what stands there is not the company's website: {what}",
            said=what,
            url=site.home_url,
            snippet=site.kind_snippet,
        )
    why = f"the website is not the company's own: {what}"
    besides = MapField.WEBSITE if is_wrong else None
    yield from same_verdict_for_all(claim, MapVerdict.SILENT, why, besides=besides)


IDENTITY: Final[
    Mapping[MapField, Callable[[MapClaim, WebsiteFacts], FieldComparison]]
] = {
    MapField.NAME: name_agreement,
    MapField.PHONE: phone_agreement,
    MapField.ADDRESS: address_agreement,
}
"""The fields by which a website is known to be a company's."""


class Judge:
    """Judges the fields of one place by a website of somebody's own."""

    def __init__(self, claim: MapClaim, site: WebsiteFacts) -> None:
        self.claim, self.site = claim, site
        self.findings = {
            field: compare(claim, site)
            for field, compare in IDENTITY.items()
            if field in claim.written
        }

    def verdicts(self) -> Iterator[FieldVerdict]:
        """Judge every field that the map has."""
        for field in self.claim.written:
            if field in self.findings:
                yield self.of_identity(field, self.findings[field])
        if MapField.HOURS in self.claim.written:
            found = hours_agreement(self.claim, self.site)
            yield self.of_identity(MapField.HOURS, found)
        if MapField.WEBSITE in self.claim.written:
            yield self.of_website()
        if MapField.STATUS in self.claim.written:
            yield self.of_status()

    def shown_without(self, field: MapField | None = None) -> float:
        """Return how sure the website is the company's by the fields but one."""
        agreeing = [
            other
            for other, found in self.findings.items()
            if other is not field and found.agreement is Agreement.SAME
        ]
        return SHOWN_BY[min(len(agreeing), len(SHOWN_BY) - 1)]

    @property
    def is_anothers(self) -> bool:
        """Whether the website is that of another business."""
        if self.shown_without():
            return False
        differing = [
            field
            for field, found in self.findings.items()
            if found.agreement is Agreement.DIFFERENT
        ]
        return len(differing) >= MIN_DISAGREEING

    def of_identity(self, field: MapField, found: FieldComparison) -> FieldVerdict:
        """Judge a field that the website may give too."""
        shown = self.shown_without(field)
        if found.agreement is Agreement.SAME and not (
            field is MapField.HOURS and not shown
        ):
            return self.field_verdict(
                field, MapVerdict.CONFIRMED, found, found.confidence
            )
        if found.agreement is Agreement.DIFFERENT:
            if self.is_anothers:
                return self.silent(field, "the website is that of another business")
            if not shown:
                why = "nothing else shows that the website is the company's"
                return self.silent(field, why)
            if self.site.is_of_several and field is not MapField.NAME:
                why = "the website is that of several places, and may not list this one"
                return self.silent(field, why)
            sure = found.confidence * shown
            return self.field_verdict(field, MapVerdict.CONTRADICTED, found, sure)
        return self.silent(field, found.why)

    def of_website(self) -> FieldVerdict:
        """Judge whether the website is the company's, by what it says of itself."""
        field = MapField.WEBSITE
        if shown := self.shown_without():
            best = max(
                (one for one in self.findings.values() if one.is_same),
                key=lambda one: one.confidence,
            )
            return self.field_verdict(field, MapVerdict.CONFIRMED, best, shown)
        if self.is_anothers:
            worst = max(
                (one for one in self.findings.values() if one.is_different),
                key=lambda one: one.confidence,
            )
            return self.field_verdict(
                field, MapVerdict.CONTRADICTED, worst, worst.confidence * SHOWN_BY[-1]
            )
        return self.silent(field, "the website does not say whose it is")

    def of_status(self) -> FieldVerdict:
        """Judge whether the company is open: only its own word closes it."""
        field, site = MapField.STATUS, self.site
        shown = self.shown_without()
        said_closed = self.claim.business_status in CLOSED
        if not shown:
            return self.silent(field, "nothing shows that the website is the company's")
        if site.closed is not None:
            notice = FieldComparison(Agreement.SAME, "the website says so", site.closed)
            verdict = MapVerdict.CONFIRMED if said_closed else MapVerdict.CONTRADICTED
            return self.field_verdict(
                field, verdict, notice, site.closed.confidence * shown
            )
        is_open = self.claim.business_status == BusinessStatus.OPERATING
        if is_open and site.weeks:
            hours = FieldComparison(
                Agreement.SAME, "the website gives opening hours", site.weeks[0].seen
            )
            return self.field_verdict(field, MapVerdict.CONFIRMED, hours, OPEN_BY_HOURS)
        # A website outlives its company, so that it is there opens no doors.
        why = "the website says neither that it is open nor that it has closed"
        return self.silent(field, why)

    def silent(self, field: MapField, why: str) -> FieldVerdict:
        """Say that the website does not tell."""
        return FieldVerdict(
            field, MapVerdict.SILENT, 1.0, self.claim.written[field], why
        )

    def field_verdict(
        self,
        field: MapField,
        verdict: MapVerdict,
        found: FieldComparison,
        confidence: float,
    ) -> FieldVerdict:
        """Say what was found, with where it stands."""
        seen = found.seen
        return FieldVerdict(
            field,
            verdict,
            round(min(confidence, 0.99), 3),
            self.claim.written[field],
            found.why,
            said=seen.value if seen else None,
            url=seen.url if seen else None,
            snippet=seen.snippet if seen else None,
        )
