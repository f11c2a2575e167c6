"""People: names beside roles, and what only looks like a name."""

import pytest

from scrapersky.extraction.contacts import find_contacts


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
