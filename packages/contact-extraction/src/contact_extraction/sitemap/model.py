"""What a sitemap says: the values that the rest of the product reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

MEBIBYTE: Final = 1024 * 1024
MAX_PER_PAGE: Final = 1_000
"""How many images, videos or alternates of one page are kept; Google's own limit."""


class SitemapKind(StrEnum):
    """What a file is for; the values of `sitemap_files.type`."""

    INDEX = "index"
    STANDARD = "standard"
    IMAGE = "image"
    VIDEO = "video"
    NEWS = "news"
    FEED = "feed"
    TEXT = "text"


class Dialect(StrEnum):
    """The form a file is written in."""

    SITEMAP = "sitemap"
    RSS = "rss"
    RDF = "rdf"
    ATOM = "atom"
    TEXT = "text"


class Precision(StrEnum):
    """How much of a time was really written down."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    MINUTE = "minute"
    SECOND = "second"
    FRACTION = "fraction"


class ChangeFreq(StrEnum):
    """How often a page changes, by its owner's guess."""

    ALWAYS = "always"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"
    NEVER = "never"


class Drop(StrEnum):
    """Why a URL of the file is not among its entries."""

    EMPTY = "empty"
    BAD_URL = "bad_url"
    NOT_HTTP = "not_http"
    TOO_LONG = "too_long"
    OTHER_HOST = "other_host"
    DUPLICATE = "duplicate"
    OVER_LIMIT = "over_limit"


class Truncation(StrEnum):
    """Why the end of the file is missing from the result."""

    BYTES = "more bytes than the limit"
    URLS = "more URLs than the limit"
    ENDED_EARLY = "the file ends in the middle"
    DAMAGED_GZIP = "the gzip data is damaged"


class Video(NamedTuple):
    """A video that a page shows."""

    title: str | None
    url: str | None
    """Where the file or the player is."""
    thumbnail: str | None
    published: datetime | None


class NewsArticle(NamedTuple):
    """A news article, as its publisher announces it."""

    publication: str | None
    language: str | None
    title: str | None
    published: datetime | None


class Alternate(NamedTuple):
    """The same page in another language."""

    language: str
    url: str


# Entries come fifty thousand at a time: a tuple is built by C code, four times as fast
# as a frozen dataclass.
class Entry(NamedTuple):
    """One page, or one child sitemap, that the file names."""

    url: str
    """In the canonical form of `kit.urls`."""
    lastmod: datetime | None = None
    precision: Precision | None = None
    """How much of `lastmod` was written: a bare date is midnight UTC."""
    changefreq: ChangeFreq | None = None
    priority: float | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    news: NewsArticle | None = None
    alternates: tuple[Alternate, ...] = ()
    title: str | None = None
    """Only feeds say it."""


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """How much of one file we read; the defaults are those of the protocol."""

    max_bytes: int = 50 * MEBIBYTE
    """Inflated. What follows is not read, and the result says so."""
    max_urls: int = 50_000
    max_ratio: int = 100
    """Inflated bytes per byte of gzip, beyond the first mebibyte."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Everything one file said, and what was left out of it."""

    kind: SitemapKind
    dialect: Dialect
    entries: tuple[Entry, ...] = ()
    """The pages. Empty from a stream, which hands them out as it goes."""
    sitemaps: tuple[Entry, ...] = ()
    """The child files of an index, on any host."""
    seen: int = 0
    """How many URLs stood in the file, kept or not."""
    kept: int = 0
    dropped: Mapping[Drop, int] = field(default_factory=dict)
    images: int = 0
    videos: int = 0
    news: int = 0
    alternates: int = 0
    newest: datetime | None = None
    generator: str | None = None
    generator_version: str | None = None
    bytes_read: int = 0
    """Inflated."""
    was_gzip: bool = False
    cut: Truncation | None = None
    recovered: bool = False
    """Whether the file was broken and had to be repaired to be read."""

    @property
    def outcome(self) -> str:
        """Return `ok`, or `ok_partial` where the end is missing."""
        return "ok" if self.cut is None else "ok_partial"

    @property
    def empty_because(self) -> str | None:
        """Say why the file yields nothing; None if it yields something."""
        if self.kept:
            return None
        if not self.seen:
            return "the sitemap names no URLs"
        why = ", ".join(f"{reason} {count:,}" for reason, count in self.dropped.items())
        return f"all {self.seen:,} URLs were dropped: {why}"
