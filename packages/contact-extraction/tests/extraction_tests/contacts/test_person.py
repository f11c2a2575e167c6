"""People: names beside roles, and what only looks like a name."""

import pytest

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.text import name_key


def names_on(page: str) -> list[str]:
    return [person.name for person in find_contacts(page, "https://acme.com/").people]


@pytest.mark.parametrize(
    "name", ["Michael Jordan", "Dana Wu", "Ingrid Holland", "Dr. Petra Novak"]
)
def test_a_name_above_a_role_and_a_number_is_a_person(name: str) -> None:
    page = f"<h3>{name}</h3><p>Managing Director</p><p>Tel: +1 512 867 5309</p>"

    assert any(found.endswith(name.rsplit(maxsplit=1)[-1]) for found in names_on(page))


@pytest.mark.parametrize(
    "text",
    [
        "Hong Kong",
        "Roosendaal Nederland",
        "Front-Office Administrator",
        "Columbus Circle",
        "P. O. Box",
        "Reduced Pricing",
    ],
)
def test_places_offices_and_offers_are_no_people(text: str) -> None:
    page = f"<h3>{text}</h3><p>Tel: +1 512 867 5309</p>"

    assert names_on(page) == []


@pytest.mark.parametrize(
    "line",
    [
        "Dr. Zelvar Hondike",
        "Dr. med. Zelvar Hondike",
        "Prof. Dr. Zelvar Hondike",
        "Ask for Dr. Zelvar Hondike on weekdays",
    ],
)
def test_a_title_with_a_full_stop_makes_a_name(line: str) -> None:
    assert names_on(f"<p>{line}</p>") == ["Zelvar Hondike"]


def test_a_title_and_a_surname_do_not_take_the_next_word_along() -> None:
    assert names_on("<h2>Services Dr. Vanelli Offers</h2>") == []


@pytest.mark.parametrize(
    "line",
    [
        "Inhaber: Tavrin Okelo",
        "Inhaber Tavrin Okelo",
        "Tavrin Okelo, Neurologist",
        "Tavrin Okelo - Deputy Manager / Key Person",
    ],
)
def test_a_given_name_that_is_not_listed_is_read_beside_a_role(line: str) -> None:
    assert names_on(f"<p>{line}</p>") == ["Tavrin Okelo"]


@pytest.mark.parametrize("degree", ["MD", "M.D.", "DDS", "D.M.D.", "Esq."])
def test_a_degree_after_a_name_makes_it_a_person(degree: str) -> None:
    (name,) = names_on(f"<p>Zorvan Quillfeather, {degree}</p>")

    assert name.startswith("Zorvan Quillfeather")


@pytest.mark.parametrize(
    "heading",
    [
        "Nina Falk BSc Hons, MCSP",
        "Nina Falk, BSc (Hons), MSc",
        "<span>Nina Falk</span><span>BSc Hons, MCSP</span>",
        "Nina Falk</h3><h4>BSc Hons, MCSP",
        "Nina Falk (she/her)",
        "Nina Falk, RDH, BS",
    ],
)
def test_what_people_write_after_their_names_hid_them_and_their_roles(
    heading: str,
) -> None:
    page = f"<h1>Our team</h1><div><h3>{heading}</h3><p>Practice owner</p></div>"
    (person,) = find_contacts(page, "https://a.test/").people
    assert (name_key(person.name), person.role) == ("nina falk", "Practice owner")
    assert "she" not in person.name


@pytest.mark.parametrize("name", ["Anna Berg Holm", "Anna Maria Berg Holm"])
def test_somebody_with_two_surnames_was_read_in_few_languages_only(name: str) -> None:
    page = f"<html lang=da><div><h3>{name}</h3><p>%s</p></div>"
    (person,) = find_contacts(page % "Direktør", "https://a.test/").people
    assert person.name == name
    # A house may be called so, and nothing says that this is somebody.
    assert not find_contacts(page % "Open all year", "https://a.test/").people


@pytest.mark.parametrize("role", ["Leg. tandläkare", "Staatl. gepr. Masseurin"])
@pytest.mark.parametrize("between", ["</h3><p>", ", "])
def test_a_role_that_begins_with_a_shortened_word_is_read(
    role: str, between: str
) -> None:
    (person,) = find_contacts(
        f"<h3>Anna Berg{between}{role}</p>", "https://a.test/"
    ).people
    assert person.role == role


