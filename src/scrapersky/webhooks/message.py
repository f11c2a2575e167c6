"""What a webhook says: the events of the change log, one or many to a message."""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from scrapersky.changes.reader import ChangeEntry
from scrapersky.records import KINDS

TEST: Final = "webhook.test"
FORGOTTEN: Final = "changes.forgotten"
MANY: Final = "changes"
SINGLE_FORMAT: Final = "event"
MAX_BATCH_EVENTS: Final = 100
MAX_BATCH_BYTES: Final = 20_000
"""What Standard Webhooks asks for."""
PATTERN: Final = re.compile(r"(\*|[a-z_]+\.(\*|[a-z_]+))")
SINGULAR: Final = {name: kind.singular for name, kind in KINDS.items()}
OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
DEFAULT_EVENTS: Final = ("company.*", "contact.*", "person.*", "search.finished")


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """Something to send."""

    type: str
    event_count: int
    body: bytes

    @property
    def packed(self) -> bytes:
        """Return the body as it is stored."""
        return zlib.compress(self.body, 1)


def unpacked(body: bytes) -> bytes:
    """Return a body that was stored."""
    return zlib.decompress(body)


def event_type(entry: ChangeEntry) -> str:
    """Return the type of an event, such as `company.changed`."""
    return f"{SINGULAR[entry.kind]}.{entry.event.value}"


def written(kind: str, at: datetime | None, data: dict[str, Any]) -> bytes:
    """Write a message as Standard Webhooks has it."""
    content = {"type": kind, "timestamp": at, "data": data}
    return orjson.dumps(content, option=OPTIONS, default=str)


def event_of(entry: ChangeEntry) -> bytes:
    """Write one event: which record, and what happened; its values are asked for."""
    return written(
        event_type(entry),
        entry.created_at,
        {
            "id": str(entry.position),
            "kind": entry.kind,
            "record_id": entry.record_id,
            "fields": list(entry.fields),
            "actor": entry.actor,
            "action_id": entry.action_id,
            "details": entry.details,
        },
    )


def chooser(
    patterns: Sequence[str], ignored_actors: Sequence[str]
) -> Callable[[ChangeEntry], bool]:
    """Make what says whether an endpoint receives a change."""
    chosen, ignored = frozenset(patterns), frozenset(ignored_actors)

    def is_chosen(entry: ChangeEntry) -> bool:
        if entry.kind not in SINGULAR or entry.actor in ignored:
            return False
        kind = event_type(entry)
        return not chosen.isdisjoint({"*", kind, f"{SINGULAR[entry.kind]}.*"})

    return is_chosen


def messages(entries: Iterable[ChangeEntry], form: str) -> Iterator[WebhookMessage]:
    """Write the messages about changes, in their order."""
    if form == SINGLE_FORMAT:
        for entry in entries:
            yield WebhookMessage(event_type(entry), 1, event_of(entry))
        return
    events: list[bytes] = []
    size = 0
    last = None
    for entry in entries:
        event = event_of(entry)
        if events and (
            len(events) >= MAX_BATCH_EVENTS or size + len(event) > MAX_BATCH_BYTES
        ):
            yield batch_of(events, last)
            events, size = [], 0
        events.append(event)
        size += len(event)
        last = entry.created_at
    if events:
        yield batch_of(events, last)


def batch_of(events: Sequence[bytes], last: datetime | None) -> WebhookMessage:
    """Write many events as one message, of the time of the last."""
    fragments = [orjson.Fragment(event) for event in events]
    body = written(MANY, last, {"events": fragments})
    return WebhookMessage(MANY, len(events), body)
