"""Lists of rated pages, from a sitemap or from a page's links."""

from datetime import UTC, datetime

from contact_extraction.page_list import (
    PageList,
    list_linked_pages,
    list_sitemap_pages,
)

HOME = "https://www.bakery.test/"


def types_of(pages: PageList) -> dict[str, str]:
    return {
        url: pages.ratings[rated].type.value
        for url, rated in zip(pages.urls, pages.rated, strict=True)
    }


def test_a_page_all_on_its_own_is_its_contact_page() -> None:
    page = b'<a href="/#kontakt">Kontakt</a><a href="/team">Team</a>'

    assert types_of(list_linked_pages(page, HOME, None)) == {
        HOME: "contact_root",
        f"{HOME}team": "team_root",
    }


def test_texts_of_links_rate_the_pages_of_a_sitemap() -> None:
    sitemap = b"http://bakery.test/p/7/\nhttp://bakery.test/p/8\n"
    now = datetime(2026, 11, 15, tzinfo=UTC)

    pages = list_sitemap_pages(
        sitemap, f"{HOME}sitemap.txt", "bakery.test", 9, now, {f"{HOME}p/7": "Kontakt"}
    )

    assert list(types_of(pages).values()) == ["contact_root", "unknown"]
