"""No page stalls, grows or breaks extraction; only typed errors ever leave it."""

import contextlib
import json
from collections import Counter
from pathlib import Path

import email_validator
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contact_extraction.contacts import Hints, ownership, phone
from contact_extraction.contacts.email import addresses_in, syntax
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.organisation import domain_name
from contact_extraction.contacts.page_text import PageText
from contact_extraction.errors import ExtractionError
from extraction_tests.business_pages import business_page
from extraction_tests.hostile_pages import EMAIL_SOUP, MIB, PAGES
from extraction_tests.pace import takes_at_most

FIXTURES = Path(__file__).parents[1] / "fixtures" / "contacts" / "pages.jsonl"
REAL = [json.loads(line)["html"] for line in FIXTURES.read_text("utf-8").splitlines()]
PIECE = MIB // 8
# Ten times the budget of one second a MiB: a shared machine may be busy.
TIMEOUT = 10.0 * PIECE / MIB


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_read_in_linear_time(name: str) -> None:
    page = PAGES[name](PIECE)

    with takes_at_most(TIMEOUT):
        find_contacts(page, "https://acme.com/")


def test_a_page_of_too_many_lines_is_read_in_part_and_says_so() -> None:
    page = "<p>Mail ann@acme.com" + "<br>a" * 60_000 + "<p>Mail bob@acme.com"

    contacts = find_contacts(page, "https://acme.com/")

    assert [email.address for email in contacts.emails] == ["ann@acme.com"]
    assert contacts.truncated


def counted(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str
) -> "Counter[str]":
    """Count the calls of a function from here on."""
    original, calls = getattr(where, name), Counter[str]()

    def count(*arguments: object, **options: object) -> object:
        calls[name] += 1
        return original(*arguments, **options)

    monkeypatch.setattr(where, name, count)
    return calls


def test_the_blocks_of_a_line_were_looked_up_for_each_of_its_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, PageText, "ancestors")

    find_contacts(PAGES["people and mailboxes"](12_000), "https://acme.com/")

    names = 12_000 // 62
    for_linking, for_roles = 3 * names, 3 * names
    assert 0 < calls["ancestors"] <= for_linking + for_roles


def test_each_domain_was_validated_again_for_every_address_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, email_validator, "validate_email")

    found = find_contacts(PAGES["names with e-mails"](4_000), "https://acme.com/")

    assert len(found.emails) == 4_000 // 42
    assert all(email.quality.is_valid for email in found.emails)
    assert calls["validate_email"] <= 1


def test_the_text_was_searched_again_for_the_addresses_of_templates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, syntax, "local_before")

    find_contacts(PAGES["names with e-mails"](4_000), "https://acme.com/")

    assert 0 < calls["local_before"] <= 4_000 // 42


def test_each_line_with_an_address_was_searched_for_the_name_of_the_firm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, domain_name, "_spelling")

    find_contacts(PAGES["names with e-mails"](4_000), "https://acme.com/")
    assert calls["_spelling"] == 0

    find_contacts("<p>ACME of Leeds</p>", "https://acme.com/")
    assert calls["_spelling"] > 0


def test_a_line_was_searched_again_for_each_number_below_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, ownership, "_other_in")

    find_contacts(PAGES["chambers and numbers"](8_000), "https://acme.com/")

    lines = 2 * 8_000 // 42
    assert 0 < calls["_other_in"] <= 2 * lines


def test_thousands_of_numbers_were_judged_although_few_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phone, "MAX_FOUND", 20)
    calls = counted(monkeypatch, phone, "_is_something_else")

    found = find_contacts("<p>+49 30 901820, " * 200, "https://acme.com/")

    assert len(found.phones) == 1
    assert calls["_is_something_else"] <= 20


@pytest.mark.parametrize("name", EMAIL_SOUP)
def test_address_soup_is_searched_in_linear_time(name: str) -> None:
    text = EMAIL_SOUP[name](MIB)

    with takes_at_most(0.5):
        found = [address for _, _, address in addresses_in(text)]

    assert not any(address.endswith((".png", ".1")) for address in found)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "x-no-such", "utf-16"]))
def test_any_bytes_give_contacts_or_a_typed_error(
    data: bytes, encoding: str | None
) -> None:
    with contextlib.suppress(ExtractionError):
        find_contacts(data, "https://acme.com/", hints=Hints(encoding=encoding))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_mutilated_page_gives_contacts_or_a_typed_error(data: st.DataObject) -> None:
    page = data.draw(st.sampled_from(REAL))
    start = data.draw(st.integers(0, len(page)))
    length = data.draw(st.integers(0, 60))
    scrap = data.draw(st.text(max_size=20))
    url = data.draw(st.sampled_from(["", "https://acme.de/", "http://[", "\x00", "x"]))

    try:
        contacts = find_contacts(page[:start] + scrap + page[start + length :], url)
    except ExtractionError:
        return

    assert all(email.address.isprintable() for email in contacts.emails)
    assert all(phone.written.isprintable() for phone in contacts.phones)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gives_contacts_or_a_typed_error(text: str) -> None:
    with contextlib.suppress(ExtractionError):
        find_contacts(
            f"<p>{text}</p><p>Tel: {text}</p><h1>{text}</h1>", "https://acme.com/"
        )


@pytest.mark.long
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 20), st.randoms(use_true_random=False))
def test_long_pages_with_random_damage_give_contacts_or_a_typed_error(
    seed: int, dice: object
) -> None:
    page, url = business_page(seed, size=8_000)
    letters = list(page)
    for _ in range(40):
        place = dice.randrange(len(letters))  # type: ignore[attr-defined]
        letters[place] = chr(dice.randrange(0x3000))  # type: ignore[attr-defined]

    with contextlib.suppress(ExtractionError):
        find_contacts("".join(letters), url)
