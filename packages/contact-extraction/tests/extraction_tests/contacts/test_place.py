import pytest

from contact_extraction.contacts import Hints
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.place import guess_regions
from contact_extraction.html import parse_page

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


def test_a_dish_named_turkey_does_not_make_a_caterer_turkish() -> None:
    menu = "<li>Turkey</li>" * 4 + "<li>Smoked Turkey</li>"
    contacts = find_contacts(f"<ul>{menu}</ul><p>(512) 472-1234</p>", "https://a.com/")

    assert [phone.e164 for phone in contacts.phones] == ["+15124721234"]


def test_the_offices_of_a_list_name_their_countries() -> None:
    html = "<h3>Poland</h3><h3>Spain</h3><h3>Turkey</h3><p>Tel: 512 472 12 34</p>"
    contacts = find_contacts(html, "https://a.com/")

    assert {phone.region for phone in contacts.phones} <= {"PL", "ES", "TR"}
    assert contacts.phones


def test_a_british_processor_does_not_make_german_numbers_british() -> None:
    html = (
        "<html lang='de'><p>Praxis am Markt, Telefon 030 31 02 05 40</p>"
        "<p>Auftragsverarbeiter: Forms Ltd, 1 High Road, Leeds LS1 4AP</p>"
    )
    contacts = find_contacts(html, "https://a.com/")

    assert [phone.e164 for phone in contacts.phones] == ["+493031020540"]


@pytest.mark.parametrize(
    ("page", "number"),
    [
        (
            "<p>12 High Street, Sydney NSW 2000</p><p>Ring 02 9876 5432</p>",
            "+61298765432",
        ),
        ("<p>Rua Augusta 5, 1100-053 Lisboa</p><p>213 456 780</p>", "+351213456780"),
        ("<p>ul. Polna 5, 05-123 Nowa</p><p>22 765 43 20</p>", "+48227654320"),
    ],
)
def test_a_postal_code_tells_the_country_of_a_page_without_language(
    page: str, number: str
) -> None:
    contacts = find_contacts(page, "https://a.com/")

    assert [phone.e164 for phone in contacts.phones] == [number]


def test_the_end_of_a_telephone_number_is_no_code() -> None:
    page = parse_page("<p>Tel: (+385-1) 4881-120<br>Bul. Zorana 5</p>")

    assert "PT" not in guess_regions(page_text(page), "https://a.com/", Hints())
