"""Pages of very many people, of many firms, in many languages, and half filled in."""

from contact_extraction.contact_card import ContactCard, cards_of
from contact_extraction.contacts import Contacts
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.person.reader import MAX_FOUND
from contact_extraction.person_card import PersonCard, people_of
from extraction_tests.pace import takes_at_most

FIRST = [
    "Anna",
    "Robert",
    "Petra",
    "Helen",
    "Peter",
    "Ole",
    "Maria",
    "Karen",
    "David",
    "Susan",
]
LAST = [
    "Berg",
    "Lang",
    "Novak",
    "Marsh",
    "Lund",
    "Holm",
    "Kranz",
    "Vale",
    "Falk",
    "Roth",
]
SYLLABLES = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "ro", "su"]


def name(number: int) -> str:
    more = SYLLABLES[number // 100 % 10] + SYLLABLES[number // 1000]
    return f"{FIRST[number % 10]} {LAST[number // 10 % 10]}{more}"


def read(
    html: str, path: str = "team", host: str = "hillbrookco.com"
) -> tuple[Contacts, list[ContactCard], list[PersonCard]]:
    page = f"<html lang=en><title>Hillbrook Clinic</title><body>{html}</body></html>"
    contacts = find_contacts(page, f"https://{host}/{path}")
    cards = cards_of(contacts)
    return contacts, cards, people_of(contacts, cards, host)


def test_of_five_thousand_people_the_first_are_given_with_what_is_theirs() -> None:
    page = "".join(
        f"<div><h3>{name(n)}</h3><p>Nurse</p><p>p{n}@hillbrookco.com</p></div>"
        for n in range(5_000)
    )
    with takes_at_most(12):
        _, cards, people = read(page)

    assert len(people) == MAX_FOUND
    assert [one.email for one in people[:3]] == [
        f"p{n}@hillbrookco.com" for n in range(3)
    ]
    named = {card.email.address: card.name for card in cards if card.email}
    assert named["p0@hillbrookco.com"] == name(0)


def test_a_mailbox_of_forty_doctors_is_no_doctor_s() -> None:
    _, cards, people = read(
        "".join(
            f"<div><h3>Dr. {name(n)}</h3><p>Dentist</p><p>dental7@hillbrookco.com</p></div>"
            for n in range(40)
        )
    )

    assert len(people) == 40
    assert {one.email for one in people} == {None}
    assert [card.name for card in cards] == [None]


def test_the_mailbox_of_each_place_of_a_franchise_became_its_owner_s() -> None:
    towns = ("Austin", "Dallas", "Houston", "Waco")
    _, cards, people = read(
        "<h1>Our locations</h1>"
        + "".join(
            f"<div><h3>Hillbrook Clinic {town}</h3><p>Owner: {name(n)}</p>"
            f"<p>{n + 1} Oak Street, {town}, TX 7870{n}</p><p>(512) 736-440{n}</p>"
            f"<p>{town.lower()}@hillbrookco.com</p></div>"
            for n, town in enumerate(towns)
        ),
        "locations",
    )

    assert len(people) == 4
    assert {card.name for card in cards if card.email} == {None}


def test_the_firms_of_a_directory_are_not_the_directory_s_own() -> None:
    contacts, _, people = read(
        "<h1>Plumbers in Texas</h1>"
        + "".join(
            f"<div><h3>{LAST[n % 10]} Plumbing LLC</h3><p>(512) 736-{4400 + n}</p>"
            f"<p>info@{LAST[n % 10].lower()}plumbing{n}.com</p></div>"
            for n in range(60)
        ),
        "directory",
        "findaplumber.com",
    )

    assert people == []
    assert not any(one.owner.is_ours for one in (*contacts.emails, *contacts.phones))


def test_one_person_in_three_languages_is_one_person() -> None:
    _, _, people = read(
        "<h2>\u00c9quipe</h2><p>Petra Novak, g\u00e9rante</p>"
        "<h2>Team</h2><p>Petra Novak, managing director</p>"
        "<h2>Team</h2><p>Petra Novak, Gesch\u00e4ftsf\u00fchrerin</p>"
        "<p>petra.novak@hillbrookco.com</p>"
    )

    assert [(one.name, one.email) for one in people] == [
        ("Petra Novak", "petra.novak@hillbrookco.com")
    ]


def test_of_a_template_half_filled_in_only_what_was_filled_in_is_given() -> None:
    _, cards, people = read(
        "<h2>Our team</h2><div><h3>Petra Novak</h3><p>Owner</p>"
        "<p>She has run the clinic since 2004.</p></div>"
        "<div><h3>John Smithers</h3><p>Manager</p><p>Lorem ipsum dolor sit amet</p></div>"
        "<div><h3>Your Name</h3><p>Position</p></div>"
        "<p>Tel (512) 736-4401</p><p>info@example.com</p>"
    )

    assert [one.name for one in people] == ["Petra Novak"]
    assert [card.phone.e164 for card in cards if card.phone] == ["+15127364401"]
