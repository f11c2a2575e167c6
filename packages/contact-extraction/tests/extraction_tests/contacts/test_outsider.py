"""People whom the pages of a business name, and who do not work there."""

import pytest

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.person_card import people_of


def people_on(html: str, path: str = "about") -> list[str]:
    contacts = find_contacts(html, f"https://hillbrook.example/{path}")
    found = people_of(contacts, cards_of(contacts), "hillbrook.example")
    return [one.name for one in found]


OWN = (
    "<title>Hillbrook Physio</title><h3>Petra Novak</h3><p>Owner</p>"
    "<p>petra@hillbrook.example</p>"
)


@pytest.mark.parametrize(
    "outsiders",
    [
        # Lecturers of courses, in a curriculum.
        (
            "<h2>Education</h2><ul><li>2019 - Course in manual therapy, Dr. Robert Lang</li>"
            "<li>2021 - Workshop with Dr. Helen Marsh</li></ul>"
        ),
        # Relatives.
        "<p>She lives in Leeds, is married to Robert Lang and has 3 children.</p>",
        "<p>She has 4 children: Jesse, Valerie, Manuel and Raymond Jr.</p>",
        # Who has died or left.
        "<h2>In memoriam</h2><p>Robert Lang 1949-2011</p>",
        # The people a template came with.
        (
            "<p>Far far away, behind the word mountains, live the blind texts.</p>"
            "<p>Robert Lang</p><p>CEO, Co-Founder</p>"
        ),
        # Managers of customers.
        "<h2>References</h2><p>Robert Lang</p><p>Managing Director, Bolt Works</p>",
        # Customers with stars.
        "<p>Robert Lang</p><p>★★★★★ Great work, on time and friendly.</p>",
        # Two buttons side by side.
        "<p><a href='tel:1'>Call Robert</a> <a href='/ask'>Send request</a></p>",
        # Streets and towns named like people.
        "<p>Dirección: José Eguino, 2 - 1ºA, 20302 Irun</p>",
        "<p>We serve Trenton MI, Ann Arbor MI, Canton MI.</p>",
        # Departments, and headings beside a role.
        "<h4>Pôle Famille</h4><p>Négociateur</p><p>famille@hillbrook.example</p>",
        "<li>Formal Admissions: admitted attorney</li>",
    ],
)
def test_somebody_whom_a_page_only_mentions_was_one_of_its_people(
    outsiders: str,
) -> None:
    assert people_on(OWN + outsiders) == ["Petra Novak"]


def test_staff_under_a_heading_about_people_stay_people() -> None:
    page = f"<h2>Our team</h2>{OWN}<h3>Robert Lang</h3><p>Physiotherapist</p>"

    assert people_on(page, "team") == ["Petra Novak", "Robert Lang"]


@pytest.mark.parametrize(
    "outsiders",
    [
        "<h1>Preferred vendors</h1><h3>Bluebell Florists</h3><p>Tom Alder, Owner</p>",
        "<h1>Polecani us\u0142ugodawcy</h1><p>Makija\u017c: Karolina Wrona, 601 223 344</p>",
        "<h1>Lavori svolti</h1><h3>Villa Bianchi</h3><p>Committente: dott. Sergio Bianchi</p>",
        "<h1>Events</h1><p>Speaker: Prof. Helena Strand, University of Oslo</p>",
        "<h2>Vita</h2><ul><li>Curriculum Kinderzahnheilkunde (Dr. Uta Falk)</li></ul>",
    ],
)
def test_who_is_recommended_built_for_or_speaks_is_not_of_the_business(
    outsiders: str,
) -> None:
    assert people_on(f"<title>Hillbrook Physio</title>{outsiders}") == []


def test_partners_and_human_resources_head_people_of_the_business() -> None:
    html = (
        "<title>Hillbrook Law</title><h2>Partners</h2><p>Mia Thorne, Managing Partner</p>"
        "<h2>Human Resources</h2><p>Helen Marsh, Office Manager</p>"
    )

    assert set(people_on(html)) == {"Mia Thorne", "Helen Marsh"}
