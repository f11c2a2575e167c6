"""Which page is the contact page, in whatever language, and which is not worth a fetch."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.page_type import PageType, rank_pages, rate_page
from extraction_tests.pace import takes_at_most

URLS = Path(__file__).parent / "fixtures" / "urls"
HOST = "https://www.example.test"
NOW = datetime(2026, 11, 15, tzinfo=UTC)


class Site(NamedTuple):
    name: str
    texts: dict[str, list[str]]
    contacts: list[str]

    def first_three(self) -> list[str]:
        return [url for url, _ in rank_pages(self.texts, self.texts)[:3]]


def read_sites(name: str = "sites.txt") -> list[Site]:
    sites: list[Site] = []
    for line in (URLS / name).read_text().splitlines():
        if line.startswith("= "):
            sites.append(Site(line[2:], {}, []))
        elif line.startswith(("! ", "/")):
            path, _, text = line.removeprefix("! ").partition(" | ")
            sites[-1].texts[HOST + path] = [text] if text else []
            if line.startswith("! "):
                sites[-1].contacts.append(HOST + path)
    return sites


@pytest.mark.parametrize(
    ("name", "least"), [("sites.txt", 90), ("linked_sites.txt", 68)]
)
def test_contact_pages_rank_among_the_first_three_of_their_site(
    name: str, least: int
) -> None:
    hits = {
        (site.name, contact): contact in site.first_three()
        for site in read_sites(name)
        for contact in site.contacts
    }

    share = sum(hits.values()) / len(hits)
    assert len(hits) >= least
    assert share >= 0.95, [where for where, is_found in hits.items() if not is_found]


def test_without_their_links_silent_addresses_tell_nothing() -> None:
    sites = read_sites("linked_sites.txt")

    hits = [
        contact in [url for url, _ in rank_pages(site.texts)[:3]]
        for site in sites
        for contact in site.contacts
    ]

    assert sum(hits) / len(hits) < 0.5


def test_the_first_page_of_a_site_is_nearly_always_a_contact_page() -> None:
    sites = read_sites() + read_sites("linked_sites.txt")

    firsts = [site.first_three()[0] in site.contacts for site in sites]

    assert sum(firsts) / len(firsts) >= 0.9


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/contact-us", PageType.CONTACT_ROOT),
        ("/de/kontakt.html", PageType.CONTACT_ROOT),
        ("/ContactUs.aspx", PageType.CONTACT_ROOT),
        ("/standorte", PageType.CONTACT_ROOT),
        (
            "/%E3%81%8A%E5%95%8F%E3%81%84%E5%90%88%E3%82%8F%E3%81%9B",
            PageType.CONTACT_ROOT,
        ),
        ("/index.php?main_page=contact_us", PageType.CONTACT_ROOT),
        ("/pagina.php?link6=contact", PageType.CONTACT_ROOT),
        ("/zanzibar?utm_source=contact", PageType.UNKNOWN),
        ("/zanzibar?q=contact-lenses", PageType.UNKNOWN),
        ("/impressum", PageType.LEGAL_ROOT),
        ("/mentions-legales", PageType.LEGAL_ROOT),
        ("/datenschutz", PageType.LEGAL_ROOT),
        ("/terms-and-conditions", PageType.LEGAL_ROOT),
        ("/über-uns", PageType.ABOUT_ROOT),
        ("/quienes-somos", PageType.ABOUT_ROOT),
        ("/会社概要", PageType.ABOUT_ROOT),
        ("/meet-the-team", PageType.TEAM_ROOT),
        ("/equipe", PageType.TEAM_ROOT),
        ("/vacatures", PageType.CAREER_CONTACT),
        ("/praca", PageType.CAREER_CONTACT),
        ("/leistungen", PageType.SERVICES_ROOT),
        ("/hizmetlerimiz", PageType.SERVICES_ROOT),
        ("/speisekarte", PageType.MENU_ROOT),
        ("/cennik", PageType.PRICING_ROOT),
        ("/?page_id=12", PageType.WP_PROSPECT),
        ("/?p=7", PageType.WP_PROSPECT),
        ("/", PageType.UNKNOWN),
        ("/zanzibar", PageType.UNKNOWN),
        ("/blog/contact-us", PageType.UNKNOWN),
        ("/contact2.html", PageType.CONTACT_ROOT),
        ("/shop/contact", PageType.CONTACT_ROOT),
        ("/products/contact", PageType.UNKNOWN),
        ("/our-office", PageType.CONTACT_ROOT),
        ("/contact-lenses", PageType.UNKNOWN),
        ("/kontaktlinsen", PageType.UNKNOWN),
        ("/contactless-payment", PageType.UNKNOWN),
    ],
)
def test_a_path_says_the_type_of_a_page(path: str, kind: PageType) -> None:
    assert rate_page(HOST + path).type is kind


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/logo.png", "asset"),
        ("/files/brochure.PDF", "asset"),
        ("/wp-content/uploads/x", "asset"),
        ("/tag/roses/", "archive"),
        ("/category/news/local", "archive"),
        ("/author/anna/", "archive"),
        ("/2024/05/", "archive"),
        ("/blog/2024/05/17", "archive"),
        ("/news/2023", "archive"),
        ("/feed/", "archive"),
        ("/?s=shoes", "archive"),
        ("/?s=contact", "archive"),
        ("/suche?q=kontakt", "archive"),
        ("/blog/page/7/", "pagination"),
        ("/shop?paged=3", "pagination"),
        ("/events/2026-11-15", "calendar"),
        ("/calendar/2031/02/", "calendar"),
        ("/x?date=2040-01-01", "calendar"),
        ("/a/b/a/b/a/b", "trap"),
        ("/x/x/x", "trap"),
        ("/en/de/en/de/page", "trap"),
        ("/" + "d/e/".join(str(n) for n in range(12)), "trap"),
        ("/p;jsessionid=1A2B3C", "trap"),
        ("/p?PHPSESSID=abcdef123456", "trap"),
        ("/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "trap"),
        ("/shop?a=1&b=2&c=3&d=4&e=5", "trap"),
        ("/wp-login.php", "machinery"),
        ("/cart", "machinery"),
        ("/?add-to-cart=9", "machinery"),
        ("/post?replytocom=4", "machinery"),
    ],
)
def test_what_is_not_worth_a_fetch_is_filtered_with_a_reason(
    path: str, reason: str
) -> None:
    rating = rate_page(HOST + path)

    assert rating.filtered is not None
    assert rating.filtered.startswith(f"{reason}: ")
    assert rating.score == 0.0


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/contact",
        "/2024/05/17/a-post",
        "/events",
        "/team/anna",
        "/shop?id=4",
        "/x?page=contact",
    ],
)
def test_real_pages_are_not_filtered(path: str) -> None:
    assert rate_page(HOST + path).filtered is None


def test_a_link_text_names_a_page_whose_address_does_not() -> None:
    rating = rate_page(f"{HOST}/node/4", link_text="Kontakt")

    assert rating.type is PageType.CONTACT_ROOT
    assert rating.score > 0.9
    assert rating.reasons == ('a link to it says "kontakt"',)


@pytest.mark.parametrize(
    "path",
    [
        "/index.php?page=12",
        "/index.php?option=com_content&view=article&id=9&Itemid=7&lang=de",
        "/?q=node/5",
        "/category/kontakt/",
        "/static/c.html",
    ],
)
def test_what_links_plainly_call_contact_is_no_list_and_no_trap(path: str) -> None:
    assert rate_page(HOST + path).filtered is not None
    assert rate_page(HOST + path, link_text="Kontakt").type is PageType.CONTACT_ROOT
    assert rate_page(HOST + path, link_text="Kontakt 12").filtered is not None


@pytest.mark.parametrize("path", ["/kontakt.pdf", "/login", "/cart", "/x/x/x"])
def test_no_text_makes_a_page_of_a_file_or_a_trap(path: str) -> None:
    assert rate_page(HOST + path, link_text="Kontakt").filtered is not None


@pytest.mark.parametrize(
    "path",
    [
        "/?q=contact",
        "/static/contact.html",
        "/index.php?option=com_contact&view=contact&id=1&Itemid=5&lang=en",
    ],
)
def test_a_plain_name_is_enough_where_addresses_are_odd(path: str) -> None:
    assert rate_page(HOST + path).type is PageType.CONTACT_ROOT


def test_the_contacts_of_an_optician_are_lenses() -> None:
    by_address = rate_page(f"{HOST}/c/contact-lenses", link_text="Contacts")
    by_text = rate_page("https://www.example.test/j2", link_text="コンタクトレンズ")

    assert (by_address.type, by_text.type) == (PageType.UNKNOWN, PageType.UNKNOWN)
    assert by_address.score < 0.5


@pytest.mark.parametrize("path", ["/property-management/p7", "/cocktails", "/print/9"])
def test_other_words_in_an_address_make_no_doubt(path: str) -> None:
    assert rate_page(HOST + path, link_text="Contact").type is PageType.CONTACT_ROOT


def test_address_and_text_together_beat_either_however_deep_the_page_lies() -> None:
    both = rate_page(f"{HOST}/about/company/more/contact-us", link_text="Contact us")
    text = rate_page(f"{HOST}/n/7", link_text="Contact us")

    assert both.score > text.score
    assert len(both.reasons) == 2


def test_a_place_word_beside_wares_is_no_place() -> None:
    assert rate_page(f"{HOST}/office-chairs").score < rate_page(f"{HOST}/").score


def test_the_home_page_takes_one_place_only() -> None:
    urls = [f"{HOST}/", f"{HOST}/index.html", f"{HOST}/home", f"{HOST}/about"]

    assert f"{HOST}/about" in [url for url, _ in rank_pages(urls)[:2]]


def test_a_long_sentence_as_link_text_says_nothing() -> None:
    text = "Read how one farmer lost contact with his sheep last winter"

    assert rate_page(f"{HOST}/node/4", link_text=text).score < 0.2


def test_a_page_untouched_for_many_years_counts_less() -> None:
    old = datetime(2012, 1, 1, tzinfo=UTC)

    fresh = rate_page(f"{HOST}/contact", lastmod=NOW, now=NOW)
    stale = rate_page(f"{HOST}/contact", lastmod=old, now=NOW)

    assert stale.score < fresh.score
    assert "it was last changed 14 years ago" in stale.reasons


def test_variants_of_one_page_do_not_crowd_out_the_others() -> None:
    urls = [f"{HOST}/contact-form?to={n}" for n in range(5)] + [f"{HOST}/a/b/contact"]

    assert f"{HOST}/a/b/contact" in [url for url, _ in rank_pages(urls)[:3]]


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_rated(url: str, link_text: str) -> None:
    rating = rate_page(url, link_text=link_text)

    assert 0.0 <= rating.score <= 1.0
    assert rating.reasons


@pytest.mark.parametrize(
    "url",
    [
        "/" * 1_000_000,
        HOST + "/" + "contact-" * 200_000,
        HOST + "/?" + "a=b&" * 300_000,
        HOST + "/" + "%e3%81%8a" * 100_000,
        HOST + "/" + "aA" * 500_000,
        HOST + "/(S(" * 200_000,
    ],
)
def test_endless_addresses_cost_next_to_nothing(url: str) -> None:
    with takes_at_most(0.5):
        rate_page(url, link_text=url)


ABOVE_SERVICES = 0.42
"""Above the rating of pages of services, jobs and privacy, whose turn comes later."""


class PageName(NamedTuple):
    is_wanted: bool
    language: str
    path: str
    text: str

    def score(self, *, has_name: bool = True, has_text: bool = True) -> float:
        path = self.path if has_name else "/p17"
        return rate_page(HOST + path, link_text=self.text if has_text else "").score


def read_page_names() -> list[PageName]:
    lines = (URLS / "page_names.txt").read_text(encoding="utf-8").splitlines()
    parts = (line.split(" | ") for line in lines if not line.startswith("#"))
    return [PageName(wanted == "yes", *rest) for wanted, *rest in parts]


@pytest.mark.parametrize(
    ("has_name", "has_text"), [(True, True), (True, False), (False, True)]
)
def test_pages_of_people_were_rated_low_because_their_language_is_rare(
    *, has_name: bool, has_text: bool
) -> None:
    names = read_page_names()
    wrong = [
        name
        for name in names
        if (name.score(has_name=has_name, has_text=has_text) >= ABOVE_SERVICES)
        is not name.is_wanted
    ]

    missed = [name for name in wrong if name.is_wanted]
    wanted = sum(name.is_wanted for name in names)
    assert len({name.language for name in names}) >= 30
    assert len(missed) <= 0.03 * wanted, missed
    assert len(wrong) - len(missed) <= 0.04 * (len(names) - wanted), wrong


@pytest.mark.parametrize(
    "path",
    ["/team-building", "/board-games", "/crew-neck-sweaters", "/trabaja-con-nosotros"],
)
def test_a_word_for_people_beside_one_for_goods_or_jobs_is_no_page_of_a_team(
    path: str,
) -> None:
    assert rate_page(HOST + path).score < ABOVE_SERVICES


@pytest.mark.parametrize(
    "path",
    ["/physiotherapeuten", "/praxis/zahnarztteam", "/fysioterapeuter", "/gartenteam"],
)
def test_a_glued_word_is_what_its_last_part_says(path: str) -> None:
    assert rate_page(HOST + path).type is PageType.TEAM_ROOT
