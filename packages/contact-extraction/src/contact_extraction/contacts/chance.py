"""The chance that a candidate is right, by weights fitted on annotated pages."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from contact_extraction import wordlist

SLOPE: Final = "confidence_slope"
SHIFT: Final = "confidence_shift"
MAX_LOG_ODDS: Final = 30.0


def chance(weights: str, traits: Mapping[str, float]) -> float:
    """Weigh what speaks for a candidate and against it, by the weights of this name."""
    known = weights_of(weights)
    return _logistic(
        known["always"]
        + sum(
            known.get(trait, 0.0) * value
            for trait, value in traits.items()
            if trait != "always"
        )
    )


def confidence_of(weights: str, likely: float) -> float:
    """Give how often candidates of such a chance are right on sites never seen.

    The fit is surer of what it saw than it may be, and of doubtful ones too little.
    """
    known = weights_of(weights)
    odds = math.log(likely / (1.0 - likely)) if 0.0 < likely < 1.0 else MAX_LOG_ODDS
    return _logistic(known[SLOPE] * odds + known[SHIFT])


def _logistic(total: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, total))))


@cache
def weights_of(name: str) -> Mapping[str, float]:
    """Read the last column: the trait, what we expected of it, what the pages taught."""
    rows = (line.split() for line in wordlist.load_ordered(name))
    return {row[0]: float(row[-1]) for row in rows}
