"""Hostile pages and sitemaps, fetched and read as the stages do it: in the sandbox."""

from typing import Any

import pytest

from sdk_tests.rig.size import size
from tests.zoo import namespace
from tests.zoo.run import run_apart

# XXE would show as a packet, and packets can be counted only in a namespace.
LANE = "loopback" if namespace.why_not() else "namespace"
LARGEST, MOST_GROWTH = size(12, 50), size(200, 512)
"""MiB: of a sitemap that is read, and of our own process while all of them are."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("zoo-reading"),  # all read one report
]


@pytest.fixture(scope="module")
def reading() -> dict[str, Any]:
    words = ["--largest", str(LARGEST)]
    return run_apart(words, lane=LANE, timeout=400, module="tests.zoo.reading")


def test_every_page_and_sitemap_ends_as_it_should(reading: dict[str, Any]) -> None:
    complaints = {r["id"]: r["complaint"] for r in reading["rows"] if r["complaint"]}

    assert complaints == {}


def test_reading_reaches_for_no_other_address(reading: dict[str, Any]) -> None:
    assert reading["canaries"] == []
    assert not reading["forbidden_packets"]


def test_reading_leaves_nothing_behind(reading: dict[str, Any]) -> None:
    assert reading["leaks"] == {}


def test_the_largest_sitemap_does_not_fill_the_memory(reading: dict[str, Any]) -> None:
    assert reading["growth"] < MOST_GROWTH << 20
