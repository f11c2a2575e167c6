import pytest

from scrapersky.extraction.contacts import Hints, find_contacts

PAGE = "<p>Call us: 020 7946 0018</p>"


@pytest.mark.parametrize("country", ["UK", "uk", "United Kingdom", "GB"])
def test_the_united_kingdom_is_known_by_each_of_its_codes(country: str) -> None:
    contacts = find_contacts(PAGE, "https://a.com/", hints=Hints(country=country))

    assert [phone.e164 for phone in contacts.phones] == ["+442079460018"]


@pytest.mark.parametrize("country", ["EU", "ZZ", "", "?", "Atlantis"])
def test_a_country_without_a_number_plan_does_not_break_the_page(country: str) -> None:
    contacts = find_contacts(
        "<p>Call us: +44 20 7946 0018</p>",
        "https://a.com/",
        hints=Hints(country=country),
    )

    assert [phone.e164 for phone in contacts.phones] == ["+442079460018"]
