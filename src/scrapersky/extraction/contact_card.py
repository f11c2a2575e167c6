"""Arrange what a page says as cards: one per e-mail address, else one per phone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from scrapersky.extraction.contacts import (
    Address,
    Contacts,
    Email,
    Evidence,
    Group,
    Person,
    Phone,
    PhoneKind,
    Social,
)


@dataclass(frozen=True, slots=True)
class ContactCard:
    """One way to reach a business: by e-mail, or by phone without one."""

    email: Email | None
    phone: Phone | None
    name: str | None = None
    role: str | None = None
    phones: tuple[Phone, ...] = ()
    address: Address | None = None
    socials: tuple[Social, ...] = ()
    values: tuple[tuple[str, str, tuple[Evidence, ...], float], ...] = field(
        default_factory=tuple
    )

    @property
    def confidence(self) -> float:
        """How sure we are of what the contact is known by."""
        known_by = self.email or self.phone
        return known_by.confidence if known_by else 0.0


def cards_of(contacts: Contacts) -> list[ContactCard]:
    """Arrange what a page says as contacts: one per e-mail, else one per phone.

    A phone that stands with an e-mail in a group belongs to that contact; a phone that
    belongs to none is a contact of its own.
    """
    found = [
        card_of(contacts, group_with(contacts, email=email), email=email)
        for email in contacts.emails
    ]
    taken = {phone.e164 for each in found for phone in each.phones}
    lone = [phone for phone in contacts.phones if phone.e164 not in taken]
    found += [
        card_of(contacts, group_with(contacts, phone=phone), phone=phone)
        for phone in lone
        if phone.kind is not PhoneKind.FAX
    ]
    return with_faxes(found, [p for p in lone if p.kind is PhoneKind.FAX])


def with_faxes(found: list[ContactCard], faxes: list[Phone]) -> list[ContactCard]:
    """Give the page's fax numbers to its first contact: nobody is reached by fax alone."""
    if not found or not faxes:
        return found
    first, *others = found
    added = tuple(values(None, faxes, None, None, ()))
    phones = (*first.phones, *faxes)
    return [replace(first, phones=phones, values=first.values + added), *others]


def group_with(
    contacts: Contacts, *, email: Email | None = None, phone: Phone | None = None
) -> Group | None:
    """Return the group a value stands in; a phone's only if no e-mail owns it."""
    for group in contacts.groups:
        if email is not None and email in group.emails:
            return group
        if phone is not None and phone in group.phones and not group.emails:
            return group
    return None


def card_of(
    contacts: Contacts,
    group: Group | None,
    *,
    email: Email | None = None,
    phone: Phone | None = None,
) -> ContactCard:
    """Make one contact of a value and of what stands with it.

    The page's only address is everyone's; where there are several, the group's alone.
    """
    phones = group.phones if group and email else (phone,) if phone else ()
    is_personal = group is not None and len(group.emails) <= 1
    person = group.person if group and is_personal else None
    address = group.address if group else None
    if address is None and len(contacts.addresses) == 1:
        address = contacts.addresses[0]
    voice = next((one for one in phones if one.kind is not PhoneKind.FAX), None)
    return ContactCard(
        email=email,
        phone=voice,
        name=person.name if person else None,
        role=person.role if person else None,
        phones=phones,
        address=address,
        socials=contacts.socials,
        values=tuple(values(email, phones, person, address, contacts.socials)),
    )


def values(
    email: Email | None,
    phones: Iterable[Phone],
    person: Person | None,
    address: Address | None,
    socials: Iterable[Social],
) -> Iterator[tuple[str, str, tuple[Evidence, ...], float]]:
    """Yield every value of a contact with its evidence."""
    if email is not None:
        yield "email", email.address, email.evidence, email.confidence
    for phone in phones:
        yield phone.kind.value, phone.e164, phone.evidence, phone.confidence
    if person is not None:
        yield "name", person.name, person.evidence, person.confidence
        if person.role is not None:
            yield "role", person.role, person.evidence, person.confidence
    if address is not None:
        yield "address", address.text, address.evidence, address.confidence
    for social in socials:
        yield social.network, social.url, social.evidence, social.confidence
