"""The chance that a candidate is a name of an organisation."""

from collections.abc import Mapping
from typing import Final

from contact_extraction.contacts import chance as weighing
from contact_extraction.contacts.chance import SHIFT, SLOPE

__all__ = ["SHIFT", "SLOPE", "WEIGHTS", "chance", "confidence_of"]

WEIGHTS: Final = "organisation_weights"


def chance(traits: Mapping[str, float]) -> float:
    """Weigh what speaks for a name and against it."""
    return weighing.chance(WEIGHTS, traits)


def confidence_of(likely: float) -> float:
    """Give how often names of such a chance are right on sites never seen."""
    return weighing.confidence_of(WEIGHTS, likely)
