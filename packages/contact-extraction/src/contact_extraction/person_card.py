"""Arrange what a page says as people of the business, each with what is theirs alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contact_extraction.contact_card import ContactCard
from contact_extraction.contacts import Contacts, Evidence, Person
from contact_extraction.plain import name_key, spellings, squeezed
from contact_extraction.seniority import Seniority, seniority_of

STANDING: Final[dict[Seniority | None, float]] = {
    Seniority.OWNER: 0.9,
    Seniority.EXECUTIVE: 0.8,
    Seniority.PROFESSIONAL: 0.6,
    Seniority.MANAGER: 0.5,
    None: 0.3,
    Seniority.STAFF: 0.2,
}
"""How likely somebody of a seniority decides for a small business."""
LEADING: Final = 0.1
"""What it adds if somebody leads those of their calling: the lead attorney."""
NAMESAKE: Final = 0.25
"""What it adds if the business bears their surname: Kanzlei Okelo, okelo.example."""
SHORTEST_SURNAME: Final = 4
STEP: Final = 0.01
"""Teams are listed from the top: the order says where the roles do not."""
MOST_STEPS: Final = 10
UNSEEN: Final = 0.1
"""What is left of the standing of who is named only where visitors do not look."""


@dataclass(frozen=True, slots=True)
class PersonCard:
    """One person of the business; an e-mail or a phone only if it is theirs alone."""

    name: str
    key: str
    role: str | None
    seniority: Seniority | None
    email: str | None
    phone: str | None
    confidence: float
    standing: float
    reason: str
    """Why they have this standing, in words a person reads."""
    evidence: tuple[Evidence, ...]


def people_of(
    contacts: Contacts, cards: Iterable[ContactCard], host: str
) -> list[PersonCard]:
    """Give the people of a page, each once; customers are none of them."""
    emails, phones = _owned(cards)
    firm = squeezed(f"{host} {' '.join(names_of_firm(contacts))}")
    found: dict[str, PersonCard] = {}
    for person in contacts.people:
        key = name_key(person.name)
        if person.is_customer or not key or key in found:
            continue
        found[key] = _card(person, key, (emails.get(key), phones.get(key)), firm)
    return list(found.values())


Values = dict[str, str]


def _owned(cards: Iterable[ContactCard]) -> tuple[Values, Values]:
    """Give the addresses and the numbers that are somebody's alone, by their name."""
    emails: Values = {}
    phones: Values = {}
    for card in cards:
        key = name_key(card.name)
        if card.email is not None:
            emails.setdefault(key, card.email.address)
        elif card.phone is not None:
            phones.setdefault(key, card.phone.e164)
        for phone in card.direct:
            phones.setdefault(key, phone.e164)
    return emails, phones


def _card(
    person: Person, key: str, reached: tuple[str | None, str | None], firm: str
) -> PersonCard:
    email, phone = reached
    behind = STEP * min(person.place, MOST_STEPS)
    seniority = seniority_of(person.role)
    standing, reason = _standing(person, seniority, firm)
    return PersonCard(
        name=person.name,
        key=key,
        role=person.role,
        seniority=seniority,
        email=email,
        phone=phone,
        confidence=person.confidence,
        standing=round(standing * _weight(person) - behind, 3),
        reason=reason,
        evidence=person.evidence,
    )


def _weight(person: Person) -> float:
    """Weigh a person, those whom visitors may not see behind everybody else."""
    return person.confidence if person.is_seen else person.confidence * UNSEEN


def _standing(
    person: Person, seniority: Seniority | None, firm: str
) -> tuple[float, str]:
    """Report how likely somebody decides for the business, and why."""
    standing = STANDING[seniority]
    reason = "named without a role"
    if seniority:
        reason = f"{seniority.value}: {person.role}"
    if seniority is Seniority.PROFESSIONAL and _LEADS.match(person.role or ""):
        standing += LEADING
    if _bears_name(firm, person.name):
        return standing + NAMESAKE, f"{reason}; the business bears their name"
    return standing, reason


_LEADS: Final = re.compile(
    r"(?:lead|leading|senior|head|chief|principal|leitende[rn]?|chef|primario|jefe|jefa)\b",
    re.IGNORECASE,
)


def _bears_name(firm: str, name: str) -> bool:
    """Say whether a surname is in the name or the domain of a business."""
    surname = name.partition(",")[0].split()[-1]
    return any(
        len(one) >= SHORTEST_SURNAME and one in firm for one in spellings(surname)
    )


def names_of_firm(contacts: Contacts) -> Iterator[str]:
    """Give what the page calls the business."""
    for organisation in contacts.organisations[:1]:
        yield organisation.name
        yield from organisation.also
