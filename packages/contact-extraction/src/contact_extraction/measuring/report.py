"""Say how well it went: a table, the misses by kind, and one line of figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any, Final

from contact_extraction.measuring.corpus import Part, TrueSite
from contact_extraction.measuring.outcome import Measurement
from contact_extraction.measuring.site_score import SiteScore, StoredValue

MEASURES: Final = (
    "email_recall", "email_precision", "phone_recall", "phone_precision",
    "people_known", "people_precision", "own_contact_named", "decision_maker",
    "decision_maker_chosen", "decision_maker_reached",
    "email_person", "phone_person", "address_recall", "address_precision",
    "organisation", "contact_pages_read", "people_pages_read",
)  # fmt: skip

BANDS: Final = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
"""Where one row of the reliability table ends and the next begins."""
BOOTSTRAP_DRAWS: Final = 2_000
PART_TITLES: Final = {
    Part.LOOK: "Sites that may be looked at",
    Part.SCORE: "Sites that are only scored",
}


def figures(
    sites: Sequence[TrueSite], scores: Mapping[str, SiteScore], measured: Measurement
) -> dict[str, Any]:
    """Return every figure by its name, of all sites and of each part.

    None where nothing was asked; `scores` are by site.
    """
    requests = sum(measured.outcomes[site.domain].requests for site in sites)
    return _shares(scores.values()) | {
        "fetches_per_site": _rounded(requests / len(sites) if sites else None, 2),
        "cpu_ms_per_page": _rounded(measured.cpu_ms_per_page, 1),
        "sites": len(sites),
        "seconds": _rounded(measured.seconds, 1),
        "parts": {part.value: _shares(_of(part, sites, scores)) for part in Part},
    }


def _shares(scores: Iterable[SiteScore]) -> dict[str, Any]:
    total = _total(scores)
    return {name: _rounded(total.share(name), 4) for name in MEASURES}


def render(
    sites: Sequence[TrueSite],
    scores: Mapping[str, SiteScore],
    measured: Measurement,
    *,
    misses: int,
) -> Iterator[str]:
    """Write the report, line by line; `scores` are by site.

    Of the sites that are only scored no miss is listed: whoever read it would fix it.
    """
    yield from _site_table(sites, scores, measured)
    for part in Part:
        some = _of(part, sites, scores)
        if some:
            yield f"\n{PART_TITLES[part]}: {len(some)} sites"
            yield from _measure_table(some)
            total = _total(some)
            yield from _losses(total)
            yield from _reliability(total.claims)
    yield from _miss_list(_total(_of(Part.LOOK, sites, scores)), misses)
    if not measured.is_finished:
        yield "\nThe pipeline did not finish in time: the figures are of what it had."


def _of(
    part: Part, sites: Sequence[TrueSite], scores: Mapping[str, SiteScore]
) -> list[SiteScore]:
    return [scores[site.name] for site in sites if site.part is part]


def _total(scores: Iterable[SiteScore]) -> SiteScore:
    total = SiteScore()
    for score in scores:
        total += score
    return total


def _measure_table(scores: Sequence[SiteScore]) -> Iterator[str]:
    """Write each measure over all values, with its interval, and as a mean of sites."""
    yield f"{'':24}{'right':>14}{'micro':>8}{'90 % by site':>16}{'macro':>8}"
    total = _total(scores)
    for name in MEASURES:
        if total.total[name]:
            counts = f"{total.right[name]} of {total.total[name]}"
            low, high = interval(scores, name)
            macro = fmean(s.share(name) or 0.0 for s in scores if s.total[name])
            yield (
                f"{name:24}{counts:>14}{total.share(name) or 0:>8.3f}"
                f"{f'{low:.3f} to {high:.3f}':>16}{macro:>8.3f}"
            )


def interval(scores: Sequence[SiteScore], measure: str) -> tuple[float, float]:
    """Return where nine of ten draws of as many sites put a measure.

    Values of one site are alike, so sites are drawn and not values.
    """
    counts = [(s.right[measure], s.total[measure]) for s in scores if s.total[measure]]
    random = Random(measure)  # noqa: S311 - the same draws for the same sites
    shares = sorted(
        sum(right for right, _ in drawn) / sum(total for _, total in drawn)
        for drawn in (
            random.choices(counts, k=len(counts)) for _ in range(BOOTSTRAP_DRAWS)
        )
    )
    return shares[BOOTSTRAP_DRAWS // 20], shares[
        BOOTSTRAP_DRAWS - 1 - BOOTSTRAP_DRAWS // 20
    ]


def _site_table(
    sites: Sequence[TrueSite], scores: Mapping[str, SiteScore], measured: Measurement
) -> Iterator[str]:
    yield f"{'site':36}{'requests':>9}{'read':>6}{'e-mails':>9}{'phones':>8}  state"
    for site in sites:
        found, score = measured.outcomes[site.domain], scores[site.name]
        read = sum(page.is_read for page in found.pages)
        emails = f"{score.right['email_recall']}/{score.total['email_recall']}"
        phones = f"{score.right['phone_recall']}/{score.total['phone_recall']}"
        yield (
            f"{site.name[:35]:36}{found.requests:>9}{read:>6}{emails:>9}{phones:>8}"
            f"  {found.state[:40]}"
        )


def _losses(total: SiteScore) -> Iterator[str]:
    """Say how many misses have which cause: totals, which betray no site."""
    yield f"\n{'missed because':32}{'':44}{'values':>8}"
    for (kind, why), count in sorted(total.losses.items()):
        yield f"{kind:32}{why:44}{count:>8}"


def _reliability(claims: Sequence[StoredValue]) -> Iterator[str]:
    """Set what the pipeline is said to be sure of beside how often it is right."""
    yield f"\n{'confidence':26}{'values':>8}{'claimed':>9}{'right':>8}"
    for kind in sorted({claim.kind for claim in claims}):
        mine = [claim for claim in claims if claim.kind == kind]
        brier = fmean((claim.confidence - claim.is_right) ** 2 for claim in mine)
        yield f"{kind:14}{'Brier score':12}{len(mine):>8}{brier:>17.3f}"
        for low, high in pairwise(BANDS):
            some = [claim for claim in mine if low <= claim.confidence < high]
            if some:
                claimed = fmean(claim.confidence for claim in some)
                right = fmean(claim.is_right for claim in some)
                band = f"{low:.2f} to {min(high, 1.0):.2f}"
                yield f"{kind:14}{band:12}{len(some):>8}{claimed:>9.2f}{right:>8.2f}"


def _miss_list(total: SiteScore, most: int) -> Iterator[str]:
    for kind, some in sorted(total.misses.items(), key=lambda item: -len(item[1])):
        yield f"\n[{len(some)}] {kind}"
        yield from (f"    {what}" for what in some[:most])
        if len(some) > most:
            yield f"    ... and {len(some) - most} more (--misses, --out)"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
