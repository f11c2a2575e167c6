"""Names that imitate others by letters of another alphabet, and ordinary ones that do not."""

# ruff: noqa: RUF001 - letters that look alike are what it is about

from uuid import UUID

import pytest

from scrapersky.companies.evidence import Facts
from scrapersky.companies.lookalike import in_one_alphabet, mixes_alphabets
from scrapersky.companies.score import (
    NameLevel,
    compare,
    level_of_looks,
    level_of_names,
)

PHONE = "+431600000301"
CYRILLIC_ACE = "\u0410\u0421\u0415 \u041a\u043e\u0445"
"""Looks like ACE Kox, without one Latin letter."""


def named(name: str, number: int = 1, **values: object) -> Facts:
    return Facts(id=UUID(int=number), name=name, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "written",
    [
        "Tischlerei Kunz\u0435",
        "Tischlerei \u041aunz\u0435",
        "Tis\u0441hl\u0435rei Kunze",
        "Tischlerei Kunz\u0451",
        "T\u03b9schlere\u03b9 Kunze",
    ],
)
def test_a_name_with_letters_of_another_alphabet_is_the_name_it_looks_like(
    written: str,
) -> None:
    assert mixes_alphabets(written)
    imitated = named("Tischlerei Kunze")
    assert level_of_names(named(written), imitated) is NameLevel.SAME


@pytest.mark.parametrize(
    "ordinary",
    [
        "Аптека Роса",
        "Кафе Central",
        "ООО Siemens",
        "Ταβέρνα Νίκος",
        "Taverna Νίκος",
        "Bäckerei Müller & Söhne",
        "Café Ångström",
        "東京 Bäckerei",
    ],
)
def test_an_ordinary_name_is_left_as_it_is_and_matches_itself(ordinary: str) -> None:
    assert not mixes_alphabets(ordinary)
    assert level_of_names(named(ordinary), named(ordinary.upper())) is NameLevel.SAME


def test_an_ordinary_name_is_not_the_latin_one_that_it_happens_to_look_like() -> None:
    assert level_of_names(named("Роса"), named("Poca")) is NameLevel.DIFFERENT
    assert level_of_names(named("Νίκος"), named("Nikos")) is NameLevel.DIFFERENT


def test_one_latin_letter_in_a_cyrillic_word_is_a_slip_of_the_keyboard() -> None:
    assert in_one_alphabet("Aптека №1") == "Аптека No1"
    assert level_of_names(named("Aптека"), named("Аптека")) is NameLevel.SAME


def test_a_website_is_compared_by_how_its_name_looks() -> None:
    assert level_of_names(named(CYRILLIC_ACE), named("ACE Kox")) is NameLevel.DIFFERENT
    assert level_of_looks(named(CYRILLIC_ACE), named("ACE Kox")) is NameLevel.SAME
    site = named(CYRILLIC_ACE, 2, domain="ace.example", phone=PHONE, is_domain=True)

    score = compare(named("ACE Kox", phone=PHONE), site)

    assert (score.asks, score.links) == (True, False)


def test_a_record_whose_name_mixes_alphabets_is_not_linked_without_a_person() -> None:
    here = {"phone": PHONE, "latitude": 48.1, "longitude": 16.3}
    real, copy = (
        named("Tischlerei Kunze", 1, **here),
        named("Tischlerei Kunz\u0435", 2, **here),
    )

    score = compare(real, copy)

    assert (score.asks, score.links) == (True, False)
    assert "a name mixes alphabets" in score.reasons
    assert compare(copy, named("Tischlerei Kunz\u0435", 3, **here)).links
