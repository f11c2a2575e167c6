"""What a body is by its own bytes, whatever its header says."""

import re
from enum import StrEnum

SCAN = 512


class Kind(StrEnum):
    """What came."""

    EMPTY = "empty"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    TEXT = "text"
    GZIP = "gzip"
    ARCHIVE = "archive"
    DOCUMENT = "document"
    IMAGE = "image"
    MEDIA = "media"
    FONT = "font"
    PROGRAM = "program"
    BINARY = "binary"


TEXTUAL = frozenset({Kind.EMPTY, Kind.HTML, Kind.XML, Kind.JSON, Kind.TEXT})


def sniff(body: bytes, content_type: str) -> Kind:
    """Return what the first bytes are; the header decides only between texts."""
    if not body:
        return Kind.EMPTY
    head = bytes(body[:SCAN])
    if head[0] in _FIRST_BYTES:
        for magic, kind in _MAGIC:
            if head.startswith(magic):
                return kind
    if head[4:8] == b"ftyp":
        return Kind.MEDIA
    if head.startswith(b"RIFF"):
        return Kind.IMAGE if head[8:12] == b"WEBP" else Kind.MEDIA
    is_wide = head.startswith(_WIDE_MARKS) or "charset=utf-16" in content_type.lower()
    if not is_wide and _looks_binary(head):
        return Kind.BINARY
    return _text_kind(head, content_type)


def refused_type(content_type: str) -> bool:
    """Say whether a header alone tells that this is neither a page nor a sitemap."""
    return content_type.lower().lstrip().startswith(_NEVER_TEXT)


def _looks_binary(head: bytes) -> bool:
    """Allow a stray control character, which sloppy pages have; never a crowd."""
    strange = len(_BINARY_BYTES.findall(head))
    return strange * 20 > len(head)


def _text_kind(head: bytes, content_type: str) -> Kind:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    declared = content_type.partition(";")[0].strip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return Kind.HTML
    if declared in {"text/html", "application/xhtml+xml"}:
        return Kind.HTML
    if start.startswith((b"<?xml", *_XML_ROOTS)):
        return Kind.HTML if b"<html" in start else Kind.XML
    if declared.endswith(("/xml", "+xml")):
        return Kind.XML
    if declared.endswith(("/json", "+json")):
        return Kind.JSON
    if not declared and start.startswith((b"<", b"<!--")):
        return Kind.HTML
    return Kind.TEXT


_XML_ROOTS = (b"<urlset", b"<sitemapindex", b"<rss", b"<feed")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BINARY_BYTES = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_NEVER_TEXT = (
    "image/",
    "video/",
    "audio/",
    "font/",
    "application/pdf",
    "application/zip",
)
_MAGIC = (
    (b"\x1f\x8b", Kind.GZIP),
    (b"%PDF-", Kind.DOCUMENT),
    (b"{\\rtf", Kind.DOCUMENT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.DOCUMENT),
    (b"%!PS", Kind.DOCUMENT),
    (b"\xff\xd8\xff", Kind.IMAGE),
    (b"\x89PNG\r\n\x1a\n", Kind.IMAGE),
    (b"GIF87a", Kind.IMAGE),
    (b"GIF89a", Kind.IMAGE),
    (b"\x00\x00\x01\x00", Kind.IMAGE),
    (b"II*\x00", Kind.IMAGE),
    (b"MM\x00*", Kind.IMAGE),
    (b"PK\x03\x04", Kind.ARCHIVE),
    (b"PK\x05\x06", Kind.ARCHIVE),
    (b"Rar!\x1a\x07", Kind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", Kind.ARCHIVE),
    (b"BZh", Kind.ARCHIVE),
    (b"\xfd7zXZ\x00", Kind.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", Kind.ARCHIVE),
    (b"\x7fELF", Kind.PROGRAM),
    (b"MZ\x90\x00", Kind.PROGRAM),
    (b"\xca\xfe\xba\xbe", Kind.PROGRAM),
    (b"\xcf\xfa\xed\xfe", Kind.PROGRAM),
    (b"\x00asm", Kind.PROGRAM),
    (b"OggS", Kind.MEDIA),
    (b"ID3", Kind.MEDIA),
    (b"fLaC", Kind.MEDIA),
    (b"\x1aE\xdf\xa3", Kind.MEDIA),
    (b"wOFF", Kind.FONT),
    (b"wOF2", Kind.FONT),
    (b"SQLite format 3\x00", Kind.BINARY),
)
_FIRST_BYTES = frozenset(magic[0] for magic, _ in _MAGIC)
