"""A connection that sends, or reads, a byte now and then is not waited for.

The server itself waits for ever until the head of a request is complete, and for ever
until its answer is read. Bodies are bounded where they are read (`middleware.body`).
"""

import resource
import socket
import struct
from asyncio import TimerHandle, Transport
from typing import Any, ClassVar, Final

from typing_extensions import override

from scrapersky.compat.uvicorn import HttpToolsProtocol, RequestResponseCycle

MAX_HEAD_BYTES: Final = 65_536
NETWORKS: Final = (socket.AF_INET, socket.AF_INET6)
FEWEST_CONNECTIONS: Final = 100
AT_ONCE: Final = struct.pack("ii", 1, 0)
"""As SO_LINGER: what is not sent yet is dropped, and the other side learns of it."""
TOO_SLOW: Final = b"408 Request Timeout"
TOO_LONG: Final = b"431 Request Header Fields Too Large"


class HttpProtocol(HttpToolsProtocol):
    """One connection: its requests begin in time, and its answers are read."""

    head_timeout: ClassVar[float] = 15.0
    """Seconds in which the head of a request must be here, from its first byte."""
    reading_timeout: ClassVar[float] = 60.0
    """Seconds in which a client must read something of what waits for it."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*given, **named)
        self._head: TimerHandle | None = None
        self._unread: TimerHandle | None = None
        self._head_size = 0

    @override
    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        send_at_once(transport)
        if len(self.connections) > most_connections():
            # Files are needed for the database too; whoever comes later is let in again.
            transport.abort()
            return
        self._await_head()

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_between():
            self._head_size += len(data)
            if self._head is None:
                self._await_head()
        super().data_received(data)
        if self._is_between() and self._head_size > MAX_HEAD_BYTES:
            self._refuse(TOO_LONG)

    @override
    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.reading_timeout, self._abort)

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_read()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        self._is_read()
        super().connection_lost(exc)

    def cut_off(self) -> None:
        """Break off an answer that has begun, so that nobody takes it for a whole one.

        Closed in order, it would look complete to a client that reads until the end, as one
        of HTTP/1.0 does: it is reset.
        """
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            connection = self.transport.get_extra_info("socket")
            if connection is not None and connection.family in NETWORKS:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.transport.abort()

    def _is_between(self) -> bool:
        """Say whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self.head_timeout, self._refuse, TOO_SLOW)

    def _head_is_here(self) -> None:
        self._head_size = 0
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n"
                b"content-length: 0\r\n\r\n"
            )
            self.transport.close()

    def _abort(self) -> None:
        self.transport.abort()


def send_at_once(transport: Transport) -> None:
    """Let no part of an answer wait until the client has confirmed the one before.

    The loop does so for sockets it opened itself, not for those of a listener it is given;
    an answer whose head and body are two writes takes 40 ms longer then.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in NETWORKS:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def most_connections() -> int:
    """Return how many connections leave enough files for everything else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(files // 2, FEWEST_CONNECTIONS)
