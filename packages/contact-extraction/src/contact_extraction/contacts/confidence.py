"""How far to trust a value: measured reliability of each method, joined over sightings.

The figures are the share of values right, by kind and method, on annotated business
pages; `contact_extraction.measuring.pages` prints the same table for any annotated file.
"""

from collections.abc import Iterable
from typing import Final

from contact_extraction.contacts.model import Method, ValueOwner

_RELIABILITY: Final[dict[str, dict[Method, float]]] = {
    "email": {
        Method.MAILTO: 0.98,
        Method.TEXT: 0.97,
        Method.CLOUDFLARE: 0.98,
        Method.OBFUSCATED: 0.85,
        Method.SCRIPT: 0.85,
        Method.ATTRIBUTE: 0.85,
        Method.IMAGE: 0.9,
    },
    "phone": {Method.TEL: 0.97, Method.LABELLED: 0.98, Method.TEXT: 0.97},
    "address": {Method.STREET: 0.82, Method.POSTAL: 0.75, Method.ATTRIBUTE: 0.75},
    "organisation": {},
    "person": {
        Method.ROLE: 0.93,
        Method.NAME_LIST: 0.72,
        Method.TITLE_OF_ADDRESS: 0.7,
    },
    "hours": {Method.TEXT: 0.77},
    "social": {Method.LINK: 0.98, Method.ATTRIBUTE: 0.95},
}
_STRUCTURED: Final = {
    Method.JSON_LD: 0.95,
    Method.MICRODATA: 0.93,
    Method.RDFA: 0.9,
    Method.HCARD: 0.92,
}
_UNKNOWN_CHANCE: Final = 0.5
_ROLE_CHANCE: Final = 0.87
"""The share of roles that are right, of people who are."""
MAX_CONFIDENCE: Final = 0.99
LEAST_SURE: Final = 0.6
"""E-mail addresses below it stand only where visitors may not see them."""


def reliability(kind: str, method: Method) -> float:
    """Give the chance that one sighting by this method is right."""
    known = _RELIABILITY[kind].get(method)
    return known if known is not None else _STRUCTURED.get(method, _UNKNOWN_CHANCE)


def joined(
    kind: str, methods: Iterable[Method], owner: ValueOwner | None = None
) -> float:
    """Join independent methods: each further one removes part of the doubt left.

    What is read right is right only if it is its owner's.
    """
    doubt = 1.0
    for method in set(methods):
        doubt *= 1.0 - reliability(kind, method)
    likelihood = owner.likelihood if owner is not None else 1.0
    return round(min(MAX_CONFIDENCE, 1.0 - doubt) * likelihood, 3)


def role_confidence(person: float) -> float:
    """Turn the confidence of a person into that of the role beside the name."""
    return round(person * _ROLE_CHANCE, 3)


def bounded(chance: float) -> float:
    """Turn a chance worked out elsewhere into a confidence: never quite sure."""
    return round(min(MAX_CONFIDENCE, chance), 3)
