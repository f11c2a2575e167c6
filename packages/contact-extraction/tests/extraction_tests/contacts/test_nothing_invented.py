import pytest

from contact_extraction.contacts import Contacts
from contact_extraction.contacts.finder import find_contacts
from extraction_tests.business_pages import contactless_page


@pytest.mark.parametrize(
    "seeds",
    [range(200), pytest.param(range(200, 1000), marks=pytest.mark.long)],
    ids=["two hundred", "a thousand"],
)
def test_pages_without_contacts_give_none(seeds: range) -> None:
    found = [
        (seed, contacts)
        for seed in seeds
        if has_any(contacts := find_contacts(contactless_page(seed), "https://a.test/"))
    ]

    assert found == []


def has_any(contacts: Contacts) -> bool:
    return bool(
        contacts.emails
        or contacts.phones
        or contacts.addresses
        or contacts.socials
        or contacts.people
        or contacts.hours
    )
