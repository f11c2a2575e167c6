"""Say how well it went: a table, the misses by kind, and one line of figures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Final

from scrapersky.measuring.corpus import TrueSite
from scrapersky.measuring.judge import Claim, Score
from scrapersky.measuring.pipeline import Measured

MEASURES: Final = (
    "email_recall", "email_precision", "phone_recall", "phone_precision",
    "people_known", "people_precision", "own_contact_named", "decision_maker",
    "decision_maker_chosen",
    "email_person", "phone_person", "address_recall", "address_precision",
    "organisation", "contact_pages_read", "people_pages_read",
)  # fmt: skip

BANDS: Final = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
"""Where one row of the reliability table ends and the next begins."""


def figures(
    sites: Sequence[TrueSite], score: Score, measured: Measured
) -> dict[str, float | int | None]:
    """Return every figure by its name; None where nothing was asked."""
    requests = sum(measured.outcomes[site.domain].requests for site in sites)
    shares: dict[str, float | int | None] = {
        name: _rounded(score.share(name), 4) for name in MEASURES
    }
    return shares | {
        "fetches_per_site": _rounded(requests / len(sites) if sites else None, 2),
        "cpu_ms_per_page": _rounded(measured.cpu_ms_per_page, 1),
        "sites": len(sites),
        "seconds": _rounded(measured.seconds, 1),
    }


def render(
    sites: Sequence[TrueSite],
    scores: Mapping[str, Score],
    measured: Measured,
    *,
    misses: int,
) -> Iterator[str]:
    """Write the report, line by line; `scores` are by site."""
    total = Score()
    for score in scores.values():
        total += score
    yield from _site_table(sites, scores, measured)
    yield ""
    for name in MEASURES:
        if total.total[name]:
            counts = f"{total.right[name]} of {total.total[name]}"
            yield f"{name:22}{counts:>14}{total.share(name) or 0:>8.3f}"
    yield from _reliability(total.claims)
    yield from _miss_list(total, misses)
    if not measured.is_finished:
        yield "\nThe pipeline did not finish in time: the figures are of what it had."


def _site_table(
    sites: Sequence[TrueSite], scores: Mapping[str, Score], measured: Measured
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


def _reliability(claims: Sequence[Claim]) -> Iterator[str]:
    """Set what the pipeline is said to be sure of beside how often it is right."""
    yield f"\n{'confidence':26}{'values':>8}{'claimed':>9}{'right':>8}"
    for kind in sorted({claim.kind for claim in claims}):
        for low, high in pairwise(BANDS):
            some = [
                claim
                for claim in claims
                if claim.kind == kind and low <= claim.confidence < high
            ]
            if some:
                claimed = fmean(claim.confidence for claim in some)
                right = fmean(claim.is_right for claim in some)
                band = f"{low:.2f} to {min(high, 1.0):.2f}"
                yield f"{kind:14}{band:12}{len(some):>8}{claimed:>9.2f}{right:>8.2f}"


def _miss_list(total: Score, most: int) -> Iterator[str]:
    for kind, some in sorted(total.misses.items(), key=lambda item: -len(item[1])):
        yield f"\n[{len(some)}] {kind}"
        yield from (f"    {what}" for what in some[:most])
        if len(some) > most:
            yield f"    ... and {len(some) - most} more (--misses, --out)"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
