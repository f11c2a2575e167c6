"""What comes back: an answer, an error, or a stream of events."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from scrapersky_client.error import ApiError, StartOver


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream."""

    id: str
    """Where to go on after it: `last_event_id`."""
    event: str
    data: Any


def error_of(status: int, content: bytes) -> ApiError:
    """Return the error that an answer describes."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    problem = found if isinstance(found, dict) else {}
    return (StartOver if status == HTTPStatus.GONE else ApiError)(status, problem)


def value_of(content: bytes) -> Any:  # noqa: ANN401 - of any shape
    """Return what an answer holds; None where it is empty."""
    return json.loads(content) if content else None


class EventReader:
    """Makes events of the lines of a stream."""

    def __init__(self) -> None:
        self.last_id = ""
        self._fields: dict[str, list[str]] = {}

    def read(self, line: str) -> StreamEvent | None:
        """Take one line without its end; return the event that it completes."""
        if line:
            name, _, value = line.partition(":")
            # A line that begins with a colon is a comment, which keeps the connection alive.
            self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        if given := fields.get("id"):
            self.last_id = given[-1]
        if "data" not in fields:
            return None
        name = fields.get("event", ["message"])[-1]
        return StreamEvent(self.last_id, name, json.loads("\n".join(fields["data"])))
