"""Whose a value is: what only passes through a page never becomes a contact."""

import pytest

from contact_extraction.business_name import business_name
from contact_extraction.contact_card import cards_of
from contact_extraction.contacts import Contacts, OwnerKind
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
    assert [one.owner.whose for one in contacts.placeholders] == [OwnerKind.PLACEHOLDER]
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


SUPPLIERS = (
    "<title>Hillbrook Physio</title><h2>Our suppliers</h2>"
    "<h3>Bolt Works Ltd</h3><p>Tel 01584 872100</p><p>sales@boltworks.com</p>"
    "<h3>Marsh Timber Ltd</h3><p>Tel 01584 872200</p><p>info@marsh.co.uk</p>"
    "<h3>Lang &amp; Co. Ltd</h3><p>Tel 01584 872300</p>"
    "<footer><p>Hillbrook Physio, Tel 01584 872999</p></footer>"
)


def test_the_numbers_of_suppliers_became_the_business_s() -> None:
    found = find_contacts(SUPPLIERS, "https://hillbrook.example/suppliers")

    own = {phone.e164 for phone in found.phones if phone.owner.is_ours}
    assert own == {"+441584872999"}
    assert not any(email.owner.is_ours for email in found.emails)
    others = [phone.owner for phone in found.phones if not phone.owner.is_ours]
    assert {owner.who for owner in others} >= {"Bolt Works Ltd", "Marsh Timber Ltd"}
    assert all(owner.why for owner in others)


def test_the_business_s_own_legal_name_above_a_number_makes_it_nobody_else_s() -> None:
    page = "<h3>Hillbrook Physio Ltd</h3><p>Tel 01584 872999</p>"
    found = find_contacts(page, "https://hillbrook.example/partners")

    assert [phone.owner.is_ours for phone in found.phones] == [True]


def test_an_office_in_the_text_of_a_template_was_taken_for_the_business_s() -> None:
    page = (
        "<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit.</p>"
        "<p>Tel 01584 872999</p>"
    )
    found = find_contacts(page, "https://hillbrook.example/")

    assert found.phones == ()
    assert [value.owner.is_placeholder for value in found.placeholders] == [True]


@pytest.mark.parametrize(
    "link",
    [
        '<a href="mailto:demo@theme.com">office@acme.com</a>',
        '<a href="tel:+441584872111">01584 872999</a>',
    ],
)
def test_the_target_of_a_link_that_shows_another_value_was_taken(link: str) -> None:
    found = find_contacts(f"<p>{link}</p>", "https://hillbrook.example/")

    values = [email.address for email in found.emails]
    values += [phone.e164 for phone in found.phones]
    assert values in (["office@acme.com"], ["+441584872999"])


@pytest.mark.parametrize(
    ("path", "html"),
    [
        # A list of vendors without one legal form, and the numbers of a town.
        (
            "vendors",
            (
                "<h1>Preferred Vendors</h1><h3>Green Lawn Care</h3><p>(512) 736-4401</p>"
                "<h3>Sparky Electric</h3><p>(512) 736-4403</p>"
            ),
        ),
        (
            "info",
            (
                "<h2>Useful numbers</h2><p>City Water Department: (512) 736-4401</p>"
                "<p>Waste Management (512) 736-4402</p>"
            ),
        ),
        # Courts, and hospitals with which a practice works, on its contact page too.
        (
            "info",
            (
                "<h3>Travis County Courthouse</h3><p>(512) 736-4401</p>"
                "<h3>Williamson County Justice Center</h3><p>(512) 736-4402</p>"
            ),
        ),
        (
            "contact",
            (
                "<p>Hillbrook Physio, (512) 736-9999</p><h2>Hospital affiliations</h2>"
                "<p>Methodist Hospital</p><p>(512) 736-4401</p>"
            ),
        ),
        # Customers on a page of references, and who hosts the website.
        (
            "references",
            (
                "<table><tr><td>Lakeview Apartments</td><td>(512) 736-4402</td></tr>"
                "<tr><td>St. Mary Church</td><td>(512) 736-4403</td></tr></table>"
            ),
        ),
        ("privacy", "<p>This site is hosted by Pixelhof, (512) 736-4401.</p>"),
    ],
)
def test_vendors_courts_hospitals_customers_and_hosts_had_the_business_s_numbers(
    path: str, html: str
) -> None:
    page = (
        f"<html lang=en><title>Hillbrook Physio</title><body>{html}"
        "<footer><p>Hillbrook Physio (512) 736-9999</p></footer></body></html>"
    )
    found = find_contacts(page, f"https://hillbrookco.com/{path}")

    own = {phone.e164 for phone in found.phones if phone.owner.is_ours}
    assert own == {"+15127369999"}
    assert {value["whose"] for value in other_values(found)} == {"third_party"}


