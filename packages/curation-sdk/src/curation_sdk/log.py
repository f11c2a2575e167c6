"""Loggers: structlog's where it is installed, and the standard library's otherwise."""

import importlib
import logging
from typing import Any


class PlainLogger:
    """Writes an event and its fields through `logging`, as `event field=value ...`."""

    def __init__(self, name: str, **fields: object) -> None:
        self._log = logging.getLogger(name)
        self._fields = fields

    def debug(self, event: str, **fields: object) -> None:
        """Write a line at DEBUG."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        """Write a line at INFO."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Write a line at WARNING."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Write a line at ERROR."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: object) -> None:
        """Write a line at ERROR, with the traceback of what is being handled."""
        self._write(logging.ERROR, event, fields, exc_info=True)

    def _write(
        self,
        level: int,
        event: str,
        fields: dict[str, object],
        *,
        exc_info: bool = False,
    ) -> None:
        if not self._log.isEnabledFor(level):
            return
        known = self._fields | fields
        traceback = known.pop("exception", None)
        parts = [event, *(f"{name}={value}" for name, value in sorted(known.items()))]
        text = " ".join(parts) + (f"\n{traceback}" if traceback else "")
        self._log.log(level, "%s", text, exc_info=exc_info)


def get_logger(name: str, **fields: object) -> Any:  # noqa: ANN401 - as structlog types it
    """Return a logger whose lines have these fields."""
    try:
        structlog = importlib.import_module("structlog")
    except ImportError:  # a queue need not bring a logger
        return PlainLogger(name, **fields)
    return structlog.get_logger(name, **fields)
