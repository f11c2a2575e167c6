"""Figures: each event of the engine is counted once, and nobody's twice."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import values

from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Drained,
    Event,
    Events,
    Fenced,
    Retried,
    Settled,
)
from scrapersky.compat.prometheus import forget_gauges, share_figures
from scrapersky.kit.build import build, version
from scrapersky.observability.metrics import Metrics
from scrapersky.observability.shared_metrics import SharedMetrics


def test_what_the_engine_says_is_counted() -> None:
    events: Events[Event] = Events()
    metrics = Metrics(events)
    second = timedelta(seconds=1)

    events.emit(Claimed("pages", "w", ["a", "b"]))
    events.emit(Settled("pages", "a", "done", None, second))
    events.emit(Retried("pages", "b", "slow", 1, second))
    events.emit(DeadLettered("pages", "b", "exhausted", "slow"))
    events.emit(Fenced("pages", "b", 7))
    events.emit(Drained("pages"))
    metrics.stand("pages", {"queued": 5, "oldest_seconds": 2.5}, paused=True)
    written = metrics.written().decode()

    assert 'scrapersky_items_claimed_total{stage="pages"} 2.0' in written
    assert 'scrapersky_items_settled_total{outcome="done",stage="pages"} 1.0' in written
    assert 'scrapersky_items_retried_total{stage="pages"} 1.0' in written
    assert 'scrapersky_items_died_total{kind="exhausted",stage="pages"} 1.0' in written
    assert 'scrapersky_late_answers_refused_total{stage="pages"} 1.0' in written
    assert 'scrapersky_item_seconds_count{stage="pages"} 1.0' in written
    assert 'scrapersky_stage_queued{stage="pages"} 5.0' in written
    assert 'scrapersky_stage_paused{stage="pages"} 1.0' in written


def test_the_first_of_its_kind_was_no_increase() -> None:
    metrics = Metrics(Events())
    metrics.add_stage("pages", timedelta(minutes=3))
    written = metrics.written().decode()

    assert 'scrapersky_overclaims_total{stage="pages"} 0.0' in written
    assert 'scrapersky_items_settled_total{outcome="done",stage="pages"} 0.0' in written
    assert 'scrapersky_stage_timeout_seconds{stage="pages"} 180.0' in written


def test_two_processes_in_one_do_not_share_figures() -> None:
    events: Events[Event] = Events()
    first, second = Metrics(events), Metrics(Events())

    events.emit(Claimed("pages", "w", ["a"]))
    first.forget()
    events.emit(Claimed("pages", "w", ["a"]))

    assert b'claimed_total{stage="pages"} 1.0' in first.written()
    assert b"claimed_total{stage=" not in second.written()


def test_what_a_child_counted_is_not_lost_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    whole = SharedMetrics(tmp_path)
    stage, second = "pages", timedelta(seconds=1)
    # One child, another beside it, and the one that took the place of the first.
    for place in ("0", "1", "0"):
        share_figures(tmp_path, partial(str, place))
        forget_gauges(tmp_path, place)
        events: Events[Event] = Events()
        metrics = Metrics(events)
        metrics.add_stage(stage, timedelta(minutes=3))
        metrics.stand(stage, {"working": 2}, paused=False)
        events.emit(Settled(stage, "a", "done", None, second))
        values.close_all_multiprocess_files()  # type: ignore[no-untyped-call]
    written = whole.written().decode()

    assert 'scrapersky_items_settled_total{outcome="done",stage="pages"} 3.0' in written
    assert 'scrapersky_item_seconds_bucket{le="1.0",stage="pages"} 3.0' in written
    assert 'scrapersky_stage_working{stage="pages"} 4.0' in written
    assert 'scrapersky_stage_timeout_seconds{stage="pages"} 180.0' in written
    assert f'scrapersky_info{{build="{build()}",version="{version()}"}}' in written
    assert "pid=" not in written
