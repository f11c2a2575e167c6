"""The same fault, logged once a minute with a count: an outage has hundreds of lines."""

import logging
import math
import sys
from collections.abc import Hashable
from time import monotonic
from typing import Final

import structlog
from structlog.typing import EventDict, WrappedLogger

SECONDS_BETWEEN_LINES: Final = 60.0
MOST_KEPT: Final = 500
SAME_FOR: Final = 80
"""Characters of a value by which two faults are told apart."""
FAULTS: Final = frozenset(
    {
        "alert.not_sent", "events.failed", "events.identity_not_checked",
        "events.not_greeted", "events.not_read", "health.cannot_write",
        "health.check_failed", "health.not_ready", "jwks.unreachable", "ledger.failed",
        "ledger.unreachable", "presence.not_recorded", "request.failed",
        "scheduler.job_failed", "scheduler.run_not_recorded", "settings.not_read",
        "watch.failed",
    }
)  # fmt: skip
"""Lines about what is tried again and again. The SDK counts its `worker.fault` itself."""
LIBRARIES: Final = ("sqlalchemy.pool", "apscheduler", "asyncio")
"""Those that log every connection and job that an outage breaks."""


class OncePerMinute:
    """Lets the first line of each fault through, and counts those of the next minute."""

    def __init__(self) -> None:
        self._logged_at: dict[Hashable, float] = {}
        self._unlogged: dict[Hashable, int] = {}

    def count(self, fault: Hashable) -> int | None:
        """Return how many lines were left out before this one; None: leave it out too."""
        now = monotonic()
        if now - self._logged_at.get(fault, -math.inf) < SECONDS_BETWEEN_LINES:
            self._unlogged[fault] = self._unlogged.get(fault, 0) + 1
            return None
        if len(self._logged_at) >= MOST_KEPT:
            self._logged_at.clear()
            self._unlogged.clear()
        self._logged_at[fault] = now
        return self._unlogged.pop(fault, 0)

    def __call__(
        self, _logger: WrappedLogger, _method: str, event: EventDict
    ) -> EventDict:
        """Take one line of ours."""
        if event.get("event") not in FAULTS:
            return event
        repeated = self.count(tuple(sorted(map(shorten_item, event.items()))))
        if repeated is None:
            raise structlog.DropEvent
        return {**event, "repeated": repeated} if repeated else event

    def filter(self, record: logging.LogRecord) -> bool:
        """Take one line of a library."""
        if record.levelno < logging.WARNING or not record.name.startswith(LIBRARIES):
            return True
        kind = record.exc_info[0] if record.exc_info else None
        repeated = self.count((record.name, str(record.msg)[:SAME_FOR], kind))
        if repeated:
            record.msg, record.args = f"{record.getMessage()} (repeated {repeated})", ()
        return repeated is not None


def shorten_item(item: tuple[str, object]) -> tuple[str, str]:
    """Return a value as two lines about the same fault have it."""
    name, value = item
    if name == "exc_info":
        kind = type(value) if isinstance(value, BaseException) else sys.exc_info()[0]
        return name, str(kind)
    return name, str(value)[:SAME_FOR]
