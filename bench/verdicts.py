"""How right the verdicts are on what a map says: the town's register lies, the pipeline judges.

    python bench/verdicts.py            600 businesses, some minutes
    python bench/verdicts.py --quick    36 businesses, under a minute

The register of places is wrong about every second business with a website: a wrong phone
number, an old address, an old name, a business that has closed or is said to have, another's
website, other hours. The whole pipeline searches, reads the websites and sums up the
companies; each verdict is then held against the truth. Where a website cannot be read or does
not say, a verdict is no error, and counts as neither. The last line is one object of JSON.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk"))

from scrapersky.companies.matching import match_companies
from scrapersky.db.connection import parse_target
from scrapersky.demo.services import town_services
from scrapersky.observability.log import configure_logs
from scrapersky.scheduler.app import work
from sdk_tests.rig.cluster import running_cluster
from simulated_town.business import ExpectedVerdict
from simulated_town.lie import LieKind
from simulated_town.plan import TownPlan
from simulated_town.register import place_id
from simulated_town.town import Town
from simulated_town.truth import verdict_of
from tests.acceptance.rig import Desk, a_desk, settings_for

FULL_SIZE, QUICK_SIZE = 600, 36
MAX_SECONDS: Final = 1_200.0
WRONG_FIELD: Final = {
    LieKind.WRONG_PHONE: "phone",
    LieKind.MOVED: "address",
    LieKind.RENAMED: "name",
    LieKind.CLOSED: "business_status",
    LieKind.SAID_CLOSED: "business_status",
    LieKind.WRONG_WEBSITE: "website",
    LieKind.OTHER_HOURS: "hours",
}
"""The field of a place that each lie is about."""
NOT_THEIRS: Final = frozenset(
    {ExpectedVerdict.PARKED, ExpectedVerdict.FOR_SALE, ExpectedVerdict.OTHER_BRAND}
)
"""Websites that the register names in good faith, and that are nobody's, or another's."""
VERDICTS: Final = """SELECT p.source_place_id, v.field::text, v.verdict::text, v.claimed,
    v.said, v.why FROM company_verdicts v
  JOIN company_members m ON m.company_id = v.company_id
  JOIN places_staging p ON p.id = m.place_id"""


@dataclass
class VerdictScore:
    """How many verdicts were right, by field and kind of lie, and which were wrong."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By verdict and `right` or `wrong`."""
    found: Counter[str] = field(default_factory=Counter)
    """Lies that were refuted, by kind."""
    told: Counter[str] = field(default_factory=Counter)
    """Lies that were told of a company that was judged, by kind."""
    fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_silence: int = 0
    """Fields that were contradicted though the website says nothing of them."""
    wrong: list[tuple[Any, ...]] = field(default_factory=list)

    def share(self, verdict: str) -> float:
        """Return the share of verdicts of a kind that were right."""
        right, wrong = (self.counts[verdict, each] for each in ("right", "wrong"))
        return right / (right + wrong) if right + wrong else 1.0


def score_verdicts(plan: TownPlan, rows: Iterable[tuple[Any, ...]]) -> VerdictScore:
    """Hold verdicts against the truth of a town."""
    lies = {place_id(each.business): WRONG_FIELD[each.kind] for each in plan.lies}
    kinds = {place_id(each.business): each.kind.value for each in plan.lies}
    lost = {place_id(one) for one in plan.businesses if verdict_of(one) in NOT_THEIRS}
    score = VerdictScore()
    for place, name, verdict, claimed, said, why in rows:
        is_lie = lies.get(place) == name
        score.fields[name, verdict] += 1
        if is_lie:
            score.told[kinds[place]] += 1
            score.found[kinds[place]] += verdict == "contradicted"
        if verdict not in {"confirmed", "contradicted"}:
            continue
        score.by_silence += verdict == "contradicted" and not said
        is_wrong_claim = is_lie or (name == "website" and place in lost)
        is_right = is_wrong_claim == (verdict == "contradicted")
        score.counts[verdict, "right" if is_right else "wrong"] += 1
        if not is_right:
            told = (claimed, said, why)
            score.wrong.append((place, name, verdict, kinds.get(place), *told))
    return score


async def judged_town(url: str, size: int, seed: int, data: Path) -> VerdictScore:
    """Run the pipeline over a town whose register lies; return how right its verdicts are."""
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(data)})
    async with AsyncExitStack() as stack:
        town = await stack.enter_async_context(
            Town.open(size=size, seed=seed, trouble=False, lies=True)
        )
        desk: Desk = await stack.enter_async_context(a_desk(url))
        services = await stack.enter_async_context(town_services(town.endpoint))
        await stack.enter_async_context(
            work(settings, parse_target(url), services=services)
        )
        await desk.search()
        assert await desk.until_done(MAX_SECONDS), "the pipeline did not end"
        await match_companies(desk.engine)
        return score_verdicts(town.plan, await desk.rows(VERDICTS))


def report(score: VerdictScore, seconds: float) -> Mapping[str, Any]:
    """Print the tables; return the line of JSON."""
    print(
        f"{'field':<16}{'confirmed':>11}{'contradicted':>14}{'silent':>8}{'unreach.':>10}"
    )
    verdicts = ("confirmed", "contradicted", "silent", "unreachable")
    for name in sorted({each for each, _ in score.fields}):
        cells = [score.fields[name, verdict] for verdict in verdicts]
        print(f"{name:<16}{cells[0]:>11}{cells[1]:>14}{cells[2]:>8}{cells[3]:>10}")
    print(f"\n{'lie':<16}{'told':>11}{'refuted':>14}")
    for kind in sorted(score.told):
        print(f"{kind:<16}{score.told[kind]:>11}{score.found[kind]:>14}")
    for row in score.wrong:
        print("wrong:", *row)
    return {
        "refutations": sum(score.counts["contradicted", w] for w in ("right", "wrong")),
        "refutations_by_silence": score.by_silence,
        "refutations_right": round(score.share("contradicted"), 4),
        "confirmations": sum(score.counts["confirmed", w] for w in ("right", "wrong")),
        "confirmations_right": round(score.share("confirmed"), 4),
        "lies_told": sum(score.told.values()),
        "lies_refuted": sum(score.found.values()),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Read the options, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    size = options.size or (QUICK_SIZE if options.quick else FULL_SIZE)
    configure_logs("WARNING", "console")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as data, running_cluster() as cluster:
        score = asyncio.run(
            judged_town(
                cluster.url(cluster.create_database("verdicts")),
                size,
                options.seed,
                Path(data),
            )
        )
    print(json.dumps(report(score, time.monotonic() - began)))


if __name__ == "__main__":
    main()
