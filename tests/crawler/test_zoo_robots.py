"""What a host's robots.txt may cost beyond the one fetch it is read for."""

from datetime import UTC, datetime

from scrapersky.crawler import RobotsState, StoredRobots
from scrapersky.crawler.hosts import RobotsCache
from scrapersky.crawler.robots import (
    MAX_PARSED_CHARACTERS,
    ParsedRobotsCache,
    RobotsRules,
)

LONG = 500 * 1024


def long_robots() -> RobotsRules:
    later = datetime(2100, 1, 1, tzinfo=UTC)
    return RobotsRules(
        StoredRobots(RobotsState.RULES, "#" * LONG, "", later), None, "us"
    )


def test_long_files_of_many_hosts_do_not_pile_up() -> None:
    shelf = ParsedRobotsCache()
    files = {f"http://host-{number}.com": long_robots() for number in range(100)}

    for origin, robots in files.items():
        shelf.put(origin, robots)

    kept = [o for o, robots in files.items() if shelf.find(o, robots.stored)]
    assert 0 < len(kept) * LONG <= MAX_PARSED_CHARACTERS
    assert kept[-1] == "http://host-99.com"


def test_a_file_read_anew_takes_the_place_of_the_old_one() -> None:
    shelf = ParsedRobotsCache()

    for _ in range(100):
        shelf.put("http://host.com", long_robots())
    shelf.put("http://host.com", last := long_robots())
    shelf.put("http://other.com", other := long_robots())

    assert shelf.find("http://host.com", last.stored) is last
    assert shelf.find("http://other.com", other.stored) is other


def test_long_texts_do_not_pile_up_in_a_ledger() -> None:
    cache = RobotsCache(characters=10 * LONG)

    for number in range(100):
        cache.put(f"http://host-{number}.com", long_robots().stored)

    kept = [n for n in range(100) if cache.get(f"http://host-{n}.com")]
    assert kept == list(range(91, 100))
