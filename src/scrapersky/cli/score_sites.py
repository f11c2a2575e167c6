"""`scrapersky score-sites`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrapersky.kit.plain_text import plain_text
from scrapersky.measuring import (
    Score,
    TrueSite,
    figures,
    judge,
    measure,
    read_corpus,
    render,
)
from scrapersky.measuring.outcome import Outcome
from scrapersky.observability.log import configure_logs

QUICK = 8
"""Sites of a quick run."""


def score_sites(
    directory: Path,
    *,
    quick: bool = False,
    only: str | None = None,
    misses: int = 20,
    out: Path | None = None,
) -> int:
    """Serve annotated websites, run the pipeline over them, and print how well it went."""
    configure_logs("ERROR", "console")
    sites = chosen(read_corpus(directory), quick=quick, only=only)
    measured = measure(sites)
    scores = {site.name: judge(site, measured.outcomes[site.domain]) for site in sites}
    for line in render(sites, scores, measured, misses=misses):
        print(plain_text(line))
    if out is not None:
        report = {
            site.name: details(measured.outcomes[site.domain], scores[site.name])
            for site in sites
        }
        out.write_text(
            json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8"
        )
        print(f"\nEvery miss by site, and what was stored: {out}")
    total = Score()
    for score in scores.values():
        total += score
    print(json.dumps(figures(sites, total, measured)))
    return 0 if measured.is_finished else 1


def chosen(sites: list[TrueSite], *, quick: bool, only: str | None) -> list[TrueSite]:
    """Return the sites to measure."""
    if only is not None:
        wanted = set(only.split(","))
        sites = [site for site in sites if site.name in wanted]
    if quick and len(sites) > QUICK:
        return [sites[len(sites) * at // QUICK] for at in range(QUICK)]
    return sites


def details(found: Outcome, score: Score) -> dict[str, Any]:
    """Write what became of a site as plain values."""
    report = asdict(found)
    for contact in report["contacts"]:
        contact["phones"] = sorted(contact["phones"])
    return {**report, "misses": score.misses}
