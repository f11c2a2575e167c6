"""The pattern of a company's personal addresses, and what it makes of another name.

An address made so was found nowhere. Whoever shows it says that it is a suggestion.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from contact_extraction.mailbox import parts_of

MIN_ADDRESSES: Final = 2
"""Addresses of people that must follow a pattern: one may be anybody's choice."""
MIN_SHARE: Final = 0.75
MAX_KNOWN: Final = 200
_Form = Callable[[str, str], str]
FORMS: Final[dict[str, _Form]] = {
    "first.last": lambda first, last: f"{first}.{last}",
    "first_last": lambda first, last: f"{first}_{last}",
    "first-last": lambda first, last: f"{first}-{last}",
    "firstlast": lambda first, last: f"{first}{last}",
    "last.first": lambda first, last: f"{last}.{first}",
    "f.last": lambda first, last: f"{first[:1]}.{last}",
    "flast": lambda first, last: f"{first[:1]}{last}",
    "firstl": lambda first, last: f"{first}{last[:1]}",
    "lastf": lambda first, last: f"{last}{first[:1]}",
    "first": lambda first, _: first,
    "last": lambda _, last: last,
}


@dataclass(frozen=True, slots=True)
class MailboxPattern:
    """How a company writes the addresses of its people."""

    form: str
    domain: str
    followed_by: int
    known: int

    def address_of(self, name: str) -> str | None:
        """Write the address of a name; None if it could be spelt in several ways."""
        parts = parts_of(name)
        if len(parts.first) != 1 or len(parts.last) != 1:
            return None
        return f"{FORMS[self.form](parts.first[0], parts.last[0])}@{self.domain}"


def pattern_of(known: Iterable[tuple[str, str]]) -> MailboxPattern | None:
    """Give the pattern that most addresses of people follow: (name, address) pairs."""
    some = [pair for pair in known if "@" in pair[1]][:MAX_KNOWN]
    followed = Counter(found for pair in some for found in _followed(*pair))
    if not followed:
        return None
    (form, domain), times = followed.most_common(1)[0]
    of_domain = sum(address.endswith(f"@{domain}") for _, address in some)
    if times < MIN_ADDRESSES or times < MIN_SHARE * of_domain:
        return None
    return MailboxPattern(form, domain, times, of_domain)


def _followed(name: str, address: str) -> set[tuple[str, str]]:
    """Give the forms in which an address spells a name, with its domain."""
    local, _, domain = address.casefold().partition("@")
    parts = parts_of(name)
    return {
        (form, domain)
        for form, write in FORMS.items()
        for first in parts.first
        for last in parts.last
        if first and last and local == write(first, last)
    }
