"""One HTTP/1.1 connection: one request at a time, every budget enforced as bytes come.

llhttp (through httptools) reads the protocol in its strict mode; what it lets through
is refused here: other versions and statuses, too many or too long headers, endless
interim answers, odd transfer codings.
"""

import asyncio
import re
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial

import httptools
from typing_extensions import override

from scrapersky.crawler.inflate import BodyInflater, read_codings
from scrapersky.crawler.limits import FetchLimits
from scrapersky.crawler.result import IncompleteReason
from scrapersky.errors import (
    BadHttp,
    ConnectionLost,
    FetchError,
    TooBig,
    TooSlow,
    Unforeseen,
)
from scrapersky.kit.spool import Spool

STATUS_LINE = re.compile(rb"HTTP/1\.[01] [1-5][0-9][0-9] ")
STATUS_LINE_BYTES = len(b"HTTP/1.1 200 ")
READ_BYTES = 64 * 1024
"""Small enough that the worst of it is parsed before anyone else notices."""
MAX_FRAMING_BYTES = 256 * 1024
"""Headers and chunk sizes beyond this must be outweighed by content: a megabyte in
chunks of one byte costs as much as a gigabyte in large ones."""
BODILESS_STATUSES = frozenset({204, 205, 304})


@dataclass(slots=True)
class Exchange:
    """One request under way and what has come of it so far."""

    url: str
    limits: FetchLimits
    max_wire: int
    max_inflated: int
    deadline: float
    """By the monotonic clock, when the whole fetch must be over."""
    keep_partial: bool = False
    """Whether a body past its limits is cut, instead of refused."""
    may_spool: bool = False
    """Whether a long body goes to a file, instead of into memory."""
    keep: int | None = None
    """How many bytes of the body are wanted; the rest is read and dropped."""
    aside: Executor | None = None
    """Where long compressed bodies are inflated; without it, on the event loop."""
    judge: "Callable[[Exchange], None] | None" = None
    """Asked once the headers are there; may raise to end the exchange."""
    status: int = 0
    headers: list[tuple[str, bytes]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    body: BodyInflater | None = None
    content: bytes = b""
    """The whole body, once the exchange is done; of a spooled one the beginning."""
    spool: Spool | None = None
    """The whole body, where it was too long for memory."""
    wire_bytes: int = 0
    body_bytes: int = 0
    """Bytes of the body as sent, without headers and chunk sizes."""
    cut: IncompleteReason | None = None
    sent_at: float = 0.0
    body_at: float = 0.0
    headers_done: bool = False
    received: bool = False
    """Whether all of the answer is here, though some of it may not be inflated yet."""
    done: bool = False

    @property
    def keeps_what_came(self) -> bool:
        """Say whether what came so far is a result, though its rest is refused."""
        return self.keep_partial and self.body is not None and not self.done

    @property
    def is_success(self) -> bool:
        """Say whether the status is a 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004

    def values(self, name: str) -> list[str]:
        """Return every value of a header, decoded as Latin-1, which cannot fail."""
        if name not in self.names:
            return []
        return [
            value.decode("latin-1").strip()
            for key, value in self.headers
            if key == name
        ]

    def value(self, name: str) -> str:
        """Return the first value of a header, or nothing."""
        return next(iter(self.values(name)), "")


class HttpConnection(asyncio.BufferedProtocol):
    """A socket to one checked address, used for one exchange after the other."""

    def __init__(self, buffer: bytearray) -> None:
        """Begin; the buffer may be shared, for nobody awaits while it is filled."""
        self.transport: asyncio.Transport | None = None
        self.address = ""
        self.on_lost: Callable[[HttpConnection], None] | None = None
        self.reusable = False
        self.heard = False
        """Whether anything came in answer to the last request."""
        self.idle_since = 0.0
        self._exchange: Exchange | None = None
        self._answer: asyncio.Future[Exchange] | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._opening = b""
        self._buffer = buffer
        self._header_bytes = 0
        self._header_lines = 0
        self._interim = 0
        self._framed = False
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = b""
        """What is to be inflated beside the loop; nothing more is read meanwhile."""
        self._inflating = False
        self._closed = asyncio.get_running_loop().create_future()

    async def ask(self, request: bytes, exchange: Exchange) -> Exchange:
        """Send a request and return its exchange, finished; raise a FetchError."""
        loop = asyncio.get_running_loop()
        if self.transport is None or self.transport.is_closing():
            raise ConnectionLost(exchange.url, "the connection was closed")
        self.reusable = self.heard = False
        self._exchange, self._answer = exchange, loop.create_future()
        self._start_message()
        self._interim = 0
        self._parser = httptools.HttpResponseParser(self)
        self._opening = b""
        exchange.sent_at = time.monotonic()
        wait = min(
            exchange.limits.headers.total_seconds(),
            exchange.deadline - exchange.sent_at,
        )
        self._timer = loop.call_later(
            max(wait, 0.0), self._late, "no complete response headers"
        )
        self.transport.write(request)
        try:
            return await self._answer
        finally:
            self._timer.cancel()
            self._exchange = self._answer = self._parser = None
            if not self.reusable or self._inflating:
                self.abort()

    def abort(self) -> None:
        """Drop the connection at once, whatever is still in flight."""
        self.reusable = False
        if self.transport is not None:
            self.transport.abort()

    async def closed(self) -> None:
        """Wait until the socket is really closed."""
        await self._closed

    @property
    def is_idle(self) -> bool:
        """Say whether another request may be sent."""
        return (
            self.reusable
            and self.transport is not None
            and not self.transport.is_closing()
        )

    # asyncio.BufferedProtocol

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(transport)
        self.transport = transport

    @override
    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    @override
    def buffer_updated(self, nbytes: int) -> None:
        self._receive(bytes(memoryview(self._buffer)[:nbytes]))

    def _receive(self, data: bytes) -> None:
        exchange, parser = self._exchange, self._parser
        if exchange is None or parser is None or exchange.received or exchange.done:
            self.abort()  # bytes nobody asked for: never trust what follows
            return
        self.heard = True
        try:
            self._take(exchange, parser, data)
        except FetchError as error:
            self._refuse(error)
        except httptools.HttpParserUpgrade:
            self._refuse(
                BadHttp(exchange.url, "switched protocols without being asked")
            )
        except httptools.HttpParserCallbackError as error:
            self._refuse(_cause(error, exchange.url))
        except httptools.HttpParserError as error:
            why = ascii(str(error))[:100]
            self._refuse(BadHttp(exchange.url, f"answered with broken HTTP: {why}"))
        self._inflate_aside(exchange)

    @override
    def eof_received(self) -> bool:
        return False

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
        if self.on_lost is not None:
            self.on_lost(self)
        exchange = self._exchange
        if exchange is None or self._answer is None or self._answer.done():
            return
        if exchange.received:
            return  # all of it came; the rest is still inflated
        if not exchange.headers_done:
            what = "closed" if exc is None else "reset"
            self._fail(
                ConnectionLost(exchange.url, f"the server {what} the connection")
            )
            return
        if self._framed or exc is not None:
            exchange.cut = IncompleteReason.TRUNCATED
        self._end(exchange)

    # httptools callbacks

    def on_message_begin(self) -> None:
        """Never reuse a connection that sends more answers than were asked for."""
        if self._exchange is not None and self._exchange.received:
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header or trailer, within the limits."""
        exchange = self._current
        self._header_lines += 1
        self._header_bytes += len(name) + len(value) + len(b": \r\n")
        if self._header_lines > exchange.limits.header_lines:
            raise BadHttp(
                exchange.url, f"sent more than {exchange.limits.header_lines} headers"
            )
        if self._header_bytes > exchange.limits.header_bytes:
            raise BadHttp(
                exchange.url,
                f"sent more than {exchange.limits.header_bytes:,} bytes of headers",
            )
        if not exchange.headers_done:
            key = name.decode("latin-1").lower()
            exchange.headers.append((key, value))
            exchange.names.add(key)

    def on_headers_complete(self) -> None:
        """Look at the status, then prepare for the body."""
        exchange, parser = self._current, self._parser
        if parser is None or exchange.received or exchange.done:
            return
        status = parser.get_status_code()
        if parser.get_http_version() not in {"1.0", "1.1"} or not 100 <= status < 600:  # noqa: PLR2004
            raise BadHttp(
                exchange.url, "answered with a status line of no known version"
            )
        if status < 200:  # noqa: PLR2004
            self._interim += 1
            if status == 101 or self._interim > exchange.limits.interim_answers:  # noqa: PLR2004
                raise BadHttp(
                    exchange.url, f"sent {self._interim} interim answers, last {status}"
                )
            return
        exchange.status = status
        self._begin_body(exchange)

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body."""
        exchange = self._current
        if exchange.body is None or exchange.received or exchange.done:
            return
        exchange.body_bytes += len(data)
        aside = exchange.aside is not None and not exchange.body.is_quick(len(data))
        if aside or self._waiting:
            self._waiting += data
        else:
            exchange.body.feed(data)

    def on_message_complete(self) -> None:
        """Finish, unless it was only an interim answer."""
        exchange, parser = self._current, self._parser
        if exchange.received or exchange.done:
            return
        if not exchange.headers_done:
            exchange.headers.clear()
            exchange.names.clear()
            self._start_message()
            return
        self.reusable = parser is not None and bool(parser.should_keep_alive())
        self._end(exchange)

    # Steps

    @property
    def _current(self) -> Exchange:
        if self._exchange is None:
            raise ConnectionLost("", "nothing was asked")
        return self._exchange

    def _start_message(self) -> None:
        self._header_bytes = self._header_lines = 0
        self._framed = False

    def _take(
        self, exchange: Exchange, parser: httptools.HttpResponseParser, data: bytes
    ) -> None:
        exchange.wire_bytes += len(data)
        if len(self._opening) < STATUS_LINE_BYTES:
            self._opening += data[: STATUS_LINE_BYTES - len(self._opening)]
            if len(self._opening) == STATUS_LINE_BYTES and not STATUS_LINE.fullmatch(
                self._opening
            ):
                raise BadHttp(exchange.url, "did not answer with an HTTP/1 status line")
        before = exchange.wire_bytes - len(data)
        if not exchange.headers_done and before > exchange.limits.header_bytes * 2:
            raise BadHttp(
                exchange.url, f"sent {before:,} bytes without ending its headers"
            )
        parser.feed_data(data)
        if not exchange.received and exchange.wire_bytes > exchange.max_wire:
            raise TooBig(exchange.url, f"sent more than {exchange.max_wire:,} bytes")
        if exchange.body is not None and not exchange.received:
            framing = exchange.wire_bytes - exchange.body_bytes
            if framing > exchange.body_bytes + MAX_FRAMING_BYTES:
                raise BadHttp(exchange.url, "sent more framing than content")

    def _begin_body(self, exchange: Exchange) -> None:
        exchange.headers_done = True
        exchange.body_at = time.monotonic()
        self._check_framing(exchange)
        codings = read_codings(
            exchange.url,
            []
            if exchange.status in BODILESS_STATUSES
            else exchange.values("content-encoding"),
            limit=exchange.limits.encodings,
        )
        exchange.body = BodyInflater(
            exchange.url,
            codings,
            exchange.limits,
            exchange.max_inflated,
            may_spool=exchange.may_spool,
            keep=exchange.keep,
        )
        if exchange.judge is not None:
            exchange.judge(exchange)
        self._watch_rate()

    def _check_framing(self, exchange: Exchange) -> None:
        lengths = exchange.values("content-length")
        transfers = exchange.values("transfer-encoding")
        self._framed = bool(lengths or transfers)
        if [value.lower() for value in transfers] not in ([], ["chunked"]):
            raise BadHttp(exchange.url, "used a transfer coding other than chunked")
        if not lengths:
            return
        if (
            len(lengths) > 1
            or transfers
            or not (lengths[0].isascii() and lengths[0].isdigit())
        ):
            raise BadHttp(exchange.url, "was not clear about the length of its answer")
        if exchange.keep_partial or exchange.status in BODILESS_STATUSES:
            return
        if int(lengths[0][:20]) > exchange.max_wire:
            raise TooBig(exchange.url, f"announced {lengths[0][:20]} bytes")

    def _watch_rate(self) -> None:
        exchange = self._current
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        now = time.monotonic()
        spent = now - exchange.body_at
        wait = max(exchange.limits.rate_grace.total_seconds() - spent, 1.0)
        wait = min(wait, exchange.deadline - now)
        self._timer = loop.call_later(max(wait, 0.0), self._check_rate)

    def _check_rate(self) -> None:
        exchange = self._current
        now = time.monotonic()
        if now >= exchange.deadline:
            self._late("no end of the answer")
            return
        spent = now - exchange.body_at
        rate = exchange.wire_bytes / spent if spent else 0.0
        if (
            spent >= exchange.limits.rate_grace.total_seconds()
            and rate < exchange.limits.bytes_per_second
        ):
            self._fail(TooSlow(exchange.url, f"sent {rate:.0f} bytes per second"))
            return
        self._watch_rate()

    def _late(self, what: str) -> None:
        exchange = self._current
        spent = time.monotonic() - exchange.sent_at
        self._fail(TooSlow(exchange.url, f"{what} after {spent:.1f} s"))

    def _inflate_aside(self, exchange: Exchange) -> None:
        """Inflate what waits in a thread, and read nothing more until that is done."""
        data, self._waiting = self._waiting, b""
        if not data or exchange.body is None or exchange.done:
            return
        if self.transport is not None:
            self.transport.pause_reading()
        self._inflating = True
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(exchange.aside, exchange.body.feed, data)
        work.add_done_callback(partial(self._inflated, exchange))

    def _inflated(self, exchange: Exchange, work: "asyncio.Future[None]") -> None:
        error = None if work.cancelled() else work.exception()
        if exchange is not self._exchange:
            return  # the exchange was given up meanwhile, and the connection with it
        self._inflating = False
        if isinstance(error, FetchError):
            self._fail(error)
        elif error is not None:
            self._fail(Unforeseen(exchange.url, f"failed with {type(error).__name__}"))
        elif exchange.received:
            self._finish(exchange)
        if self.transport is not None:
            self.transport.resume_reading()

    def _end(self, exchange: Exchange) -> None:
        """Take the end of the answer; it is finished once all of it is inflated."""
        exchange.received = True
        if not self._waiting and not self._inflating:
            self._finish(exchange)

    def _finish(self, exchange: Exchange) -> None:
        exchange.done = exchange.received = True
        body = exchange.body
        if body is not None:
            if exchange.cut is None and not body.is_whole:
                exchange.cut = IncompleteReason.BROKEN_ENCODING
            exchange.content = bytes(body.out)
            exchange.spool = body.spool
            exchange.body = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(exchange)

    def _refuse(self, error: FetchError) -> None:
        """Fail, unless all of the answer is here: then only what follows it is bad."""
        if self._current.received:
            self.reusable = False
        else:
            self._fail(error)

    def _fail(self, error: FetchError) -> None:
        self.reusable = False
        exchange = self._exchange
        if exchange is None or exchange.done:
            self.abort()
            return
        if isinstance(error, TooBig) and exchange.keeps_what_came:
            exchange.cut = IncompleteReason.SIZE
            self._finish(exchange)
            return
        exchange.done = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        self.abort()


def _cause(error: BaseException, url: str) -> FetchError:
    cause = error.__context__ or error.__cause__
    if isinstance(cause, FetchError):
        return cause
    return BadHttp(url, "answered with broken HTTP")
