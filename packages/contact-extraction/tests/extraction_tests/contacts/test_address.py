"""Streets as pages set them: over lines, as headings, with the house above."""

import pytest

from contact_extraction.contacts import Hints
from contact_extraction.contacts.finder import find_contacts


@pytest.mark.parametrize(
    ("page", "street", "city"),
    [
        (
            "<h3>Millbrook House,<br>Station Road,<br>Athlone,<br>Co. Westmeath</h3>",
            "Millbrook House, Station Road",
            "Athlone",
        ),
        (
            "<p>Mill House, Station Road, Cork, Co. Cork</p>",
            "Mill House, Station Road",
            "Cork",
        ),
        (
            "<div>600 Market Street</div><div>Suite 2800 South</div><div>Denver, CO 80202</div>",
            "600 Market Street, Suite 2800 South",
            "Denver",
        ),
        ('<p lang="de">Lindenweg 12, D-50667 Köln</p>', "Lindenweg 12", "Köln"),
        ("<p>PO Box 4410<br>Reno, NV 89501</p>", "PO Box 4410", "Reno"),
        (
            "<p>Suite 306 Level 3<br>267 Mill Street<br>Reno, NV 89501</p>",
            "Suite 306 Level 3, 267 Mill Street",
            "Reno",
        ),
        (
            "<p>Harbour Tower, 4th Floor<br>Weavers Club<br>267 Mill Street<br>Reno, NV 89501</p>",
            "Harbour Tower, 4th Floor, Weavers Club, 267 Mill Street",
            "Reno",
        ),
        (
            "<p>We moved lately. 3rd Floor Weavers Club 24 Mill Street, Reno, NV 89501</p>",
            "3rd Floor Weavers Club, 24 Mill Street",
            "Reno",
        ),
    ],
)
def test_a_street_is_read_with_its_house_and_its_city(
    page: str, street: str, city: str
) -> None:
    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [(a.street, a.city) for a in addresses] == [(street, city)]


def test_a_suite_that_only_the_text_says_joins_the_street_of_structured_data() -> None:
    page = """<div itemscope itemtype="https://schema.org/PostalAddress">
    <div itemprop="streetAddress">600 Market Street</div><div>Suite 2800 South</div>
    <span itemprop="addressLocality">Denver</span>, <span itemprop="addressRegion">CO</span>
    <span itemprop="postalCode">80202</span></div>"""

    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [a.street for a in addresses] == ["600 Market Street, Suite 2800 South"]


def test_a_heading_below_an_address_begins_something_else() -> None:
    page = "<p>12 Mill Lane</p><h2>Leeds</h2><p>LS1 4AP is our postcode</p>"

    addresses = find_contacts(page, "https://acme.co.uk/").addresses

    assert all(address.city != "Leeds" for address in addresses)


def test_a_street_written_with_its_postal_code_is_no_fuller_street() -> None:
    page = """<p>600 Market Street<br>Denver, CO 80202</p>
    <script type="application/ld+json">{"@type": "PostalAddress", "postalCode": "80202",
    "streetAddress": "600 Market Street Denver CO 80202"}</script>"""

    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [a.street for a in addresses] == ["600 Market Street"]


@pytest.mark.parametrize(
    ("page", "country", "street", "code", "city"),
    [
        ("05-123 Nowa, ul. Polna 3", "PL", "ul. Polna 3", "05-123", "Nowa"),
        ("10121 Torino Via Roma 7", "IT", "Via Roma 7", "10121", "Torino"),
        ("75001 Paris<br>12 rue des Lys", "FR", "12 rue des Lys", "75001", "Paris"),
    ],
)
def test_a_city_written_before_its_street_is_read(
    page: str, country: str, street: str, code: str, city: str
) -> None:
    assert places(page, country) == [(street, code, city)]


@pytest.mark.parametrize(
    ("page", "country", "street", "code", "city"),
    [
        ("Hauptstr. 5, 12345, Berlin", "DE", "Hauptstr. 5", "12345", "Berlin"),
        ("Hauptstr. 5<br>12345<br>Berlin", "DE", "Hauptstr. 5", "12345", "Berlin"),
        ("9 Elm Street, Reno, NV, 89501", "US", "9 Elm Street", "89501", "Reno"),
        ("9 Elm Street<br>Reno NV<br>89501", "US", "9 Elm Street", "89501", "Reno"),
        ("Prado 8, 15680 A Laracha", "ES", "Prado 8", "15680", "A Laracha"),
        ("Lazina 12/B4, Niš, Serbia 18000", "RS", "Lazina 12/B4", "18000", "Niš"),
    ],
)
def test_a_postal_code_set_apart_is_not_lost(
    page: str, country: str, street: str, code: str, city: str
) -> None:
    assert places(page, country) == [(street, code, city)]


def test_a_place_before_a_street_is_not_taken_from_another_address() -> None:
    page = "Musterweg 3, 12345 Berlin, Parkallee 7"

    assert places(page, "DE") == [
        ("Musterweg 3", "12345", "Berlin"),
        ("Parkallee 7", None, None),
    ]


def test_a_code_and_a_city_with_their_country_are_an_address() -> None:
    assert places("2500 Lier, België", "BE") == [(None, "2500", "Lier")]


def test_a_label_before_a_street_without_number_is_not_part_of_it() -> None:
    assert places("Address: Mill Rd, Ardmore, County Waterford", "IE") == [
        ("Mill Rd", None, "Ardmore")
    ]


def test_the_label_of_an_office_was_taken_for_a_part_of_its_address() -> None:
    assert places(
        "Office Location<br>312 W Bell Dr, Ste 100<br>Boise, ID 83646", "US"
    ) == [("312 W Bell Dr, Ste 100", "83646", "Boise")]


@pytest.mark.parametrize(
    "page",
    [
        "© 2024 Elm Square Dental",
        "Copyright 2019-2024 Praxis Dr. Alt",
        "Traffic slows on Ringway 8, Elm St and elsewhere.",
    ],
)
def test_a_year_or_the_number_of_a_road_does_not_begin_a_street(page: str) -> None:
    assert places(page, "US") == []


def places(text: str, country: str) -> list[tuple[str | None, str | None, str | None]]:
    hints = Hints(country=country)
    contacts = find_contacts(f"<p>{text}</p>", "https://acme.com/", hints=hints)
    return [(a.street, a.postal_code, a.city) for a in contacts.addresses]
