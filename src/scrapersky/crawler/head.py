"""What a page's meta tags say to the crawler itself: go elsewhere, do not follow.

A glance by regular expressions in linear time, before any parser sees the page; the
facts a reader wants are taken later, in a child process, by `contact_extraction`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SCAN_BYTES = 32 * 1024
MAX_TAGS = 100
MAX_TAG_BYTES = 2048
MAX_REFRESH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HeadHints:
    """The two kinds of meta tag that concern a crawler."""

    refresh: str | None = None
    robots: tuple[str, ...] = ()


def read_hints(body: bytes) -> HeadHints:
    """Return what the meta tags near the top of a page ask of us."""
    top = bytes(body[:SCAN_BYTES])
    low = top.lower()
    if (end := low.find(b"<body")) >= 0:
        top, low = top[:end], low[:end]
    if b"<meta" not in low:
        return HeadHints()
    refresh: str | None = None
    robots: list[str] = []
    for tag in _meta_tags(_visible(top, low)):
        attributes = _attributes(tag)
        content = attributes.get("content", "")
        name = attributes.get("name", "").lower()
        if attributes.get("http-equiv", "").lower() == "refresh" and refresh is None:
            refresh = _target(content)
        elif name in {"robots", "scrapersky", "tdm-reservation"}:
            robots.append(f"{name}: {content[:200]}")
    return HeadHints(refresh, tuple(robots[:10]))


def _visible(top: bytes, low: bytes) -> bytes:
    """Drop what is not markup to a reader; an opening without its end drops the rest."""
    kept, place = [], 0
    while found := _HIDING.search(low, place):
        kept.append(top[place : found.start()])
        end = low.find(_ENDINGS[found[0]], found.end())
        if end < 0:
            return b"".join(kept)
        place = end
    kept.append(top[place:])
    return b"".join(kept)


def _meta_tags(top: bytes) -> Iterator[str]:
    low = top.lower()
    place = 0
    for _ in range(MAX_TAGS):
        start = low.find(b"<meta", place)
        place = low.find(b">", start)
        if start < 0 or place < 0:
            return
        tag = top[start + len(b"<meta") : min(place, start + MAX_TAG_BYTES)]
        if _CONCERNS_US.search(tag):
            yield tag.decode("utf-8", "replace")


def _attributes(tag: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag):
        found.setdefault(name.lower(), (double or single or bare).strip())
    return found


def _target(content: str) -> str | None:
    if (found := _REFRESH.match(content)) is None:
        return None
    return found[2].strip("\"' ") if float(found[1]) <= MAX_REFRESH_SECONDS else None


# A refresh inside noscript is meant for those who cannot run scripts and usually
# leads to a page that says just that.
_ENDINGS = {b"<!--": b"-->", b"<noscript": b"</noscript", b"<script": b"</script"}
_CONCERNS_US = re.compile(rb"refresh|robots|scrapersky|tdm-", re.IGNORECASE)
_HIDING = re.compile(rb"<!--|<noscript|<script")
_ATTRIBUTE = re.compile(
    r"""(?<![A-Za-z-])([A-Za-z-]{1,32})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)
_REFRESH = re.compile(
    r"""\s*([0-9]{1,6}(?:\.[0-9]{0,3})?)\s*[;,]\s*url\s*=\s*(\S.*)""",
    re.IGNORECASE | re.DOTALL,
)
