"""Names as people of many languages write them: particles, initials, several surnames."""

import pytest

from contact_extraction.contacts.finder import find_contacts

NAMES = [
    ("nl", "Fysiotherapeut", "Roos ter Horst"),
    ("nl", "Fysiotherapeut", "J. de Wit"),
    ("nl", "Fysiotherapeut", "J.P. van der Wit"),
    ("nl", "Fysiotherapeut", "Marieke Jansen-de Boer"),
    ("nl", "Fysiotherapeut", "Ilse Vanden Broeck"),
    ("it", "titolare", "Giovanni Di Pietro"),
    ("it", "titolare", "Chiara Lo Presti"),
    ("fr", "gérant", "Hélène d'Arcy"),
    ("es", "abogada", "José Ángel de la Fuente Gil"),
]
LAYOUTS = (
    "<h3>{name}</h3><p>{role}</p>",
    "<p>{name}, {role}</p>",
    "<p>{role}: {name}</p>",
)


def people(lang: str, body: str) -> list[str]:
    page = f"<html lang={lang}><title>Kontor</title><h1>x</h1>{body}</html>"
    return [one.name for one in find_contacts(page, "https://kontor.test/team").people]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("lang", "role", "name"), NAMES)
def test_a_name_is_read_whole(lang: str, role: str, name: str, layout: str) -> None:
    found = people(lang, layout.format(name=name, role=role))

    assert found == [name]


def test_an_office_named_after_a_town_is_nobody() -> None:
    assert people("es", "<h3>Notaría de A Coruña</h3><p>881 965 300</p>") == []


@pytest.mark.parametrize(
    "text",
    [
        "Dojazd: przystanek Jana Matejki",
        "Lekcje w: szkoła Marii Konopnickiej",
        "Haltestelle Anna Seghers, Linie 4 und 7",
    ],
)
def test_a_stop_or_a_school_bears_a_name_and_is_nobody(text: str) -> None:
    assert people("pl", f"<p>{text}</p>") == []


@pytest.mark.parametrize(
    ("page", "language", "names"),
    [
        (
            "<p>Daglig leder: Knut Hauge, 912 34 876</p>",
            "no",
            ["Knut Hauge"],
        ),
        (
            "<p>Petr Holub, 602 123 487</p><p>jednatel</p>",
            "cs",
            ["Petr Holub"],
        ),
        (
            "<p>Indehaver Mette Krogh Sand, tlf. 28 41 29 98</p>",
            "da",
            ["Mette Krogh Sand"],
        ),
        (
            "<p>Osterloh, Karin<p>Buchhaltung<p>ko@acme.de<p>Mertens, Uwe<p>um@acme.de",
            "de",
            ["Karin Osterloh", "Uwe Mertens"],
        ),
    ],
)
def test_a_number_a_second_surname_or_an_office_hid_who_somebody_is(
    page: str, language: str, names: list[str]
) -> None:
    html = f"<html lang={language}><h2>Team</h2>{page}</html>"
    found = find_contacts(html, "https://acme.com/team").people

    assert sorted(one.name for one in found) == names


def test_a_house_number_behind_a_name_is_still_that_of_a_street() -> None:
    html = "<html lang=es><p>José Eguino, 2 - 48001 Bilbao</p></html>"

    assert find_contacts(html, "https://acme.com/contact").people == ()


def test_a_provider_whose_given_name_no_list_has_was_nobody() -> None:
    html = "<html lang=de><h2>Angaben gemäß § 5 DDG</h2><p>Rezan Yilmaz</p><p>Liethberg 17</p>"

    found = find_contacts(html, "https://yilmaz.test/impressum").people

    assert [one.name for one in found] == ["Rezan Yilmaz"]
