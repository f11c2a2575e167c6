"""One line of a file that people bring: what it says, from where, and of whom."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from contact_extraction.contacts.person.word import is_given
from contact_extraction.email_quality import judge_email
from contact_extraction.host_kind import site_name
from contact_extraction.mailbox import strength
from contact_extraction.text import compact, fold
from scrapersky.providers.source import PlaceFacts

IMPORTED: Final = ("imported by ", "imported from ")
"""How the origin of an imported value begins."""
NOT_LETTERS: Final = re.compile(r"[\W\d_]+")


class KnownValues(StrEnum):
    """What becomes of what is known of a company that a file says otherwise."""

    KEPT = "kept"
    REPLACED = "replaced"


def origin_of(who: str | None, file: str, line: int) -> str:
    """Say where an imported value is from; without accounts nobody brought the file."""
    by, from_ = IMPORTED
    return f"{by}{who}, {file}, line {line}" if who else f"{from_}{file}, line {line}"


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """One line of a file: the place it became, and what else stands there."""

    source_place_id: str
    facts: PlaceFacts
    origin: str
    """Who imported it, from which file and line."""
    known_values: KnownValues = KnownValues.KEPT

    @property
    def person(self) -> str | None:
        """Return whom the line names."""
        return self._contact.get("name")

    @property
    def role(self) -> str | None:
        """Return what they are."""
        return self._contact.get("role")

    @property
    def _contact(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.facts.attributes.get("contact") or {}
        return found

    @property
    def host(self) -> str | None:
        """Return whose contacts these are: the website, or else a company's mail domain."""
        if self.facts.website and (name := site_name(self.facts.website)):
            return name
        for email in self.facts.emails:
            if not judge_email(email).is_free:
                return site_name(f"https://{email.rpartition('@')[2]}/")
        return None

    def is_persons(self, email: str) -> bool:
        """Say whether an address is the own one of whom the line names.

        That both stand in one line is enough, unless the address says otherwise: it names
        a function, the company, or somebody else.
        """
        if not self.person or judge_email(email).is_role:
            return False
        local, _, domain = email.lower().rpartition("@")
        written = compact(local)
        if written == compact(self.person):
            return True
        company = {compact(self.facts.name or ""), compact(domain.partition(".")[0])}
        return written not in company and not names_another(local, self.person)


def names_another(local: str, person: str) -> bool:
    """Say whether the part before the @ is made of the name of somebody else."""
    words = [word for word in NOT_LETTERS.split(local) if word]
    if len(words) == 1 or not words or strength(local, person) > 0:
        return False
    first = words[0]
    if len(first) == 1:
        return first not in {fold(word)[:1] for word in person.split()}
    return is_given(first)
