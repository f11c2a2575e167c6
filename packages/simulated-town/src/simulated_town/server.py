"""The town's web server: every site by its name, all on one loopback address.

It answers as a web server (`Host:`) and as a proxy (`GET http://name/ HTTP/1.1`), so a
crawler needs no port in its URLs and a person can browse the town with any browser or
with `curl -x`.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import urlsplit

import httptools
from typing_extensions import override

from simulated_town.addresses import LOOPBACK
from simulated_town.log import LogEntry, TownLog
from simulated_town.sites.reply import HTML, Conduct, Reply, Site

MAX_BACKLOG: Final = 1_024
MAX_SITES: Final = 3_000
"""Sites kept ready; a large town is written again where need be."""
NO_TUNNEL: Final = Reply(b"no TLS in this town", status=502)
NOT_MODIFIED: Final = Reply(status=304)
NO_SUCH_SITE: Final = Reply(b"no such site", status=502)


@dataclass(frozen=True, slots=True)
class TownRequest:
    """One request as the town understands it."""

    method: str
    host: str
    """Without a port; the server's own address when it is asked directly."""
    path: str
    query: str
    if_none_match: str


@dataclass(frozen=True, slots=True)
class StreamedReply:
    """An answer that is written while it is sent."""

    chunks: Iterator[bytes]
    type: str


FindSite = Callable[[str], tuple[str, Site | str] | None]
"""From a host to its domain and its site, or the host it lives at instead."""
AskTown = Callable[[TownRequest], Reply | StreamedReply | None]
"""What the town itself answers, before any site: its places, its archive."""


