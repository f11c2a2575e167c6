"""Arrange what a page says as cards: one per e-mail address, else one per phone."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from contact_extraction.contacts import (
    Address,
    Citation,
    Contacts,
    Email,
    Group,
    Method,
    PersonLink,
    Phone,
    PhoneKind,
    Social,
)
from contact_extraction.contacts.confidence import role_confidence


@dataclass(frozen=True, slots=True)
class ContactCard:
    """One way to reach a business: by e-mail, or by phone without one."""

    email: Email | None
    phone: Phone | None
    name: str | None = None
    role: str | None = None
    phones: tuple[Phone, ...] = ()
    direct: tuple[Phone, ...] = ()
    """Those of the numbers that reach the person named, and nobody else."""
    is_shared: bool = False
    """Whether the address is the firm's, and the person named whom it reaches."""
    address: Address | None = None
    socials: tuple[Social, ...] = ()
    values: tuple[tuple[str, str, tuple[Citation, ...], float], ...] = field(
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
    belongs to none, or to somebody who has no such contact, is a contact of its own.
    """
    index = _Index(contacts)
    found = [
        card_of(index, index.group_of(email), email=email)
        for email in contacts.emails
        if email.owner.is_ours
    ]
    taken: dict[str, set[str | None]] = defaultdict(set)
    for each in found:
        for phone in each.phones:
            taken[phone.e164].add(each.name)
    lone = [
        phone
        for phone in contacts.phones
        if phone.owner.is_ours
        and (phone.e164 not in taken or index.is_of_another(phone, taken[phone.e164]))
    ]
    found += [
        card_of(index, index.lone_group_of(phone), phone=phone)
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


class _Index:
    """Which group each value stands in, and whose alone it is.

    By what a value is known by: comparing all their evidence takes long where there are
    thousands.
    """

    def __init__(self, contacts: Contacts) -> None:
        self.contacts = contacts
        self.ours = [one for one in contacts.addresses if one.owner.is_ours]
        self.groups: dict[str, Group] = {}
        self.lone_groups: dict[str, Group] = {}
        for group in contacts.groups:
            for email in group.emails:
                self.groups.setdefault(email.address, group)
            for phone in group.phones if not group.emails else ():
                self.lone_groups.setdefault(_number(phone), group)
        self.owners: dict[str, PersonLink] = {}
        self.direct: dict[str, list[Phone]] = {}
        for link in contacts.links:
            if link.email is not None:
                self.owners.setdefault(link.email.address, link)
            if link.phone is not None:
                self.owners.setdefault(_number(link.phone), link)
                self.direct.setdefault(link.person.called, []).append(link.phone)

    def group_of(self, email: Email) -> Group | None:
        """Give the group an address stands in."""
        return self.groups.get(email.address)

    def lone_group_of(self, phone: Phone) -> Group | None:
        """Give the group a number stands in, if no e-mail address owns it."""
        return self.lone_groups.get(_number(phone))

    def owner_of(self, email: Email | None, phone: Phone | None) -> PersonLink | None:
        """Give whose alone an address is, or a number that is a contact by itself."""
        if email is not None:
            return self.owners.get(email.address)
        return self.owners.get(_number(phone)) if phone is not None else None

    def is_of_another(self, phone: Phone, names: AbstractSet[str | None]) -> bool:
        """Say whether a number is somebody's alone who is none of those named."""
        link = self.owners.get(_number(phone))
        return link is not None and link.person.called not in names


def _number(phone: Phone) -> str:
    return f"{phone.e164};{phone.extension or ''}"


def card_of(
    index: _Index,
    group: Group | None,
    *,
    email: Email | None = None,
    phone: Phone | None = None,
) -> ContactCard:
    """Make one contact of a value and of what stands with it.

    The page's only address is everyone's; where there are several, the group's alone.
    """
    phones = group.phones if group and email else (phone,) if phone else ()
    phones = tuple(one for one in phones if one.owner.is_ours)
    contacts = index.contacts
    link = index.owner_of(email, phone)
    person = link.person if link else None
    address = group.address if group else None
    if address is not None and not address.owner.is_ours:
        address = None
    if address is None and len(index.ours) == 1:
        address = index.ours[0]
    voice = next((one for one in phones if one.kind is not PhoneKind.FAX), None)
    return ContactCard(
        email=email,
        phone=voice,
        name=person.called if person else None,
        role=person.role if person else None,
        phones=phones,
        direct=tuple(index.direct.get(person.called, ())) if person else (),
        is_shared=link is not None and link.is_shared,
        address=address,
        socials=contacts.socials,
        values=tuple(values(email, phones, link, address, contacts.socials)),
    )


def values(
    email: Email | None,
    phones: Iterable[Phone],
    link: PersonLink | None,
    address: Address | None,
    socials: Iterable[Social],
) -> Iterator[tuple[str, str, tuple[Citation, ...], float]]:
    """Yield every value of a contact with its evidence."""
    if email is not None:
        yield "email", email.address, email.evidence, email.confidence
    for phone in phones:
        yield phone.kind.value, phone.e164, phone.evidence, phone.confidence
    if link is not None:
        person = link.person
        # Theirs alone: right about who they are, and about whose it is.
        sure = round(person.confidence * link.confidence, 3)
        seen = person.evidence
        if link.is_shared:
            seen = tuple(replace(one, method=Method.LEGAL_NOTICE) for one in seen)
        yield "name", person.called, seen, sure
        if person.role is not None:
            sure = role_confidence(sure)
            yield "role", person.role, person.evidence, sure
    if address is not None:
        yield "address", address.text, address.evidence, address.confidence
    for social in socials:
        yield social.network, social.url, social.evidence, social.confidence
