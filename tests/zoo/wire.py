"""What a misbehaving server works with: a request, a connection, an answer."""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

MAX_SENT = 256 << 20
"""An endless answer ends here, so that a broken client cannot fill the machine."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Where the zoo lives: addresses, ports, and how much shorter time is."""

    name: str
    network: str
    http: int
    https: int
    pace: float = 1.0

    def origin(self, slug: str, *, tls: bool = False) -> str:
        """Return scheme, host and, where it is not the usual one, the port."""
        scheme, port, usual = (
            ("https", self.https, 443) if tls else ("http", self.http, 80)
        )
        return f"{scheme}://{slug}.com" + ("" if port == usual else f":{port}")

    def address(self, number: int) -> str:
        """Return the address of the site with this number."""
        return f"{self.network}.{1 + number // 250}.{1 + number % 250}"


@dataclass(frozen=True, slots=True)
class Request:
    """What the client asked, as it was on the wire."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """Return the value of a header, or nothing."""
        wanted = name.lower()
        return next((v for k, v in self.headers if k.lower() == wanted), None)


@dataclass(slots=True)
class Visit:
    """One request in the server's log."""

    slug: str
    request: Request
    began: float
    ended: float = 0.0
    sent: int = 0


@dataclass(slots=True)
class Exchange:
    """One connection, seen from the server."""

    slug: str
    lane: Lane
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    log: list[Visit]
    sent: int = 0
    turn: int = 0
    memory: dict[str, int] = field(default_factory=dict)

    async def send(self, data: bytes) -> None:
        """Write and wait until the client took it; ends an endless answer."""
        self.sent += len(data)
        if self.sent > MAX_SENT:
            raise ConnectionAbortedError
        self.writer.write(data)
        await self.writer.drain()

    async def pause(self, seconds: float) -> None:
        """Sleep this long in real runs, proportionally less in quick ones."""
        await asyncio.sleep(seconds * self.lane.pace)

    async def until_gone(self) -> None:
        """Keep the connection until the client leaves it."""
        while await self.reader.read(65536):
            pass

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        raw: socket.socket | None = self.writer.get_extra_info("socket")
        if raw is not None:
            linger = struct.pack("ii", 1, 0)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()

    def url(self, slug: str, path: str = "/", *, tls: bool = False) -> str:
        """Return the address of another site of the zoo."""
        return self.lane.origin(slug, tls=tls) + path

    async def next_request(self) -> Request | None:
        """Read one request, or nothing when the client has left."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return None
        first, *rest = head.decode("latin-1").split("\r\n")
        method, _, tail = first.partition(" ")
        pairs = (line.partition(":") for line in rest if line)
        headers = tuple((name, value.strip()) for name, _, value in pairs)
        return Request(method, tail.rpartition(" ")[0], headers)


Serve: TypeAlias = Callable[[Exchange, Request], Awaitable[bool | None]]
"""Answers one request; True keeps the connection for the next."""

Connect: TypeAlias = Callable[[Exchange], Awaitable[None]]
"""Has the whole connection, before anything was read."""


def answer(
    body: bytes | str = b"",
    status: str = "200 OK",
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    *,
    kind: str = "text/html; charset=utf-8",
) -> bytes:
    """Return a well-formed answer."""
    raw = body.encode() if isinstance(body, str) else body
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    names = {name.lower() for name, _ in pairs}
    if "content-type" not in names:
        pairs.insert(0, ("Content-Type", kind))
    if "content-length" not in names and "transfer-encoding" not in names:
        pairs.append(("Content-Length", str(len(raw))))
    head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + raw


def says(data: bytes, *, keep: bool = False) -> Serve:
    """Return a handler which always says the same bytes."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        await exchange.send(data)
        return keep

    return serve


ADDRESS = "desk@bakery-around-the-corner.com"
"""The one true address of every page."""


def page(body: str = "", *, title: str = "A healthy page", head: str = "") -> str:
    """Return a small document."""
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head>"
        f"<body><h1>{title}</h1>{body}"
        '<p><a href="/contact">Contact</a> <a href="/about">About</a> '
        f'<a href="mailto:{ADDRESS}">{ADDRESS}</a></p></body></html>'
    )


NOT_FOUND = answer("no such file", "404 Not Found", kind="text/plain")
HEALTHY = answer(page())


async def healthy(exchange: Exchange, request: Request) -> bool:
    """Answer as a good server does."""
    await exchange.send(HEALTHY)
    return True


async def no_robots(exchange: Exchange, request: Request) -> bool:
    """Have no robots.txt, and say so."""
    await exchange.send(NOT_FOUND)
    return True


USUAL_ANSWER_TIME = 0.05
"""Seconds a good host takes, so that a millisecond of ours is not half of it."""


async def unhurried(exchange: Exchange, request: Request) -> bool:
    """Answer as a good server on a real network does."""
    await asyncio.sleep(USUAL_ANSWER_TIME)
    return await healthy(exchange, request)


async def unhurried_robots(exchange: Exchange, request: Request) -> bool:
    """Have no robots.txt, after a while."""
    await asyncio.sleep(USUAL_ANSWER_TIME)
    return await no_robots(exchange, request)


async def converse(
    exchange: Exchange, serve: Serve, robots: Serve, *, budget: float
) -> None:
    """Answer requests on one connection until either side has enough."""
    with contextlib.suppress(ConnectionError, TimeoutError, OSError):
        async with asyncio.timeout(budget):
            while request := await exchange.next_request():
                handler = robots if request.target == "/robots.txt" else serve
                visit = Visit(exchange.slug, request, time.monotonic())
                exchange.log.append(visit)
                before = exchange.sent
                try:
                    keep = await handler(exchange, request)
                finally:
                    visit.ended = time.monotonic()
                    visit.sent = exchange.sent - before
                exchange.turn += 1
                if not keep:
                    break
