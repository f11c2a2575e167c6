"""Whether mail to an address is likely to arrive, spelt in this one place."""

from enum import StrEnum


class Deliverability(StrEnum):
    """What the check of an address came to."""

    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
