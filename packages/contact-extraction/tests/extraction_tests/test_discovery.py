"""Where sitemaps are looked for, and what a site without one yields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.discovery import (
    MAX_CANDIDATES,
    FoundBy,
    linked_pages,
    page_links,
    sitemap_candidates,
    sitemap_lines,
    telling_links,
)
from contact_extraction.errors import InvalidUrl
from contact_extraction.html import parse_page

HOME = "https://www.bakery.test/"
ROBOTS = """\ufeffSitemap: https://www.bakery.test/a.xml
User-agent: *
Disallow: /private
sitemap:https://www.bakery.test/b.xml # the second
  SITEMAP : /c.xml
Sitemap: https://cdn.files.test/bakery.xml.gz
Sitemap: ftp://www.bakery.test/d.xml
Sitemap: https://www.bakery.test/a.xml
Sitemap:
# Sitemap: https://www.bakery.test/no.xml
"""
PAGE = parse_page(
    """<html><head>
    <link rel="sitemap" type="application/xml" href="/maps/main.xml">
    <link rel="alternate" type="application/rss+xml" href="/news/feed">
    <link rel="alternate" hreflang="de" href="/de/">
    <link rel="sitemap" href="https://elsewhere.test/sitemap.xml">
    </head><body><footer>
    <a href="/footer-sitemap.xml">Sitemap</a> <a href="/sitemap">Overview</a>
    </footer></body></html>"""
)


def urls(**options: object) -> list[str]:
    return [found.url for found in sitemap_candidates(HOME, **options)]  # type: ignore[arg-type]


def test_every_sitemap_line_of_robots_is_read() -> None:
    found = sitemap_candidates(HOME, robots=ROBOTS)

    assert [one.url for one in found if one.found_by is FoundBy.ROBOTS] == [
        "https://www.bakery.test/a.xml",
        "https://www.bakery.test/b.xml",
        "https://www.bakery.test/c.xml",
        "https://cdn.files.test/bakery.xml.gz",
    ]


def test_what_the_site_names_comes_before_what_we_guess() -> None:
    found = sitemap_candidates(HOME, robots=ROBOTS, page=PAGE)

    promised = [one.is_promised for one in found]
    feeds = [one.url for one in found if one.found_by is FoundBy.FEED_LINK]
    first_guess = promised.index(False)
    assert all(promised[:first_guess])
    assert "https://www.bakery.test/maps/main.xml" in urls(page=PAGE)[:first_guess]
    assert "https://www.bakery.test/footer-sitemap.xml" in urls(page=PAGE)[:first_guess]
    assert feeds == ["https://www.bakery.test/news/feed"]


def test_some_twenty_well_known_paths_are_tried() -> None:
    found = [
        one.url.removeprefix("https://www.bakery.test")
        for one in sitemap_candidates(HOME)
        if one.found_by is FoundBy.WELL_KNOWN
    ]

    assert 20 <= len(found) <= 30
    assert found[0] == "/sitemap.xml"
    assert {"/sitemap_index.xml", "/wp-sitemap.xml", "/pages-sitemap.xml"} <= set(found)


@pytest.mark.parametrize(
    ("generator", "path"),
    [
        ("WordPress", "/wp-sitemap.xml"),
        ("TYPO3", "/sitemap.xml"),
        ("Wix", "/sitemap.xml"),
    ],
)
def test_the_paths_of_a_known_program_are_tried_first(
    generator: str, path: str
) -> None:
    assert urls(generator=generator)[0] == f"https://www.bakery.test{path}"


def test_a_sitemap_on_another_site_is_only_taken_from_robots() -> None:
    assert not any("elsewhere" in url for url in urls(page=PAGE))


def test_no_candidate_comes_twice() -> None:
    found = urls(robots="Sitemap: /sitemap.xml", page=PAGE, generator="wordpress")

    assert len(found) == len(set(found))


def test_ten_thousand_lines_give_a_bounded_list() -> None:
    robots = "\n".join(f"Sitemap: /{n}.xml" for n in range(10_000))

    assert len(urls(robots=robots)) == MAX_CANDIDATES


def test_a_home_that_is_no_url_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        sitemap_candidates("not a url")


def test_the_links_of_the_home_page_stand_in_for_a_sitemap() -> None:
    page = parse_page(
        """<nav><a href="/products">Products</a><a href="kontakt?utm_source=nav">Kontakt</a>
        <a href="/node/7">Impressum</a></nav>
        <a href="https://shop.bakery.test/cakes">Shop</a>
        <a href="https://facebook.test/bakery">Facebook</a>
        <a href="/menu.pdf">Menu</a><a href="mailto:a@bakery.test">Mail</a>
        <a href="#top">Top</a><a rel="nofollow" href="/login-wall">Members</a>
        <a style="display:none" href="/honeypot">x</a>"""
    )

    found = page_links(page, HOME)

    assert [link.url for link in found] == [
        "https://www.bakery.test/kontakt",
        "https://www.bakery.test/node/7",
        "https://www.bakery.test/products",
        "https://shop.bakery.test/cakes",
    ]
    assert found[0].text == "Kontakt"


def test_a_menu_that_unfolds_or_is_drawn_names_its_pages_too() -> None:
    page = parse_page(
        """<ul style="display:none"><a href="/5">Contact</a><a href="/6">Jobs</a></ul>
        <a href="/7"><img src="b.gif" alt="Imprint"></a><a href="/8" title="Team">&gt;</a>
        <map><area href="/9" alt="Find us"></map>"""
    )

    assert [(link.url[-2:], link.text) for link in page_links(page, HOME)] == [
        ("/5", "Contact"), ("/7", "Imprint"), ("/9", "Find us"), ("/8", "Team"),
    ]  # fmt: skip


def test_a_page_says_what_addresses_do_not() -> None:
    page = parse_page(
        """<a href="/p/7">Kontakt</a><a href="/p/8">Teapots</a><a href="/p/9"></a>
        <a href="/about">more</a><a href="/flyer.pdf">Contact</a>"""
    )

    assert telling_links(page, HOME) == {"https://www.bakery.test/p/7": "Kontakt"}


def test_a_base_element_counts_unless_it_leads_away() -> None:
    inside = parse_page('<base href="/shop/"><a href="contact">c</a>')
    outside = parse_page('<base href="file:///etc/"><a href="contact">c</a>')
    away = parse_page('<base href="https://evil.test/"><a href="contact">c</a>')

    assert page_links(inside, HOME)[0].url == "https://www.bakery.test/shop/contact"
    assert page_links(outside, HOME)[0].url == "https://www.bakery.test/contact"
    assert page_links(away, HOME)[0].url == "https://www.bakery.test/contact"


def test_a_page_of_endless_links_yields_a_bounded_list() -> None:
    page = parse_page("".join(f'<a href="/p{n}">x</a>' for n in range(20_000)))

    assert len(page_links(page, HOME)) == 500


@given(st.text(max_size=400))
def test_any_robots_text_is_read(text: str) -> None:
    assert all(url.startswith("http") for url in sitemap_lines("Sitemap: " + text))


def followed(markup: str) -> dict[str, float]:
    """Return where a home page leads, with what each page promises."""
    page = parse_page(f"<html><body>{markup}</body></html>")
    links = linked_pages(page, "https://a.example/")
    return {
        link.url.removeprefix("https://a.example"): link.rating.score for link in links
    }


def test_the_frames_of_a_page_are_followed_as_its_own_parts() -> None:
    page = parse_page(
        '<html><frameset><frame src="menu.htm"><frame src="start.htm">'
        '<frame src="https://b.example/x.htm"></frameset></html>'
    )
    links = linked_pages(page, "https://a.example/")
    assert {link.url for link in links} == {
        "https://a.example/menu.htm",
        "https://a.example/start.htm",
    }
    assert all(link.rating.score > 0.5 for link in links)


def test_a_menu_that_a_script_loads_is_followed_where_the_page_links_hardly_anything() -> (
    None
):
    menu = (
        '<nav data-include="nav.html"></nav><script>load("#foot", "foot.html")</script>'
    )
    many = "".join(f'<a href="/page-{n}.html">page</a>' for n in range(9))
    assert {"/nav.html", "/foot.html"} <= followed(menu).keys()
    assert followed(menu + many).keys().isdisjoint({"/nav.html", "/foot.html"})


def test_a_link_that_only_small_screens_hide_is_followed() -> None:
    hidden = "<style>@media (max-width: 600px) { .nav { display: none } }</style>"
    assert "/doors.html" in followed(
        f'{hidden}<div class="nav"><a href="/doors.html">Doors</a></div>'
    )
    trap = "<style>.trap { display: none }</style>"
    assert (
        followed(f'{trap}<div class="trap"><a href="/doors.html">Doors</a></div>') == {}
    )


def test_profiles_and_people_are_worth_following() -> None:
    found = followed(
        '<a href="/attorneys/kim-lindqvist.html">Read more</a>'
        '<a href="/p17.html">Dr. Ines Hartwell</a><a href="/meet-the-doctor.html">x</a>'
        '<a href="/blog/kim-lindqvist.html">Kim Lindqvist</a><a href="/stairs.html">x</a>'
    )
    assert found["/attorneys/kim-lindqvist.html"] == found["/p17.html"] == 0.5
    assert found["/meet-the-doctor.html"] > 0.5
    assert found["/stairs.html"] < 0.2
    assert "/blog/kim-lindqvist.html" not in found
