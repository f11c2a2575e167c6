from bench.extraction_pages import contactless_page
from scrapersky.extraction.contacts import Contacts, find_contacts


def test_a_thousand_pages_without_contacts_give_none() -> None:
    found = [
        (seed, contacts)
        for seed in range(1000)
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
