"""The chance that a candidate is a name, by weights fitted on annotated pages."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from scrapersky.extraction import wordlist

WEIGHTS: Final = "organisation_weights"
STEEPEST: Final = 30.0


def chance(traits: Mapping[str, float]) -> float:
    """Weigh what speaks for a name and against it."""
    weights = _weights()
    total = weights["always"] + sum(
        weights.get(trait, 0.0) * value for trait, value in traits.items() if value
    )
    return 1.0 / (1.0 + math.exp(-max(-STEEPEST, min(STEEPEST, total))))


@cache
def _weights() -> Mapping[str, float]:
    """Read the last column: the trait, what we expected of it, what the pages taught."""
    rows = (line.split() for line in wordlist.load_ordered(WEIGHTS))
    return {row[0]: float(row[-1]) for row in rows}
