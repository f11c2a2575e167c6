"""One line per fetch, safe to print whatever a server sent."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import structlog

MAX_SHOWN_CHARACTERS = 300

log = structlog.get_logger("scrapersky.crawler")


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """What one fetch came to, for logs, counters and audits."""

    url: str
    final_url: str
    host: str
    outcome: str
    status: int | None
    wire_bytes: int
    body_bytes: int
    seconds: float
    waited: float
    redirects: int
    robots: str
    why: str | None = None


Listener = Callable[[FetchRecord], None]


def log_fetch(record: FetchRecord) -> None:
    """Write the line of one fetch."""
    log.info(
        "fetch.done",
        url=printable(record.url),
        final_url=printable(record.final_url)
        if record.final_url != record.url
        else None,
        host=printable(record.host),
        outcome=record.outcome,
        status=record.status,
        bytes=record.wire_bytes,
        inflated=record.body_bytes,
        seconds=round(record.seconds, 4),
        waited=round(record.waited, 4),
        redirects=record.redirects,
        robots=printable(record.robots),
        why=printable(record.why) if record.why else None,
    )


class OutcomeCounter:
    """A listener that counts fetches per outcome."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def __call__(self, record: FetchRecord) -> None:
        """Count one fetch."""
        self.outcomes[record.outcome] += 1


def printable(text: str) -> str:
    """Return text from outside without control, format and bidi characters, cut short."""
    if len(text) <= MAX_SHOWN_CHARACTERS and text.isascii() and text.isprintable():
        return text
    shown = _UNPRINTABLE.sub("\ufffd", text[:MAX_SHOWN_CHARACTERS])
    return shown if len(text) <= MAX_SHOWN_CHARACTERS else f"{shown}…"


_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
