"""The chance that a candidate is a name, by weights fitted on annotated pages."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from scrapersky.extraction import wordlist

WEIGHTS: Final = "organisation_weights"
SLOPE: Final = "confidence_slope"
SHIFT: Final = "confidence_shift"
STEEPEST: Final = 30.0


def chance(traits: Mapping[str, float]) -> float:
    """Weigh what speaks for a name and against it."""
    weights = _weights()
    return _logistic(
        weights["always"]
        + sum(weights.get(trait, 0.0) * value for trait, value in traits.items())
    )


def confidence_of(likely: float) -> float:
    """Give how often names of such a chance are right on sites never seen.

    The fit is surer of its names than it may be, and of doubtful ones too little: a
    name may agree with an annotation that another name agrees with better.
    """
    weights = _weights()
    odds = math.log(likely / (1.0 - likely)) if 0.0 < likely < 1.0 else STEEPEST
    return _logistic(weights[SLOPE] * odds + weights[SHIFT])


def _logistic(total: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-STEEPEST, min(STEEPEST, total))))


@cache
def _weights() -> Mapping[str, float]:
    """Read the last column: the trait, what we expected of it, what the pages taught."""
    rows = (line.split() for line in wordlist.load_ordered(WEIGHTS))
    return {row[0]: float(row[-1]) for row in rows}
