"""Expensive work takes a small share of the time, however large the tables grow."""

import pytest

from scrapersky.kit import seldom
from scrapersky.kit.seldom import Seldom


def test_all_tables_were_read_every_minute_however_long_that_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, orphans, looked = 1_000.0, Seldom(100), []
    monkeypatch.setattr(seldom, "monotonic", lambda: now)
    for minute in range(20):
        now = 1_000.0 + 60 * minute
        with orphans.turn() as is_due:
            now += 4.0  # at five million pages
        looked += [minute] if is_due else []

    assert looked == [0, 7, 14]
