"""How many companies exist, from how much what several sources found overlaps.

Who was found by one source and again by another is counted as animals are that were marked
and caught again. That gives a number only where one source's finding a company makes another's
no likelier; what speaks against that is looked for first, and then no number is given.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import erfc, exp, lgamma, log, prod, sqrt
from typing import Final

NORMAL_95: Final = 1.96
LEAST_SHARED: Final = 7
"""Companies that two sources must both have found: with fewer the interval means nothing."""
CHANCE_LEVEL: Final = 0.05
"""A difference that chance alone makes in fewer cases than this is one: a number that is left out
now and then does less harm than one that is wrong."""
COPIED_SHARE: Final = 0.5
"""The share of places at the very same point from which two sources are no longer two."""
LEAST_COPIED: Final = 10
LEAST_EXPECTED: Final = 5.0
"""Companies of a group below which its share is compared exactly, and not by its distance."""
LEAST_SHARED_OF_A_GROUP: Final = 2.0
"""Companies that chance alone lets two sources share of a group: smaller ones are counted together,
since of the smallest every estimate is too small."""
MOST_SHIFT: Final = 1.0
"""Standard errors by which a number may move when companies are counted apart by a trait."""
SMALL_LIST: Final = 65
"""Companies up to which so much holds. Of more, `varies` tells surely what both depend on, and a
number that moves further is as a rule one that a preference of one source alone moves."""
SAME_WORDS: Final = 0.1
"""The share of common companies that two sources may put into other groups."""
HALF_A_COUNT: Final = 0.5
RELATIVE_ROUNDING: Final = 1e-9
MAX_BISECTIONS: Final = 200

History = frozenset[str]
"""The sources that found a company."""


@dataclass(frozen=True, slots=True)
class TraitGroup:
    """Companies of one source that are alike in something, and how many another found too."""

    source: str
    other: str
    trait: str
    value: str
    total: int
    met: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """What several sources found of one question."""

    histories: Mapping[History, int]
    groups: Sequence[TraitGroup] = ()
    paired: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By two sources, the pairs of places that are one company."""
    copied: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Those of them that lie at the very same point."""

    @property
    def sources(self) -> list[str]:
        """Return every source that found something."""
        return sorted({source for history in self.histories for source in history})

    @property
    def found(self) -> int:
        """Return how many companies were found."""
        return sum(self.histories.values())

    def found_by(self, *sources: str) -> int:
        """Return how many were found by all of these sources."""
        wanted = {*sources}
        return sum(n for history, n in self.histories.items() if wanted <= history)


@dataclass(frozen=True, slots=True)
class PopulationEstimate:
    """How many companies exist; without an estimate `why` says what stands against one."""

    found: int
    sources: Mapping[str, int]
    why: str
    estimate: float | None = None
    low: int | None = None
    high: int | None = None


def estimate_total(overlap: Overlap) -> PopulationEstimate:
    """Estimate how many companies there are, or say why nobody can."""
    names = overlap.sources
    sources = {name: overlap.found_by(name) for name in names}

    def no_number(why: str) -> PopulationEstimate:
        return PopulationEstimate(overlap.found, sources, why)

    if not names:
        return no_number("Nothing has been found.")
    if len(names) == 1:
        return no_number(
            f"Only one source was asked ({names[0]}), so nothing tells what it missed. "
            "Search for the same in a second source to see how much both found."
        )
    if why := dependence(overlap):
        return no_number(why)
    shared = min(overlap.found_by(*pair) for pair in combinations(names, 2))
    if shared < LEAST_SHARED:
        return no_number(
            f"The sources have only {shared} companies in common: too few for an estimate."
        )
    counts = [*sources.values()]
    if len(names) == 2:  # noqa: PLR2004 - a pair
        first, second = counts
        total, variance = chapman(first, second, overlap.found_by(*names))
    else:
        total, variance = darroch(counts, overlap.found)
    low, high = log_normal_interval(overlap.found, total, variance)
    why = (
        f"From the overlap of {len(names)} sources; nothing shows that one depends on what "
        "another finds."
    )
    return PopulationEstimate(overlap.found, sources, why, total, low, high)


def chapman(first: float, second: float, both: float) -> tuple[float, float]:
    """Estimate a total and its variance from two samples, without the bias of small ones."""
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (
        (first + 1) * (second + 1) * (first - both) * (second - both)
    ) / ((both + 1) ** 2 * (both + 2))  # fmt: skip
    return total, variance


def darroch(counts: Sequence[int], found: int) -> tuple[float, float]:
    """Estimate a total and its variance from three samples or more, all independent."""
    if found in counts:
        return float(found), 0.0
    low, high = float(found), float(found) * 1_000
    total = low
    for _ in range(MAX_BISECTIONS):
        total = (low + high) / 2
        missed = prod(1 - count / total for count in counts)
        low, high = (total, high) if 1 - found / total < missed else (low, total)
    missed = prod(1 - count / total for count in counts)
    parts = sum(1 / (1 - count / total) for count in counts)
    spread = 1 / missed + len(counts) - 1 - parts
    return total, total / spread if spread > 0 else 0.0


def log_normal_interval(found: int, total: float, variance: float) -> tuple[int, int]:
    """Return from how many to how many there are, in 95 of 100 cases; never fewer than found."""
    missed = total - found
    if missed <= 0 or variance <= 0:
        return found, max(found, round(total))
    factor = exp(NORMAL_95 * sqrt(log(1 + variance / missed**2)))
    # Whole companies: what lies between two of them is given away on both sides.
    return found + int(missed / factor), found + int(missed * factor) + 1


def dependence(overlap: Overlap) -> str | None:
    """Say what shows that sources depend on each other; None: nothing does."""
    for pair in combinations(overlap.sources, 2):
        if copies(overlap, pair):
            return (
                f"{pair[0]} and {pair[1]} have most places at the very same points: one "
                "copies the other, or both copy a third, so their overlap says nothing."
            )
    for pair in combinations(overlap.sources, 2):
        if trait := shared_trait(overlap, pair):
            return (
                f"{pair[0]} and {pair[1]} find the same companies more often than chance "
                f"would: both depend on {trait}. How many neither finds cannot be said."
            )
        if len(overlap.sources) > 2 and go_together(overlap, pair):  # noqa: PLR2004
            return (
                f"{pair[0]} and {pair[1]} do not find companies independently of each "
                "other, as those that other sources found show."
            )
        if trait := moving_trait(overlap, pair):
            return (
                f"The companies are too few to tell whether {pair[0]} and {pair[1]} both "
                f"depend on {trait}: counted apart by it they come to another number."
            )
    return None


def copies(overlap: Overlap, pair: tuple[str, str]) -> bool:
    """Say whether two sources have the same points."""
    same = overlap.copied.get(pair, 0)
    return same >= LEAST_COPIED and same >= COPIED_SHARE * overlap.paired.get(pair, 0)


def shared_trait(overlap: Overlap, pair: tuple[str, str]) -> str | None:
    """Return what both sources depend on: a trait by which each finds the other's or not.

    Where only one does, the overlap is still right: so both must.
    """
    for trait in sorted({group.trait for group in overlap.groups}):
        if all(
            varies(
                (group.total, group.met)
                for group in overlap.groups
                if (group.source, group.other, group.trait) == (*way, trait)
            )
            for way in (pair, pair[::-1])
        ):
            return trait
    return None


def moving_trait(overlap: Overlap, pair: tuple[str, str]) -> str | None:
    """Return a trait by which companies counted apart come to a number that is far from the whole.

    Where only one source depends on it, or none, both ways come to the same. It tells less surely
    than `shared_trait`, and of fewer companies.
    """
    first, second = (overlap.found_by(one) for one in pair)
    total, variance = chapman(first, second, overlap.found_by(*pair))
    most = MOST_SHIFT * sqrt(variance * max(1.0, overlap.found / SMALL_LIST))
    for trait in sorted({group.trait for group in overlap.groups}):
        cells = shared_groups(overlap, pair, trait)
        small = LEAST_SHARED_OF_A_GROUP * total
        apart = [one for one in cells if one[0] * one[1] >= small]
        rest = [one for one in cells if one[0] * one[1] < small]
        firsts, seconds, both = (sum(one[at] for one in rest) for at in range(3))
        apart.append((firsts, seconds, both))
        if cells and abs(sum(chapman(*one)[0] for one in apart) - total) > most:
            return trait
    return None


def shared_groups(
    overlap: Overlap, pair: tuple[str, str], trait: str
) -> list[tuple[float, float, float]]:
    """Return how many companies of each group each of two sources and both found.

    Nothing where the two put the same companies into different groups.
    """
    ways = {(*pair, trait): 0, (*pair[::-1], trait): 1}
    found: dict[str, list[TraitGroup | None]] = {}
    for group in overlap.groups:
        at = ways.get((group.source, group.other, group.trait))
        if at is not None:
            found.setdefault(group.value, [None, None])[at] = group
    cells: list[tuple[float, float, float]] = []
    differing = 0
    for one, other in found.values():
        met = one.met if one else 0, other.met if other else 0
        differing += abs(met[0] - met[1])
        totals = one.total if one else 0, other.total if other else 0
        cells.append((*totals, sum(met) / 2))
    return cells if differing <= SAME_WORDS * overlap.found_by(*pair) else []


def varies(groups: Iterable[tuple[int, int]]) -> bool:
    """Say whether the share of those met differs between groups by more than chance."""
    listed = [group for group in groups if group[0]]
    total, met = (sum(each) for each in zip(*listed, strict=True)) if listed else (0, 0)
    share = met / total if total else 0.0
    rare = min(share, 1 - share)
    if len(listed) < 2 or not rare:  # noqa: PLR2004 - what could differ
        return False
    # What both sources avoid they have little of: small groups tell of that.
    large = [group for group in listed if group[0] * rare >= LEAST_EXPECTED]
    chances = [
        hypergeometric_tail(total, met, *group)
        for group in listed
        if group not in large
    ]
    if len(large) > 1:
        distance = sum(
            (met_here - size * share) ** 2 / (size * share * (1 - share))
            for size, met_here in large
        )
        chances.append(chi_squared_tail(distance, len(large) - 1))
    return min(chances, default=1.0) * len(chances) < CHANCE_LEVEL


def hypergeometric_tail(total: int, met: int, size: int, met_here: int) -> float:
    """Return how often so many of a group, or a number as unlikely, are met by chance alone."""
    all_ways = log_choices(total, size)
    chances = [
        exp(log_choices(met, n) + log_choices(total - met, size - n) - all_ways)
        for n in range(max(0, size + met - total), min(size, met) + 1)
    ]
    seen = chances[met_here - max(0, size + met - total)]
    return min(
        1.0, sum(each for each in chances if each <= seen * (1 + RELATIVE_ROUNDING))
    )


def log_choices(of: int, count: int) -> float:
    """Return the logarithm of how many choices of so many there are."""
    return lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)


def go_together(overlap: Overlap, pair: tuple[str, str]) -> bool:
    """Say whether two sources find together, or avoid, what a third one found.

    Among those, and only there, it is known what neither of the two has.
    """
    one, other = pair
    cells = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for history, count in overlap.histories.items():
        if history - {one, other}:
            cells[one in history, other in history] += count
    odds = [cells[key] + HALF_A_COUNT for key in ((True, True), (False, False))]
    against = [cells[key] + HALF_A_COUNT for key in ((True, False), (False, True))]
    ratio = log(prod(odds) / prod(against))
    error = sqrt(sum(1 / each for each in (*odds, *against)))
    tests = len([*combinations(overlap.sources, 2)])
    return erfc(abs(ratio) / error / sqrt(2)) < CHANCE_LEVEL / tests


def chi_squared_tail(value: float, degrees: int) -> float:
    """Return how often chance alone is so far away (Wilson and Hilferty)."""
    if value <= 0:
        return 1.0
    part = 2 / (9 * degrees)
    distance = ((value / degrees) ** (1 / 3) - (1 - part)) / sqrt(part)
    return erfc(distance / sqrt(2)) / 2
