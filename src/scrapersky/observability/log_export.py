"""Log lines for OpenTelemetry: sent to the collector of the traces, with their ids.

A line about an item has the ids of that item's span, one about a request those of the request's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from structlog.typing import EventDict

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from scrapersky.compat.opentelemetry import LogRecords

OWN: Final = "opentelemetry"
"""Whose lines are written and not sent: each would be about the sending of the last."""
SAID_APART: Final = frozenset({"event", "level", "logger", "timestamp"})
MAX_CHARACTERS: Final = 8_000
Plain = str | bool | int | float
ContextOf = Callable[[object, object], "Context | None"]
"""Finds where the span of an item of a stage is."""


class LogExport:
    """Takes the lines of this process and sends them as records."""

    def __init__(self, records: "LogRecords", context_of: "ContextOf") -> None:
        from scrapersky.compat.opentelemetry import is_exporting  # noqa: PLC0415 - an extra

        self._records = records
        self._context_of = context_of
        self._is_exporting = is_exporting

    def take(self, event: EventDict) -> None:
        """Send one line, secrets and addresses already out of it."""
        name = str(event.get("logger", "scrapersky"))
        if name.startswith(OWN) or self._is_exporting():
            return
        self._records.emit(
            name,
            str(event.get("level", "info")),
            str(event.get("event", "")),
            {
                key: plain_value(value)
                for key, value in event.items()
                if key not in SAID_APART and value is not None
            },
            self._context_of(event.get("stage"), event.get("item")),
        )


def plain_value(value: object) -> Plain:
    """Return a value as a record may hold it."""
    if isinstance(value, bool | int | float):
        return value
    return str(value)[:MAX_CHARACTERS]
