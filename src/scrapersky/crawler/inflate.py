"""Undo Content-Encoding a piece at a time, and never more than was allowed."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from scrapersky.crawler.limits import FetchLimits
from scrapersky.errors import BadHttp, TooBig
from scrapersky.kit.spool import MAX_MEMORY_BYTES, Spool

STEP_BYTES = 256 * 1024
QUICK_BYTES = 16 * 1024
"""Compressed bytes of a body that are inflated on the event loop; most pages are less."""
MAX_DISKLESS_BYTES = 16 * 1024 * 1024
"""How much of a body, at most, is held in memory when the disk is full."""
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31
ZLIB_WINDOW = 15
RAW_WINDOW = -15
MAX_MEMBERS = 100

Coding = Literal["gzip", "deflate"]


def read_codings(url: str, values: list[str], *, limit: int) -> list[Coding]:
    """Return the codings to undo, outermost first; raise BadHttp for one we never asked.

    brotli and zstd are refused: they make a gigabyte out of a kilobyte, and their
    decoders cannot be stopped in the middle of a step.
    """
    codings: list[Coding] = []
    for name in ",".join(values).lower().split(","):
        match name.strip():
            case "" | "identity" | "utf-8" | "none":
                continue
            case "gzip" | "x-gzip":
                codings.append("gzip")
            case "deflate" | "x-deflate":
                codings.append("deflate")
            case other:
                raise BadHttp(url, f"sent the encoding {other[:20]!a}, never asked for")
    if len(codings) > limit:
        raise BadHttp(url, f"wrapped the body in {len(codings)} encodings")
    return codings[::-1]


@dataclass(slots=True)
class BodyInflater:
    """Takes the body as it came from the wire and collects what it stands for."""

    url: str
    codings: list[Coding]
    limits: FetchLimits
    max_bytes: int
    may_spool: bool = False
    """Whether a long body goes to a file; `out` is then only its beginning."""
    keep: int | None = None
    """How many bytes are kept; those that follow are only counted."""
    out: bytearray = field(default_factory=bytearray)
    spool: Spool | None = None
    size: int = 0
    taken: int = 0
    _layers: "list[_Layer]" = field(default_factory=list)

    def __post_init__(self) -> None:
        """Prepare one layer per coding."""
        self._layers = [_Layer(self.url, coding) for coding in self.codings]

    def feed(self, data: bytes) -> None:
        """Take a piece; raise TooBig past the limits, BadHttp for broken data."""
        self.taken += len(data)
        if self._layers:
            self._push(data, 0)
        else:
            self._keep(data)

    def is_quick(self, size: int) -> bool:
        """Say whether so many more bytes are inflated before anyone would notice."""
        return not self._layers or self.taken + size <= QUICK_BYTES

    @property
    def is_whole(self) -> bool:
        """Say whether every layer saw its own end."""
        return all(layer.is_whole for layer in self._layers)

    def _push(self, data: bytes, level: int) -> None:
        if level == len(self._layers):
            self._keep(data)
            return
        layer = self._layers[level]
        layer.taken += len(data)
        for piece in layer.pieces(data):
            # Every layer, not only the last: five gigabytes between two layers cost
            # seconds, though what comes out at the end is a few bytes.
            layer.given += len(piece)
            self._check_growth(layer.taken, layer.given)
            self._push(piece, level + 1)

    def _keep(self, data: bytes) -> None:
        self._store(data)
        self.size += len(data)
        self._check_growth(self.taken, self.size)

    def _check_growth(self, taken: int, given: int) -> None:
        if given > self.max_bytes:
            raise TooBig(self.url, f"is more than {self.max_bytes:,} bytes inflated")
        if (
            given > self.limits.ratio_from
            and given > self.limits.inflation_ratio * taken
        ):
            raise TooBig(self.url, f"grew {given // max(taken, 1)} times when inflated")

    def _store(self, data: bytes) -> None:
        if self.keep is not None:
            data = data[: max(0, self.keep - self.size)]
        if not self.may_spool or self.size + len(data) <= MAX_MEMORY_BYTES:
            self.out += data
            return
        try:
            if self.spool is None:
                self.spool = Spool()
                self.spool.write(self.out)
            self.spool.write(data)
        except OSError as error:
            if self.max_bytes > MAX_DISKLESS_BYTES:
                raise TooBig(self.url, "does not fit on our disk") from error
            # A page must not be lost because our disk is full.
            if self.spool is not None and self.size > MAX_MEMORY_BYTES:
                self.out = bytearray(self.spool.read(self.size))
            self.out += data
            self.spool, self.may_spool = None, False


class _Layer:
    """One coding: what it says it is, or, by its first bytes, what it really is."""

    def __init__(self, url: str, coding: Coding) -> None:
        self.url = url
        self.coding = coding
        self.opening = b""
        """The first byte of something whose second one decides."""
        self.engine: zlib._Decompress | None = None
        self.is_plain = False
        self.members = 1
        self.taken = 0
        self.given = 0

    @property
    def is_whole(self) -> bool:
        if self.engine is None:
            return self.is_plain or not self.opening
        return self.engine.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what this much input stands for, in bounded steps."""
        if not self.is_plain and self.engine is None:
            data = self.opening + data
            if len(data) < len(GZIP_MAGIC):
                self.opening = data
                return
            self.opening = b""
            self.engine = self._choose(data)
            self.is_plain = self.engine is None
        if self.engine is None:
            yield data
            return
        more = True
        while more:
            if self.engine.eof:
                data, self.opening = self.opening + data, b""
                if len(data) < len(GZIP_MAGIC):
                    self.opening = data
                    return
                if not data.startswith(GZIP_MAGIC) or self.members >= MAX_MEMBERS:
                    return  # anything else after the end is ignored, as browsers do
                self.engine = zlib.decompressobj(GZIP_WINDOW)
                self.members += 1
            piece = self._step(self.engine, data)
            data = (
                self.engine.unused_data
                if self.engine.eof
                else self.engine.unconsumed_tail
            )
            # A full step may leave output inside the decoder with all input consumed.
            more = bool(data) or (len(piece) == STEP_BYTES and not self.engine.eof)
            if piece:
                yield piece

    def _step(self, engine: "zlib._Decompress", data: bytes) -> bytes:
        try:
            return engine.decompress(data, STEP_BYTES)
        except zlib.error as error:
            raise BadHttp(self.url, f"sent broken {self.coding} data") from error

    def _choose(self, data: bytes) -> "zlib._Decompress | None":
        """Look at the first bytes: a server may say gzip and send plain text."""
        if data.startswith(GZIP_MAGIC):
            return zlib.decompressobj(GZIP_WINDOW)
        if self.coding == "gzip":
            return None
        if data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0:
            return zlib.decompressobj(ZLIB_WINDOW)
        if data.lstrip()[:1] in {b"<", b"{"}:
            return None
        return zlib.decompressobj(RAW_WINDOW)
