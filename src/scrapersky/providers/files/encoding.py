"""In what encoding a text file is written."""

import codecs
from pathlib import Path

CHUNK = 1 << 20
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def encoding_of(path: Path) -> str:
    """Return the encoding: by mark, by pattern, or by being valid UTF-8 to the end.

    The whole file is read once, in pieces: a single name with an umlaut in the last
    row decides, and a wrong guess would spoil it.
    """
    with path.open("rb") as file:
        start = file.read(4096)
        for mark, name in MARKS:
            if start.startswith(mark):
                return name
        if (wide := wide_encoding(start)) is not None:
            return wide
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def wide_encoding(start: bytes) -> str | None:
    """Return UTF-16 without a mark, recognised by every other byte being zero."""
    even, odd = start[0::2], start[1::2]
    if len(start) < 4:  # noqa: PLR2004
        return None
    if odd.count(0) > len(odd) * 0.4 and even.count(0) < len(even) * 0.1:
        return "utf-16-le"
    if even.count(0) > len(even) * 0.4 and odd.count(0) < len(odd) * 0.1:
        return "utf-16-be"
    return None
