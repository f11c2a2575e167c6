"""Fit the weights of organisation names on annotated pages and say how well they do.

    python -m scripts.fit_organisations pages.jsonl.gz           prints the table
    python -m scripts.fit_organisations pages.jsonl.gz --write   and stores the weights

The weights are those of a logistic regression. It is drawn to what we expect of each
trait, not to nothing: the pages are few, and a trait that one site alone shows (former
employers, a list of dealers) would mean nothing to the other sites otherwise. For the
same reason the names of a page count for no more than ten.

Four figures say how well. "fitted" is measured on the pages the weights were fitted on.
"other half" fits on one half of the sites and measures the other; a site's half is fixed
by a hash of its domain. "halves drawn anew" does so for many ways to part the sites, and
says how far one way alone may be off. "left out" fits without a twentieth of the sites
and measures those, in turn: this is what to expect of pages never seen.
"""

import argparse
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise, permutations
from pathlib import Path
from statistics import fmean, stdev
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.contacts.address import find_addresses
from contact_extraction.contacts.email import find_emails
from contact_extraction.contacts.model import NO_HINTS
from contact_extraction.contacts.organisation import (
    MIN_BEST_CHANCE,
    MIN_BEST_VOTES,
    MIN_CHANCE,
    OrganisationClues,
    describe_names,
    spellings,
)
from contact_extraction.contacts.organisation.chance import SHIFT, SLOPE, WEIGHTS
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.structured import read_structured
from contact_extraction.html import parse_page
from contact_extraction.measuring.pages import (
    ALIKE_F1,
    AnnotatedPage,
    read_pages,
    token_f1,
)
from contact_extraction.urls import registrable_domain

PRIOR_WEIGHT: Final = 30.0
"""How strongly weights are drawn to what is expected."""
LOOSE_WEIGHT: Final = 0.05
"""The same for how common names are at all, of which nothing is expected."""
MAX_CANDIDATES: Final = 10
"""How many names the candidates of one page may count for."""
FIT_ROUNDS: Final = 15
SETTLED_STEP: Final = 1e-6
FOLD_COUNT: Final = 20
FOLD_DRAWS: Final = 8
BANDS: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)
ALWAYS: Final = "always"
Weights = dict[str, float]
Row = tuple[list[tuple[int, float]], bool, float]
"""The traits of a name by their place, whether it is right, and what it counts."""


@dataclass(frozen=True, slots=True)
class Name:
    """A candidate: its spellings, the annotations each agrees with, its traits."""

    spellings: tuple[str, ...]
    agreeing: tuple[frozenset[str], ...]
    traits: Weights
    is_best: bool
    counts: bool
    """False where another candidate agrees better with the same annotation."""

    @property
    def is_right(self) -> bool:
        """Say whether some spelling is annotated."""
        return any(self.agreeing)


@dataclass(frozen=True, slots=True)
class Example:
    """A page: what is annotated and what may be a name."""

    site: str
    gold: frozenset[str]
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over pages."""

    gold: int = 0
    found: int = 0
    given: int = 0
    right: int = 0

    def __add__(self, other: "Score") -> "Score":
        """Join the counts of two sets of pages."""
        return Score(
            self.gold + other.gold,
            self.found + other.found,
            self.given + other.given,
            self.right + other.right,
        )

    @property
    def precision(self) -> float:
        """Give the share of given names that are right."""
        return self.right / max(1, self.given)

    @property
    def recall(self) -> float:
        """Give the share of annotations that were found."""
        return self.found / max(1, self.gold)

    @property
    def f1(self) -> float:
        """Give the harmonic mean of the two."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / max(1e-9, total)

    def __str__(self) -> str:
        """Write precision, recall and F1."""
        return f"{self.precision:>10.3f}{self.recall:>9.3f}{self.f1:>8.3f}"


