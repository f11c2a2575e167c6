"""News reaches every listener, and no listener can harm another."""

import structlog
from structlog.testing import capture_logs

from curation_sdk.events import Events


def test_every_listener_is_told() -> None:
    events: Events[str] = Events()
    first: list[str] = []
    second: list[str] = []
    events.listen(first.append)
    events.listen(second.append)

    events.emit("news")

    assert (first, second) == (["news"], ["news"])


def test_nobody_listening_is_false() -> None:
    events: Events[str] = Events()
    assert not events

    stop = events.listen(print)
    assert events

    stop()
    stop()
    assert not events


def test_a_listener_that_raises_harms_nobody_else() -> None:
    events: Events[str] = Events()
    heard: list[str] = []

    def fail(_event: str) -> None:
        raise ValueError("mine alone")

    events.listen(fail)
    events.listen(heard.append)

    structlog.reset_defaults()
    with capture_logs() as logs:
        events.emit("news")

    assert heard == ["news"]
    assert logs[0]["event"] == "listener.failed"