def test_a_partner_of_the_firm_below_a_heading_about_partners_has_a_number() -> None:
    page = (
        "<title>Hillbrook Law</title><h2>Partners</h2><h3>Petra Novak</h3>"
        "<p>Attorney</p><p>(512) 736-4401</p>"
    )
    found = find_contacts(page, "https://hillbrookco.com/partners")

    assert [phone.owner.is_ours for phone in found.phones] == [True]


def own_streets(html: str, path: str) -> set[str]:
    page = f"<html lang=en><title>Okelo Dental</title><body>{html}</body></html>"
    found = find_contacts(page, f"https://www.okelo-dental.co.uk/{path}").addresses
    return {str(one.street) for one in found if one.owner.is_ours}


TOLD = (
    "<p>For some of the services that this page describes we work with {who}, "
    "12 Mill Lane, Leeds LS1 4AP, United Kingdom, who may read what you send.</p>"
)


@pytest.mark.parametrize(
    ("html", "path"),
    [
        (TOLD.format(who="Chatterly Limited"), "privacy-policy"),
        (TOLD.format(who="the Open Plan Foundation"), "privacy-policy"),
        (f"<footer>{TOLD.format(who='Chatterly Limited')}</footer>", "privacy.html"),
        ("<h2>Smile day</h2><p>12 Mill Lane, Leeds LS1 4AP</p>", "events/smile-day"),
        (
            "<h1>Town hall</h1><p>12 Mill Lane, Leeds LS1 4AP</p>",
            "portfolio/town-hall",
        ),
    ],
)
def test_addresses_that_pages_only_mention_were_the_business_s(
    html: str, path: str
) -> None:
    assert own_streets(html, path) == set()


@pytest.mark.parametrize(
    ("html", "path"),
    [
        ("<h2>Leeds</h2><p>12 Mill Lane, Leeds LS1 4AP</p>", "offices"),
        ("<p>Our shop: 12 Mill Lane, Leeds LS1 4AP</p>", "shop"),
        (TOLD.format(who="all staff of Okelo Dental"), "privacy-policy"),
        ("<footer><p>12 Mill Lane, Leeds LS1 4AP</p></footer>", "events/smile-day"),
        (
            "<p>12 Mill Lane, Leeds LS1 4AP</p><p>hi@okelo-dental.co.uk</p>",
            "news/2024",
        ),
    ],
)
def test_an_address_that_something_places_with_the_business_is_its_own(
    html: str, path: str
) -> None:
    assert own_streets(html, path) == {"12 Mill Lane"}


def test_a_venue_in_a_sentence_is_less_sure_than_an_address_on_its_own() -> None:
    alone = read("<p>Hafenstraße 4, 20457 Hamburg</p>", "https://okelo.de/preise")
    told = read(
        "<p>Im Herbst haben wir mit vielen Gästen einen schönen Abend verbracht, und zwar "
        "im Saal Hafenstraße 4, 20457 Hamburg</p>",
        "https://okelo.de/preise",
    )
    (sure,), (unsure,) = alone.addresses, told.addresses
    assert sure.owner.likelihood > 0.75 > unsure.owner.likelihood


@pytest.mark.parametrize(
    "line",
    [
        "In a gas emergency call Northern Grid on 0800 111999 or 01584 872100",
        "Power outages: 01584 872100",
        "Störungsdienst der Stadtwerke: 01584 872100",
    ],
)
def test_the_line_of_a_utility_is_not_the_business_s(line: str) -> None:
    page = f"<html lang=en><h1>Contact</h1><p>{line}</p></html>"
    found = find_contacts(page, "https://www.alder-heating.co.uk/contact")

    assert [one.e164 for one in found.phones if one.owner.is_ours] == []


