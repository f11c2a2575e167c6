"""One request to the API, and whether and when it is sent again."""

import email.utils
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote
from uuid import uuid4

FileContent = bytes | Path
"""What is uploaded: bytes, or a file that is read while it is sent."""
CHUNK_BYTES: Final = 256 * 1024
RETRIED: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""Answers that say nothing of the request itself."""


@dataclass(frozen=True, slots=True)
class RequestParts:
    """What an operation sends."""

    method: str
    route: str
    path: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    header: Mapping[str, object] = field(default_factory=dict)
    body: object = None
    file: FileContent | None = None

    @property
    def address(self) -> str:
        """The path of the request, with what stands in it."""
        values = {name: quote(str(value), safe="") for name, value in self.path.items()}
        return self.route.format_map(values)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The query: what is None is left out, a list is given once for each value."""
        return tuple(
            (name, as_text(each))
            for name, value in self.query.items()
            for each in (value if isinstance(value, list | tuple) else [value])
            if each is not None
        )

    @property
    def is_repeatable(self) -> bool:
        """Whether a second request with the same headers has no second effect.

        A POST has a key, and a change of a record says which version it means.
        """
        return True if self.method != "PATCH" else "If-Match" in self.header

    def headers(self) -> dict[str, str]:
        """Return the headers; one key for all tries makes a repeated POST harmless."""
        found = {
            name: str(value) for name, value in self.header.items() if value is not None
        }
        if self.method == "POST":
            found.setdefault("Idempotency-Key", str(uuid4()))
        if self.file is not None:
            found["Content-Type"] = "application/octet-stream"
        return found


def as_text(value: object) -> str:
    """Write a value as a query has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def file_chunks(file: Path) -> Iterator[bytes]:
    """Read a file in parts."""
    with file.open("rb") as stream:
        while part := stream.read(CHUNK_BYTES):
            yield part


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long apart, a request is sent again that got no answer of its own."""

    tries: int = 5
    first_seconds: float = 0.5
    most_seconds: float = 30.0

    def pause(
        self, tried: int, status: int | None, headers: Mapping[str, str]
    ) -> float:
        """Return the seconds to wait, or a negative number if it is not sent again.

        `status` is None where no answer came.
        """
        if tried >= self.tries or (status is not None and status not in RETRIED):
            return -1
        asked = retry_after(headers.get("retry-after", ""))
        grown = min(self.first_seconds * 2 ** (tried - 1), self.most_seconds)
        return max(asked, random.uniform(grown / 2, grown))  # noqa: S311 - no secret


DEFAULT_RETRY: Final = RetryPolicy()


def retry_after(given: str) -> float:
    """Read `Retry-After`: seconds, or a date."""
    if given.isdigit():
        return float(given)
    try:
        return email.utils.parsedate_to_datetime(given).timestamp() - time.time()
    except ValueError:
        return 0.0
