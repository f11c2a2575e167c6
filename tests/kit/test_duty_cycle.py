"""Expensive work takes a small share of the time, however large the tables grow."""

import pytest

from scrapersky.kit import duty_cycle
from scrapersky.kit.duty_cycle import DutyCycle


def test_all_tables_were_read_every_minute_however_long_that_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, orphans, looked = 1_000.0, DutyCycle(100), []
    monkeypatch.setattr(duty_cycle, "monotonic", lambda: now)
    for minute in range(20):
        now = 1_000.0 + 60 * minute
        with orphans.turn() as is_due:
            now += 4.0  # at five million pages
        looked += [minute] if is_due else []

    assert looked == [0, 7, 14]
