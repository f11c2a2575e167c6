import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from scrapersky.observability.log import Format, configure_logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    yield
    structlog.reset_defaults()
    root.handlers, root.level = before


def logged(monkeypatch: pytest.MonkeyPatch, form: Format, **values: object) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", form)
    structlog.get_logger("test").info("thing.happened", **values)
    return stream.getvalue()


def test_machines_get_one_line_of_json(monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.loads(logged(monkeypatch, "auto", count=3))

    assert (line["event"], line["count"], line["level"]) == (
        "thing.happened",
        3,
        "info",
    )
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize("form", ["json", "console"])
def test_secrets_never_reach_a_line(
    monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    written = logged(
        monkeypatch, form, password="hunter2", api_key="k-123", Authorization="Bearer x"
    )

    assert "hunter2" not in written
    assert "k-123" not in written
    assert "Bearer" not in written


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_value_from_outside_cannot_forge_a_line(
    monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    written = logged(monkeypatch, form, title="x\r\n2026 forged \x1b[31m line")

    assert len(written.strip().splitlines()) == 1
    assert "\x1b[31m" not in written


def test_libraries_log_through_the_same_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", "json")

    logging.getLogger("some.library").warning("careful %s", "now")

    assert json.loads(stream.getvalue())["event"] == "careful now"
