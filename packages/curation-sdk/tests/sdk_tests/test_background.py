"""What a worker says of its faults."""

import asyncpg
import pytest
from structlog.testing import capture_logs

from curation_sdk import background
from curation_sdk.background import BackgroundTasks
from curation_sdk.events import Event, Events, WorkerFault


def test_an_outage_of_half_a_minute_was_hundreds_of_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: Events[Event] = Events()
    faults: list[Event] = []
    events.listen(faults.append)
    tasks = BackgroundTasks("worker", events)

    with capture_logs() as lines:
        for _ in range(532):
            tasks.report("claim", ConnectionRefusedError("no database"))
        tasks.report("settle", ConnectionRefusedError("no database"))
        monkeypatch.setattr(background, "LOG_INTERVAL_SECONDS", 0.0)
        tasks.report("claim", ConnectionRefusedError("no database"))

    assert [(line["doing"], line["repeated"]) for line in lines] == [
        ("claim", 0),
        ("settle", 0),
        ("claim", 531),
    ]
    assert sum(isinstance(fault, WorkerFault) for fault in faults) == 534


def test_a_deadlock_left_no_line_that_said_who_waited_for_whom() -> None:
    error = asyncpg.DeadlockDetectedError.new(
        {
            "C": "40P01",
            "M": "deadlock detected",
            "D": "Process 1 waits",
            "W": "in pages",
        }
    )

    with capture_logs() as lines:
        BackgroundTasks("worker", Events()).report("settle", error)

    assert (lines[0]["detail"], lines[0]["where"]) == ("Process 1 waits", "in pages")