class TownServer:
    """Serves every site and keeps the log."""

    def __init__(self, find_site: FindSite, ask_town: AskTown) -> None:
        self.log = TownLog()
        self.port = 0
        self._site = lru_cache(MAX_SITES)(find_site)
        self._ask_town = ask_town
        self._served = 0
        self._wires: dict[Reply, bytes] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._open: set[_Connection] = set()

    def renew(self, find_site: FindSite, ask_town: AskTown) -> None:
        """Answer from now on as another town would."""
        self._site = lru_cache(MAX_SITES)(find_site)
        self._ask_town = ask_town

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator["TownServer"]:
        """Serve until the block ends, then close every connection; 0 is any port."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            partial(_Connection, self), LOOPBACK, port, backlog=MAX_BACKLOG
        )
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for connection in list(self._open):
                connection.drop()
            await server.wait_closed()

    def answer(self, ask: TownRequest) -> tuple[str, Reply | StreamedReply]:
        """Return the site that is asked, by its domain, and what it says."""
        if ask.method == "CONNECT":
            found = self._site(ask.host)
            return (found[0] if found else ask.host), NO_TUNNEL
        if (reply := self._ask_town(ask)) is not None:
            return ask.host, reply
        if (found := self._site(ask.host)) is None:
            return ask.host, NO_SUCH_SITE
        domain, site = found
        if isinstance(site, str):
            where = f"http://{site}{ask.path}"
            return domain, Reply(status=301, headers=(("Location", where),))
        return domain, self._reply(domain, site, ask)

    def wire(self, reply: Reply) -> bytes:
        """Return an answer as bytes; the same answer is put together once."""
        if (ready := self._wires.get(reply)) is not None:
            return ready
        data = head_of(reply) + reply.body
        if len(self._wires) > MAX_SITES * 10:
            self._wires.clear()
        self._wires[reply] = data
        return data

    def _reply(self, domain: str, site: Site, ask: TownRequest) -> Reply:
        if stumbles := site.stumbles.get(ask.path):
            times = self._asked.get((domain, ask.path), 0)
            self._asked[domain, ask.path] = times + 1
            if times < len(stumbles):
                return stumbles[times]
        reply = site.replies.get(ask.path) or site.invent(ask.path) or site.missing
        if site.is_restless and reply.type == HTML:
            self._served += 1
            mark = b"<!-- served %d --></body>" % self._served
            reply = replace(reply, body=reply.body.replace(b"</body>", mark))
        if ask.if_none_match and ask.if_none_match == etag(reply):
            return NOT_MODIFIED
        return reply

    def opened(self, connection: "_Connection") -> None:
        """Remember a connection, to close it in the end."""
        self._open.add(connection)

    def closed(self, connection: "_Connection") -> None:
        """Forget a connection that is gone."""
        self._open.discard(connection)


def etag(reply: Reply) -> str:
    """Name the content of an answer."""
    return f'"{hashlib.blake2b(reply.body, digest_size=8).hexdigest()}"'


def head_of(reply: Reply) -> bytes:
    """Write the head of an answer."""
    lines = [
        f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
        "Server: town",
        f"Content-Type: {reply.type}",
        *(f"{name}: {value}" for name, value in reply.headers),
    ]
    if reply.status == HTTPStatus.OK:
        lines.append(f"ETag: {etag(reply)}")
    if reply.conduct is Conduct.ENDLESS:
        lines.append("Connection: close")
    elif reply.status != HTTPStatus.NOT_MODIFIED:
        lines.append(f"Content-Length: {len(reply.body)}")
    return "\r\n".join([*lines, "", ""]).encode()


class _Connection(asyncio.Protocol):
    """One client; one request at a time."""

    def __init__(self, server: TownServer) -> None:
        self._server = server
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not asked with isinstance: the transports of other loops do not inherit it.
        self._transport = cast("asyncio.Transport", transport)
        self._server.opened(self)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._server.closed(self)
        self._may_write.set()
        self._transport = None
        if self._task is not None:
            self._task.cancel()
        if self._timer is not None:
            self._timer.cancel()

    @override
    def pause_writing(self) -> None:
        self._may_write.clear()

    @override
    def resume_writing(self) -> None:
        self._may_write.set()

    @override
    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # a tunnel was asked for, and has been refused already
        except httptools.HttpParserError:
            self.drop()

    def drop(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def on_message_begin(self) -> None:
        """Begin to read a request; called by the parser."""
        self._url = b""
        self._headers.clear()

    def on_url(self, url: bytes) -> None:
        """Read a part of the target; called by the parser."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read one header; called by the parser."""
        self._headers[name.lower()] = value

    def on_message_complete(self) -> None:
        """Answer the request; called by the parser."""
        started = time.monotonic()
        ask = self._ask()
        site, reply = self._server.answer(ask)
        if isinstance(reply, StreamedReply):
            self._task = asyncio.create_task(self._stream(site, ask, reply, started))
        elif reply.conduct is Conduct.SILENT:
            self._note(site, ask, started, None, 0)
        elif reply.conduct is Conduct.ENDLESS:
            self._note(site, ask, started, None, reply.status)
            self._task = asyncio.create_task(self._write_for_ever(reply))
        elif reply.delay:
            finish = partial(self._finish, site, ask, reply, started)
            self._timer = asyncio.get_running_loop().call_later(reply.delay, finish)
        else:
            self._finish(site, ask, reply, started)

    def _ask(self) -> TownRequest:
        method = self._parser.get_method().decode()
        target = self._url.decode("latin-1")
        host = self._headers.get(b"host", b"").decode("latin-1")
        if method == "CONNECT":
            host, target = target, ""
        parts = urlsplit(target)
        host = (parts.netloc or host).rpartition("@")[2].partition(":")[0].lower()
        held = self._headers.get(b"if-none-match", b"").decode("latin-1")
        return TownRequest(
            method, host.rstrip("."), parts.path or "/", parts.query, held
        )

    def _finish(
        self, site: str, ask: TownRequest, reply: Reply, started: float
    ) -> None:
        if self._transport is None:
            return
        data = head_of(reply) if ask.method == "HEAD" else self._server.wire(reply)
        # Noted before it is sent: whoever reads the answer finds it in the log.
        self._note(site, ask, started, time.monotonic(), reply.status)
        self._transport.write(data)
        if ask.method == "CONNECT":
            self._transport.close()

    def _note(
        self,
        site: str,
        ask: TownRequest,
        started: float,
        ended: float | None,
        status: int,
    ) -> None:
        visit = LogEntry(ask.path, started, ended, status, ask.method)
        self._server.log.record(site, visit)

    async def _stream(
        self, site: str, ask: TownRequest, stream: StreamedReply, started: float
    ) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {stream.type}\r\n"
        await self._write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for chunk in stream.chunks:
            await self._write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self._note(site, ask, started, time.monotonic(), HTTPStatus.OK)
        await self._write(b"0\r\n\r\n")

    async def _write_for_ever(self, reply: Reply) -> None:
        await self._write(head_of(reply))
        while self._transport is not None:
            await self._write(reply.body)
            await asyncio.sleep(0)

    async def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)
            await self._may_write.wait()
