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


@pytest.mark.parametrize(
    ("html", "country", "street", "code"),
    [
        ("ul. Polna 3<br>05\u2011123 Nowa Wieś", "PL", "ul. Polna 3", "05-123"),
        ("Dukdalf 16-8, 9206BE Drachten", "NL", "Dukdalf 16-8", "9206BE"),
        ("via Stella 5/M<br>38123 Trento", "IT", "via Stella 5/M", "38123"),
        ("Rosenhof 3<br>4. OG<br>1010 Wien", "AT", "Rosenhof 3, 4. OG", "1010"),
        (
            "Hauptstraße 5, 2. Stock, 80331 Ulm",
            "DE",
            "Hauptstraße 5, 2. Stock",
            "80331",
        ),
        (
            "12 rue de la Paix, 2e étage<br>75002 Paris",
            "FR",
            "12 rue de la Paix, 2e étage",
            "75002",
        ),
        (
            "Calle Mayor 5, 2º izq.<br>28013 Madrid",
            "ES",
            "Calle Mayor 5, 2º izq",
            "28013",
        ),
        ("Kungsgatan 3, 2 tr<br>411 19 Göteborg", "SE", "Kungsgatan 3, 2 tr", "411 19"),
        (
            "Str. Unirii nr. 12, et. 2, ap. 5, Iași 400114",
            "RO",
            "Str. Unirii nr. 12, et. 2, ap. 5",
            "400114",
        ),
        (
            "12 Mill Lane, Leeds <a href=/>LS1<br>4AP</a>",
            "GB",
            "12 Mill Lane",
            "LS1 4AP",
        ),
        (
            "PO Box 12, Leeds<br>12 Mill Lane, Leeds LS1 4AP",
            "GB",
            "12 Mill Lane",
            "LS1 4AP",
        ),
        (
            "Unit 4, Riverside Industrial Estate, Ludlow, SY8 1PE",
            "GB",
            "Unit 4, Riverside Industrial Estate",
            "SY8 1PE",
        ),
    ],
)
def test_a_floor_a_door_or_a_line_break_before_the_code_lost_it(
    html: str, country: str, street: str, code: str
) -> None:
    found = find_contacts(
        f"<p>{html}</p>", "https://acme.com/", hints=Hints(country=country)
    )

    assert [(one.street, one.postal_code) for one in found.addresses] == [
        (street, code)
    ]


@pytest.mark.parametrize(
    ("html", "country"),
    [
        ("Since 1998<br>Mill House 1998 Oslo", "NO"),
        ("Seit 2004 in 2340 Mödling, Österreich", "AT"),
        ("We deliver to Leeds LS1 4AP and further", "GB"),
    ],
)
def test_a_year_or_a_code_with_a_town_was_an_address(html: str, country: str) -> None:
    found = find_contacts(
        f"<p>{html}</p>", "https://acme.com/", hints=Hints(country=country)
    )

    assert found.addresses == ()


@pytest.mark.parametrize(
    ("page", "country", "code", "city"),
    [
        (
            "<p>Náměstí Míru 9, 2. patro<br>120 00 Praha 2</p>",
            "CZ",
            "120 00",
            "Praha",
        ),
        (
            "<p>Strada Statale 11, km 34<br>20010 Vittuone</p>",
            "IT",
            "20010",
            "Vittuone",
        ),
        ("<p>14 Tui Road, RD 2, Cambridge 3494</p>", "NZ", "3494", "Cambridge"),
        ("<p>8 rue des Tanneurs<br>75008 Paris 8e</p>", "FR", "75008", "Paris"),
    ],
)
def test_a_code_is_read_past_kilometres_floors_and_districts(
    page: str, country: str, code: str, city: str
) -> None:
    found = find_contacts(page, "https://a.test/", hints=Hints(country=country))

    assert [(one.postal_code, one.city) for one in found.addresses] == [(code, city)]


@pytest.mark.parametrize(
    ("page", "country", "code"),
    [
        ("<p>Vestergade 12, 1. tv.<br>8600 Silkeborg</p>", "DK", "8600"),
        ("<p>Storgata 5B, 3. etg.<br>0184 Oslo</p>", "NO", "0184"),
        (
            "<p>Rose Cottage<br>Nether Wallop<br>Stockbridge<br>SO20 8EU</p>",
            "GB",
            "SO20 8EU",
        ),
    ],
)
def test_doors_and_cottages_stand_between_a_firm_and_its_code(
    page: str, country: str, code: str
) -> None:
    found = find_contacts(page, "https://a.test/", hints=Hints(country=country))

    assert [one.postal_code for one in found.addresses] == [code]


@pytest.mark.parametrize(
    ("page", "country", "read"),
    [
        ("Hauptstraße 5, 2. OG links<br>10115 Berlin", "DE", ("10115", "Berlin")),
        (
            "15 rue Victor Hugo<br>Bâtiment B, 2ème étage<br>BP 123<br>69002 Lyon",
            "FR",
            ("69002", "Lyon"),
        ),
        (
            "Via Roma, 12 - Scala B - int. 4<br>20121 Milano (MI)",
            "IT",
            ("20121", "Milano"),
        ),
        ("Keizersgracht 12-hs<br>1015 CJ Amsterdam", "NL", ("1015 CJ", "Amsterdam")),
        ("Gl. Kongevej 3 st. th., 1610 København V", "DK", ("1610", "København V")),
        (
            "Av. da Liberdade, n.º 12, 3.º Esq.<br>1250-096 Lisboa",
            "PT",
            ("1250-096", "Lisboa"),
        ),
        (
            "Rua XV de Novembro, 123 - Sala 4 - Centro, Curitiba - PR, 80020-310",
            "BR",
            ("80020-310", "Curitiba"),
        ),
        (
            "Str. Mihai Eminescu nr. 12, bl. A3, sc. B, et. 2, ap. 14, București 020073",
            "RO",
            ("020073", "București"),
        ),
        ("6720 Szeged, Kárász u. 12. fszt. 1", "HU", ("6720", "Szeged")),
    ],
)
def test_stairs_floors_and_doors_of_a_country_do_not_cost_the_code(
    page: str, country: str, read: tuple[str, str]
) -> None:
    found = find_contacts(
        f"<p>{page}</p>", "https://a.test/", hints=Hints(country=country)
    )

    assert [(one.postal_code, one.city) for one in found.addresses] == [read]


def test_a_street_behind_its_code_does_not_take_that_of_the_next_address() -> None:
    page = "<p>1052 Budapest, Váci utca 5. II. em. 3.</p><p>6720 Szeged, Kossuth utca 4</p>"
    found = find_contacts(page, "https://a.test/", hints=Hints(country="HU"))

    codes = {one.street: one.postal_code for one in found.addresses}
    assert codes == {"Váci utca 5, II. em. 3": "1052", "Kossuth utca 4": "6720"}


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("400 S 4th St, Reno, NV 89501 (775) 736-4499", "400 S 4th St, Reno, NV 89501"),
        (
            "Via Stella 5 - 38123 Trento - P.IVA: 02082090222",
            "Via Stella 5 - 38123 Trento",
        ),
    ],
)
def test_a_number_behind_an_address_is_none_of_it(page: str, text: str) -> None:
    country = "US" if "NV" in page else "IT"
    found = find_contacts(
        f"<p>{page}</p>", "https://a.test/", hints=Hints(country=country)
    )

    assert [one.text for one in found.addresses] == [text]
