"""Cases 23 to 35: bodies which are not what their headers say."""

import base64
import gzip
import zlib
from collections.abc import Iterator
from itertools import chain

from tests.zoo.case import Evidence, Exhibit, Judge, at_most, exhibit
from tests.zoo.wire import Exchange, Request, answer, page, says

TEXT = page("<p>Grüße aus Köln</p>")

# 809 bytes of brotli that are 1 GiB of zeros, packed once more to be readable here.
BROTLI_BOMB = zlib.decompress(
    base64.b85decode(
        "c-lMv|9?G$3d5s~4n^<(|NQ@-zk$U;My%o8U;F?6|1(Zt=s3)DVekLv|Nq-F2r(2!FzovN|I"
        "h#b><&x{eB2J-|IG)gV(?%%lF0bt-v7`4|I0IQHdyE|-2Gku@Be>h1xA5()&<r7&qFQQz)&)3"
        "$*3hm(Gq(A@n^2y"
    )
)


EMPTY_BLOCKS = b"\0\0\0\xff\xff" * 200_000
"""A megabyte of deflate that stands for nothing at all."""


def encodings() -> Iterator[Exhibit]:
    """Return the cases about content codings, charsets and disguises."""
    yield from bombs()
    yield from codings()
    yield from charsets()
    yield from disguises()


def bombs() -> Iterator[Exhibit]:
    bomb = gzip_bomb()
    yield exhibit(
        "23a",
        "gzip bomb, 1 MiB to 1 GiB",
        says(coded(bomb, "gzip")),
        slug="gzip-bomb",
        expect="too_big",
    )
    yield exhibit(
        "23b",
        "deflate bomb",
        says(coded(deflate_bomb(), "deflate")),
        slug="deflate-bomb",
        expect="too_big",
    )
    yield exhibit(
        "23c",
        "gzip bomb in chunks of one byte",
        chunked_bomb,
        slug="gzip-bomb-bytes",
        expect="too_big",
    )
    yield exhibit(
        "23d",
        "gzip of a thousand members",
        says(coded(gzip.compress(bytes(1 << 20)) * 1000, "gzip")),
        slug="gzip-members",
        expect="too_big",
    )
    yield exhibit(
        "24",
        "brotli bomb, 809 B to 1 GiB",
        says(coded(BROTLI_BOMB, "br")),
        slug="brotli-bomb",
        expect="too_big bad_http",
    )
    yield exhibit(
        "25a",
        "zstd bomb, 32 KiB to 1 GiB",
        says(coded(zstd_bomb(), "zstd")),
        slug="zstd-bomb",
        expect="too_big bad_http",
    )
    yield exhibit(
        "25b",
        "zstd with a window of 2 GiB",
        says(coded(zstd_bomb(window=0xA8), "zstd")),
        slug="zstd-window",
        expect="too_big bad_http",
    )


def codings() -> Iterator[Exhibit]:
    raw = TEXT.encode()
    packed = gzip.compress(raw)
    bare = zlib.compressobj(wbits=-15)
    for number, title, body, coding, expect in (
        ("26a", "deflate with zlib frame", zlib.compress(raw), "deflate", "ok"),
        ("26b", "bare deflate", bare.compress(raw) + bare.flush(), "deflate", "ok"),
        ("26c", "x-gzip in capitals", packed, "X-GZIP", "ok bad_http"),
        (
            "27a",
            "gzip of gzip of gzip ... ten times",
            nested(raw, 10),
            ", ".join(["gzip"] * 10),
            "bad_http",
        ),
        (
            "27b",
            "a hundred codings",
            raw,
            ", ".join(["gzip", "gzip", "br", "deflate"] * 25),
            "bad_http",
        ),
        ("27c", "two layers", nested(raw, 2), "gzip, gzip", "ok bad_http"),
        (
            "27d",
            "two layers with a hundred megabytes of nothing between them",
            gzip_of(EMPTY_BLOCKS, 100, head=packed[:10]),
            "gzip, gzip",
            "too_big",
        ),
        ("29a", "gzip cut in the middle", packed[:-60], "gzip", "ok_partial bad_http"),
        (
            "29b",
            "gzip with broken bits",
            packed[:80] + b"\xff\x00\xff\x00" * 8 + packed[112:],
            "gzip",
            "ok_partial bad_http",
        ),
        (
            "29c",
            "gzip with a wrong checksum",
            packed[:-8] + b"12345678",
            "gzip",
            "ok ok_partial bad_http",
        ),
        (
            "29d",
            "gzip and rubbish behind",
            packed + b"rubbish" * 9,
            "gzip",
            "ok ok_partial bad_http",
        ),
        ("29e", "gzip of nothing", b"", "gzip", "ok ok_partial bad_http"),
        ("30", "says gzip, is plain", raw, "gzip", "ok"),
        ("31a", "zstd never asked for", zstd_of(raw), "zstd", "bad_http"),
        ("31b", "a coding nobody knows", raw, "x-evil", "bad_http"),
        ("31c", "identity spelled out", raw, "identity", "ok"),
    ):
        judge = holds("Köln") if expect == "ok" else at_most(1)
        yield exhibit(
            number,
            title,
            says(coded(body, coding)),
            slug=f"coding-{number}",
            expect=expect,
            judge=judge,
        )


