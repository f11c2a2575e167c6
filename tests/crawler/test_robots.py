"""robots.txt by the letter of RFC 9309."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.urls import parse_url
from extraction_tests.pace import takes_at_most
from scrapersky.crawler.hosts import RobotsState, StoredRobots
from scrapersky.crawler.robots import (
    RobotsRules,
    cut_at_line,
    only_ours,
    parse_robots,
    without_comments,
    without_repeats,
)
from tests.crawler.rig import utc_now

TOKEN = "ScraperSky"
LINES = (
    "User-agent: *", "User-agent: scrapersky", "User-agent: bot", "Disallow: /x",
    "Allow: /x", "Disallow: /", "Disallow:", "Crawl-delay: 6", "Crawl-delay: 9", "",
    "Sitemap: /a.xml", "# all",
)  # fmt: skip
PATHS = ("/", "/x", "/y")


def rules(text: str) -> RobotsRules:
    return parse_robots(StoredRobots(RobotsState.RULES, text, "", utc_now()), TOKEN)


def allows(text: str, path: str) -> bool:
    return rules(text).verdict(parse_url(f"https://shop.example{path}")).allowed


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("user-agent: SCRAPERSKY\ndisallow: /x", "/x", False),
        (
            "User-agent: scrapersky\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
            "/b",
            True,
        ),
        (
            "User-agent: *\nDisallow: /\n\nUser-agent: scrapersky\nDisallow: /a",
            "/b",
            True,
        ),
        ("User-agent: a\nUser-agent: scrapersky\nDisallow: /x", "/x", False),
        (
            "User-agent: scrapersky\nDisallow: /a\n\nUser-agent: scrapersky\nDisallow: /b",
            "/b",
            False,
        ),
        ("User-agent: scraperskyfoo\nDisallow: /", "/x", True),
        ("User-agent: scraper\nDisallow: /", "/x", True),
        ("User-agent: scrapersky/1.0\nDisallow: /x", "/x", False),
        ("User-agent: *\nDisallow: /p\nAllow: /p/x", "/p/x/y", True),
        ("User-agent: *\nAllow: /p\nDisallow: /p", "/p", True),
        (
            "User-agent: *\nAllow: /folder\nDisallow: /folder/page",
            "/folder/page",
            False,
        ),
        ("User-agent: *\nDisallow: /fish", "/Fish", True),
        ("User-agent: *\nDisallow: /fish*", "/fishheads/yummy.html", False),
        ("User-agent: *\nDisallow: /*.php$", "/a/b.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/a/b.php?x", True),
        ("User-agent: *\nDisallow: /a*b*c", "/axxbyyc", False),
        ("User-agent: *\nDisallow: /foo/bar?q=", "/foo/bar?q=1", False),
        ("User-agent: *\nDisallow: /%7Ejoe/", "/~joe/x", False),
        ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
        ("User-agent: *\nDisallow: /ü", "/%C3%BC", False),
        ("\ufeffUser-agent: *\nDisallow: /x", "/x", False),
        ("User-agent: * # all\nDisallow: /x # no", "/x", False),
        ("User-agent: *\r\nDisallow: /x\r\n", "/x", False),
        ("User-agent: *\rDisallow: /x", "/x", False),
        (
            "User-agent: *\nSitemap: https://shop.example/s.xml\nDisallow: /x",
            "/x",
            False,
        ),
        ("User-agent: *\nCrawl-delay: 5\nDisallow: /x", "/x", False),
        ("User-agent: a\n# only a comment\nUser-agent: *\nDisallow: /x", "/x", False),
        ("User-agent: a\nCrawl-delay: 5\nUser-agent: *\nDisallow: /x", "/x", False),
        ("User-agent: *\nNoindex: /y\nUser-agent: a\nDisallow: /x", "/x", False),
        ("User-agent: *\nHost: a\n\nUser-agent: a\nDisallow: /x", "/x", False),
        ("User-agent: ScraperSky crawler\nDisallow: /x", "/x", False),
        ("User-agent: ScraperSky (robot)\nDisallow: /x", "/x", False),
        ("Disallow: /x", "/x", True),
        ("<html>not found</html>", "/x", True),
    ],
)
def test_the_rules_mean_what_the_standard_says(
    text: str, path: str, allowed: bool
) -> None:
    assert allows(text.removeprefix("\ufeff"), path) is allowed


def test_a_refusal_names_its_line() -> None:
    verdict = rules("User-agent: *\nDisallow: /p\nDisallow: /private/").verdict(
        parse_url("https://shop.example/private/x")
    )

    assert verdict.rule == "Disallow: /private/"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("0.001", 1), ("1", 1), ("10", 10), ("86400", 86400), ("-1", None), ("NaN", None),
     ("inf", None), ("soon", None), ("1e400", None), ("9" * 300, 10**6)],
)  # fmt: skip
def test_a_crawl_delay_is_a_second_or_more(asked: str, seconds: int | None) -> None:
    delay = rules(f"User-agent: *\nCrawl-delay: {asked}").crawl_delay

    assert delay == (None if seconds is None else timedelta(seconds=seconds))


def test_a_delay_is_read_in_a_group_without_rules() -> None:
    found = rules("User-agent: a\nUser-agent: *\nCrawl-delay: 7")

    assert found.crawl_delay == timedelta(seconds=7)


def test_every_sitemap_line_is_kept() -> None:
    text = (
        "Sitemap: https://a.example/1.xml\nUser-agent: x\nDisallow: /\nsitemap: /2.xml"
    )

    verdict = rules(text).verdict(parse_url("https://a.example/"))

    assert verdict.sitemaps == ("https://a.example/1.xml", "/2.xml")


def test_a_long_file_is_cut_at_a_line() -> None:
    assert cut_at_line(b"abc\ndef\nghi", 9) == b"abc\ndef\n"
    assert cut_at_line(b"abc\n", 9) == b"abc\n"
    assert cut_at_line(b"x" * 20, 9) == b""


def test_many_agents_over_many_rules_cost_no_product() -> None:
    agents = "".join(f"User-agent: bot{n}\n" for n in range(15_000))
    text = (
        agents + "User-agent: *\n" + "".join(f"Disallow: /{n}\n" for n in range(15_000))
    )
    with takes_at_most(3):
        assert not allows(text, "/14999")


def test_rules_said_again_were_all_stored() -> None:
    text = "User-agent: *\n" + "Disallow: /x\n" * 99
    again = "\nUser-agent: bot\nCrawl-delay: 6\nCrawl-delay: 6\nDisallow: /x\n" * 2

    assert without_repeats(text + again).splitlines() == [
        *("User-agent: *", "Disallow: /x"),
        *["", "User-agent: bot", "Crawl-delay: 6", "Crawl-delay: 6", "Disallow: /x"]
        * 2,
    ]


def test_rules_said_to_others_were_all_parsed() -> None:
    others = "User-agent: bot\n" + "".join(f"Disallow: /{n}\n" for n in range(99))
    ours = "User-agent: *\nDisallow: /x\nSitemap: /a.xml\n"

    kept = only_ours(ours + others + "Sitemap: /b.xml", "ScraperSky")

    assert kept.splitlines() == [
        "User-agent: *",
        "Disallow: /x",
        "Sitemap: /a.xml",
        "Sitemap: /b.xml",
    ]


def test_the_last_delay_counts_although_it_was_said_before() -> None:
    text = "User-agent: *\nDisallow: /x\nCrawl-delay: 6\nCrawl-delay: 9\nCrawl-delay: 6"

    assert rules(text).crawl_delay == timedelta(seconds=6)


@given(st.lists(st.sampled_from(LINES), max_size=12), st.sampled_from(PATHS))
def test_rules_said_once_say_the_same(lines: list[str], path: str) -> None:
    text = "\n".join(lines)
    url = parse_url(f"https://a.example{path}")

    once = rules(without_repeats(text))

    assert once.verdict(url) == rules(text).verdict(url)
    assert once.crawl_delay == rules(text).crawl_delay


@given(st.text(alphabet="usera-gnt:*dilow/cp $%#\n\rScky2F", max_size=200))
def test_any_file_can_be_asked(text: str) -> None:
    assert rules(text).verdict(parse_url("https://a.example/p?x=%2F")).allowed in {
        True,
        False,
    }


def test_what_is_written_for_people_is_not_kept() -> None:
    text = "# ask ada@a.example\nUser-agent: *  # all\nDisallow: /x#y\r\nAllow: /"

    assert without_comments(text) == "\nUser-agent: *  \nDisallow: /x\r\nAllow: /"
