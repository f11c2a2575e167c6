"""Pages as builders and content management systems write them are read in many languages."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from contact_extraction.business_name import business_name
from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.person_card import people_of
from contact_extraction.text import name_key
from contact_extraction.urls import parse_url

FIXTURE = Path(__file__).parents[1] / "fixtures" / "contacts" / "builders.toml"
PAGES: list[dict[str, Any]] = tomllib.loads(FIXTURE.read_text("utf-8"))["page"]


@pytest.mark.parametrize("page", PAGES, ids=[page["name"] for page in PAGES])
def test_a_page_of_a_site_builder_is_read(page: dict[str, Any]) -> None:
    html = f'<html lang="{page["language"]}"><body>{page["html"]}</body></html>'
    contacts = find_contacts(html, page["url"])
    cards = cards_of(contacts)
    host = parse_url(page["url"]).host
    people = people_of(contacts, cards, host)
    emails = {one.address for one in contacts.emails if one.owner.is_ours}
    phones = {one.e164 for one in contacts.phones if one.owner.is_ours}

    assert emails == set(page["emails"])
    assert phones == set(page["phones"])
    roles = {one.key: one.role or "" for one in people}
    assert roles.keys() == {name_key(name) for name in page["people"]}
    for name, role in page["people"].items():
        assert role.casefold() in roles[name_key(name)].casefold()
    named = {
        name_key(card.name): card.email.address
        for card in cards
        if card.name and card.email and not card.is_shared
    }
    assert named == {name_key(name): email for email, name in page["named"].items()}
    reached = {c.email.address: c.name for c in cards if c.email and c.is_shared}
    assert reached == page.get("reaches", {})
    if street := page.get("street"):
        assert any(street in one.text for one in contacts.addresses)
    if name := page.get("organisation"):
        reported = business_name(contacts, host)
        assert reported
        assert reported["name"] == name
    others = emails | phones | {one.name for one in people}
    assert not others & set(page.get("not_theirs", ()))
