"""Invented pages of many layouts in some twenty languages, written before any was read.

`fixtures/people/*.txt` holds them: a line `=== name | language | address | title`, then who
is of the business (`+ name ; role ; e-mail ; phone`, what is empty is not asked), who
decides (`>`), its addresses (`@ street ; code ; city`), what is known to go wrong (`!`), and
the page. `held.txt` and `builders_held.txt` were only counted, never looked at, while the
readers were changed for the others; the pages of `builders.txt` are as programs and builders of
sites emit them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.model import Contacts
from contact_extraction.measuring.likeness import is_same_address
from contact_extraction.person_card import PersonCard, people_of
from contact_extraction.text import name_key

PAGES: Final = Path(__file__).parents[1] / "fixtures" / "people"


@dataclass
class InventedPage:
    """A page, who is of its business, and what is known to go wrong."""

    name: str
    language: str
    url: str
    title: str
    people: list[list[str]] = field(default_factory=list)
    addresses: list[list[str]] = field(default_factory=list)
    decides: str | None = None
    known: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)


def invented_pages() -> Iterator[InventedPage]:
    for file in sorted(PAGES.glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("=== ")[1:]:
            head, *lines = part.splitlines()
            name, language, url, title = (x.strip() for x in head.split(" | ", 3))
            page = InventedPage(name, language, url, title)
            for line in lines:
                sign, text = line[:2], line[2:].strip()
                if sign == "+ ":
                    page.people.append([bit.strip() for bit in text.split(";")])
                elif sign == "@ ":
                    page.addresses.append([bit.strip() for bit in text.split(";")])
                elif sign == "> ":
                    page.decides = text
                elif sign == "! ":
                    page.known.append(text)
                else:
                    page.html.append(line)
            yield page


def contacts_of(page: InventedPage) -> Contacts:
    html = (
        f"<html lang={page.language}><head><title>{page.title}</title></head>"
        f"<body>{' '.join(page.html)}</body></html>"
    )
    return find_contacts(html, page.url)


def people_on(page: InventedPage, contacts: Contacts) -> list[PersonCard]:
    people = people_of(contacts, cards_of(contacts), urlsplit(page.url).hostname or "")
    return sorted(people, key=lambda one: -one.standing)


def misses_of(page: InventedPage) -> Iterator[str]:
    contacts = contacts_of(page)
    people = people_on(page, contacts)
    found = {one.key: one for one in people}
    asked = {name_key(name): [name, *rest] for name, *rest in page.people}
    yield from (f"false: {one.name}" for one in people if one.key not in asked)
    for key, (name, *values) in asked.items():
        if key not in found:
            yield f"missed: {name}"
            continue
        stored = found[key]
        for kind, value in zip(("role", "email", "phone"), values, strict=False):
            have = getattr(stored, kind)
            if value.lower() not in (have or "").lower():
                yield f"{kind} of {name}: {have}"
    if page.decides and people and people[0].key != name_key(page.decides):
        yield f"decides: {people[0].name}"
    places = [
        {"street": one.street, "postal_code": one.postal_code, "text": one.text}
        for one in contacts.addresses
    ]
    for street, code, _ in page.addresses:
        true = {"street": street, "postal_code": code}
        if not any(is_same_address(one, true) for one in places):
            yield f"address: {street}"


@pytest.mark.parametrize("page", list(invented_pages()), ids=lambda page: page.name)
def test_who_is_of_a_business_is_read_from_its_page(page: InventedPage) -> None:
    assert list(misses_of(page)) == page.known


def test_nearly_all_are_known_and_hardly_anybody_else() -> None:
    pages = list(invented_pages())
    misses = [miss for page in pages for miss in page.known]
    asked = sum(len(page.people) for page in pages)
    missed = sum(miss.startswith("missed:") for miss in misses)
    false = sum(miss.startswith("false:") for miss in misses)

    assert len(pages) >= 180
    assert missed <= 0.03 * asked
    assert false <= 0.03 * asked
