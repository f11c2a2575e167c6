"""Fit the weights of people on annotated websites and say how well they do.

    python -m scripts.fit_people DIR [--pages pages.jsonl.gz] [--write]

DIR holds annotated sites as `scrapersky score-sites` reads them (truth.jsonl and one directory a
site); `--pages` adds annotated single pages as `scrapersky score` reads them. The weights are
those of a logistic regression that is drawn to what we expect of each trait, as for the
names of organisations (`scripts.fit_organisations`).

Sites are never parted: the pages of one are all in the same part. Two thirds of them, fixed
by a hash of their name, choose how strongly the weights are drawn, each tenth measured with
weights fitted on the others; the last third only reports. "left out" does the same with all
sites; the confidences and the table of reliability come from it.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import orjson

from contact_extraction.contacts import NO_HINTS
from contact_extraction.contacts.address import find_addresses
from contact_extraction.contacts.chance import SHIFT, SLOPE
from contact_extraction.contacts.email import find_emails
from contact_extraction.contacts.organisation import (
    OrganisationClues,
    find_organisations,
)
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.person import PersonClues, describe_people
from contact_extraction.contacts.person.reader import MIN_CHANCE, WEIGHTS
from contact_extraction.contacts.phone import find_numbers
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.structured import read_structured
from contact_extraction.errors import ExtractionError
from contact_extraction.html import parse_page
from contact_extraction.measuring.corpus import TRUTH, Part, read_corpus
from contact_extraction.measuring.pages import ALIKE_F1, read_pages, token_f1
from contact_extraction.text import name_key
from scripts.fit_organisations import (
    ALWAYS,
    LOOSE_WEIGHT,
    Row,
    Score,
    Weights,
    fold_of,
    likeliest,
    logistic,
    read_expected,
    site_of,
    written,
)

PULLS: Final = (10.0, 30.0, 100.0)
FOLD_COUNT: Final = 10
MODEL_PARTS: Final = 3
MAX_PEOPLE: Final = 10
BANDS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody on a page: what is known of them, and whether they are of the business."""

    key: str
    traits: Weights
    is_right: bool
    weight: float


@dataclass(frozen=True, slots=True)
class Site:
    """A website, or a single page: who is of the business, and who may be."""

    name: str
    people: frozenset[str]
    candidates: tuple[Candidate, ...]
    is_whole: bool


