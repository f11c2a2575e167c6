"""How many companies exist, from what sources found of towns whose size is known."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

import pytest

from scrapersky.reporting.capture import (
    Overlap,
    PopulationEstimate,
    TraitGroup,
    chi_squared_tail,
    estimate_total,
    hypergeometric_tail,
)
from simulated_town.business import Business
from simulated_town.plan import TownPlan, plan_town

TOWNS, SIZE = 200, 80
FIRST_SEED = 30_000
"""From here on there are towns by which nothing was chosen."""
Chance = Callable[[Business], float]
FEW_REVIEWS = 5


def always(share: float) -> Chance:
    return lambda _business: share


def by_reviews(many: float, few: float) -> Chance:
    return lambda business: many if business.reviews > FEW_REVIEWS else few


def by_area(north: float, south: float) -> Chance:
    return lambda business: north if is_north(business) else south


def is_north(business: Business) -> bool:
    return round(business.address.latitude * 1e6) % 2 == 0


def overlap_of(plan: TownPlan, seed: int, chances: Mapping[str, Chance]) -> Overlap:
    """Let each source find businesses of a town by its own luck."""
    luck = random.Random(f"{seed} {sorted(chances)}")
    found = [
        (
            one,
            frozenset(
                n for n, chance in chances.items() if luck.random() < chance(one)
            ),
        )
        for one in plan.businesses
    ]
    groups: Counter[tuple[str, str, str, str]] = Counter()
    met: Counter[tuple[str, str, str, str]] = Counter()
    for one, history in found:
        traits = {
            "the number of reviews": "many" if one.reviews > FEW_REVIEWS else "few",
            "the category": one.trade,
            "the part of the area": "north" if is_north(one) else "south",
            "whether there is a website": "yes" if one.website else "no",
        }
        for source in history:
            for other in chances.keys() - {source}:
                for trait, value in traits.items():
                    groups[source, other, trait, value] += 1
                    met[source, other, trait, value] += other in history
    return Overlap(
        Counter(history for _, history in found if history),
        [TraitGroup(*key, total, met[key]) for key, total in groups.items()],
    )


@cache
def towns(size: int = SIZE, count: int = TOWNS) -> list[TownPlan]:
    return [plan_town(size, seed=FIRST_SEED + n) for n in range(count)]


def estimates(plans: list[TownPlan], **chances: Chance) -> list[PopulationEstimate]:
    return [
        estimate_total(overlap_of(plan, seed, chances))
        for seed, plan in enumerate(plans)
    ]


def covered(found: list[PopulationEstimate], size: int) -> float:
    """Return in which share of the towns that have a number the interval has the truth."""
    given = [one for one in found if one.low is not None and one.high is not None]
    assert len(given) >= 0.85 * len(found), "too many towns without a number"
    hits = [one for one in given if (one.low or 0) <= size <= (one.high or 0)]
    return len(hits) / len(given)


@pytest.mark.slow
@pytest.mark.parametrize("size", [80, 200, 400])
@pytest.mark.parametrize(
    "chances",
    [
        {"a": always(0.7), "b": always(0.6)},
        {"a": always(0.5), "b": always(0.45)},
        # One source that prefers some companies leaves the overlap right.
        {"a": by_reviews(0.9, 0.4), "b": always(0.6)},
        {"a": always(0.6), "b": always(0.5), "c": always(0.4)},
    ],
    ids=["much", "half", "one prefers", "three"],
)
def test_the_interval_covers_the_truth_in_nine_of_ten_towns(
    chances: dict[str, Chance], size: int
) -> None:
    assert covered(estimates(towns(size), **chances), size) >= 0.9


@pytest.mark.slow
def test_sources_that_prefer_the_same_companies_give_no_number() -> None:
    both = by_reviews(0.9, 0.25)
    found = estimates(towns(4 * SIZE, TOWNS // 10), a=both, b=both)

    without = [one for one in found if one.estimate is None]
    assert len(without) >= 0.9 * len(found)
    assert all("the number of reviews" in one.why for one in without)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), [((0.85, 0.15), (0.8, 0.15)), ((0.8, 0.2), (0.2, 0.8))]
)
def test_what_both_sources_avoid_was_too_little_to_tell_that_they_do(
    first: tuple[float, float], second: tuple[float, float]
) -> None:
    larger = towns(4 * SIZE, TOWNS // 10)
    found = estimates(larger, a=by_reviews(*first), b=by_reviews(*second))

    without = [one for one in found if one.estimate is None]
    assert len(without) >= 0.9 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        (by_reviews(0.9, 0.25), by_reviews(0.9, 0.25), 0.9),
        (by_reviews(0.85, 0.15), by_reviews(0.8, 0.15), 0.75),
        (by_reviews(0.8, 0.2), by_reviews(0.2, 0.8), 0.75),
        (by_reviews(0.9, 0.4), by_reviews(0.9, 0.4), 0.7),
        (by_area(0.9, 0.2), by_area(0.9, 0.2), 0.9),
    ],
    ids=["prefer", "avoid", "divide", "prefer a little", "prefer a part"],
)
def test_of_small_towns_half_were_given_a_number_that_was_far_from_the_truth(
    first: Chance, second: Chance, share: float
) -> None:
    found = estimates(towns(), a=first, b=second)

    without = [one for one in found if one.estimate is None]
    assert len(without) >= share * len(found)


def test_two_sources_that_describe_companies_in_other_words_are_not_told_apart() -> (
    None
):
    # One knows half of the websites and the other none: that is no preference.
    groups = [
        TraitGroup("a", "b", "whether there is a website", "yes", 30, 20),
        TraitGroup("a", "b", "whether there is a website", "no", 30, 20),
        TraitGroup("b", "a", "whether there is a website", "no", 55, 40),
    ]
    found = a_table(40, 20, 15)

    assert estimate_total(Overlap(found.histories, groups)).estimate is not None


def a_table(both: int, one: int, other: int) -> Overlap:
    names = (frozenset("ab"), both), (frozenset("a"), one), (frozenset("b"), other)
    return Overlap({history: count for history, count in names if count})


def test_two_samples_of_known_overlap_give_the_known_estimate() -> None:
    found = estimate_total(a_table(60, 40, 20))

    assert found.found == 120
    assert found.estimate == pytest.approx(101 * 81 / 61 - 1)
    assert found.low is not None
    assert found.high is not None
    assert found.estimate is not None
    assert 120 < found.low < found.estimate < found.high


def test_there_are_never_fewer_than_were_found() -> None:
    found = estimate_total(a_table(50, 0, 10))

    assert found.low == found.high == found.found == 60


@pytest.mark.parametrize(
    ("overlap", "why"),
    [
        (Overlap({}), "Nothing has been found"),
        (a_table(0, 40, 0), "Only one source was asked (a)"),
        (a_table(3, 40, 40), "only 3 companies in common"),
        (
            Overlap(
                a_table(60, 40, 20).histories,
                paired={("a", "b"): 60},
                copied={("a", "b"): 50},
            ),
            "the very same points",
        ),
        (
            Overlap(
                {
                    frozenset("abc"): 60, frozenset("c"): 60, frozenset("ac"): 6,
                    frozenset("bc"): 6, frozenset("a"): 30, frozenset("b"): 30,
                }
            ),
            "do not find companies independently",
        ),
    ],
)  # fmt: skip
def test_where_nothing_can_be_said_a_sentence_stands_instead_of_a_number(
    overlap: Overlap, why: str
) -> None:
    found = estimate_total(overlap)

    assert (found.estimate, found.low, found.high) == (None, None, None)
    assert why in found.why


@pytest.mark.parametrize(
    ("total", "met", "size", "met_here", "tail"),
    [(8, 4, 4, 1, 0.4857), (24, 12, 10, 3, 0.2138), (213, 166, 9, 1, 2.556e-5)],
)
def test_a_small_group_is_as_unlikely_as_fisher_says(
    total: int, met: int, size: int, met_here: int, tail: float
) -> None:
    found = hypergeometric_tail(total, met, size, met_here)

    assert found == pytest.approx(tail, rel=0.02)


@pytest.mark.parametrize(
    ("value", "degrees", "tail"),
    [(3.841, 1, 0.05), (9.21, 2, 0.01), (18.307, 10, 0.05)],
)
def test_chance_is_as_often_so_far_away_as_tables_say(
    value: float, degrees: int, tail: float
) -> None:
    assert chi_squared_tail(value, degrees) == pytest.approx(tail, rel=0.06)
