"""Leave out of what a page says what its owners asked us not to keep."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from scrapersky.extraction.contact_card import ContactCard
from scrapersky.extraction.contacts import Evidence
from scrapersky.privacy.shield import REMOVED, Shield


def words_of(cards: Iterable[ContactCard]) -> Iterator[str]:
    """Yield everything written on cards, to ask the list about it."""
    for card in cards:
        yield from filter(None, (card.name, card.role))
        yield from (phone.written for phone in card.phones)
        for _, value, evidence, _ in card.values:
            yield value
            for seen in evidence:
                yield from filter(None, (seen.url, seen.snippet))


def allowed_cards(cards: Iterable[ContactCard], guard: Shield) -> list[ContactCard]:
    """Return the cards that may be kept, without what may not."""
    if not guard:
        return list(cards)
    return [left for card in cards if (left := allowed(card, guard)) is not None]


def allowed(card: ContactCard, guard: Shield) -> ContactCard | None:
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
    return replace(
        card,
        name=guard.clean(card.name),
        role=guard.clean(card.role),
        phone=None if is_hidden else card.phone,
        phones=phones,
        values=tuple(
            (name, left, tuple(cleaned(seen, guard) for seen in evidence), confidence)
            for name, value, evidence, confidence in card.values
            if (left := guard.clean(value)) is not None and REMOVED not in left
        ),
    )


def cleaned(seen: Evidence, guard: Shield) -> Evidence:
    """Strike out of a piece of evidence what stood beside the value."""
    return replace(
        seen,
        url=guard.clean(seen.url) or REMOVED,
        snippet=guard.clean(seen.snippet) or REMOVED,
    )
