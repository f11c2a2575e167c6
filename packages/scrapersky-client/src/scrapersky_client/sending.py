"""What both clients send alike."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx

from scrapersky_client.error import ServerUnreachable
from scrapersky_client.request import RETRIED, FileContent, file_chunks

FIRST_ERROR: Final = HTTPStatus.BAD_REQUEST
PAGE_ITEMS: Final = 200
CHANGES_PER_ANSWER: Final = 1_000
FEED_WAIT_SECONDS: Final = 30
SEARCH_POLL_SECONDS: Final = 2.0
UNDER_WAY: Final = ("searching", "following")
"""States of a search in which stages still work on what it found."""
STREAM_TIMEOUT: Final = httpx.Timeout(30.0)
"""A stream says something every ten seconds; one that is silent for longer is dead."""


def defaults(url: str, key: str | None, timeout: float) -> dict[str, Any]:
    """Return how an HTTP client is made."""
    headers = {"User-Agent": "scrapersky-client"}
    if key:
        headers["X-API-Key"] = key
    return {
        "base_url": url,
        "headers": headers,
        "timeout": httpx.Timeout(timeout),
        "follow_redirects": False,
    }


def is_temporary(answer: httpx.Response) -> bool:
    """Say whether a refused stream may be asked for again."""
    return answer.status_code in RETRIED


def unreachable(error: httpx.TransportError) -> ServerUnreachable:
    """Return the error for a request that got no answer."""
    return ServerUnreachable(
        f"The server did not answer: {str(error) or type(error).__name__}."
    )


def content_of(file: FileContent | None) -> bytes | Iterator[bytes] | None:
    """Return what is uploaded, as the HTTP client takes it."""
    return file_chunks(file) if isinstance(file, Path) else file


def async_content_of(file: FileContent | None) -> bytes | AsyncIterator[bytes] | None:
    """Return what is uploaded, as the asynchronous HTTP client takes it."""
    return read_aside(file) if isinstance(file, Path) else file


async def read_aside(file: Path) -> AsyncIterator[bytes]:
    """Read a file in parts, outside the event loop."""
    parts = file_chunks(file)
    while part := await asyncio.to_thread(next, parts, b""):
        yield part
