"""Sitemaps, feeds and URL lists: bytes in, typed entries out, every drop counted."""

from contact_extraction.sitemap.model import (
    Alternate,
    ChangeFreq,
    Dialect,
    Drop,
    Entry,
    NewsArticle,
    Precision,
    Sitemap,
    SitemapKind,
    SitemapLimits,
    Truncation,
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
    "Dialect",
    "Drop",
    "Entry",
    "NewsArticle",
    "Precision",
    "Sitemap",
    "SitemapKind",
    "SitemapLimits",
    "SitemapReader",
    "SitemapWalk",
    "Stop",
    "Truncation",
    "Video",
    "parse_moment",
    "parse_sitemap",
    "stream_sitemap",
]
