"""The measure of the ranking: what counts as a contact page, and where it stands."""

from pathlib import Path

import pytest

from contact_extraction.measuring.pages import AnnotatedPage
from contact_extraction.measuring.ranking import (
    RankedContactPage,
    half_of,
    render_ranking,
    score_ranking,
)
from extraction_tests.measuring.test_pages import a_file, a_row
from scrapersky.cli.score import score

HOST = "https://www.bakery.test"
MENU = "".join(f'<a href="/{n}">Cake {n}</a>' for n in range(9))


def a_page(
    markup: str, *, url: str = f"{HOST}/", phones: int = 1, streets: int = 1
) -> AnnotatedPage:
    gold = {
        "PHONE": frozenset(f"555010{n}" for n in range(phones)),
        "STREET": frozenset(f"{n} Oven Street" for n in range(streets)),
    }
    return AnnotatedPage("1", "a", url, MENU + markup, gold, frozenset(gold))


def ranked(*pages: AnnotatedPage) -> list[tuple[str, str, int | None, int | None]]:
    return [
        (found.url.removeprefix(HOST), found.reading, found.by_url, found.by_text)
        for found in score_ranking(pages)
    ]


def test_a_page_that_calls_itself_contact_is_asked_for_by_its_own_address() -> None:
    head = (
        f'<title>Contact us | Bakery</title><link rel=canonical href="{HOST}/node/7">'
    )

    assert ranked(a_page(head + '<a href="/node/7">Reach us</a>')) == [
        ("/node/7", "shown", 10, 1)
    ]


def test_the_menu_says_where_a_page_is_unless_its_title_says_otherwise() -> None:
    title = "<title>Contact us - Bakery</title>"
    marked = '<li class="item current"><a href="/p7">Contact us</a></li>'
    elsewhere = '<li class="active"><a href="/offers">Offers</a></li>'
    titled = '<a href="/p7">Contact us</a>'

    assert ranked(a_page(title + marked))[0][:2] == ("/p7", "shown")
    assert ranked(a_page(title + titled))[0][:2] == ("/p7", "titled")
    assert ranked(a_page(title + elsewhere + titled))[0][:2] == ("/p7", "called")


def test_the_page_with_the_most_contacts_of_its_site_counts_whatever_its_name() -> None:
    rich = a_page("<title>Ovens</title>", url=f"{HOST}/ovens", phones=4)
    poor = a_page("<title>News</title>", url=f"{HOST}/news", phones=1)

    assert ranked(rich, poor)[0][:2] == ("/ovens", "shown")
    assert ranked(rich, a_page("", url=f"{HOST}/x", phones=4)) == []


def test_a_list_of_agents_beside_a_contact_page_is_told_apart() -> None:
    agents = a_page("<title>Agents</title>", url=f"{HOST}/agents", phones=9)
    contact = a_page("<title>Contact</title>", url=f"{HOST}/c")

    assert [found[:2] for found in ranked(agents, contact)] == [
        ("/c", "shown"),
        ("/agents", "richest"),
    ]


def test_what_links_call_contact_counts_where_no_page_shows_it() -> None:
    link = '<a href="/c9">Kontakt</a><a href="/l">Contact lenses</a>'

    assert ranked(a_page(link)) == [("/c9", "called", 11, 1)]


def test_a_home_page_is_never_asked_for() -> None:
    assert ranked(a_page('<title>Contact</title><link rel=canonical href="/">')) == []


def test_a_contact_page_that_is_filtered_is_a_miss() -> None:
    link = '<a href="/cart/contact">Contact</a>'

    assert ranked(a_page(link)) == [("/cart/contact", "called", None, None)]


def test_a_page_without_an_address_is_a_site_of_its_own() -> None:
    link = f'<title>Contact</title><a href="{HOST}/a">Contact</a>' + "".join(
        f'<a href="{HOST}/{n}">x</a>' for n in range(3)
    )

    found = score_ranking([a_page(link, url="")])

    assert [(page.site, page.url) for page in found] == [("1", f"{HOST}/a")]


def test_the_table_counts_by_half_and_lists_what_is_missed() -> None:
    good = RankedContactPage("a.test", 0, "shown", f"{HOST}/contact", 1, 1, ())
    bad = RankedContactPage(
        "b.test", 1, "called", f"{HOST}/x", 9, None, (f"{HOST}/team",)
    )

    rows = render_ranking([good, bad]).splitlines()

    assert " ".join(rows[2].split()) == "shown URL 1/1 100 % 0/0 - 1/1 100 %"
    total = "together URL and text 1/1 100 % 0/1 0 % 1/2 50 %"
    assert " ".join(rows[-6].split()) == total
    assert rows[-1].startswith("- b.test")
    assert rows[-1].endswith("by URL 9, with text left out: " + HOST + "/x  after team")


def test_a_site_is_always_in_the_same_half() -> None:
    assert [half_of(site) for site in ("a.test", "b.test", "c.test")] == [0, 0, 1]


def test_the_command_prints_both_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = a_row('<title>Contact</title><a href="/c">Contact</a>', ("TEL", "555 010 20"))

    score(a_file(tmp_path, row))

    printed = capsys.readouterr().out
    assert "F1 micro" in printed
    assert "contact pages among the first 3 of their site" in printed
