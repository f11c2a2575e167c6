"""ETag and If-None-Match: who has an answer already gets none."""

import hashlib
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

PATH: Final = "/api/v3/"
TAG_BYTES: Final = 12


def conditional(scope: Scope, send: Send) -> Send:
    """Return what sends the answer to a request, or says that it is the same as before."""
    if scope["method"] == "GET" and scope["path"].startswith(PATH):
        return ConditionalSender(Headers(scope=scope).get("if-none-match", ""), send)
    return send


class ConditionalSender:
    """Names what an answer says by its content, and leaves out what is known."""

    def __init__(self, known: str, send: Send) -> None:
        self._known = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send one part; the first is held back until there is a body."""
        if message["type"] == "http.response.start":
            headers = Headers(scope=message)
            kind = headers.get("content-type", "")
            if message["status"] == 200 and kind.startswith("application/json"):  # noqa: PLR2004
                self._start = message
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                await self._send_whole(start, message)
                return
            await self._send(start)
        await self._send(message)

    async def _send_whole(self, start: Message, message: Message) -> None:
        headers = MutableHeaders(scope=start)
        if "etag" not in headers:
            digest = hashlib.blake2b(message["body"], digest_size=TAG_BYTES)
            headers["ETag"] = f'W/"{digest.hexdigest()}"'
        # A star is any answer there is (RFC 9110, 13.1.2).
        if {"*", headers["etag"].removeprefix("W/")} & self._known:
            start = {**start, "status": 304}
            MutableHeaders(scope=start).__delitem__("content-length")
            message = {**message, "body": b""}
        await self._send(start)
        await self._send(message)
