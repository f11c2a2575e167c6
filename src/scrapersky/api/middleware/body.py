"""Bodies of requests: bounded while they arrive, and JSON in one meaning only."""

import asyncio
import json
import math
import time
from dataclasses import dataclass
from typing import Any, Final

import orjson
from fastapi import Depends
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from scrapersky.errors import (
    BodyTooBig,
    BodyTooSlow,
    EncodedBody,
    MalformedRequest,
    NotStorable,
)

USUAL_BODY_BYTES: Final = 1_048_576
BODY_TIMEOUT_SECONDS: Final = 30.0
"""Seconds in which a usual body must be here, and every part of a large one."""
MIN_BYTES_PER_SECOND: Final = 1_024
"""Bytes a second that a large body must bring, on average, after that time."""
SLOW_JSON_BYTES: Final = 65_536
"""Bytes from which JSON is read beside the event loop."""
MOST_KEYS: Final = 1_000
MOST_DIGITS: Final = 30
FORMS: Final = ("multipart/", "application/x-www-form-urlencoded")
ESCAPED_NUL: Final = rb"\u0000"
ESCAPED_BACKSLASH: Final = rb"\\"


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Marks a route whose body may be larger, and is read as it comes."""

    most: int

    async def __call__(self) -> None:
        """Do nothing: the middleware has read the mark off the route."""


def large_body(most: int) -> Any:  # noqa: ANN401 - what FastAPI's Depends returns
    """Let a route take this many bytes: `dependencies=[large_body(...)]`."""
    return Depends(BodyLimit(most))


def check_headers(headers: Headers, most: int) -> None:
    """Raise on what the headers say of a body we do not take."""
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise EncodedBody(
            "The body is compressed, which this server does not unpack.",
            hint="Send it as it is, without Content-Encoding.",
        )
    if headers.get("content-type", "").strip().lower().startswith(FORMS):
        raise EncodedBody(
            "Forms are not accepted here.",
            hint="Send JSON, or the file itself as the body.",
        )
    length = headers.get("content-length")
    if length is not None:
        if not (length.isascii() and length.isdigit()):
            raise MalformedRequest("Content-Length is not a number.")
        if len(length) > len(str(most)) or int(length) > most:
            raise too_big(most)


class SizeLimitedBody:
    """A body that is read as it comes, up to a limit."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self.size = 0

    async def __call__(self) -> Message:
        """Return the next part, or raise once there were too many."""
        message = await self._receive()
        if message["type"] == "http.request":
            self.size += len(message.get("body", b""))
            if self.size > self._most:
                raise too_big(self._most)
        return message


class PacedBody(SizeLimitedBody):
    """A large body, whose parts keep coming; the time we work on them is our own."""

    def __init__(self, receive: Receive, most: int) -> None:
        super().__init__(receive, most)
        self._waited = 0.0
        self._is_whole = False

    async def __call__(self) -> Message:
        """Return the next part, or raise if the parts come too slowly."""
        if self._is_whole:
            # What follows is only that the caller has left, whenever that may be.
            return await super().__call__()
        began = time.monotonic()
        try:
            async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
                message = await super().__call__()
        except TimeoutError:
            raise too_slow() from None
        self._is_whole = not message.get("more_body", False)
        self._waited += time.monotonic() - began
        if (
            not self._is_whole
            and self.size < (self._waited - BODY_TIMEOUT_SECONDS) * MIN_BYTES_PER_SECOND
        ):
            raise too_slow()
        return message


class ReplayedBody:
    """A body that was read already, handed out once more."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """Return the body, and then whatever comes after it."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


async def read_whole(receive: Receive) -> bytes:
    """Read a body to its end; raise if it takes too long or the caller leaves."""
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise too_slow() from None


async def check_json(headers: Headers, body: bytes) -> None:
    """Raise unless a body is empty, or JSON that everyone reads alike."""
    if not body:
        return
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise EncodedBody(
            "This address accepts JSON only.",
            hint="Send Content-Type: application/json.",
        )
    if len(body) > SLOW_JSON_BYTES:
        await asyncio.to_thread(refuse_ambiguous, body)
    else:
        refuse_ambiguous(body)


def refuse_ambiguous(body: bytes) -> None:
    """Raise on JSON that is broken, or that two readers could take for two things."""
    try:
        orjson.loads(body)
        json.loads(
            body,
            object_pairs_hook=without_duplicates,
            parse_int=small_integer,
            parse_float=finite_float,
        )
    except RecursionError:
        raise MalformedRequest("The JSON is nested too deeply.") from None
    except ValueError as error:
        if "depth" in str(error):
            raise MalformedRequest("The JSON is nested too deeply.") from None
        raise NotStorable(
            "The body is not valid JSON.",
            hint="UTF-8, no NaN or Infinity, no lone surrogates, no endless numbers.",
        ) from None
    # Without its escaped backslashes, a body has no other reading of what is left. A
    # pattern that looks for the one after an even number of them takes 0.1 s a megabyte.
    if ESCAPED_NUL in body.replace(ESCAPED_BACKSLASH, b""):
        raise NotStorable("A text holds the character NUL, which cannot be kept.")


def without_duplicates(pairs: list[tuple[str, Any]]) -> None:
    """Raise if a key comes twice, or if there are more than any request needs."""
    if len(pairs) > MOST_KEYS:
        raise MalformedRequest(f"A JSON object has more than {MOST_KEYS:,} keys.")
    if len({key for key, _ in pairs}) < len(pairs):
        raise MalformedRequest("A JSON object has the same key twice.")


def small_integer(digits: str) -> int:
    """Raise on numbers that are only there to cost."""
    if len(digits) > MOST_DIGITS:
        raise ValueError(digits[:MOST_DIGITS])
    return 0


def finite_float(digits: str) -> float:
    """Raise on numbers beyond all bounds."""
    if len(digits) > 10 * MOST_DIGITS or not math.isfinite(float(digits)):
        raise ValueError(digits[:MOST_DIGITS])
    return 0.0


def too_slow() -> BodyTooSlow:
    """Say how soon it would have had to be here."""
    return BodyTooSlow(
        f"The body, or its next part, was not here within {BODY_TIMEOUT_SECONDS:.0f} seconds.",
        hint="Send it at once, or in smaller requests.",
    )


def too_big(most: int) -> BodyTooBig:
    """Say how much would have been taken."""
    return BodyTooBig(
        f"The body is larger than the {most:,} bytes this address takes.",
        hint="Send it in parts.",
    )
