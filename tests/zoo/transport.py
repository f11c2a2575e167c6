"""Cases 1 to 22: servers which break, stall or never end the conversation."""

import asyncio
from collections.abc import Iterator

from tests.zoo.case import Exhibit, at_most, every, exhibit, took_at_most
from tests.zoo.wire import Exchange, Request, answer, healthy, page, says

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
FILLER = b"<p>" + b"lorem ipsum " * 1364 + b"</p>\n"


def transport() -> Iterator[Exhibit]:
    """Return the cases about connections, framing and heads."""
    yield exhibit(
        "1",
        "accepts, never answers",
        silent,
        slug="never-answers",
        expect="too_slow",
        limit=11,
        waits=True,
    )
    yield exhibit(
        "2",
        "connect blackhole",
        slug="blackhole",
        listens=False,
        expect="too_slow connect_error",
        limit=12,
        waits=True,
    )
    yield exhibit(
        "2b",
        "connection refused",
        slug="refuses",
        listens=False,
        expect="connect_error",
    )
    yield exhibit(
        "3",
        "reset after the request",
        resets,
        slug="resets",
        expect="bad_http",
        judge=at_most(4),
    )
    yield exhibit(
        "4",
        "slowloris headers",
        slow_head,
        slug="slow-head",
        expect="too_slow",
        limit=12,
        waits=True,
    )
    yield exhibit(
        "5",
        "slow body, 1 byte/s",
        slow_body,
        slug="slow-body",
        expect="too_slow",
        limit=20,
        waits=True,
    )
    yield exhibit(
        "6",
        "endless body",
        endless,
        slug="endless",
        expect="too_big",
        judge=took_at_most(32 << 20),
    )
    yield exhibit(
        "7",
        "endless chunked",
        endless_chunks,
        slug="endless-chunks",
        expect="too_big",
        judge=took_at_most(32 << 20),
    )
    yield exhibit(
        "7b",
        "one-byte chunks without end",
        tiny_chunks,
        slug="tiny-chunks",
        expect="too_big too_slow bad_http",
        limit=31,
    )
    yield exhibit(
        "8",
        "Content-Length 10 TB",
        ten_terabytes,
        slug="ten-terabytes",
        expect="too_big",
        limit=2,
    )
    yield exhibit(
        "10",
        "Content-Length longer than the body",
        says(answer(page(), headers={"Content-Length": "900"})),
        slug="cut-short",
        expect="ok_partial",
    )
    yield from lengths()
    yield from heads()
    yield from statuses()
    yield exhibit(
        "20",
        "closes on reuse",
        closes_on_reuse,
        slug="closes-on-reuse",
        expect="ok",
        judge=at_most(3),
    )
    yield exhibit(
        "21",
        "speaks HTTP/2 unasked",
        says(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00\x03\x00\x00\x00\x64" * 3),
        slug="speaks-h2",
        expect="bad_http",
    )
    yield exhibit(
        "22",
        "drip at the limit",
        drip,
        slug="drip",
        expect="too_slow",
        limit=31,
        waits=True,
    )


def lengths() -> Iterator[Exhibit]:
    body = page().encode()
    size = len(body)
    for letter, title, head in (
        ("a", "negative Content-Length", b"Content-Length: -5\r\n"),
        ("b", "signed Content-Length", b"Content-Length: +%d\r\n" % size),
        (
            "c",
            "two different Content-Lengths",
            b"Content-Length: %d\r\nContent-Length: 5\r\n" % size,
        ),
        (
            "d",
            "Content-Length and chunked",
            b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % size,
        ),
        ("e", "Content-Length of words", b"Content-Length: many\r\n"),
        (
            "f",
            "Content-Length of 5,000 digits",
            b"Content-Length: %s\r\n" % (b"9" * 5000),
        ),
        ("g", "unknown Transfer-Encoding", b"Transfer-Encoding: sideways\r\n"),
    ):
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (size, body) if letter == "d" else body
        yield exhibit(
            f"11{letter}",
            title,
            says(HTML + head + b"\r\n" + chunked, keep=True),
            slug=f"length-{letter}",
            expect="bad_http too_big" if letter == "f" else "bad_http",
            judge=at_most(1),
        )
    yield exhibit(
        "12a",
        "chunk size of 200 digits",
        says(HTML + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 200 + b"\r\n"),
        slug="chunk-digits",
        expect="bad_http too_big",
    )
    yield exhibit(
        "12b",
        "chunk extension without end",
        chunk_extension,
        slug="chunk-extension",
        expect="bad_http too_big too_slow",
        limit=31,
        judge=took_at_most(32 << 20),
    )
    yield exhibit(
        "12c",
        "chunk size that is not a number",
        says(HTML + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"),
        slug="chunk-negative",
        expect="bad_http",
    )
    yield exhibit(
        "13",
        "10,000 trailers",
        says(
            HTML
            + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
            + b"".join(b"X-T%d: y\r\n" % n for n in range(10_000))
            + b"\r\n"
        ),
        slug="trailers",
        expect="bad_http",
    )


def heads() -> Iterator[Exhibit]:
    yield exhibit(
        "14a",
        "100,000 headers",
        many_headers,
        slug="many-headers",
        expect="bad_http",
        judge=took_at_most(16 << 20),
    )
    yield exhibit(
        "14b",
        "a header of 10 MiB",
        big_header,
        slug="big-header",
        expect="bad_http",
        judge=took_at_most(16 << 20),
    )
    yield exhibit(
        "14c",
        "a status line of 10 MiB",
        big_status,
        slug="big-status",
        expect="bad_http",
        judge=took_at_most(16 << 20),
    )
    for letter, title, line in (
        ("a", "NUL in a header", b"X-Nul: a\x00b\r\n"),
        ("b", "bare CR in a header", b"X-Cr: a\rb\r\n"),
        ("c", "folded header", b"X-Fold: a\r\n  b\r\n"),
        ("d", "header name beyond ASCII", "X-Ümlaut: a\r\n".encode()),
        ("e", "blank before the colon", b"X-Blank : a\r\n"),
        ("f", "header without a colon", b"there is no colon here\r\n"),
        ("g", "empty header name", b": a\r\n"),
    ):
        yield exhibit(
            f"15{letter}",
            title,
            says(HTML + line + b"Content-Length: 5\r\n\r\nhello"),
            slug=f"header-{letter}",
            expect="bad_http",
            judge=at_most(1),
        )


def statuses() -> Iterator[Exhibit]:
    body = page().encode()
    sized = b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    yield exhibit(
        "16a", "endless 100 Continue", storm(100), slug="storm-100", expect="bad_http"
    )
    yield exhibit(
        "16b",
        "endless 103 Early Hints",
        storm(103),
        slug="storm-103",
        expect="bad_http",
    )
    for number, title, data, expect in (
        (
            "17a",
            "101 Switching Protocols",
            b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxxxx",
            "bad_http",
        ),
        ("17b", "204 with a body", b"HTTP/1.1 204 No\r\n" + sized, "bad_http ok"),
        ("17c", "304 unasked", b"HTTP/1.1 304 Same\r\n" + sized, "bad_http ok"),
        (
            "17d",
            "206 unasked",
            b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-9/99\r\n" + sized,
            "bad_http ok_partial",
        ),
        ("18a", "HTTP/9.9 999", b"HTTP/9.9 999 Odd\r\n" + sized, "bad_http"),
        ("18b", "200 without reason", b"HTTP/1.1 200\r\n" + sized, "bad_http ok"),
        ("18c", "HTTP/0.9 body", body, "bad_http"),
        ("18d", "ICY 200 OK", b"ICY 200 OK\r\n" + sized, "bad_http"),
        ("18e", "status of four digits", b"HTTP/1.1 2000 OK\r\n" + sized, "bad_http"),
        ("18f", "negative status", b"HTTP/1.1 -20 OK\r\n" + sized, "bad_http"),
        ("18g", "SSH banner", b"SSH-2.0-OpenSSH_9.2p1\r\n", "bad_http"),
        ("18h", "nothing at all", b"", "bad_http"),
        ("18i", "half a status line", b"HTTP/1.1 20", "bad_http"),
    ):
        yield exhibit(
            number,
            title,
            says(data),
            slug=f"status-{number}",
            expect=expect,
            judge=every(at_most(2)),
        )


async def silent(exchange: Exchange, request: Request) -> None:
    await exchange.until_gone()


async def resets(exchange: Exchange, request: Request) -> None:
    exchange.reset()


async def slow_head(exchange: Exchange, request: Request) -> None:
    for byte in HTML + b"X-Slow: " + b"y" * 10_000:
        await exchange.send(bytes([byte]))
        await exchange.pause(2)


async def slow_body(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Content-Length: 100000\r\n\r\n")
    while True:
        await exchange.send(b"x")
        await exchange.pause(1)


async def endless(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"\r\n")
    while True:
        await exchange.send(FILLER)


async def endless_chunks(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"%x\r\n%s\r\n" % (len(FILLER), FILLER)
    while True:
        await exchange.send(chunk)


async def tiny_chunks(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Transfer-Encoding: chunked\r\n\r\n")
    many = b"1\r\nx\r\n" * 2000
    while True:
        await exchange.send(many)


async def chunk_extension(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Transfer-Encoding: chunked\r\n\r\n5;")
    while True:
        await exchange.send(b"x" * 16_384)


async def ten_terabytes(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Content-Length: 10995116277760\r\n\r\n")
    await exchange.until_gone()


async def many_headers(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML)
    for start in range(0, 100_000, 1000):
        lines = (b"X-%d: y\r\n" % n for n in range(start, start + 1000))
        await exchange.send(b"".join(lines))
    await exchange.send(b"Content-Length: 0\r\n\r\n")


async def big_header(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"X-Big: ")
    for _ in range(160):
        await exchange.send(b"y" * 65_536)
    await exchange.send(b"\r\nContent-Length: 0\r\n\r\n")


async def big_status(exchange: Exchange, request: Request) -> None:
    await exchange.send(b"HTTP/1.1 200 ")
    for _ in range(160):
        await exchange.send(b"y" * 65_536)


def storm(status: int) -> "Storm":
    return Storm(b"HTTP/1.1 %d Wait\r\n\r\n" % status * 20)


class Storm:
    """Sends interim answers and never the real one."""

    def __init__(self, flood: bytes) -> None:
        self.flood = flood

    async def __call__(self, exchange: Exchange, request: Request) -> None:
        while True:
            await exchange.send(self.flood)
            await asyncio.sleep(0.01)


async def closes_on_reuse(exchange: Exchange, request: Request) -> bool:
    # robots.txt came on this connection and promised another turn: break it.
    if exchange.turn > 0:
        return False
    return await healthy(exchange, request)


async def drip(exchange: Exchange, request: Request) -> None:
    await exchange.send(HTML + b"Content-Length: 4000000\r\n\r\n")
    kibibyte = b"<p>" + b"d" * 1018 + b"</p>"
    while True:
        # A little above the limit per second, so that only the total stops it; the
        # step is shorter in a quick run, for the rate there is the same.
        await exchange.send(kibibyte * 2)
        await asyncio.sleep(1.0 if exchange.lane.pace == 1.0 else 0.1)
