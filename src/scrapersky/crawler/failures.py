"""What failed a moment ago is not tried again at once: dead names, dead addresses.

A dead name costs seconds each time it is asked for, and one site asks under several
spellings. So a failure is remembered for a while, which doubles each time it is met
anew, and whoever asks meanwhile gets an answer at once, with when to come back.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta

from scrapersky.errors import FetchError

MAX_REST_SECONDS = 600.0
FAILURE_MEMORY_SECONDS = 3600.0
"""Seconds without a failure after which one counts as the first again."""
MAX_ENTRIES = 10_000
MIN_SITES = 3
WINDOW_SECONDS = 60.0
"""Seconds within which so many sites of an address must ask for rest to speak for it."""


@dataclass(slots=True)
class _Failure:
    error: type[FetchError]
    why: str
    failed_at: float
    rest: float

    @property
    def left(self) -> float:
        return self.failed_at + self.rest - time.monotonic()


class KnownFailures:
    """The failures met last, by name or address; few thousands are kept."""

    def __init__(self, first_rest: timedelta) -> None:
        self._first_rest = first_rest.total_seconds()
        self._failures: OrderedDict[str, _Failure] = OrderedDict()

    def refuse(self, key: str, url: str) -> None:
        """Raise what this key failed with, if that was a moment ago."""
        failure = self._failures.get(key)
        if failure is None or failure.left <= 0:
            return
        why = f"{failure.why} (tried a moment ago)"
        raise failure.error(url, why, retry_after=timedelta(seconds=failure.left))

    def remember(self, key: str, error: FetchError) -> timedelta:
        """Keep a failure; return for how long it will be repeated."""
        before = self._failures.pop(key, None)
        rest, now = self._first_rest, time.monotonic()
        if before is not None and now - before.failed_at < FAILURE_MEMORY_SECONDS:
            rest = min(2 * before.rest, MAX_REST_SECONDS)
        self._failures[key] = _Failure(type(error), error.why, now, rest)
        if len(self._failures) > MAX_ENTRIES:
            self._failures.popitem(last=False)
        return timedelta(seconds=rest)

    def forget(self, key: str) -> None:
        """Forget a failure: it went well."""
        self._failures.pop(key, None)

    def clear(self) -> None:
        """Forget every failure."""
        self._failures.clear()


class BackoffTracker:
    """Which sites asked for rest, by address: one speaks for itself, three for all there."""

    def __init__(self) -> None:
        self._sites: OrderedDict[str, dict[str, float]] = OrderedDict()

    def record(self, address: str, site: str) -> bool:
        """Count a request for rest; return whether the whole address needs it."""
        now = time.monotonic()
        before = self._sites.pop(address, {})
        lately = {name: at for name, at in before.items() if now - at < WINDOW_SECONDS}
        self._sites[address] = lately | {site: now}
        if len(self._sites) > MAX_ENTRIES:
            self._sites.popitem(last=False)
        return len(self._sites[address]) >= MIN_SITES
