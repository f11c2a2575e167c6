"""A site without end costs a few pages."""

import time
from datetime import date, timedelta

import pytest

from scrapersky.crawler import SiteBudget, TrapLimits
from scrapersky.crawler.trap import path_shape
from scrapersky.errors import Trap
from scrapersky.kit.urls import parse_url


def admitted(budget: SiteBudget, paths: list[str]) -> int:
    """Return how many of these paths are let in before the trap closes."""
    for number, path in enumerate(paths):
        try:
            budget.admit(parse_url(f"https://shop.example{path}"))
        except Trap:
            return number
    return len(paths)


def test_an_endless_calendar_costs_fifty_pages() -> None:
    days = [date(2026, 11, 15) + timedelta(days=n) for n in range(1000)]

    assert admitted(SiteBudget(), [f"/events/{day:%Y/%m/%d}/" for day in days]) == 50
    assert (
        admitted(SiteBudget(), [f"/events?month={day:%Y-%m-%d}" for day in days]) == 50
    )


def test_random_pages_end_at_the_site_budget() -> None:
    words = [
        "".join(chr(97 + (n >> s) % 26) for s in (0, 3, 6, 9)) for n in range(5000)
    ]

    assert admitted(SiteBudget(), [f"/{word}" for word in dict.fromkeys(words)]) == 500


@pytest.mark.parametrize(
    "path",
    [
        "/a/b/a/b/a/b",
        "/img/img/img/",
        "/x" * 21,
        "/" + "/".join(f"d{chr(97 + n)}" for n in range(21)),
    ],
)
def test_a_path_that_goes_in_circles_is_a_trap(path: str) -> None:
    with pytest.raises(Trap):
        SiteBudget().admit(parse_url(f"https://shop.example{path}"))


def test_a_page_too_many_links_away_is_a_trap() -> None:
    budget = SiteBudget()
    budget.admit(parse_url("https://shop.example/a"), hops=20)

    with pytest.raises(Trap):
        budget.admit(parse_url("https://shop.example/b"), hops=21)


def test_session_ids_do_not_make_new_pages() -> None:
    budget = SiteBudget(TrapLimits(urls=1))
    first = budget.admit(
        parse_url("https://shop.example/p;jsessionid=AB12CD34?utm_source=x")
    )

    assert not budget.is_new(parse_url("https://shop.example/p;jsessionid=ZZ99YY88"))
    assert budget.admit(parse_url("https://shop.example/p?sid=8f7e6d5c4b")) == first


def test_the_same_page_under_five_addresses_is_a_trap() -> None:
    budget, url = SiteBudget(), parse_url("https://shop.example/")
    for _ in range(4):
        budget.saw(url, b"<html>the same</html>")

    with pytest.raises(Trap):
        budget.saw(url, b"<html>the same</html>")
    budget.saw(url, b"<html>another</html>")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("/p/1", "/p/22", True),
        ("/p?a=1&b=2", "/p?b=3&a=4", True),
        ("/p?a=1", "/p?b=1", False),
        (
            "/u/3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "/u/9a0c25e0-1189-41d3-9aff-0305e82c33ff",
            True,
        ),
        ("/contact", "/about", False),
        ("/deadbeefcafe", "/decadefacade", False),
    ],
)
def test_shapes_leave_out_numbers_and_ids(one: str, other: str, alike: bool) -> None:
    shapes = {
        path_shape(parse_url(f"https://a.example{path}")) for path in (one, other)
    }

    assert (len(shapes) == 1) is alike


@pytest.mark.parametrize(
    "path", ["/" + "a" * 2000, "/" + "a1" * 1000, "/" + "-" * 2000, "/1" * 900]
)
def test_a_shape_is_found_in_no_time(path: str) -> None:
    began = time.process_time()

    path_shape(parse_url(f"https://a.example{path}"))

    assert time.process_time() - began < 0.2
