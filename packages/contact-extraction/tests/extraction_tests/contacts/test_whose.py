"""Whose a value is: what only passes through a page never becomes a contact."""

import pytest

from contact_extraction.business_name import business_name
from contact_extraction.contact_card import cards_of
from contact_extraction.contacts import Contacts, Whose
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.other_value import other_values

URL = "https://www.okelo-dental.de/impressum"
OWN = (
    "<h1>Impressum</h1><p>Okelo Dental</p><p>Hafenstraße 4</p><p>20457 Hamburg</p>"
    "<p>Telefon: 040 31704855</p><p>E-Mail: praxis@okelo-dental.de</p>"
)


def read(html: str, url: str = URL) -> Contacts:
    return find_contacts(f"<html lang=de><body>{html}</body></html>", url)


def reached(contacts: Contacts) -> set[str]:
    cards = cards_of(contacts)
    mails = {card.email.address for card in cards if card.email}
    return mails | {phone.e164 for card in cards for phone in card.phones}


@pytest.mark.parametrize(
    ("other", "value"),
    [
        (
            "<h2>Zuständige Kammer</h2><p>Zahnärztekammer Nord</p><p>Tel. 040 73340512</p>",
            "+494073340512",
        ),
        (
            "<h2>Aufsichtsbehörde</h2><p>Amt für Heilberufe</p><p>post@heilberufe-nord.de</p>",
            "post@heilberufe-nord.de",
        ),
        (
            "<h3>Notdienst</h3><p>Zahnärztlicher Notdienst: 01805 050518</p>",
            "+491805050518",
        ),
        (
            "<h3>Urlaub</h3><p>Vertretung:</p><p>Praxis am Markt</p><p>Tel. 040 2271460</p>",
            "+49402271460",
        ),
        ("<p>Webdesign: Pixelhof, hallo@pixelhof-web.de</p>", "hallo@pixelhof-web.de"),
        (
            "<p>Schlichtungsstelle der Zahnärzte, schlichtung@zaek-nord.de</p>",
            "schlichtung@zaek-nord.de",
        ),
    ],
)
def test_what_stands_under_somebody_else_is_theirs(other: str, value: str) -> None:
    contacts = read(OWN + other)

    assert reached(contacts) == {"+494031704855", "praxis@okelo-dental.de"}
    (reported,) = [one for one in other_values(contacts) if one["value"] == value]
    assert reported["whose"] == "third_party"
    assert reported["who"]
    assert reported["why"]
    assert reported["snippet"]


def test_a_number_that_also_stands_by_itself_is_the_business_s_own() -> None:
    contacts = read(
        "<header>Tel. 040 31704855</header><h2>Zuständige Kammer</h2>"
        "<p>Zahnärztekammer Nord</p><p>Tel. 040 31704855</p>"
    )

    assert reached(contacts) == {"+494031704855"}


def test_own_data_begin_again_under_a_heading_of_the_same_rank() -> None:
    contacts = read(
        "<h2>Zuständige Kammer</h2><p>Zahnärztekammer Nord</p>"
        "<h2>Kontakt</h2><p>Tel. 040 31704855</p>"
    )

    assert reached(contacts) == {"+494031704855"}


def test_an_address_at_the_site_s_own_domain_is_own_wherever_it_stands() -> None:
    contacts = read("<p>Webdesign und Pflege: web@okelo-dental.de</p>")

    assert reached(contacts) == {"web@okelo-dental.de"}


@pytest.mark.parametrize(
    "html",
    [
        "<p>Tel: <a href='tel:+33123456789'>01 23 45 67 89</a></p>",
        "<p>E-mail: info@votresite.fr</p>",
        "<p>E-mail: name@example.com</p>",
        "<p><a href='mailto:info@yourdomain.com'>Write to us</a></p>",
    ],
)
def test_what_a_template_left_behind_is_a_placeholder(html: str) -> None:
    contacts = read(html, "https://www.okelo-dental.fr/")

    assert reached(contacts) == set()
    assert [one.owner.whose for one in contacts.placeholders] == [Whose.PLACEHOLDER]
    assert [one["whose"] for one in other_values(contacts)] == ["placeholder"]


def test_a_key_of_a_machine_is_not_even_a_placeholder() -> None:
    contacts = read("<p>5b2c8f0d9a7e4c1b8f3e@sentry.io and logo@2x.png</p>")

    assert not contacts.placeholders


def test_a_heading_is_not_the_name_of_the_business() -> None:
    page = "<title>Datenschutzerklärung</title><h1>Datenschutzerklärung</h1>" + OWN
    found = business_name(read(page), "okelo-dental.de")

    assert found is None or "Datenschutz" not in found["name"]


def test_a_name_that_the_domain_has_too_is_marked() -> None:
    page = "<title>Okelo Dental GmbH</title><p>© 2026 Okelo Dental GmbH</p>"
    found = business_name(read(page), "www.okelo-dental.de")

    assert found is not None
    assert found["is_in_domain"]


def test_a_credit_for_the_website_says_nothing_of_what_stands_below_it() -> None:
    contacts = read(
        "<p>© 2026 Okelo | Webdesign by Pixelhof Studio</p><p>Tel. 040 31704855</p>"
    )

    assert reached(contacts) == {"+494031704855"}


def test_a_number_before_the_credit_for_the_website_was_lost() -> None:
    contacts = read("<p>Tel. 040 31704855 | Webdesign by Pixelhof Studio</p>")

    assert reached(contacts) == {"+494031704855"}
