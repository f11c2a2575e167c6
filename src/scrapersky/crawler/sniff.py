"""What a body is by its own bytes, whatever its header says."""

import re
from enum import StrEnum

SCAN_BYTES = 512


class ContentKind(StrEnum):
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


TEXTUAL = frozenset(
    {
        ContentKind.EMPTY,
        ContentKind.HTML,
        ContentKind.XML,
        ContentKind.JSON,
        ContentKind.TEXT,
    }
)


def sniff(body: bytes, content_type: str) -> ContentKind:
    """Return what the first bytes are; the header decides only between texts."""
    if not body:
        return ContentKind.EMPTY
    head = bytes(body[:SCAN_BYTES])
    if head[0] in _FIRST_BYTES:
        for magic, kind in _MAGIC:
            if head.startswith(magic):
                return kind
    if head[4:8] == b"ftyp":
        return ContentKind.MEDIA
    if head.startswith(b"RIFF"):
        return ContentKind.IMAGE if head[8:12] == b"WEBP" else ContentKind.MEDIA
    is_wide = head.startswith(_WIDE_MARKS) or "charset=utf-16" in content_type.lower()
    if not is_wide and _looks_binary(head):
        return ContentKind.BINARY
    return _text_kind(head, content_type)


def refused_type(content_type: str) -> bool:
    """Say whether a header alone says that this is neither a page nor a sitemap."""
    return content_type.lower().lstrip().startswith(_NEVER_TEXT)


def _looks_binary(head: bytes) -> bool:
    """Allow a stray control character, which sloppy pages have; never a crowd."""
    strange = len(_BINARY_BYTES.findall(head))
    return strange * 20 > len(head)


def _text_kind(head: bytes, content_type: str) -> ContentKind:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    declared = content_type.partition(";")[0].strip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return ContentKind.HTML
    if declared in {"text/html", "application/xhtml+xml"}:
        return ContentKind.HTML
    if start.startswith((b"<?xml", *_XML_ROOTS)):
        return ContentKind.HTML if b"<html" in start else ContentKind.XML
    if declared.endswith(("/xml", "+xml")):
        return ContentKind.XML
    if declared.endswith(("/json", "+json")):
        return ContentKind.JSON
    if not declared and start.startswith((b"<", b"<!--")):
        return ContentKind.HTML
    return ContentKind.TEXT


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
    (b"\x1f\x8b", ContentKind.GZIP),
    (b"%PDF-", ContentKind.DOCUMENT),
    (b"{\\rtf", ContentKind.DOCUMENT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ContentKind.DOCUMENT),
    (b"%!PS", ContentKind.DOCUMENT),
    (b"\xff\xd8\xff", ContentKind.IMAGE),
    (b"\x89PNG\r\n\x1a\n", ContentKind.IMAGE),
    (b"GIF87a", ContentKind.IMAGE),
    (b"GIF89a", ContentKind.IMAGE),
    (b"\x00\x00\x01\x00", ContentKind.IMAGE),
    (b"II*\x00", ContentKind.IMAGE),
    (b"MM\x00*", ContentKind.IMAGE),
    (b"PK\x03\x04", ContentKind.ARCHIVE),
    (b"PK\x05\x06", ContentKind.ARCHIVE),
    (b"Rar!\x1a\x07", ContentKind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", ContentKind.ARCHIVE),
    (b"BZh", ContentKind.ARCHIVE),
    (b"\xfd7zXZ\x00", ContentKind.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", ContentKind.ARCHIVE),
    (b"\x7fELF", ContentKind.PROGRAM),
    (b"MZ\x90\x00", ContentKind.PROGRAM),
    (b"\xca\xfe\xba\xbe", ContentKind.PROGRAM),
    (b"\xcf\xfa\xed\xfe", ContentKind.PROGRAM),
    (b"\x00asm", ContentKind.PROGRAM),
    (b"OggS", ContentKind.MEDIA),
    (b"ID3", ContentKind.MEDIA),
    (b"fLaC", ContentKind.MEDIA),
    (b"\x1aE\xdf\xa3", ContentKind.MEDIA),
    (b"wOFF", ContentKind.FONT),
    (b"wOF2", ContentKind.FONT),
    (b"SQLite format 3\x00", ContentKind.BINARY),
)
_FIRST_BYTES = frozenset(magic[0] for magic, _ in _MAGIC)