def test_two_people_who_share_a_surname_are_both_read() -> None:
    page = "<p>Peter &amp; Susan Miller, Owners</p>"
    people = find_contacts(page, "https://acme.com/").people

    assert sorted((person.name, person.role) for person in people) == [
        ("Peter Miller", "Owners"),
        ("Susan Miller", "Owners"),
    ]


def test_two_people_with_a_surname_each_stay_two() -> None:
    names = names_on("<p>Peter Hale and Susan Miller, Owners</p>")

    assert sorted(names) == ["Peter Hale", "Susan Miller"]


def test_a_name_among_the_names_of_people_is_one() -> None:
    page = "".join(
        f"<h3>{name}</h3><p>Front desk</p>"
        for name in ("Susan Miller", "Zebin Orlak", "Peter Hale")
    )

    assert "Zebin Orlak" in names_on(page)


def test_the_names_of_one_line_vouch_for_each_other() -> None:
    names = names_on("<p>Tavo Lindner, Orsa Lindner-Kern, Dr. Peter Lindner</p>")

    assert sorted(names) == ["Orsa Lindner-Kern", "Peter Lindner", "Tavo Lindner"]


def test_a_surname_that_is_a_common_word_is_read_with_a_role() -> None:
    assert names_on("<p>Monika Head - Manager</p><p>Head up here</p>") == [
        "Monika Head"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The bus stops at Riverside Oskar Maple Falls every hour",
        "Turn left at Otto Farrow Pkwy to find us",
        "Zahnarztkammer Peter Berger",
        "Bezirksregierung Waldstadt",
        "Susan's Clinic",
        "John Doe, CEO",
        "Max Mustermann, Inhaber",
        "Juris Doctor",
        "Kinésithérapie Rivage - Accueil",
        "Rivage Moulin, Accueil",
    ],
)
def test_places_authorities_and_template_staff_are_no_people(text: str) -> None:
    assert names_on(f"<p>{text}</p><p>Tel: +1 512 867 5309</p>") == []


def test_a_heading_that_the_text_goes_on_about_is_not_a_person() -> None:
    page = (
        "<h3>Cedar Fences</h3><p>Cedar fences are what most of our buyers ask for, all"
        " year round and in any weather.</p>"
    )

    assert names_on(page) == []


@pytest.mark.parametrize(
    "page",
    [
        "<h2>Testimonials</h2><h4>Susan Miller</h4><p>Great work, thank you!</p>",
        "<h2>Kundenstimmen</h2><p>Susan Miller</p>",
        "<p>“They fixed our roof within a day and left no mess.”</p><p>Susan Miller</p>",
    ],
)
def test_a_customer_is_marked_and_never_put_on_a_contact(page: str) -> None:
    contacts = find_contacts(f"{page}<p>info@acme.com</p>", "https://acme.com/")

    assert [person.is_customer for person in contacts.people] == [True]
    assert all(group.person is None for group in contacts.groups)


def test_staff_after_the_reviews_are_not_customers() -> None:
    page = "<h2>Reviews</h2><p>Ann Lee</p><h2>Our team</h2><p>Susan Miller, Owner</p>"
    people = find_contacts(page, "https://acme.com/").people

    assert {p.name: p.is_customer for p in people} == {
        "Ann Lee": True,
        "Susan Miller": False,
    }


@pytest.mark.parametrize("label", ["Représentant légal", "Gérant", "Inhaber"])
def test_a_surname_in_capitals_after_a_role_is_read(label: str) -> None:
    """Legal notices in French write surnames so, whatever the given name."""
    assert names_on(f"<p>{label} : Tavrin OKELO</p>") == ["Tavrin OKELO"]


def test_an_address_that_is_none_does_not_stop_the_reading_of_people() -> None:
    found = find_contacts("<p>Owner: Martha Okelo</p>", "http://[")

    assert [person.name for person in found.people] == ["Martha Okelo"]


@pytest.mark.parametrize(
    "html",
    [
        "<h3>Ada Byron</h3><p>Owner</p><h3>Karl Weiss</h3><p>Welcomes you</p>",
        "<p>Owner:</p><h3>Ada Byron</h3><p>Foreman:</p><h3>Karl Weiss</h3>",
    ],
)
def test_a_role_between_two_names_is_that_of_one_of_them(html: str) -> None:
    contacts = find_contacts(f"<html lang=en>{html}</html>", "https://acme.com/team")
    roles = {person.name: person.role for person in contacts.people}

    assert roles["Karl Weiss"] != "Owner"
    assert "Owner" in (roles["Ada Byron"] or "")


