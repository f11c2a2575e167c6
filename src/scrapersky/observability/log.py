"""Structured logs: readable in a terminal, JSON where a machine reads them."""

import logging
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Literal, TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from curation_sdk.working import working_item
from scrapersky.observability.repeat import OncePerMinute

Format = Literal["auto", "json", "console"]

SECRET_WORDS = ("password", "secret", "token", "authorization", "api_key", "cookie")
MASK = "********"
HIDDEN = "[e-mail]"
ADDRESS = re.compile(
    r"[^\s/?&=#:,;<>\"()\[\]|\\@]{1,64}(?:@|%40)[^\s/?&=#:,;<>\"'()@]{3,255}"
)
"""Wider than what is an address: a log has no use for the difference."""
NOISY = (
    "uvicorn.access", "uvicorn.error", "apscheduler", "alembic",
    # Our pool of connections reports as SQLAlchemy's do, under its own name.
)  # fmt: skip
"""Libraries that report each small step; their warnings are enough."""


class LogListeners:
    """Hands a copy of every line on to whoever takes it, such as a collector."""

    def __init__(self) -> None:
        self._takers: list[Callable[[EventDict], None]] = []

    def __call__(
        self, _logger: WrappedLogger, _method: str, event: EventDict
    ) -> EventDict:
        """Hand on one line, before it is written."""
        for take in self._takers:
            take(event)
        return event

    def listen(self, take: Callable[[EventDict], None]) -> Callable[[], None]:
        """Hand lines to `take` from now on; return how to stop that."""
        self._takers.append(take)
        return lambda: self._takers.remove(take)


copies: Final = LogListeners()
"""The lines of this process: loggers keep the way that they were made with."""


class NamedLogger(structlog.WriteLogger):
    """Writes lines, and knows the name that its module or workflow gave it."""

    def __init__(self, file: TextIO, name: str) -> None:
        super().__init__(file)
        self.name = name


class NamedLoggerFactory:
    """Makes the loggers that `structlog.get_logger(name)` asks for."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __call__(self, *names: str) -> NamedLogger:
        """Make a logger of this name."""
        return NamedLogger(self._file, names[0] if names else "")


def configure_logs(
    level: str = "INFO",
    form: Format = "auto",
    levels: Mapping[str, str] | None = None,
    *,
    idle_runs: bool = True,
) -> None:
    """Send every log line of this process, ours and the libraries', to standard error.

    `levels` are other ones for some loggers, and for those whose names begin with theirs.
    Without `idle_runs`, a run of a job that found nothing to do leaves no line.
    Ours are rendered and written at once, without the standard library's machinery: a
    crawler writes a line for every page it fetches.
    """
    as_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        mask_secrets,
    ]
    render: list[Processor] = (
        [structlog.processors.format_exc_info, hide_addresses, copies, one_line_json]
        if as_json
        else [
            structlog.processors.format_exc_info,
            hide_addresses,
            copies,
            make_printable,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    )
    levels = levels or {}
    least = min(map(logging.getLevelName, (level, *levels.values())))
    chosen: list[Processor] = [level_filter(level, levels)] if levels else []
    if not idle_runs:
        chosen.append(drop_idle_runs)
    once = OncePerMinute()
    structlog.configure(
        processors=[*chosen, once, add_names, *shared, *render],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=NamedLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(once)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *render,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    for name, other in levels.items():
        logging.getLogger(name).setLevel(other)


def level_filter(level: str, levels: Mapping[str, str]) -> Processor:
    """Return what drops lines below the level of their logger, or of the nearest above."""

    @lru_cache(maxsize=1024)
    def least(name: str) -> int:
        while name and name not in levels:
            name = name.rpartition(".")[0]
        return int(logging.getLevelName(levels.get(name, level)))

    def keep(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if logging.getLevelName(method.upper()) < least(logger.name):
            raise structlog.DropEvent
        return event

    return keep


def drop_idle_runs(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Drop the line of a run that found nothing to do."""
    counts = (event.get(name) for name in ("picked", "succeeded", "failed", "retried"))
    if event["event"] == "scheduler.run" and not any(counts):
        raise structlog.DropEvent
    return event


def add_names(logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add who writes, and on which attempt at which item."""
    if logger.name:
        event["logger"] = logger.name
    if (working := working_item()) is not None:
        event.setdefault("stage", working.stage)
        event.setdefault("item", working.item)
        event.setdefault("correlation_id", working.correlation_id)
    return event


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace values whose name says that they are nobody's business."""
    for key in event:
        if is_secret(key):
            event[key] = MASK
    return event


@lru_cache(maxsize=1024)
def is_secret(name: str) -> bool:
    """Judge by its name whether a value is nobody's business."""
    return any(word in name.lower() for word in SECRET_WORDS)


def hide_addresses(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Take e-mail addresses out of everything written: URLs hold them, and errors do.

    The address of a database looks like one, and is the operator's own.
    """
    for key, value in event.items():
        if isinstance(value, str) and key != "database":
            event[key] = without_addresses(value)
    return event


def without_addresses(text: str) -> str:
    """Return a text with a mark in the place of each e-mail address."""
    if "@" not in text and "%40" not in text:
        return text
    return ADDRESS.sub(HIDDEN, text)


def make_printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Show control characters from outside as escapes, so they cannot forge a line.

    A traceback keeps its lines. They are indented, so that none looks like a line of ours.
    """
    for key, value in event.items():
        if not isinstance(value, str) or value.isprintable():
            continue
        if key == "exception":
            event[key] = "\n".join(
                f"  {without_controls(line)}" for line in value.splitlines()
            )
        else:
            event[key] = without_controls(value)
    return event


def without_controls(text: str) -> str:
    """Return a text with its control characters as escapes."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def one_line_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    """Write an event as one line of JSON."""
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode(
        errors="replace"
    )
