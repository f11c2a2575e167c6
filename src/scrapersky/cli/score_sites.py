"""`scrapersky score-sites`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from contact_extraction.measuring.corpus import Part, TrueSite, read_corpus
from contact_extraction.measuring.outcome import Outcome
from contact_extraction.measuring.report import figures, render
from contact_extraction.measuring.site_score import SiteScore, score_site
from scrapersky.kit.plain_text import plain_text
from scrapersky.measuring.pipeline import measure
from scrapersky.observability.log import configure_logs

QUICK_SITES = 8
"""Sites of a quick run."""


def score_sites(
    directory: Path,
    *,
    quick: bool = False,
    only: str | None = None,
    misses: int = 20,
    out: Path | None = None,
) -> int:
    """Measure the whole pipeline on annotated websites.

    Serves a directory of sites on this machine's loopback, submits their domains, and compares what
    is stored in the end with the truth: shares by kind, every miss, one line of JSON. The format is
    explained in docs/explanation/real-sites.md.

    Parameters
    ----------
    directory
        Holds `truth.jsonl` and one directory a site.
    quick
        Measure a few sites only, evenly spread over the list.
    only
        Measure only the sites of this comma-separated list.
    misses
        How many misses of each kind to list.
    out
        A JSON file for what was stored and every miss, by site.
    """
    configure_logs("ERROR", "console")
    sites = chosen(read_corpus(directory), quick=quick, only=only)
    measured = measure(sites)
    scores = {
        site.name: score_site(site, measured.outcomes[site.domain]) for site in sites
    }
    for line in render(sites, scores, measured, misses=misses):
        print(plain_text(line))
    if out is not None:
        report = {
            site.name: details(measured.outcomes[site.domain], scores[site.name])
            for site in sites
            if site.part is Part.LOOK
        }
        out.write_text(
            json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8"
        )
        print(f"\nEvery miss by site, and what was stored: {out}")
    print(json.dumps(figures(sites, scores, measured)))
    return 0 if measured.is_finished else 1


def chosen(sites: list[TrueSite], *, quick: bool, only: str | None) -> list[TrueSite]:
    """Return the sites to measure."""
    if only is not None:
        wanted = set(only.split(","))
        sites = [site for site in sites if site.name in wanted]
    if quick and len(sites) > QUICK_SITES:
        return [sites[len(sites) * at // QUICK_SITES] for at in range(QUICK_SITES)]
    return sites


def details(found: Outcome, score: SiteScore) -> dict[str, Any]:
    """Write what became of a site as plain values."""
    report = asdict(found)
    report["sureness"] = [
        {"kind": kind, "value": value, "confidence": sure}
        for (kind, value), sure in found.sureness.items()
    ]
    for contact in report["contacts"]:
        contact["phones"] = sorted(contact["phones"])
    return {**report, "misses": score.misses}
