import io
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
import structlog

from extraction_tests.pace import takes_at_most
from scrapersky.observability import repeat
from scrapersky.observability.log import Format, configure_logs, without_addresses


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


TRACEBACK = (
    'Traceback (most recent call last):\n  File "a.py", line 1, in work\n'
    "ValueError: x\r\n2026 [info] forged \x1b[31m line\n"
)


def test_a_traceback_was_one_escaped_string_on_the_console(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = logged(monkeypatch, "console", exception=TRACEBACK)

    assert written.splitlines()[1:] == [
        "  Traceback (most recent call last):",
        '    File "a.py", line 1, in work',
        "  ValueError: x",
        "  2026 [info] forged \\x1b[31m line",
    ]


def test_a_traceback_is_one_field_for_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (line,) = logged(monkeypatch, "json", exception=TRACEBACK).splitlines()

    assert json.loads(line)["exception"] == TRACEBACK


@pytest.mark.parametrize("idle_runs", [True, False])
def test_runs_that_found_nothing_are_logged_unless_that_is_unwanted(
    monkeypatch: pytest.MonkeyPatch, *, idle_runs: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", "json", idle_runs=idle_runs)
    log = structlog.get_logger("scrapersky.wf3.domain_extraction")

    log.info("scheduler.run", picked=0, succeeded=0, failed=0, retried=0)
    log.info("scheduler.run", picked=0, succeeded=1, failed=0, retried=0)
    log.info("something.else")

    assert len(stream.getvalue().splitlines()) == 2 + idle_runs


def test_libraries_log_through_the_same_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", "json")

    logging.getLogger("some.library").warning("careful %s", "now")

    assert json.loads(stream.getvalue())["event"] == "careful now"


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize(
    "text",
    [
        "http://a.bv/vcard?mail=ada.l@a.bv&x=1",
        "http://a.bv/ada.l%40a.bv",
        "no such mailbox: <ada.l@a.bv>",
        "ada.l@m\u00fcller.de",
    ],
)
def test_addresses_inside_of_urls_stood_in_the_log(
    monkeypatch: pytest.MonkeyPatch, form: Format, text: str
) -> None:
    line = logged(monkeypatch, form, url=text, count=3)

    assert "ada.l" not in line
    assert "[e-mail]" in line


@pytest.mark.parametrize("form", ["json", "console"])
def test_addresses_inside_of_errors_are_hidden_too(
    monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    line = logged(monkeypatch, form, exc_info=ValueError("http://a.bv/ada.l@a.bv"))

    assert "ValueError" in line
    assert "ada.l" not in line


def test_the_address_of_the_database_stays_readable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = "postgresql://sky@db.example.com:5432/sky"

    assert where in logged(monkeypatch, "json", database=where)


@pytest.mark.parametrize("killer", ["@" * 100_000, "a" * 100_000 + "@", "a@" * 50_000])
def test_no_text_takes_long_to_hide_addresses_in(killer: str) -> None:
    with takes_at_most(1):
        without_addresses(killer)


LEVELS = {"scrapersky.wf7": "DEBUG", "scrapersky.crawler": "ERROR", "noisy": "ERROR"}


@pytest.mark.parametrize(
    ("name", "level", "is_written"),
    [
        ("scrapersky.wf7.page_curation", "debug", True),
        ("scrapersky.wf4.domain_metadata", "debug", False),
        ("scrapersky.wf4.domain_metadata", "info", True),
        ("scrapersky.crawler", "warning", False),
        ("scrapersky.crawler.fetch", "warning", False),
        ("scrapersky.crawlers", "warning", True),
    ],
)
def test_every_logger_had_the_same_level(
    monkeypatch: pytest.MonkeyPatch, name: str, level: str, *, is_written: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", "json", LEVELS)

    getattr(structlog.get_logger(name), level)("thing.happened")

    written = stream.getvalue()
    assert bool(written) == is_written
    assert not is_written or json.loads(written)["logger"] == name


def test_libraries_have_levels_of_their_own_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs("INFO", "json", LEVELS)

    logging.getLogger("noisy").warning("again")
    logging.getLogger("noisy").setLevel(logging.NOTSET)

    assert stream.getvalue() == ""


def test_an_outage_wrote_hundreds_of_lines_about_one_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(repeat, "monotonic", lambda: now[0])
    configure_logs("INFO", "json")
    log, pool = structlog.get_logger("test"), logging.getLogger("sqlalchemy.pool")

    for second in range(130):
        now[0] = second
        log.warning("presence.not_recorded", error="refused")
        log.error("request.failed", error="away", kind=f"{second % 2}")
        pool.error("Exception terminating connection %r", object())
        log.info("request.done", status=503)

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    counts = Counter(one["event"].split(" <")[0] for one in lines)
    assert counts == {
        "presence.not_recorded": 3,
        "request.failed": 6,
        "Exception terminating connection": 3,
        "request.done": 130,
    }
    beats = [one for one in lines if one["event"] == "presence.not_recorded"]
    assert [one.get("repeated") for one in beats] == [None, 59, 59]
    assert sum("(repeated 59)" in one["event"] for one in lines) == 2