@pytest.mark.parametrize(
    "heading",
    [
        "Client list",
        "Insurance carriers we accept",
        "Area schools",
        "Unsere Kunden",
        "Wichtige Rufnummern",
        "Nos clients",
        "Numéros utiles",
        "I nostri clienti",
        "Teléfonos de interés",
        "Contactos úteis",
        "Onze klanten",
        "Våra leverantörer",
        "Samarbejdspartnere",
        "Yhteistyökumppanit",
        "Nasi klienci",
        "Naši dodavatelé",
        "Viszonteladóink",
    ],
)
def test_numbers_below_a_heading_about_others_are_theirs(heading: str) -> None:
    found = find_contacts(
        f"<h2>{heading}</h2><p>Stone Bank (512) 736-4402</p>"
        "<footer>Hillbrook (512) 736-4401</footer>",
        "https://hillbrookco.com/about",
    )

    whose = {one.e164: one.owner.is_ours for one in found.phones}
    assert whose == {"+15127364402": False, "+15127364401": True}


def test_a_heading_that_speaks_to_customers_heads_the_business_s_own() -> None:
    found = find_contacts(
        "<h2>For clients</h2><p>Call us: (512) 736-4401</p>", "https://hillbrookco.com/"
    )

    assert [one.owner.is_ours for one in found.phones] == [True]


def test_the_numbers_of_partners_who_are_of_the_firm_are_the_firm_s() -> None:
    found = find_contacts(
        "<h2>Partners</h2><div><h3>Anna Berg</h3><p>anna.berg@hillbrookco.com</p>"
        "<p>(512) 736-4402</p></div>",
        "https://hillbrookco.com/people",
    )

    assert [one.owner.is_ours for one in found.phones] == [True]


FOOTER = "<footer><p>Acme Plumbing</p><p>Tel 0113 496 0765</p></footer>"


def number_on(body: str, path: str) -> tuple[bool, float]:
    url = f"https://www.acme-plumbing.co.uk/{path}"
    html = (
        f"<html lang=en><title>Acme Plumbing</title><body>{body}{FOOTER}</body></html>"
    )
    phones = find_contacts(html, url).phones
    (one,) = [phone for phone in phones if phone.e164 != "+441134960765"]
    return one.owner.is_ours, one.confidence


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("<p>For power cuts call Northern Powergrid on 0800 375 675.</p>", "help"),
        ("<p>Rooms: book at the Queens Hotel, 0113 243 1323.</p>", "event"),
        ("<h1>Insurers we work with</h1><p>Aviva 0800 051 5260</p>", "insurance"),
    ],
)
def test_the_number_of_somebody_named_before_it_was_the_business_s(
    body: str, path: str
) -> None:
    is_ours, _ = number_on(body, path)

    assert not is_ours


@pytest.mark.parametrize(
    "body",
    [
        "<p>York 01904 620 335</p>",
        "<p>Please call Customer Support on 01904 620 335.</p>",
        "<p>Or ring Acme Plumbing York on 01904 620 335.</p>",
        "<p>Ring 01904 620 335 for a quote.</p>",
    ],
)
def test_a_number_apart_from_that_of_the_footer_is_kept_and_less_sure(
    body: str,
) -> None:
    is_ours, sure = number_on(body, "boilers")

    assert is_ours
    assert sure < 0.9


def test_who_stands_in_for_the_business_in_a_sentence_was_the_business() -> None:
    html = "<h1>Urlaub</h1><p>Bis 14. August vertritt uns Praxis Weber, Tel. 030 4412233.</p>"

    (phone,) = read(html, "https://www.okelo-dental.de/urlaub").phones

    assert not phone.owner.is_ours


def test_the_number_of_a_provider_beside_a_shared_mailbox_lost_its_name() -> None:
    html = (
        "<h1>Impressum</h1><p>Rechtsanwalt Jörn Okelo</p>"
        "<address>Wundtstraße 40 14057 Berlin Telefon: 030 28471022 E-Mail: "
        "kanzlei@okelo-recht.de</address>"
    )

    cards = cards_of(read(html, "https://www.okelo-recht.de/impressum"))

    named = {card.name: card.phones[0].e164 for card in cards if card.phones}
    assert named == {"Jörn Okelo": "+493028471022"}
