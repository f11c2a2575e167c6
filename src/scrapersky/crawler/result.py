"""What a fetch gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, StrEnum, auto
from functools import cached_property

from contact_extraction.urls import Url
from scrapersky.crawler.charset import Charset, decode
from scrapersky.crawler.sniff import ContentKind
from scrapersky.kit.spool import Spool


class Accept(Enum):
    """What the caller can use; anything else ends the fetch with a typed error."""

    HTML = auto()
    XML = auto()
    """A sitemap or feed: XML, text or either of them packed with gzip."""
    ANY = auto()


class IncompleteReason(StrEnum):
    """What is missing from a body."""

    TRUNCATED = "truncated"
    """The connection ended before the announced end."""
    SIZE = "size"
    """It was larger than allowed, and the caller asked for what fits."""
    BROKEN_ENCODING = "broken_encoding"
    """The compressed data ended before its own end."""


@dataclass(frozen=True, slots=True)
class CacheValidators:
    """What we hold already, so that the server may answer 304."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """One request on the way to the final answer."""

    url: Url
    status: int
    how: str = "http"
    """`http` for a redirect answer, `meta` for a refresh in a page."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time went, all hops together; zero where a connection was reused."""

    dns: timedelta = timedelta()
    connect: timedelta = timedelta()
    tls: timedelta = timedelta()
    total: timedelta = timedelta()
    """Time on the network, without waiting for turns."""
    waited: timedelta = timedelta()
    """Time spent waiting for the hosts' turns."""


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """What robots.txt says about one URL."""

    allowed: bool
    rule: str | None = None
    """The line that forbids, or why there are no rules."""
    crawl_delay: timedelta | None = None
    sitemaps: tuple[str, ...] = ()
    """Every Sitemap line of the file, as written."""


@dataclass(frozen=True, kw_only=True)
class FetchResult:
    """A body within limits and everything known about it."""

    requested: Url
    url: Url
    """The final URL, after all redirects."""
    status: int
    headers: Mapping[str, str]
    """The headers we keep, by lower-case name."""
    body: bytes
    """The whole body; of a spooled one only the beginning."""
    kind: ContentKind
    charset: Charset
    hops: Sequence[Redirect] = ()
    """The redirects that led here, oldest first; empty for a direct answer."""
    timings: Timings = field(default_factory=Timings)
    wire_bytes: int = 0
    robots: RobotsVerdict = field(default_factory=lambda: RobotsVerdict(allowed=True))
    x_robots_tag: tuple[str, ...] = ()
    meta_robots: tuple[str, ...] = ()
    cut: IncompleteReason | None = None
    not_modified: bool = False
    peer: str = ""
    """The address that answered, or would have without a proxy."""
    downgraded: bool = False
    """Whether a redirect led from https to http."""
    spool: Spool | None = None
    """The whole body, where the caller allowed it and it was too long for memory."""

    @property
    def inflated_bytes(self) -> int:
        """Return the size of the body after its encodings were undone."""
        return self.spool.size if self.spool else len(self.body)

    @property
    def whole(self) -> bytes | Spool:
        """Return the whole body, as the sandbox takes it."""
        return self.spool or self.body

    def read_all(self) -> bytes:
        """Return the whole body, from its file where it was too long for memory."""
        return self.spool.read(self.spool.size) if self.spool else self.body

    @property
    def outcome(self) -> str:
        """Return `ok`, or `ok_partial` where something was cut."""
        return "ok" if self.cut is None else "ok_partial"

    @property
    def is_success(self) -> bool:
        """Say whether the server answered with a 2xx status."""
        return 200 <= self.status < 300  # noqa: PLR2004

    @cached_property
    def text(self) -> str:
        """Return the body as text by its decided charset, without NUL."""
        return decode(self.read_all(), self.charset)
