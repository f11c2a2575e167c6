"""What a page says that is not the business's own: shown under the page, no contact."""

from collections.abc import Iterator

from contact_extraction.contacts import Address, Contacts, Email, Phone

OtherValue = dict[str, str | None]
MAX_VALUES = 50


def other_values(contacts: Contacts) -> list[OtherValue]:
    """Give the addresses and numbers of others and of templates, with whose they are."""
    return [*_others(contacts)][:MAX_VALUES]


def _others(contacts: Contacts) -> Iterator[OtherValue]:
    values: list[Email | Phone | Address] = [*contacts.emails, *contacts.phones]
    values += [*contacts.addresses, *contacts.placeholders]
    for value in values:
        if value.owner.is_ours:
            continue
        kind, text = _written(value)
        yield {
            "kind": kind,
            "value": text,
            "whose": value.owner.whose.value,
            "who": value.owner.who,
            "why": value.owner.why,
            "snippet": value.evidence[0].snippet if value.evidence else None,
        }


def _written(value: Email | Phone | Address) -> tuple[str, str]:
    match value:
        case Email():
            return "email", value.address
        case Phone():
            return value.kind.value, value.e164
        case Address():
            return "address", value.text
