"""Leave out of what a page says what its owners asked us not to keep."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from contact_extraction.contact_card import ContactCard
from contact_extraction.contacts import Citation
from contact_extraction.person_card import PersonCard
from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import canonical_email
from scrapersky.privacy.suppression_filter import REMOVED, SuppressionFilter


def canonical_cards(cards: Iterable[ContactCard]) -> list[ContactCard]:
    """Return the cards with their addresses in the one form in which they are kept."""
    spelt = (canonical_card(card) for card in cards)
    return [card for card in spelt if card.email or card.phone]


def canonical_card(card: ContactCard) -> ContactCard:
    """Return a card with its address in its one form; without, if that has none."""
    if card.email is None:
        return card
    try:
        address = canonical_email(card.email.address)
    except InvalidSubject:
        others = tuple(value for value in card.values if value[0] != "email")
        return replace(card, email=None, values=others)
    values = tuple(
        (name, address if name == "email" else value, evidence, confidence)
        for name, value, evidence, confidence in card.values
    )
    return replace(card, email=replace(card.email, address=address), values=values)


def canonical_emails(addresses: Iterable[str]) -> list[str]:
    """Return addresses in their one form, each once, without those that have none."""
    found: dict[str, None] = {}
    for address in addresses:
        with contextlib.suppress(InvalidSubject):
            found[canonical_email(address)] = None
    return list(found)


def words_of(cards: Iterable[ContactCard]) -> Iterator[str]:
    """Yield everything written on cards, to ask the list about it."""
    for card in cards:
        yield from filter(None, (card.name, card.role))
        yield from (phone.written for phone in card.phones)
        for _, value, evidence, _ in card.values:
            yield value
            for seen in evidence:
                yield from filter(None, (seen.url, seen.snippet))


def names_at(
    host: str, cards: Iterable[ContactCard], people: Iterable[PersonCard]
) -> set[tuple[str, str]]:
    """Return who is named, each with the host that names them."""
    named = {person.name for person in people} | {card.name for card in cards}
    return {(name, host) for name in named if name}


def allowed_cards(
    cards: Iterable[ContactCard], guard: SuppressionFilter, host: str
) -> list[ContactCard]:
    """Return the cards that may be kept, without what may not."""
    if not guard:
        return list(cards)
    return [
        left for card in cards if (left := allowed_card(card, guard, host)) is not None
    ]


def allowed_card(
    card: ContactCard, guard: SuppressionFilter, host: str
) -> ContactCard | None:
    """Return what may be kept of a card; None if it is about someone on the list.

    Whoever's address is on the list is left alone altogether. A number on the list is
    left out, and with it the card that has nothing else to reach somebody by.
    """
    if card.email is not None and guard.hides_email(card.email.address):
        return None
    phones = tuple(one for one in card.phones if not guard.hides_phone(one.e164))
    is_hidden = card.phone is not None and guard.hides_phone(card.phone.e164)
    if card.email is None and is_hidden:
        return None
    if card.name is not None and guard.hides_person(card.name, host):
        return None
    return replace(
        card,
        name=guard.clean(card.name),
        role=guard.clean(card.role),
        phone=None if is_hidden else card.phone,
        phones=phones,
        values=tuple(
            (
                name,
                left,
                tuple(clean_citation(seen, guard) for seen in evidence),
                confidence,
            )
            for name, value, evidence, confidence in card.values
            if (left := guard.clean(value)) is not None and REMOVED not in left
        ),
    )


def words_of_people(people: Iterable[PersonCard]) -> Iterator[str]:
    """Yield everything written about people, to ask the list about it."""
    for person in people:
        yield from filter(None, (person.name, person.role, person.email, person.phone))
        for seen in person.evidence:
            yield from filter(None, (seen.url, seen.snippet))


def allowed_people(
    people: Iterable[PersonCard], guard: SuppressionFilter, host: str
) -> list[PersonCard]:
    """Return the people who may be kept, without what may not."""
    if not guard:
        return list(people)
    return [left for each in people if (left := allowed_person(each, guard, host))]


def allowed_person(
    person: PersonCard, guard: SuppressionFilter, host: str
) -> PersonCard | None:
    """Return what may be kept of a person; None if they asked to be left alone."""
    if person.email is not None and guard.hides_email(person.email):
        return None
    if guard.hides_person(person.name, host):
        return None
    is_hidden = person.phone is not None and guard.hides_phone(person.phone)
    return replace(
        person,
        role=guard.clean(person.role),
        phone=None if is_hidden else person.phone,
        reason=guard.clean(person.reason) or REMOVED,
        evidence=tuple(clean_citation(seen, guard) for seen in person.evidence),
    )


def clean_citation(seen: Citation, guard: SuppressionFilter) -> Citation:
    """Strike out of a piece of evidence what stood beside the value."""
    return replace(
        seen,
        url=guard.clean(seen.url) or REMOVED,
        snippet=guard.clean(seen.snippet) or REMOVED,
    )
