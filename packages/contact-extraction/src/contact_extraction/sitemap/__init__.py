"""Sitemaps, feeds and URL lists: bytes in, typed entries out, every drop counted."""

from contact_extraction.sitemap.model import (
    Alternate,
    ChangeFreq,
    Cut,
    Dialect,
    Drop,
    Entry,
    Limits,
    News,
    Precision,
    Sitemap,
    SitemapKind,
    Video,
)
from contact_extraction.sitemap.reader import (
    SitemapReader,
    parse_sitemap,
    stream_sitemap,
)
from contact_extraction.sitemap.walk import SitemapWalk, Stop
from contact_extraction.sitemap.when import parse_moment

__all__ = [
    "Alternate",
    "ChangeFreq",
    "Cut",
    "Dialect",
    "Drop",
    "Entry",
    "Limits",
    "News",
    "Precision",
    "Sitemap",
    "SitemapKind",
    "SitemapReader",
    "SitemapWalk",
    "Stop",
    "Video",
    "parse_moment",
    "parse_sitemap",
    "stream_sitemap",
]