def main() -> None:
    """Fit, print the table, and store the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    examples = read_examples(arguments.file)
    path = Path(str(files("contact_extraction").joinpath("data", f"{WEIGHTS}.txt")))
    expected = read_expected(path)
    weights = fit(examples, expected)
    unseen, (slope, shift), claims = left_out(examples, expected)
    print_table(examples, expected, weights, unseen)
    print_reliability(claims)
    weights |= {SLOPE: slope, SHIFT: shift}
    if arguments.write:
        path.write_text(written(path, expected, weights), "utf-8")
        print(f"written to {path}")


def read_examples(path: Path) -> list[Example]:
    """Read the pages of those sets that are annotated for organisations."""
    pages = list(read_pages(path))
    sets = {page.group for page in pages if "ORG" in page.annotated}
    return [example_of(page) for page in pages if page.group in sets]


def example_of(page: AnnotatedPage) -> Example:
    """Describe every candidate of a page, as the finder does."""
    sheet = page_text(parse_page(page.html))
    regions = guess_regions(sheet, page.url, NO_HINTS)
    data = read_structured(sheet.page, regions)
    emails = [found.key for found in (*find_emails(sheet), *data.emails)]
    clues = OrganisationClues(
        streets=find_addresses(sheet, regions),
        mail_domains=Counter(key.rpartition("@")[2] for key in dict.fromkeys(emails)),
        stated=data.organisations,
    )
    gold = page.gold.get("ORG", frozenset())
    described = [
        ((candidate.name, *spellings(sheet, candidate)), candidate.score, traits)
        for candidate, traits in describe_names(sheet, page.url, clues)
    ]
    likeness = [[[token_f1(g, n) for g in gold] for n in d[0]] for d in described]
    best = [max((max(row) for row in c), default=0.0) for c in _by_gold(likeness, gold)]
    return Example(
        site=site_of(page),
        gold=gold,
        names=tuple(
            Name(
                spellings=names,
                agreeing=tuple(
                    frozenset(
                        g for g, x in zip(gold, row, strict=True) if x >= ALIKE_F1
                    )
                    for row in rows
                ),
                traits={ALWAYS: 1.0} | {t: float(v) for t, v in traits.items() if v},
                is_best=place == 0 and score >= MIN_BEST_VOTES,
                counts=_counts(rows, best),
            )
            for place, ((names, score, traits), rows) in enumerate(
                zip(described, likeness, strict=True)
            )
        ),
    )


def _by_gold(
    likeness: list[list[list[float]]], gold: frozenset[str]
) -> list[list[list[float]]]:
    """Turn likeness by candidate, spelling and annotation round: annotation first."""
    return [
        [[row[place] for row in rows] for rows in likeness]
        for place in range(len(gold))
    ]


def _counts(rows: list[list[float]], best: list[float]) -> bool:
    """Say whether a candidate is plainly wrong, or the best for some annotation."""
    alike = [
        (x, top)
        for row in rows
        for x, top in zip(row, best, strict=True)
        if x >= ALIKE_F1
    ]
    return not alike or any(x >= top for x, top in alike)


def site_of(page: AnnotatedPage) -> str:
    """Give the domain of a page; a page without one is a site of its own."""
    host = urlsplit(page.url).hostname or ""
    return registrable_domain(host) or host or page.id


def fold_of(site: str, folds: int) -> int:
    """Put a site into one of several parts, always the same."""
    return hashlib.sha256(site.encode()).digest()[0] % folds


def fit(examples: Iterable[Example], expected: Weights) -> Weights:
    """Find the weights that make the annotations likeliest."""
    pages = [[n for n in example.names if n.counts] for example in examples]
    traits = sorted({t for page in pages for n in page for t in n.traits} | {*expected})
    place = {trait: number for number, trait in enumerate(traits)}
    rows: list[Row] = [
        (
            [(place[t], v) for t, v in n.traits.items()],
            n.is_right,
            min(1.0, MAX_CANDIDATES / len(page)),
        )
        for page in pages
        for n in page
    ]
    aim = [expected.get(trait, 0.0) for trait in traits]
    pull = [LOOSE_WEIGHT if trait == ALWAYS else PRIOR_WEIGHT for trait in traits]
    return dict(zip(traits, likeliest(rows, aim, pull), strict=True))


def likeliest(rows: Sequence[Row], aim: list[float], pull: list[float]) -> list[float]:
    """Fit a logistic regression that is drawn to an aim, by Newton's method."""
    weights = list(aim)
    for _ in range(FIT_ROUNDS):
        slope = [p * (a - w) for p, a, w in zip(pull, aim, weights, strict=True)]
        bend = [
            [p if i == j else 0.0 for j in range(len(pull))] for i, p in enumerate(pull)
        ]
        for row, is_right, share in rows:
            chance = logistic(sum(weights[i] * v for i, v in row))
            for i, v in row:
                slope[i] += share * (is_right - chance) * v
                for j, u in row:
                    bend[i][j] += share * chance * (1 - chance) * v * u
        step = solve(bend, slope)
        weights = [w + s for w, s in zip(weights, step, strict=True)]
        if max(map(abs, step)) < SETTLED_STEP:
            break
    return weights


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a set of linear equations whose matrix is symmetric and positive."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(size):
        for k in range(i + 1, size):
            share = rows[k][i] / rows[i][i]
            if share:
                rows[k] = [a - share * b for a, b in zip(rows[k], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * found[j] for j in range(i + 1, size))
        found[i] = (rows[i][size] - known) / rows[i][i]
    return found


def logistic(total: float) -> float:
    """Turn a sum of weights into a chance."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def given(example: Example, weights: Weights) -> list[tuple[Name, float]]:
    """Give the names the finder would give, each with the sum of its weights."""
    judged = [
        (name, sum(weights.get(t, 0.0) * v for t, v in name.traits.items()))
        for name in example.names
    ]
    return [
        (name, total)
        for name, total in judged
        if logistic(total) >= (MIN_BEST_CHANCE if name.is_best else MIN_CHANCE)
    ]


def score(examples: Iterable[Example], weights: Weights) -> Score:
    """Count what the finder would give with these weights, as `scrapersky score` does."""
    total = Score()
    for example in examples:
        found: set[str] = set()
        names: dict[str, bool] = {}
        for name, _ in given(example, weights):
            for spelling, agreeing in zip(name.spellings, name.agreeing, strict=True):
                names[spelling.casefold()] = bool(agreeing)
                found |= agreeing
        total += Score(len(example.gold), len(found), len(names), sum(names.values()))
    return total


def left_out(
    examples: Sequence[Example], expected: Weights
) -> tuple[Score, tuple[float, float], list[tuple[float, bool]]]:
    """Measure each part of the sites with weights fitted on the others.

    The pair is how a sum of weights turns into a confidence: times the first, plus
    the second. It is fitted on the same names, which their weights had not seen. The
    list has the confidence of each of them, and whether it is right.
    """
    parts: list[list[Example]] = [[] for _ in range(FOLD_COUNT)]
    for example in examples:
        parts[fold_of(example.site, FOLD_COUNT)].append(example)
    total = Score()
    rows: list[Row] = []
    for part in filter(None, parts):
        others = [e for other in parts if other is not part for e in other]
        weights = fit(others, expected)
        total += score(part, weights)
        rows += [
            ([(0, sum_of_weights), (1, 1.0)], name.is_right, 1.0)
            for example in part
            for name, sum_of_weights in given(example, weights)
        ]
    slope, shift = likeliest(rows, [1.0, 0.0], [LOOSE_WEIGHT, LOOSE_WEIGHT])
    claims = [
        (logistic(slope * row[0][1] + shift), is_right) for row, is_right, _ in rows
    ]
    return total, (slope, shift), claims


def print_reliability(claims: Sequence[tuple[float, bool]]) -> None:
    """Print how often names of a confidence are right, on sites left out of the fit."""
    print(f"{'confidence':<16}{'names':>8}{'claimed':>10}{'right':>8}")
    for low, high in pairwise(BANDS):
        some = [claim for claim in claims if low <= claim[0] < high]
        if some:
            claimed, right = (fmean(column) for column in zip(*some, strict=True))
            print(
                f"{low:.2f} to {min(high, 1):.2f}{len(some):>12}{claimed:>10.2f}{right:>8.2f}"
            )


def print_table(
    examples: Sequence[Example], expected: Weights, weights: Weights, unseen: Score
) -> None:
    """Print precision, recall and F1 of each way to measure."""
    halves = halved(examples)
    drawn = [
        score(other, fit(half, expected))
        for draw in range(FOLD_DRAWS)
        for half, other in permutations(halved(examples, salt=f"{draw}"))
    ]
    rows = [
        ("fitted", score(examples, weights)),
        ("first half, fitted", score(halves[0], fit(halves[0], expected))),
        ("other half, not fitted", score(halves[1], fit(halves[0], expected))),
        ("halves drawn anew", sum(drawn, Score())),
        ("left out in turn", unseen),
        ("as expected, not fitted", score(examples, expected)),
    ]
    print(f"{len(examples)} pages of {len({e.site for e in examples})} sites")
    print(f"{'weights':<26}{'precision':>10}{'recall':>9}{'F1':>8}")
    for label, counts in rows:
        print(f"{label:<26}{counts}")
    f1 = sorted(counts.f1 for counts in drawn)
    print(f"halves drawn anew: {f1[0]:.3f} to {f1[-1]:.3f}, spread {stdev(f1):.3f}")


def halved(examples: Iterable[Example], salt: str = "") -> list[list[Example]]:
    """Part the sites in two, always the same way for the same salt."""
    halves: list[list[Example]] = [[], []]
    for example in examples:
        halves[fold_of(salt + example.site, 2)].append(example)
    return halves


def read_expected(path: Path) -> Weights:
    """Read what is expected of each trait: the second column."""
    lines = (
        line.split("#")[0].split() for line in path.read_text("utf-8").splitlines()
    )
    return {
        line[0]: float(line[1])
        for line in lines
        if line and line[0] not in (SLOPE, SHIFT)
    }


def written(path: Path, expected: Weights, weights: Weights) -> str:
    """Write the file anew, its opening comment kept."""
    comments = [
        line for line in path.read_text("utf-8").splitlines() if line.startswith("#")
    ]
    rows = [
        f"{trait:<18}{expected.get(trait, float(trait == SLOPE)):>6.1f}{weight:>8.3f}"
        for trait, weight in sorted(weights.items())
    ]
    return "\n".join([*comments, *rows, ""])


if __name__ == "__main__":
    main()
