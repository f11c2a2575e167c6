"""Forms of addresses by country, and counts and dates that look like them."""

from pathlib import Path

import pytest

from contact_extraction.address_key import address_key
from contact_extraction.contacts import Hints
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.measuring.likeness import is_same_address

ROWS = Path(__file__).parents[1] / "fixtures" / "contacts" / "addresses.txt"
INVENTED = [
    line.split(" | ", 4)
    for line in ROWS.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def read(text: str, country: str) -> list[tuple[str | None, str | None]]:
    page = f"<h2>Contact</h2><p>{text}</p>"
    found = find_contacts(page, "https://acme.com/", hints=Hints(country=country))
    return [(one.street, one.postal_code) for one in found.addresses]


@pytest.mark.parametrize(
    ("text", "country", "street", "code"),
    [
        ("Chaussée de Waterloo 715 bte 12, 1180 Uccle", "BE", "715", "1180"),
        ("Lange Voorhout 7 (1e verdieping), 2514 EA Den Haag", "NL", "Voorhout 7", "2514 EA"),
        ("C/ Gran Vía, 45, 3º Dcha. - 28013 Madrid", "ES", "Gran Vía, 45", "28013"),
        ("Passeig de Gràcia 55, 2n 1a, 08007 Barcelona", "ES", "Gràcia 55", "08007"),
        ("Rua do Ouro, n.º 123 - 2.º Esq.<br>1100-060 Lisboa", "PT", "Ouro, n.º 123", "1100-060"),
        ("10 Anson Road #12-14 International Plaza Singapore 079903",
         "SG", "10 Anson Road", "079903"),
        ("Av. Paulista, 1374 - 10º andar - Bela Vista - São Paulo/SP - CEP 01310-100",
         "BR", "1374", "01310-100"),
        ("350 Main St (2nd floor, above the bakery), Northampton, MA 01060",
         "US", "350 Main St", "01060"),
        ("Ludwigstraße 12 // Rückgebäude // 80539 München", "DE", "Ludwigstraße 12", "80539"),
        ("Wundtstraße 40 14057 Berlin Telefon: +49 30 28471022", "DE", "Wundtstraße 40", "14057"),
        ("Atatürk Mah. Cumhuriyet Cad. No:45 Kat:3 Daire:7 34758 Ataşehir / İstanbul",
         "TR", "No:45", "34758"),
        ("P.zza Garibaldi, 3 (1° piano) 25121 Brescia", "IT", "Garibaldi, 3", "25121"),
    ],
)  # fmt: skip
def test_a_door_that_no_list_has_does_not_cost_the_code(
    text: str, country: str, street: str, code: str
) -> None:
    found = read(text, country)

    assert len(found) == 1
    assert street in (found[0][0] or "")
    assert found[0][1] == code


@pytest.mark.parametrize(
    ("text", "country", "street", "code"),
    [
        ("Avda. de la Constitución s/n, 41004 Sevilla", "ES", "Constitución s/n", "41004"),
        ("Via dell'Artigianato snc - 06055 Marsciano (PG)", "IT", "Artigianato snc", "06055"),
        ("Rua Direita, Lote 4, Loja B, 2750-320 Cascais", "PT", "Rua Direita", "2750-320"),
        ("Lieu-dit Kerbiriou<br>29620 Plouégat-Guérand", "FR", "Kerbiriou", "29620"),
        ("Pol. Ind. El Plano, nave 14<br>50430 María de Huerva (Zaragoza)",
         "ES", "El Plano", "50430"),
        ("Quinta da Fonte, Edifício D. Pedro I<br>2770-071 Paço de Arcos",
         "PT", "Fonte", "2770-071"),
        ("Strömsunda gård<br>642 96 Malmköping", "SE", "Strömsunda gård", "642 96"),
        ("č.p. 45, 382 41 Kaplice", "CZ", "č.p. 45", "382 41"),
        ("Åboulevarden 31, kld., DK-8000 Aarhus C", "DK", "Åboulevarden 31", "DK-8000"),
        ("'t Zand 8, 4811GA BREDA", "NL", "Zand 8", "4811GA"),
        ("Trg bana Jelačića 5/II, 10 000 Zagreb", "HR", "Jelačića 5", "10 000"),
        ("Ερμού 15, 105 63 Αθήνα", "GR", "Ερμού 15", "105 63"),
        ("бул. Витоша 15, 1000 София", "BG", "Витоша 15", "1000"),
        ("12, rue de Bonnevoie L-1260 Luxembourg", "LU", "Bonnevoie", "L-1260"),
        ("Unit 4B, Riverside Business Park<br>Mill Lane<br>Kendal<br>LA9 6ES",
         "GB", "Mill Lane", "LA9 6ES"),
    ],
)  # fmt: skip
def test_a_street_without_number_or_in_other_letters_is_read(
    text: str, country: str, street: str, code: str
) -> None:
    found = read(text, country)

    assert len(found) == 1
    assert street in (found[0][0] or "")
    assert found[0][1] == code


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Seit 1998 für Sie da, 24 Stunden, 12000 Kunden in Bayern", "DE"),
        ("Premio Viaggi Winner Awards 2011 e 2012 Msc Awards", "IT"),
        ("Place aux 5 gagnants, 20 ans, 75000 Euros de prix", "FR"),
        ("Calle tranquila con 12 habitaciones, 28 Empleados, 41004 Visitas", "ES"),
        ("Am Montag 12 Uhr, 2023 Konzert", "CH"),
        ("12 Way Plan, 2015 Season", "AU"),
        ("Tirsdag 12, 2024 Koncert i Parken 3, 2025 Finale", "DK"),
        ("Plan 3, 150 00 Kronor", "SE"),
    ],
)
def test_what_is_counted_or_dated_was_an_address(text: str, country: str) -> None:
    assert read(text, country) == []


