"""The kinds of e-mail address the product distinguishes, spelt in this one place."""

from enum import StrEnum


class EmailType(StrEnum):
    """What kind of address an e-mail address is."""

    SERVICE = "SERVICE"
    CORPORATE = "CORPORATE"
    FREE = "FREE"
    UNKNOWN = "UNKNOWN"
