"""The crawler against the misbehaving web: every case ends as it should.

One process walks through all cases in each lane; the tests read its report. In the
namespace lane the hostile hosts have public-looking addresses and the guard is as it
is in production.
"""

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.zoo import HALLS, namespace
from tests.zoo.run import run_apart

Report: TypeAlias = dict[str, Any]

PACE = "0.2"
"""Time-outs are a fifth of the real ones; `./check --long` uses the real ones."""
LONGEST_STALL = 1.0

needs_namespaces = pytest.mark.skipif(
    namespace.why_not() is not None, reason=f"no namespaces: {namespace.why_not()}"
)
LANES = ["loopback", pytest.param("namespace", marks=needs_namespaces)]
pytestmark = pytest.mark.xdist_group("zoo")  # all read one report


@pytest.fixture(scope="module", params=LANES)
def report(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Report:
    directory = tmp_path_factory.getbasetemp()
    # The workers of one run share the parent of their directories, and nothing else.
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    return walked_once(str(request.param), directory.parent if is_worker else directory)


def walked_once(lane: str, shared: Path) -> Report:
    """Walk through the zoo, or read what another test process found there."""
    file = shared / f"zoo-{lane}.json"
    with (shared / f"zoo-{lane}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            found = run_apart(["--pace", PACE], lane=lane, timeout=300)
            file.write_text(json.dumps(found))
        read: Report = json.loads(file.read_text())
    return read


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
    mixture = run_apart(["--mixed"], lane="loopback", timeout=300)

    assert mixture["complete"] == 1.0
    assert mixture["hostile_fetches"] > 50


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