def main() -> None:
    """Fit, print the tables, and store the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", type=Path)
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sites = [*read_sites(arguments.sites)]
    if arguments.pages:
        sites += read_single_pages(arguments.pages)
    path = Path(str(files("contact_extraction").joinpath("data", f"{WEIGHTS}.txt")))
    expected = read_expected(path)
    parts = parted(sites, MODEL_PARTS)
    seen = parts[0] + parts[1]
    pull = max(PULLS, key=lambda p: left_out(seen, expected, p)[0].f1)
    first = fit(seen, expected, pull)
    weights = fit(sites, expected, pull)
    unseen, calibration, judged = left_out(sites, expected, pull)
    print(f"{len(sites)} sites and pages, drawn by {pull:g}")
    print(f"{'weights':<34}{'precision':>10}{'recall':>9}{'F1':>8}")
    for label, counts in (
        ("as expected, all", score(sites, expected)),
        ("fitted, all", score(sites, weights)),
        ("third part, expected", score(parts[2], expected)),
        ("third part, fitted on the others", score(parts[2], first)),
        ("left out in turn", unseen),
        ("left out in turn, whole sites", left_out_whole(sites, expected, pull)),
    ):
        print(f"{label:<34}{counts}")
    print_reliability(judged, calibration)
    if arguments.write:
        weights |= {SLOPE: calibration[0], SHIFT: calibration[1]}
        path.write_text(written(path, expected, weights), "utf-8")
        print(f"written to {path}")


def read_sites(root: Path) -> Iterable[Site]:
    """Read every page of every annotated site that may be looked at."""
    seen = {site.name for site in read_corpus(root) if site.part is Part.LOOK}
    for line in (root / TRUTH).read_bytes().splitlines():
        truth = orjson.loads(line)
        if truth["site"] in seen:
            yield site_from(root / truth["site"], truth)


def site_from(root: Path, truth: dict[str, Any]) -> Site:
    """Describe everybody whom the pages of a site may name."""
    known: dict[str, str] = {}
    for person in truth["people"]:
        if not person.get("placeholder"):
            for name in (person["name"], *person.get("also", ())):
                known[name] = person["name"]
    found: list[tuple[str, str | None, Weights, float]] = []
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() not in {".html", ".htm"}:
            continue
        url = f"https://{truth['site']}/{quote(str(path.relative_to(root)))}"
        described = [
            (key, traits)
            for key, traits, is_customer in describe(path.read_bytes(), url)
            if not is_customer
        ]
        share = min(1.0, MAX_PEOPLE / max(1, len(described)))
        found += [(k, who(k, known), traits, share) for k, traits in described]
    times = Counter(key for key, *_ in found)
    wanted = {
        p["name"]
        for p in truth["people"]
        if not p.get("placeholder") and not p.get("optional")
    }
    return Site(
        truth["site"],
        frozenset(wanted),
        tuple(
            Candidate(name or key, traits, name is not None, share / times[key] ** 0.5)
            for key, name, traits, share in found
        ),
        is_whole=True,
    )


def read_single_pages(path: Path) -> list[Site]:
    """Read the annotated pages of those sets in which people are annotated."""
    pages = list(read_pages(path))
    sets = {page.group for page in pages if "PER" in page.annotated}
    found = []
    for page in pages:
        if page.group not in sets:
            continue
        gold = page.gold.get("PER", frozenset())
        described = describe(page.html, page.url)
        share = min(1.0, MAX_PEOPLE / max(1, len(described)))
        candidates = []
        for key, traits, _ in described:
            name = next((g for g in gold if token_f1(g, key) >= ALIKE_F1), None)
            candidates.append(Candidate(name or key, traits, name is not None, share))
        found.append(Site(site_of(page), gold, tuple(candidates), is_whole=False))
    return found


def describe(html: bytes | str, url: str) -> list[tuple[str, Weights, bool]]:
    """Describe the candidates of a page as the finder does; say which are customers."""
    try:
        sheet = page_text(parse_page(html))
    except ExtractionError:
        return []
    regions = guess_regions(sheet, url, NO_HINTS)
    data = read_structured(sheet.page, regions)
    emails = [*find_emails(sheet), *data.emails]
    numbers = [*find_numbers(sheet, regions), *data.phones]
    streets = find_addresses(sheet, regions)
    names = find_organisations(
        sheet,
        url,
        OrganisationClues(
            streets=streets,
            mail_domains=Counter(e.key.rpartition("@")[2] for e in emails),
            stated=data.organisations,
        ),
    )
    clues = PersonClues(
        url=url,
        organisations=tuple(name.value for name in names),
        addresses=tuple(dict.fromkeys(e.key for e in emails)),
        reachable=frozenset(f.line for f in (*emails, *numbers) if f.line >= 0),
        streets=tuple((f.start, f.end) for f in streets if f.end),
    )
    return [
        (name_key(f.value), traits, f.is_customer)
        for f, traits in describe_people(sheet, clues)
    ]


def who(key: str, known: dict[str, str]) -> str | None:
    """Give the person whom a name means: the same words, or at least two of theirs."""
    mine = set(key.split())
    for name, person in known.items():
        theirs = set(name_key(name).split())
        small, big = sorted((mine, theirs), key=len)
        if mine == theirs or (len(small) > 1 and small <= big):
            return person
    return None


def parted(sites: Sequence[Site], parts: int) -> list[list[Site]]:
    """Part the sites, always in the same way."""
    found: list[list[Site]] = [[] for _ in range(parts)]
    for site in sites:
        found[fold_of(f"people {site.name}", parts)].append(site)
    return found


def fit(sites: Iterable[Site], expected: Weights, pull: float) -> Weights:
    """Find the weights that make the annotations likeliest."""
    candidates = [one for site in sites for one in site.candidates]
    traits = sorted({t for one in candidates for t in one.traits} | {*expected})
    place = {trait: number for number, trait in enumerate(traits)}
    rows: list[Row] = [
        ([(place[t], v) for t, v in one.traits.items()], one.is_right, one.weight)
        for one in candidates
    ]
    aim = [expected.get(trait, 0.0) for trait in traits]
    pulls = [LOOSE_WEIGHT if trait == ALWAYS else pull for trait in traits]
    return dict(zip(traits, likeliest(rows, aim, pulls), strict=True))


def best_of(site: Site, weights: Weights) -> dict[str, tuple[float, bool]]:
    """Give the highest sum of weights of everybody on a site."""
    found: dict[str, tuple[float, bool]] = {}
    for one in site.candidates:
        total = sum(weights.get(t, 0.0) * v for t, v in one.traits.items())
        if total > found.get(one.key, (-99.0, False))[0]:
            found[one.key] = (total, one.is_right)
    return found


def score(sites: Iterable[Site], weights: Weights) -> Score:
    """Count whom the finder would give with these weights."""
    total = Score()
    for site in sites:
        given = {
            key: right
            for key, (one, right) in best_of(site, weights).items()
            if logistic(one) >= MIN_CHANCE
        }
        right = {key for key, is_right in given.items() if is_right}
        total += Score(
            len(site.people), len(right & site.people), len(given), len(right)
        )
    return total


Judged = list[tuple[float, bool]]


def left_out(
    sites: Sequence[Site], expected: Weights, pull: float
) -> tuple[Score, tuple[float, float], Judged]:
    """Measure each tenth of the sites with weights fitted on the others."""
    total, judged = Score(), []
    for part, weights in tenths(sites, expected, pull):
        total += score(part, weights)
        judged += [v for s in part for v in best_of(s, weights).values()]
    given = [(one, right) for one, right in judged if logistic(one) >= MIN_CHANCE]
    rows: list[Row] = [([(0, one), (1, 1.0)], right, 1.0) for one, right in given]
    slope, shift = likeliest(rows, [1.0, 0.0], [LOOSE_WEIGHT, LOOSE_WEIGHT])
    return total, (slope, shift), given


def left_out_whole(sites: Sequence[Site], expected: Weights, pull: float) -> Score:
    """Measure only whole sites so."""
    total = Score()
    for part, weights in tenths(sites, expected, pull):
        total += score([site for site in part if site.is_whole], weights)
    return total


def tenths(
    sites: Sequence[Site], expected: Weights, pull: float
) -> Iterable[tuple[list[Site], Weights]]:
    """Yield each tenth of the sites with weights that have not seen it."""
    parts = parted(sites, FOLD_COUNT)
    for part in filter(None, parts):
        others = [site for other in parts if other is not part for site in other]
        yield part, fit(others, expected, pull)


def print_reliability(judged: Judged, calibration: tuple[float, float]) -> None:
    """Print how often people of a confidence are right on sites left out of the fit."""
    slope, shift = calibration
    bands: dict[float, list[tuple[float, bool]]] = defaultdict(list)
    for one, right in judged:
        sure = logistic(slope * one + shift)
        bands[max(b for b in (0.0, *BANDS) if b <= sure)].append((sure, right))
    print(f"{'confidence from':<18}{'people':>8}{'claimed':>9}{'right':>8}")
    for low, rows in sorted(bands.items()):
        claimed = sum(sure for sure, _ in rows) / len(rows)
        share = sum(ok for _, ok in rows) / len(rows)
        print(f"{low:<18}{len(rows):>8}{claimed:>9.2f}{share:>8.2f}")


if __name__ == "__main__":
    main()
