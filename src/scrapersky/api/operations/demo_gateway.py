"""The demo at the address of the real workspace: whoever visits it is sent on to its process.

A visit is a cookie whose value only operators are given. Their other cookies stay here, and
none of the demo's reach the browser: a login here is not lost over there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from typing import Final

import aiohttp
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.api.operations.workspace import DemoWorkspace

COOKIE: Final = "scrapersky_demo"
STAYS_HERE: Final = "/api/v3/demo"
"""What opens, closes and leaves the demo is asked of the real workspace."""
NOT_SENT_ON: Final = frozenset(
    {"host", "cookie", "origin", "connection", "content-length"}
)
NOT_SENT_BACK: Final = frozenset(
    {b"set-cookie", b"connection", b"transfer-encoding", b"keep-alive"}
)
AWAY: Final = b"The demo has just been closed. Load the page again."


Find = Callable[[], DemoWorkspace | None]


class DemoGateway:
    """Sends the requests of visitors of the demo on to its process."""

    def __init__(self, app: ASGIApp, find: Find) -> None:
        self._app = app
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from where the person is."""
        address = self._visited(scope) if scope["type"] == "http" else None
        if address is None:
            await self._app(scope, receive, send)
        else:
            await forward(address, scope, receive, send)

    def _visited(self, scope: Scope) -> str | None:
        demo = self._find()
        if demo is None or demo.address is None:
            return None
        if scope["path"].startswith(STAYS_HERE):
            return None
        return demo.address if is_visitor(demo, Headers(scope=scope)) else None


def is_visitor(demo: DemoWorkspace, headers: Headers) -> bool:
    """Say whether a request comes from a browser that is in the demo."""
    jar: SimpleCookie = SimpleCookie()
    with suppress(CookieError):
        jar.load(headers.get("cookie", ""))
    given = jar.get(COOKIE)
    return given is not None and compare_digest(given.value, demo.token)


async def forward(address: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Ask the demo what was asked here, and answer what it answers."""
    body = VisitorBody(receive)
    has_body = {"content-length", "transfer-encoding"} & {*Headers(scope=scope).keys()}
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
    query = scope.get("query_string", b"").decode("latin-1")
    url = f"{address}{path}?{query}" if query else f"{address}{path}"
    timeout = aiohttp.ClientTimeout(total=None)
    sender = DemoAnswer(send)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.request(
                scope["method"],
                url,
                headers=headers_for(address, scope),
                data=body.parts() if has_body else None,
                allow_redirects=False,
            ) as answer,
        ):
            # A stream of events ends when nobody listens any more.
            leaving = asyncio.create_task(body.until_left(answer))
            try:
                await sender.start(answer)
                async for part in answer.content.iter_any():
                    await sender.part(part)
                await sender.end()
            finally:
                leaving.cancel()
    except (aiohttp.ClientError, ConnectionError):
        if not body.has_left:
            await sender.fail()


def headers_for(address: str, scope: Scope) -> dict[str, str]:
    """Return the headers that the demo receives: its page is asked, not ours."""
    headers = Headers(scope=scope)
    sent = {name: value for name, value in headers.items() if name not in NOT_SENT_ON}
    own = f"{scope['scheme']}://{headers.get('host', '')}"
    if "origin" in headers:
        is_own = headers["origin"].lower() == own.lower()
        sent["origin"] = address if is_own else headers["origin"]
    return sent


class VisitorBody:
    """What a request sends, and whether its sender has gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.has_left = False

    async def parts(self) -> AsyncIterator[bytes]:
        """Give the parts of the body as they come."""
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return
            yield message.get("body", b"")
            if not message.get("more_body"):
                return

    async def until_left(self, answer: aiohttp.ClientResponse) -> None:
        """End the answer when nobody waits for it."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.has_left = True
        answer.close()


class DemoAnswer:
    """What is sent back, and how far that is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = False

    async def start(self, answer: aiohttp.ClientResponse) -> None:
        """Send the head."""
        headers = [
            (name.lower(), value)
            for name, value in answer.raw_headers
            if name.lower() not in NOT_SENT_BACK
        ]
        await self._begin(answer.status, headers)

    async def part(self, part: bytes) -> None:
        """Send some of the body."""
        await self._send(
            {"type": "http.response.body", "body": part, "more_body": True}
        )

    async def end(self) -> None:
        """Send that it is over."""
        await self._send({"type": "http.response.body", "body": b""})

    async def fail(self) -> None:
        """Say that the demo is away, unless it has begun to answer."""
        if self._is_begun:
            raise ConnectionAbortedError
        await self._begin(
            503, [(b"content-type", b"text/plain"), (b"retry-after", b"1")]
        )
        message: Message = {"type": "http.response.body", "body": AWAY}
        await self._send(message)

    async def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._is_begun = True
        await self._send(
            {"type": "http.response.start", "status": status, "headers": headers}
        )
