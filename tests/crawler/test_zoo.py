"""The crawler against the misbehaving web: every case ends as it should.

One process walks through all cases; the tests read its report. In the namespace lane
the hostile hosts have public-looking addresses and the guard is as it is in production:
the quick tests take it wherever this machine lets them, the long ones take both.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import pytest

from sdk_tests.rig.size import size
from tests.zoo import HALLS, namespace
from tests.zoo.run import PESTS, run_apart

Report: TypeAlias = dict[str, Any]

PACE = "0.2"
"""Time-outs are a fifth of the real ones; `./check --long` uses the real ones."""
LONGEST_STALL = 1.0

NO_NAMESPACE = namespace.why_not()
LANES = [
    "loopback",
    pytest.param(
        "namespace",
        marks=pytest.mark.skipif(
            NO_NAMESPACE is not None, reason=f"no namespaces: {NO_NAMESPACE}"
        ),
    ),
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("zoo"),  # all read one report
]


@pytest.fixture(scope="module")
def report() -> Report:
    lane = "loopback" if NO_NAMESPACE else "namespace"
    found: Report = run_apart(["--pace", PACE], lane=lane, timeout=300)
    return found


def complaints(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {row["id"]: row["complaint"] for row in rows if row["complaint"]}


@pytest.mark.parametrize("hall", sorted(HALLS))
def test_every_case_ends_as_it_should(report: Report, hall: str) -> None:
    cases = {exhibit.case.id for exhibit in HALLS[hall]() if exhibit.case}

    rows = [row for row in report["rows"] if row["id"] in cases]

    assert {row["id"] for row in rows} == cases
    assert complaints(rows) == {}


def test_no_canary_was_touched(report: Report) -> None:
    assert report["canaries"] == []


def test_no_packet_left_for_a_forbidden_address(report: Report) -> None:
    if report["forbidden_packets"] is None:
        pytest.skip("packets are counted only in a namespace")

    assert report["packets"] > len(report["rows"])
    assert report["forbidden_packets"] == {}


def test_every_error_was_foreseen(report: Report) -> None:
    assert report["unclassified"] == []


def test_nothing_is_left_behind(report: Report) -> None:
    assert report["leaks"] == {}
    assert report["server_connections"] == 0


def test_every_fetch_leaves_a_line_that_is_safe_to_print(report: Report) -> None:
    assert report["log_lines"] >= len(report["rows"])
    assert report["unsafe_log_lines"] == []


def test_no_case_stops_the_event_loop(report: Report) -> None:
    stalls = {row["id"]: row["stall"] for row in report["rows"]}

    assert max(stalls.values()) < LONGEST_STALL, max(stalls, key=stalls.__getitem__)


def test_good_hosts_do_not_suffer_from_bad_ones() -> None:
    words = ["--mixed", "--pages", str(size(2, 4))]

    mixture = run_apart(words, lane="loopback", timeout=300)

    assert mixture["complete"] == 1.0
    assert mixture["hostile_fetches"] >= len(PESTS)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("lane", LANES)
def test_every_case_keeps_its_real_budget(lane: str, seed: int) -> None:
    found = run_apart(["--pace", "1", "--seed", str(seed)], lane=lane, timeout=600)

    assert complaints(found["rows"]) == {}
    assert found["canaries"] == []
    assert found["unclassified"] == []
    assert found["leaks"] == {}
    assert not found["forbidden_packets"]