@pytest.mark.parametrize("office", ["Verwaltung", "Empfang", "Comptabilité", "Balie"])
def test_an_office_made_a_person_of_the_house_it_is_in(office: str) -> None:
    assert names_on(f"<h3>{office}</h3><p>Rotes Haus</p>") == []
    assert names_on(f"<h3>{office}</h3><p>Petra Lange</p>") == ["Petra Lange"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Geschäftsführerin: Kolbe, Veronika</p>",
        "<h4>Kolbe, Veronika</h4><p>Office Manager</p>",
    ],
)
def test_a_name_with_the_surname_first_was_not_read(html: str) -> None:
    assert names_on(html) == ["Veronika Kolbe"]


@pytest.mark.parametrize("place", ["Macon, Georgia", "Quick Links, Anna"])
def test_a_place_with_its_state_is_no_surname_with_a_given_name(place: str) -> None:
    assert names_on(f"<p>{place}</p><p>Office Manager</p>") == []


def test_what_stands_after_a_role_hid_it() -> None:
    page = "<h3>Martha Okelo, D.C.</h3><p>Practice owner since early 2005 · Mill St</p>"
    found = find_contacts(page, "https://acme.com/").people

    assert [person.role for person in found] == ["Practice owner"]


def test_a_role_in_the_plural_is_that_of_each() -> None:
    page = "<p>Doctors: Martha Okelo, D.C. · Peter Lindgren, D.C.</p>"
    found = find_contacts(page, "https://acme.com/").people

    assert {person.role for person in found} == {"Doctor"}
    assert len(found) == 2


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ('<h3>Robert "Bob" Keller</h3><p>President</p>', 'Robert "Bob" Keller'),
        ("<p>Elizabeth (Beth) Tran, Office Manager</p>", "Elizabeth (Beth) Tran"),
        ("<h4>J.D. Pruitt</h4><p>Realtor</p>", "J.D. Pruitt"),
        ("<h1>Helen Park, PsyD</h1><p>Psychologist</p>", "Helen Park, PsyD"),
        ("<p>Vicar: Revd Thomas Ogilvie, 0113 278 4411</p>", "Thomas Ogilvie"),
        ("<p>studio aboud</p><p>Dr. Karim Aboud welcomes you</p>", "Karim Aboud"),
    ],
)
def test_nicknames_initials_and_words_of_places_hid_a_name(
    html: str, name: str
) -> None:
    assert names_on(html) == [name]


def test_a_degree_after_a_name_hid_it_among_others() -> None:
    page = (
        "<ul><li>Dr. Allison Breck, DVM - Owner</li><li>Tavrin Okelo, CVT</li>"
        "<li>Martha Rausch, Practice Manager</li></ul>"
    )

    assert "Tavrin Okelo" in names_on(page)


def test_a_title_inside_a_line_begins_the_next_name() -> None:
    page = "<p>Studio Legale Avv. Marta Zorzi e Avv. Piero Dal Molin</p>"

    assert sorted(names_on(page)) == ["Marta Zorzi", "Piero Dal Molin"]


def test_a_park_that_bears_a_given_name_is_no_person() -> None:
    assert names_on("<h3>Helen Park</h3><p>Open from nine to five</p>") == []


def test_who_signs_a_quotation_in_its_own_line_is_a_customer() -> None:
    page = '<p>"They fixed it at once!" - Maria Lopez, Dallas TX</p>'
    found = find_contacts(page, "https://acme.com/").people

    assert all(person.is_customer for person in found)


def test_what_somebody_does_was_read_as_the_next_name_of_a_table() -> None:
    page = (
        "<table><tr><td>Wendell Strom</td><td>Commercial Lines</td>"
        "<td>(218) 722-4411</td><td>wendell@acme.com</td></tr></table>"
    )

    assert names_on(page) == ["Wendell Strom"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Gartenbau Weiss, Inh. Karl Weiss, Moorweg 3</p>",
        "<p>Malermeister Weiss</p><p>Inhaber Karl Weiss</p>",
    ],
)
def test_the_role_of_the_owner_made_a_person_of_the_firm(html: str) -> None:
    assert names_on(html) == ["Karl Weiss"]