def charsets() -> Iterator[Exhibit]:
    meta = '<meta charset="{}">'
    lies = page("<p>Grüße aus Köln</p>", head=meta.format("gb18030")).encode("latin-1")
    for number, title, body, kind in (
        ("32a", "header utf-8, meta gb18030, body latin-1", lies, "utf-8"),
        ("32b", "a charset nobody knows", TEXT.encode(), "x-klingon"),
        ("32c", "a charset that runs code", TEXT.encode(), "unicode_escape"),
        ("32d", "UTF-7", b"+ADw-script+AD4-" + TEXT.encode(), "utf-7"),
        ("32e", "a codec that is not a charset", TEXT.encode(), "zlib_codec"),
        ("32f", "a charset of 10,000 letters", TEXT.encode(), "u" * 10_000),
        ("34a", "NUL bytes and bidi controls", nuls(), "utf-8"),
        (
            "34b",
            "lone surrogates",
            b"\xed\xa0\x80 <title>\xed\xb0\x80</title>",
            "utf-8",
        ),
        ("34c", "UTF-16 with a mark", TEXT.encode("utf-16"), "utf-16"),
        ("34d", "UTF-16 without a mark", TEXT.encode("utf-16-le"), "utf-16le"),
    ):
        yield exhibit(
            number,
            title,
            says(answer(body, kind=f"text/html; charset={kind}")),
            slug=f"charset-{number}",
            expect="ok" if number != "34d" else "ok not_html",
            judge=is_text,
        )


def disguises() -> Iterator[Exhibit]:
    for number, title, magic in (
        ("35a", "JPEG as HTML", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"),
        ("35b", "ELF as HTML", b"\x7fELF\x02\x01\x01\x00"),
        ("35c", "PDF as HTML", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
        ("35d", "zip as HTML", b"PK\x03\x04\x14\x00\x00\x00"),
        ("35e", "PNG as HTML", b"\x89PNG\r\n\x1a\n"),
        ("35f", "gzip file as HTML", gzip.compress(TEXT.encode())),
        ("35g", "MP4 as HTML", b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00"),
        ("35h", "random bytes as HTML", bytes(range(256)) * 8),
    ):
        yield exhibit(
            number,
            title,
            says(answer(magic + bytes(range(256)) * 20)),
            slug=f"disguise-{number}",
            expect="not_html",
        )
    yield exhibit(
        "35i",
        "image/png, honestly",
        says(answer(b"\x89PNG\r\n\x1a\n" + bytes(500), kind="image/png")),
        slug="honest-png",
        expect="not_html ok",
    )
    yield exhibit(
        "35j",
        "HTML as application/octet-stream",
        says(answer(TEXT, kind="application/octet-stream")),
        slug="octet-html",
        expect="ok not_html",
    )
    yield exhibit(
        "35k",
        "HTML without a type",
        says(HTTP_BARE + TEXT.encode()),
        slug="no-type",
        expect="ok",
    )


HTTP_BARE = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


def coded(body: bytes, coding: str) -> bytes:
    return answer(body, headers={"Content-Encoding": coding})


def gzip_bomb() -> bytes:
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + zeros() * 1024 + b"\x03\x00" + bytes(8)


def deflate_bomb() -> bytes:
    return b"\x78\x9c" + zeros() * 1024 + b"\x03\x00"


def zeros() -> bytes:
    """Return a deflate block of 1 MiB of zeros that can be repeated."""
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)


def zstd_bomb(window: int = 0x38) -> bytes:
    # 8,192 blocks, each one byte repeated 128 KiB times; the last bit ends the frame.
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([window])
    block = ((128 << 10) << 3 | 2).to_bytes(3, "little") + b"\x00"
    last = ((128 << 10) << 3 | 3).to_bytes(3, "little") + b"\x00"
    return frame + block * 8191 + last


def zstd_of(raw: bytes) -> bytes:
    head = b"\x28\xb5\x2f\xfd\x00\x38"
    return head + (len(raw) << 3 | 1).to_bytes(3, "little") + raw


def nested(raw: bytes, layers: int) -> bytes:
    for _ in range(layers):
        raw = gzip.compress(raw)
    return raw


def gzip_of(block: bytes, times: int, *, head: bytes = b"") -> bytes:
    """Pack a head and so many times a block; the block is packed only once.

    What follows a full flush does not depend on what came before. The checksum is
    wrong: whoever gets so far has read too much.
    """
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + packed * times + b"\x03\x00" + bytes(8)


def nuls() -> bytes:
    body = page("<p>a\x00b \u202egro.elpmaxe@ofni\u202c \U0001f600</p>", title="T\x00t")
    return body.encode()


async def chunked_bomb(exchange: Exchange, request: Request) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    bomb = gzip_bomb()
    for start in range(0, len(bomb), 500):
        piece = bomb[start : start + 500]
        each = (b"1\r\n%c\r\n" % byte for byte in piece)
        await exchange.send(b"".join(chain(each)))


def holds(text: str) -> Judge:
    """Return a judge who looks for a text in the page."""

    def judge(evidence: Evidence) -> str | None:
        found = text in str(evidence.result.text)
        return None if found else f"{text!r} is not in the page"

    return judge


def is_text(evidence: Evidence) -> str | None:
    if evidence.outcome != "ok":
        return None
    text = str(evidence.result.text)
    if "\0" in text:
        return "the text holds NUL"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the text holds lone surrogates"
    return None
