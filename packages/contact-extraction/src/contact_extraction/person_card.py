"""Arrange what a page says as people of the business, each with what is theirs alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from contact_extraction.contact_card import ContactCard
from contact_extraction.contacts import Citation, Contacts, PersonEntry
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import compact, name_key, spellings

STANDING: Final[dict[Seniority | None, float]] = {
    Seniority.OWNER: 0.9,
    Seniority.EXECUTIVE: 0.8,
    Seniority.PROFESSIONAL: 0.6,
    Seniority.MANAGER: 0.5,
    None: 0.3,
    Seniority.STAFF: 0.2,
}
"""How likely somebody of a seniority decides for a small business."""
CARE_STANDING: Final = 0.7
"""How likely the medical or clinical director of a practice decides for it."""
LEADING_BONUS: Final = 0.1
"""What it adds if somebody leads those of their calling: the lead attorney."""
NAMESAKE_BONUS: Final = 0.25
"""What it adds if the business bears their surname: Kanzlei Okelo, okelo.example."""
PROVIDER_STANDING: Final = 0.85
"""How likely whom alone a legal notice names as the provider decides."""
SHARE_LOSS: Final = 0.08
"""What it takes if somebody shares in what another one may lead: partner, co-owner."""
FULL_CONFIDENCE: Final = 0.8
"""From it on, whoever is a little surer of the business does not decide before the others."""
SHORTEST_SURNAME: Final = 4
PLACE_STEP: Final = 0.01
"""Teams are listed from the top: the order says where the roles do not."""
MOST_STEPS: Final = 10
TIE_BONUS: Final = 0.001
"""What it adds to be surely of the business: of two equal pages the surer one says who."""
UNSEEN_FACTOR: Final = 0.1
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
    evidence: tuple[Citation, ...]


def people_of(
    contacts: Contacts, cards: Iterable[ContactCard], host: str
) -> list[PersonCard]:
    """Give the people of a page, each once; customers are none of them."""
    emails, phones = _owned(cards)
    firm = compact(f"{host} {' '.join(names_of_firm(contacts))}")
    found: dict[str, PersonCard] = {}
    for person in contacts.people:
        key = name_key(person.name)
        if not person.is_of_business or not key or key in found:
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
            if not card.is_shared:
                emails.setdefault(key, card.email.address)
        elif card.phone is not None:
            phones.setdefault(key, card.phone.e164)
        for phone in card.direct:
            phones.setdefault(key, phone.e164)
    return emails, phones


def _card(
    person: PersonEntry, key: str, reached: tuple[str | None, str | None], firm: str
) -> PersonCard:
    email, phone = reached
    behind = PLACE_STEP * min(person.place, MOST_STEPS)
    seniority = seniority_of(person.role)
    standing, reason = _standing(person, seniority, firm)
    if person.is_provider and standing < PROVIDER_STANDING:
        standing, reason = PROVIDER_STANDING, "the legal notice names them alone"
    return PersonCard(
        name=person.called,
        key=key,
        role=person.role,
        seniority=seniority,
        email=email,
        phone=phone,
        confidence=person.confidence,
        standing=round(
            standing * _weight(person) - behind + TIE_BONUS * person.confidence, 5
        ),
        reason=reason,
        evidence=person.evidence,
    )


def _weight(person: PersonEntry) -> float:
    """Weigh a person, those whom visitors may not see behind everybody else."""
    sure = min(1.0, person.confidence / FULL_CONFIDENCE)
    return sure if person.is_seen else sure * UNSEEN_FACTOR


def _standing(
    person: PersonEntry, seniority: Seniority | None, firm: str
) -> tuple[float, str]:
    """Report how likely somebody decides for the business, and why."""
    standing = STANDING[seniority]
    reason = "named without a role"
    role = person.role or ""
    if seniority:
        reason = f"{seniority.value}: {person.role}"
    if _LEFT.search(role):
        return STANDING[Seniority.STAFF], f"{reason}; has left"
    if seniority is None and person.degree:
        standing = STANDING[Seniority.PROFESSIONAL]
        reason = f"professional: {person.degree}"
    if seniority is Seniority.MANAGER and _HEADS_CARE.search(role):
        standing = CARE_STANDING
    if seniority in _DECIDES and _SHARES.match(role) and not _LEADS.match(role):
        standing -= SHARE_LOSS
    if seniority is Seniority.PROFESSIONAL and _LEADS.match(person.role or ""):
        standing += LEADING_BONUS
    if _bears_name(firm, person.name):
        return standing + NAMESAKE_BONUS, f"{reason}; the business bears their name"
    return standing, reason


_DECIDES: Final = (Seniority.OWNER, Seniority.EXECUTIVE)
_SHARES: Final = re.compile(
    r"(?:co-?|mit|współ|spolu|med|del|mede-?|com?)(?:owner|inhaber|eigent|gründer|wła|maji|zakl|ejer|"
    r"eier|inde|äg|eigen|propri|found|fond|fund)|(?:equity |junior |associate |salary )?partner\b|"
    r"associé|director\b$|deputy|stellv",
    re.IGNORECASE,
)
_LEFT: Final = re.compile(
    r"\b(?:former|retired|emerit\w+|late|past|ex-|ehemalig\w*|ancien\w*|i\.? ?r\.|a\. ?d\.)(?!\w)",
    re.IGNORECASE,
)
_LEADS: Final = re.compile(
    r"(?:managing|sole|main|lead|leading|senior|head|chief|principal|leitende[rn]?|chef|primario|jefe|jefa|vedoucí|"
    r"primář|hlavní|ledende|ledande|vezető|johtava|vastaava|hoofd|kierując\w*)\b",
    re.IGNORECASE,
)


_HEADS_CARE: Final = re.compile(
    r"\b(?:medical|clinical|dental|veterinary|creative|artistic) director|"
    r"directora? (?:médic|clínic)[oa]|diretora? clínic[oa]|ärztliche leitung|fachliche leitung",
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
