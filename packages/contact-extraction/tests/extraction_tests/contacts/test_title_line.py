"""What people are called by the lines around them."""

import pytest

from contact_extraction.contacts.finder import find_contacts


def roles(html: str) -> dict[str, str | None]:
    found = find_contacts(f"<html lang=en><body>{html}", "https://alder.bv/team")
    return {one.name: one.role for one in found.people}


def card(name: str, *lines: str) -> str:
    return f"<div><p>{'<br>'.join((name, *lines))}</p></div>"


def test_what_no_list_has_is_a_role_below_a_name_where_others_have_one() -> None:
    known = card("David Benson", "Sales Manager") + card("Patricia Black", "Secretary")
    found = roles(known + card("Philip Oswalt", "Industrial Markets"))
    assert found["Philip Oswalt"] == "Industrial Markets"
    linked = card("Philip Oswalt", "<a href=/p>Read his story</a>")
    assert roles(known + linked)["Philip Oswalt"] is None
    assert (
        roles(card("Philip Oswalt", "Industrial Markets")).get("Philip Oswalt") is None
    )


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("Ann Lind is an attorney in Jamestown, North Dakota.", "attorney"),
        ("Ann Lind is a dentist who loves sailing.", "dentist"),
        ("Ann Lind is a friend of the house.", None),
    ],
)
def test_what_somebody_is_by_their_sentence(sentence: str, role: str | None) -> None:
    page = (
        f"<h1>Our team</h1><h3>Meet Ann Lind</h3><p>{sentence}</p><p>ann@alder.bv</p>"
    )
    assert roles(page).get("Ann Lind") == role


def test_initials_before_what_somebody_is_called_hid_the_name() -> None:
    page = card("Mw. dr. A. (Annelies) ter Horst", "Huisarts")
    assert roles(page) == {"Annelies ter Horst": "Huisarts"}


def test_all_of_a_family_share_the_surname_at_the_end() -> None:
    found = roles("<p>The farm is run by Peter, Helen and Toby Ruddock.</p>")
    assert set(found) == {"Peter Ruddock", "Helen Ruddock", "Toby Ruddock"}


def test_a_bold_name_ended_with_the_capital_word_behind_it() -> None:
    page = "<li><strong>Ellen Marsh</strong> Maths Tutor</li>"
    assert set(roles(f"<h1>Tutors</h1><ul>{page}</ul>")) == {"Ellen Marsh"}


def test_a_rare_name_stands_in_a_list_of_surnames_first() -> None:
    rows = [("Stucky, Rodney", "Treasurer"), ("Engebretson, Marlys", "Clerk")]
    cells = "".join(f"<tr><td>{name}<td>{role}" for name, role in rows)
    assert set(roles(f"<table>{cells}</table>")) == {
        "Rodney Stucky",
        "Marlys Engebretson",
    }
