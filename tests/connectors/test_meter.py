"""What may be spent of a rolling limit, by whoever spends all that he may."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scrapersky.connectors.meter import MeterRule, take

WINDOWS = 50


@pytest.mark.parametrize(
    ("units", "seconds", "burst"),
    [(5, 1, None), (10, 1, None), (10, 2, None), (20, 2, None), (100, 10, None),
     (190, 10, None), (100, 3600, 50), (36_000, 3600, None)],
)  # fmt: skip
def test_a_fifth_of_a_small_limit_was_never_used_and_none_is_passed(
    units: int, seconds: int, burst: float | None
) -> None:
    per = timedelta(seconds=seconds)
    rule = MeterRule(name="calls", units=units, per=per, burst=burst)
    now = began = datetime(2026, 11, 19, tzinfo=UTC)
    calls: list[datetime] = []
    state: dict[str, Any] = {}
    while len(calls) < min(WINDOWS * units, 50_000):
        state, wait, _ = take(state, [rule], {"calls": 1}, now)
        now += wait
        if not wait:
            calls.append(now)

    windows = (bisect_right(calls, one + per) - at for at, one in enumerate(calls))
    assert max(windows) <= units
    lasted = (now - began) / per
    assert len(calls) / (lasted * units) >= (0.88 if burst is None else 0.5)