def test_the_firm_before_a_street_was_part_of_it() -> None:
    assert read("Viaggi s.r.l. via Stella, 5 - 38123 Trento", "IT") == [
        ("via Stella, 5", "38123")
    ]


def test_two_spellings_of_one_german_street_were_two_addresses() -> None:
    assert address_key("Hauptstraße 61", "49419") == address_key(
        "Hauptstr. 61", "49419"
    )


@pytest.mark.parametrize(
    ("text", "country", "street", "code"),
    [
        ("Garage Moine 3 avenue Foch 35200 Rennes 02 99 50 10 20", "FR", "3 avenue Foch", "35200"),
        ("3 avenue Foch 35200 Rennes Tél : 02 99 50 10 20", "FR", "3 avenue Foch", "35200"),
        ("Via Manzoni 8 20122 Milano (MI) 02 5412345", "IT", "Via Manzoni 8", "20122"),
        ("Industrieweg 9 3762 EG Soest 035 6012345", "NL", "Industrieweg 9", "3762 EG"),
        ("C/ Alcalá 200 28028 Madrid 913551212", "ES", "Alcalá 200", "28028"),
        ("ul. Długa 5 31-147 Kraków 12 421 55 66", "PL", "Długa 5", "31-147"),
        ("Storgatan 4 111 23 Stockholm 08-123 45 67", "SE", "Storgatan 4", "111 23"),
        ("Strandgata 10 6900 Florø 57 74 10 20", "NO", "Strandgata 10", "6900"),
        ("Bäckerei Kunz, Lange Str. 4 70173 Stuttgart info@kunz.de", "DE", "Lange Str. 4", "70173"),
        ("Linzer Gasse 30/2 5020 Salzburg 0662/87 11 22", "AT", "Linzer Gasse 30", "5020"),
    ],
)  # fmt: skip
def test_a_number_right_behind_the_city_cost_the_code(
    text: str, country: str, street: str, code: str
) -> None:
    (found,) = read(text, country)

    assert street in (found[0] or "")
    assert found[1] == code


@pytest.mark.parametrize(
    ("text", "country", "street", "code"),
    [
        ("Højgård, Nr. Vium<br>6920 Videbæk", "DK", "Højgård", "6920"),
        ("Norrby Säteri<br>SE-186 96 Vallentuna", "SE", "Norrby Säteri", "SE-186 96"),
        ("Haikon kartano<br>06400 Porvoo", "FI", "Haikon kartano", "06400"),
        ("Ferme du Moulin<br>Le Bois Joli<br>85600 Montaigu", "FR", "Ferme du Moulin", "85600"),
        ("Podere La Casella<br>53024 Montalcino (SI)", "IT", "Podere La Casella", "53024"),
        ("Masseria Torre Nuova<br>72015 Fasano (BR)", "IT", "Masseria Torre Nuova", "72015"),
        ("Hofgut Sonnenberg<br>Ortsteil Neudorf<br>35768 Siegbach", "DE", "Hofgut", "35768"),
        ("Landgoed De Horst<br>3971 KR Driebergen", "NL", "Landgoed De Horst", "3971 KR"),
        ("Tamme talu<br>93401 Saare", "EE", "Tamme talu", "93401"),
    ],
)  # fmt: skip
def test_an_estate_without_a_street_was_nowhere(
    text: str, country: str, street: str, code: str
) -> None:
    (found,) = read(text, country)

    assert street in (found[0] or "")
    assert found[1] == code


def test_a_heading_with_a_year_was_a_house_of_that_number() -> None:
    assert read("Hochzeiten 2019<br>89079 Ulm", "DE") == []


@pytest.mark.parametrize(
    ("language", "street", "code", "html"),
    [row[1:] for row in INVENTED],
    ids=[row[0] for row in INVENTED],
)
def test_an_address_between_other_signs_lost_its_code_or_all_of_it(
    language: str, street: str, code: str, html: str
) -> None:
    page = f"<html lang={language}><body>{html}</body></html>"
    found = find_contacts(page, "https://alder.bv/contact").addresses

    true = {"street": street, "postal_code": code}
    stored = [
        {"street": one.street, "postal_code": one.postal_code, "text": one.text}
        for one in found
    ]
    assert any(is_same_address(one, true) for one in stored), stored


@pytest.mark.parametrize(
    "text",
    [
        "12 500 Kč", "Od 16 900 Kč bez DPH", "N95 masks and W204 parts",
        "Salt and Pepper Street", "Rated 4.9 * 120 reviews * 2019",
    ],
)  # fmt: skip
def test_a_price_or_a_part_number_is_no_address(text: str) -> None:
    for country in ("CZ", "US"):
        assert read(text, country) == []
