"""Faults injected into a working fleet: nothing is lost, doubled or stuck."""

import pytest

from sdk_tests.faults.scenario import RECOVERY_TIMEOUT, Row
from sdk_tests.faults.table import LONG, QUICK

# Without a limit on silence a held connection is noticed by the system after minutes.
LONGEST_RECOVERY = {"held": 60.0}
"""Seconds, of what was in hand at the last fault; judged in the long run only."""


# What else a fault costs is time: four of them are seen before every commit.
QUICKLY = {"crashes", "kills", "lost_answers", "poison"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICKLY else pytest.mark.slow)
        for name in QUICK
    ],
)
def test_no_item_is_lost_doubled_or_stuck(name: str) -> None:
    row = QUICK[name]()

    assert_clean(row)


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_no_item_is_lost_doubled_or_stuck_in_a_long_run(name: str) -> None:
    row = LONG[name]()

    assert_clean(row)
    # How soon is read in the table: a busy machine needs more leases than an idle one.
    assert row.recovery < LONGEST_RECOVERY.get(name, RECOVERY_TIMEOUT)
    assert row.slowest_exit < 10


def assert_clean(row: Row) -> None:
    print(row)
    assert (row.lost, row.doubled, row.stuck) == (0, 0, 0)
    assert row.findings is not None
    assert row.findings.claims_left == 0
    assert row.injected > 0
