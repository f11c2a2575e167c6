"""Turn the bytes of a sitemap, however packed and encoded, into capped UTF-8."""

import codecs
import re
import zlib
from collections.abc import Iterator
from typing import Final

from contact_extraction.errors import BadSitemap, SitemapTooBig
from contact_extraction.sitemap.model import MEBIBYTE, SitemapLimits, Truncation
from contact_extraction.utf16 import MAX_WRONG

PIECE_BYTES: Final = 128 * 1024
"""How many bytes are looked at together."""


class GzipStream:
    """Unpacks gzip recognised by its magic number, at most two layers of it.

    Content types and file names are not asked: half of the servers get them wrong.
    """

    def __init__(self, limits: SitemapLimits, *, layer: int = 1) -> None:
        self.was_gzip = False
        self.cut: Truncation | None = None
        self._limits = limits
        self._layer = layer
        self._start = b""
        self._decided = False
        self._member: zlib._Decompress | None = None
        self._inner: GzipStream | None = None
        self._wire = 0
        self._given = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what the chunk unpacks to, in pieces of bounded size."""
        if not self._decided:
            chunk = self._start + chunk
            if len(chunk) < len(_GZIP):
                self._start = chunk
                return
            self._decide(chunk)
        if self._inner is None:
            yield from _pieces(chunk)
        elif self.cut is None:
            yield from self._inflate(chunk)

    def close(self) -> Iterator[bytes]:
        """Yield what is left; say in `cut` whether the end is missing."""
        if not self._decided:
            self._decided = True
            yield self._start
        if self._inner is not None:
            yield from self._inner.close()
            self.cut = self.cut or self._inner.cut
        if self._member is not None and not self._member.eof:
            self.cut = self.cut or Truncation.ENDED_EARLY

    def _decide(self, chunk: bytes) -> None:
        self._decided = True
        if not chunk.startswith(_GZIP):
            return
        if self._layer > _MAX_LAYERS:
            raise SitemapTooBig("gzip is packed in gzip again and again")
        self.was_gzip = True
        self._inner = GzipStream(self._limits, layer=self._layer + 1)
        self._member = zlib.decompressobj(_GZIP_FORMAT)

    def _inflate(self, chunk: bytes) -> Iterator[bytes]:
        self._wire += len(chunk)
        while chunk and self._inner is not None and self._member is not None:
            if self._member.eof:
                chunk = chunk.lstrip(b"\0")
                if not chunk.startswith(_GZIP):
                    return
                self._member = zlib.decompressobj(_GZIP_FORMAT)
            try:
                piece = self._member.decompress(chunk, PIECE_BYTES)
            except zlib.error:
                self._damaged()
                return
            self._given += len(piece)
            self._refuse_bomb()
            yield from self._inner.feed(piece)
            if self._given > self._limits.max_bytes:
                self.cut = Truncation.BYTES
                return
            chunk = self._member.unconsumed_tail or self._member.unused_data

    def _refuse_bomb(self) -> None:
        allowed = max(MEBIBYTE, self._wire * self._limits.max_ratio)
        if self._given > allowed:
            raise SitemapTooBig(
                f"{self._wire:,} bytes of gzip inflate to more than {allowed:,}"
            )

    def _damaged(self) -> None:
        if not self._given:
            raise BadSitemap("the gzip data cannot be read")
        self.cut = Truncation.DAMAGED_GZIP


class Transcoder:
    """Gives UTF-8 whatever the file is written in.

    The XML parser is given UTF-8 and never sees another encoding, so that what we looked
    at (is there a DOCTYPE?) is what it reads.
    """

    def __init__(self) -> None:
        self._start = b""
        self._decided = False
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_wide = False
        self._wrong = 0

    def feed(self, chunk: bytes) -> bytes:
        """Return the chunk in UTF-8; the first bytes are held until the encoding is known."""
        if self._decided:
            return self._decoded(chunk)
        self._start += chunk
        if len(self._start) < _DECLARATION_BYTES:
            return b""
        return self._decide()

    def close(self) -> bytes:
        """Return what is left."""
        rest = b"" if self._decided else self._decide()
        if self._decoder is None:
            return rest
        return rest + _as_utf8(self._decoder.decode(b"", final=True))

    def _decide(self) -> bytes:
        self._decided = True
        start, self._start = self._start, b""
        marks = (pair for pair in _MARKS if start.startswith(pair[0]))
        mark, name = next(marks, (b"", _without_mark(start)))
        start = start.removeprefix(mark)
        if name != "utf-8":
            self._decoder = codecs.getincrementaldecoder(name)("replace")
            self._is_wide = name.startswith(("utf-16", "utf-32"))
        return self._decoded(start)

    def _decoded(self, chunk: bytes) -> bytes:
        if self._decoder is None:
            return chunk
        text = self._decoder.decode(chunk)
        if self._is_wide:
            self._wrong += text.count("\ufffd")
            if self._wrong > MAX_WRONG:
                raise BadSitemap("it is not written in the encoding it says")
        return _as_utf8(text)


_GZIP: Final = b"\x1f\x8b"
_GZIP_FORMAT: Final = 31
_MAX_LAYERS: Final = 2
_DECLARATION_BYTES: Final = 512
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"""\s{0,64}<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']"""
)
# Only plain character sets: Python also knows codecs that unpack or run in square time.
_CHARSETS: Final = re.compile(
    r"iso8859-\d{1,2}|cp125\d|cp874|cp932|cp949|koi8-[ru]|gb2312|gbk|gb18030|big5"
    r"|big5hkscs|shift_jis|shift_jis_2004|euc_jp|euc_kr|johab|mac-roman|mac-cyrillic"
    r"|tis-620|latin-1"
)


def _pieces(chunk: bytes) -> Iterator[bytes]:
    if len(chunk) <= PIECE_BYTES:
        yield chunk
        return
    for start in range(0, len(chunk), PIECE_BYTES):
        yield chunk[start : start + PIECE_BYTES]


def _without_mark(start: bytes) -> str:
    if start.startswith(b"<\0") and start[3:4] == b"\0":
        return "utf-16-le"
    if start.startswith(b"\0<\0"):
        return "utf-16-be"
    found = _DECLARED.match(start)
    if found is None:
        return "utf-8"
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except (LookupError, UnicodeDecodeError, ValueError):
        return "utf-8"
    if name == "iso8859-1":
        # Browsers read it so too: those who write Latin-1 mean the Windows set.
        return "cp1252"
    return name if _CHARSETS.fullmatch(name) else "utf-8"


def _as_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
