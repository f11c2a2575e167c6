"""Numbers reserved for fiction: taken where a page says that it can be called there."""

import pytest

from contact_extraction.contact_page import read_contact_page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call us: (312) 555-0116", ["+13125550116"]),
        ("Phone: (312) 555-0116", ["+13125550116"]),
        ("as seen in films, (312) 555-0116 never rings", []),
    ],
)
def test_a_number_of_films_needs_a_label(text: str, found: list[str]) -> None:
    page = f"<p>{text}</p>".encode()

    contacts = read_contact_page(page, "http://a.bv/", "utf-8", "US").contacts

    assert [phone.e164 for phone in contacts.phones] == found
