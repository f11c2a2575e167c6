"""A TCP proxy that misbehaves on request: delays, holds, cuts, and swallows answers.

It runs in the event loop of the test, understands just enough of the PostgreSQL
protocol to see a transaction end, and counts every fault it injects.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import cast

CHUNK = 65536


@dataclass(eq=False)
class Answers:
    """Reads the server's side of one connection and notices transactions that end.

    A transaction has ended when the server, after completing a command that is not
    a ROLLBACK, says it is idle. So a COMMIT counts, and a lone statement does too.
    """

    _buffer: bytearray = field(default_factory=bytearray)
    _started: bool = False
    _command: bytes = b""

    def feed(self, data: bytes) -> int:
        """Take the next bytes; return how many transactions they brought to an end."""
        self._buffer += data
        if not self._started:
            # The answer to an SSL request is one bare byte, not a message.
            if self._buffer[:1] == b"N":
                del self._buffer[:1]
            self._started = bool(self._buffer)
        ended = 0
        while len(self._buffer) >= 5:
            size = 1 + int.from_bytes(self._buffer[1:5], "big")
            if len(self._buffer) < size:
                break
            ended += self._message(self._buffer[:1], bytes(self._buffer[5:size]))
            del self._buffer[:size]
        return ended

    def _message(self, kind: bytearray, body: bytes) -> int:
        if kind == b"C":
            self._command = body.rstrip(b"\0").split(b" ")[0]
        if kind != b"Z":
            return 0
        command, self._command = self._command, b""
        return int(body == b"I" and command not in (b"", b"ROLLBACK"))


@dataclass(eq=False)
class Link:
    """One client connection and its twin to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    held: asyncio.Event = field(default_factory=asyncio.Event)
    answers: Answers = field(default_factory=Answers)
    forwarded: int = 0

    def __post_init__(self) -> None:
        self.held.set()

    def cut(self) -> None:
        """Reset both sides, as a crashed middle box does."""
        for side in (self.client, self.server):
            side.transport.abort()


@dataclass(eq=False)
class FaultProxy:
    """Forward 127.0.0.1:port to the server, with whatever is wrong at the moment."""

    connect: Callable[
        [], "asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"
    ]
    delay: float = 0.0
    cut_after: int | None = None
    hold_after: int | None = None
    lose_commit_answer: float = 0.0
    refusing: bool = False
    seed: int = 0
    injected: int = 0
    port: int = 0
    links: set[Link] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._carriers: set[asyncio.Task[None]] = set()
        self._has_ended = False

    def hold(self, link: Link) -> None:
        """Stop reading from either side and leave both sockets open: half-open TCP."""
        link.held.clear()
        self.injected += 1

    def hold_one(self) -> bool:
        """Hold one flowing connection chosen at random; tell whether there was one."""
        flowing = [link for link in self.links if link.held.is_set()]
        if flowing:
            self.hold(self._chance.choice(flowing))
        return bool(flowing)

    def hold_all(self) -> None:
        """Hold every connection there is now; later ones flow."""
        for link in self.links:
            self.hold(link)

    def release(self) -> None:
        """Let every held connection flow again."""
        for link in self.links:
            link.held.set()

    def cut_one(self) -> bool:
        """Reset one connection chosen at random; tell whether there was one."""
        if not self.links:
            return False
        self._chance.choice(list(self.links)).cut()
        self.injected += 1
        return True

    async def end(self) -> None:
        """Cut every connection and wait until each has been buried."""
        self._has_ended = True
        for link in list(self.links):
            link.cut()
        self.release()
        await asyncio.gather(*self._carriers, return_exceptions=True)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry one connection until either side ends it."""
        carrier = cast("asyncio.Task[None]", asyncio.current_task())
        self._carriers.add(carrier)
        carrier.add_done_callback(self._carriers.discard)
        if self.refusing:
            writer.transport.abort()
            return
        try:
            upstream, downstream = await self.connect()
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, downstream)
        if self._has_ended:  # while this one was being opened
            link.cut()
            return
        self.links.add(link)
        pumps = [
            asyncio.ensure_future(self._to_server(link, reader)),
            asyncio.ensure_future(self._to_client(link, upstream)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.links.discard(link)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            link.cut()

    async def _to_server(self, link: Link, reader: asyncio.StreamReader) -> None:
        while data := await _read(reader):
            await link.held.wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            link.server.write(data)
            await link.server.drain()

    async def _to_client(self, link: Link, reader: asyncio.StreamReader) -> None:
        while data := await _read(reader):
            ended = link.answers.feed(data)
            if ended and self._chance.random() < self.lose_commit_answer:
                # The server has answered, so the commit is durable; the client
                # never hears of it.
                self.injected += 1
                return
            await link.held.wait()
            link.forwarded += len(data)
            if self.hold_after is not None and link.forwarded > self.hold_after:
                self.hold(link)
                self.hold_after = None
            if self.cut_after is not None and link.forwarded > self.cut_after:
                self.injected += 1
                return
            link.client.write(data)
            await link.client.drain()


@contextlib.asynccontextmanager
async def fault_proxy(
    *, host: str = "127.0.0.1", port: int = 0, socket: str | None = None, seed: int = 0
) -> AsyncIterator[FaultProxy]:
    """Yield a proxy to a TCP or unix-socket server; close everything after."""

    def connect() -> (
        "asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"
    ):
        if socket is not None:
            return asyncio.ensure_future(asyncio.open_unix_connection(socket))
        return asyncio.ensure_future(asyncio.open_connection(host, port))

    proxy = FaultProxy(connect, seed=seed)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(CHUNK)
    except OSError:
        return b""
