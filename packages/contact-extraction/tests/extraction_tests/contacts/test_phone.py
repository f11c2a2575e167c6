import pytest

from contact_extraction.contacts import Hints
from contact_extraction.contacts.finder import find_contacts


def numbers(text: str, country: str | None = None) -> list[str]:
    contacts = find_contacts(
        f"<p>{text}</p>", "https://acme.com/", hints=Hints(country=country)
    )
    return [phone.e164 for phone in contacts.phones]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+31 6 20617902", "+31620617902"),
        ("+55 11 2001-8595", "+551120018595"),
        ("Tel. +31 6 2061-7902", "+31620617902"),
    ],
)
def test_a_number_that_holds_a_date_is_still_a_number(text: str, number: str) -> None:
    assert numbers(text) == [number]


@pytest.mark.parametrize("text", ["01.02.2023", "Open 31-12-2024", "2023-01-15 10"])
def test_a_date_is_not_a_number(text: str) -> None:
    assert numbers(text, "DE") == []


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("C.F. 04271567012", "IT"),
        ("P.IVA 02471567012", "IT"),
        ("Partita IVA: 02471567012", "IT"),
        ("Y-tunnus 0201256-7", "FI"),
        ("Steuernummer 030/815/08155", "DE"),
        ("St.-Nr.: 030/815/08155", "DE"),
        ("Art.-Nr. 040 427156", "DE"),
        ("Kundennummer: 030 4271567", "DE"),
        ("Klantnummer 020 4271567", "NL"),
        ("organisationsnummer 556012-5790", "SE"),
        ("ISBN-10: 3-16-148410-0", "DE"),
        ("BLZ 500 105 17", "DE"),
        ("CNPJ: 11.222.333/0001-81", "BR"),
        ("IČO: 271 56 700", "CZ"),
        ("36 / 37 / 38 / 39", "DE"),
        ("36 / 38 / 40 / 42", "DE"),
        ("1998 2004 2010 2021", "US"),
        ("2010-2024", "DE"),
        ("250 000 000 Kč", "CZ"),
        ("25 000 000 zł", "PL"),
        ("D-U-N-S® Number: 30-427-1567", "DE"),
        ("UPC 512 842 0188", "US"),
        ("Serial no. 512-842-0188", "US"),
        ("Sort code: 20 79 46 Account 020 7946 0958", "GB"),
        (
            "Registered in England and Wales under the company number 020 7946 0958",
            "GB",
        ),
        ("RCS Paris B 01 70 18 99 01", "FR"),
        ("RCS Saint-Malo : 01 70 18 99 01", "FR"),
        ("immatriculée sous le numéro 01 70 18 99 01 RCS Lyon", "FR"),
        ("ORIAS n° 01 70 18 99 01", "FR"),
        ("Case number 512-842-0188", "US"),
    ],
)
def test_a_number_of_another_kind_is_not_a_phone(text: str, country: str) -> None:
    assert numbers(text, country) == []


@pytest.mark.parametrize(
    "text",
    [
        "Telefonnummer: 030 4271 5670",
        "Rufnummer 030 4271 5670",
        "Handynummer 0171 4271567",
        "Mobilnr. 0171 4271567",
        "Faxnummer 030 4271 5670",
    ],
)
def test_a_compound_of_number_and_phone_is_a_label_of_phones(text: str) -> None:
    assert len(numbers(text, "DE")) == 1


def test_bare_digits_after_the_word_for_a_mobile_are_a_phone() -> None:
    html = "<p>In urgent cases use the Handynummer <b>01714271567</b>.</p>"
    contacts = find_contacts(html, "https://acme.com/", hints=Hints(country="DE"))

    assert [phone.e164 for phone in contacts.phones] == ["+491714271567"]


def test_the_end_of_another_word_is_not_a_label() -> None:
    assert numbers("Parcel 0304271567", "DE") == []
    assert numbers("Cel 0304271567", "DE") == ["+49304271567"]


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("+33 1 23 45 67 89", "FR"),
        ("Tel: 01 23 45 67 89", "FR"),
        ("Tel. 943 00 00 00", "ES"),
        ('<a href="tel:+493012345678">Call</a>', "DE"),
    ],
)
def test_the_number_of_a_template_is_refused(text: str, country: str) -> None:
    assert numbers(text, country) == []


def test_a_free_number_that_ends_in_zeros_is_kept() -> None:
    assert numbers("Call 1-800-400-0000", "US") == ["+18004000000"]


def test_a_placeholder_in_structured_data_is_refused() -> None:
    data = '{"@type": "Dentist", "name": "A", "telephone": "+33 1 23 45 67 89"}'
    html = f'<script type="application/ld+json">{data}</script>'

    assert find_contacts(html, "https://acme.fr/").phones == ()


def test_figures_of_a_table_were_taken_for_numbers_to_call() -> None:
    row = "<tr><td>512 842 0188</td><td>512 842 0199</td></tr>"
    sales = f"<table><tr><th>2024</th><th>2025</th></tr>{row}</table>"
    called = f"<table><tr><th>Phone</th><th>Fax</th></tr>{row}</table>"

    assert numbers(sales, "US") == []
    assert sorted(numbers(called, "US")) == ["+15128420188", "+15128420199"]


def test_a_page_without_language_taken_for_french_lost_its_american_numbers() -> None:
    menu = "Le bistro du coin. Soupe à l'oignon, coq au vin, tarte aux pommes. " * 6
    text = f"{menu}<br>1500 NE Broadway, Portland, OR 97205<br>(503) 842-0188"

    assert numbers(text) == ["+15038420188"]


def test_in_that_case_is_no_label() -> None:
    assert numbers("In that case 030 4271567", "DE") == ["+49304271567"]


def test_a_damaged_link_to_a_number_calls_what_it_can() -> None:
    page = '<a href="tel:\x1f030 28471022 / 0171 2847102">Call</a>'

    found = find_contacts(page, "https://acme.de/").phones

    assert [(one.e164, one.written.isprintable()) for one in found] == [
        ("+493028471022", True)
    ]


@pytest.mark.parametrize("between", ["<br>", " "])
@pytest.mark.parametrize("place", ["Boise, ID 83702", "Boise, ID"])
def test_the_state_of_idaho_made_the_number_below_it_an_identifier(
    place: str, between: str
) -> None:
    page = f"<p>400 Oak Ave, {place}{between}(208) 342-8111</p>"

    found = find_contacts(
        page, "https://acme.com/contact", hints=Hints(country="US")
    ).phones

    assert [one.e164 for one in found] == ["+12083428111"]
