"""Our own annotated pages, one per technique: nothing missed, nothing invented."""

from pathlib import Path

import pytest

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.measuring.pages import AnnotatedPage, read_pages, score_pages

FIXTURES = Path(__file__).parents[1] / "fixtures" / "contacts"
PAGES = list(read_pages(FIXTURES / "pages.jsonl"))
TRAPS = list(read_pages(FIXTURES / "no_contacts.jsonl"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_every_annotated_value_is_found_and_no_other(page: AnnotatedPage) -> None:
    report = score_pages([page])

    assert [(miss.label, miss.text) for miss in report.misses] == []


def test_the_whole_set_scores_full_marks_on_every_label() -> None:
    tallies = score_pages(PAGES).tallies

    assert {label: tally.f1 for label, tally in tallies.items()} == dict.fromkeys(
        tallies, 1.0
    )
    assert {"PHONE", "EMAIL", "ORG", "STREET", "PER", "FUNC", "HOURS", "SOCIAL"} <= (
        tallies.keys()
    )


@pytest.mark.parametrize("page", TRAPS, ids=lambda page: page.id)
def test_a_trap_gives_no_contact(page: AnnotatedPage) -> None:
    contacts = find_contacts(page.html, page.url)

    assert contacts.emails == ()
    assert contacts.phones == ()
    assert contacts.addresses == ()
    assert contacts.socials == ()
    assert contacts.people == ()
    assert contacts.hours == ()
