"""Lines about items: under the name of their workflow, each at the level it deserves."""

from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import create_async_engine
from structlog.testing import capture_logs

from curation_sdk.events import (
    Claimed,
    DeadLettered,
    Event,
    Events,
    Paused,
    Resumed,
    Retried,
    Settled,
)
from curation_sdk.queue import queue_of
from scrapersky.observability.stage_log import StageLog
from scrapersky.stages import PIPELINE

STAGE = "page_curation"
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("event", "level", "line"),
    [
        (Settled(STAGE, "a", "done", None, SECOND, "7-a"), "debug", "item.settled"),
        (Retried(STAGE, "a", "slow", 1, SECOND, "7-a"), "debug", "item.retried"),
        (DeadLettered(STAGE, "a", "gave_up", "404", "7-a"), "info", "item.failed"),
        (Paused(STAGE, "the key is refused"), "warning", "stage.paused"),
        (Resumed(STAGE), "info", "stage.resumed"),
    ],
)
def test_what_happened_to_an_item_stood_in_no_line(
    event: Event, level: str, line: str
) -> None:
    events: Events[Event] = Events()
    StageLog(events)

    with capture_logs() as lines:
        events.emit(event)

    (written,) = lines
    assert (written["log_level"], written["event"]) == (level, line)
    assert written["stage"] == STAGE
    assert written.get("correlation_id") == getattr(event, "correlation_id", None)


def test_other_events_leave_no_line() -> None:
    events: Events[Event] = Events()
    StageLog(events)

    with capture_logs() as lines:
        events.emit(Claimed(STAGE, "worker", ["a"]))
        events.emit(Paused("of another application", None))

    assert lines == []


def test_loggers_are_named_after_workflow_and_stage() -> None:
    assert {stage.logger_name for stage in PIPELINE} >= {
        "scrapersky.wf1.place_search",
        "scrapersky.wf2.deep_scan",
        "scrapersky.wf3.domain_extraction",
        "scrapersky.wf4.domain_metadata",
        "scrapersky.wf4.sitemap_submission",
        "scrapersky.wf6.sitemap_import",
        "scrapersky.wf7.page_curation",
        "scrapersky.wf8.contact_validation",
    }


def test_tracebacks_and_rescues_stood_outside_the_workflows() -> None:
    dialect = create_async_engine("postgresql+asyncpg://nowhere/").dialect

    for stage in PIPELINE:
        assert queue_of(stage, dialect).logger == stage.logger_name
