"""People of a business: who decides, and why."""

import pytest

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.person_card import PersonCard, people_of
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import name_key


def people_on(html: str, host: str = "acme.com") -> list[PersonCard]:
    contacts = find_contacts(html, f"https://{host}/team")
    found = people_of(contacts, cards_of(contacts), host)
    return sorted(found, key=lambda one: -one.standing)


@pytest.mark.parametrize(
    ("role", "seniority"),
    [
        ("Owner", Seniority.OWNER),
        ("Inhaberin, Physiotherapeutin", Seniority.OWNER),
        ("Geschäftsführer", Seniority.EXECUTIVE),
        ("Représentant légal", Seniority.STAFF),
        ("Managing Director", Seniority.EXECUTIVE),
        ("Vice President", Seniority.MANAGER),
        ("Sales Director", Seniority.MANAGER),
        ("Office Manager", Seniority.MANAGER),
        ("Zahnärztin", Seniority.PROFESSIONAL),
        ("Receptionist", Seniority.STAFF),
        ("Assistant to the Owner", Seniority.STAFF),
        ("Assistante de direction", Seniority.STAFF),
        ("Secretary, Owner", Seniority.OWNER),
        ("a family physician in Leeds", None),
        (None, None),
    ],
)
def test_a_role_says_how_senior_somebody_is(
    role: str | None, seniority: Seniority | None
) -> None:
    assert seniority_of(role) is seniority


def test_the_owner_decides_though_others_stand_above() -> None:
    first, *_ = people_on(
        "<h2>Our team</h2><h3>Peter Lindgren</h3><p>Receptionist</p>"
        "<h3>Martha Okelo</h3><p>Owner</p>"
    )

    assert (first.name, first.reason) == ("Martha Okelo", "owner: Owner")


def test_who_leads_a_calling_decides_though_others_stand_above() -> None:
    first, *_ = people_on(
        "<h2>Our team</h2><h3>Peter Lindgren</h3><p>Immigration Attorney</p>"
        "<h3>Martha Okelo</h3><p>Lead Attorney</p>"
    )

    assert first.name == "Martha Okelo"


def test_whose_name_the_business_bears_decides_among_equals() -> None:
    first, *_ = people_on(
        "<h2>Our dentists</h2><h3>Dr. Peter Lindgren</h3><p>Dentist</p>"
        "<h3>Dr. Jörg Müller</h3><p>Dentist</p>",
        "zahnarzt-mueller.de",
    )

    assert first.name == "Jörg Müller"
    assert first.reason.endswith("the business bears their name")


def test_among_equals_the_first_on_the_page_decides() -> None:
    first, *_ = people_on(
        "<h2>Our team</h2><h3>Wanda Ferro</h3><p>Dentist</p>"
        "<h3>Adam Ferro</h3><p>Dentist</p>"
    )

    assert first.name == "Wanda Ferro"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jörg Müller", "JORG MULLER"),
        ("Ann B. Lee, D.D.S.", "Ann Lee"),
        ("Łukasz Żak", "Lukasz Zak"),
    ],
)
def test_spellings_of_one_name_are_one_person(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)
