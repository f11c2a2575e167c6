"""What we send, and how we read the few headers that steer us."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from contact_extraction.errors import InvalidUrl, UnsupportedScheme
from contact_extraction.urls import Url, parse_url
from scrapersky.crawler.connection import Exchange
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.result import Accept, CacheValidators
from scrapersky.errors import BadHttp, BlockedScheme

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
MAX_VALUE_CHARACTERS = 1000
KEPT_HEADERS = frozenset(
    {
        *("content-type", "content-length", "content-language", "content-encoding"),
        *("content-disposition", "etag", "last-modified", "date", "age", "expires"),
        *("cache-control", "vary", "server", "x-powered-by", "x-generator", "link"),
        *("retry-after", "x-robots-tag", "tdm-reservation", "tdm-policy"),
    }
)
ACCEPT_HEADERS = {
    Accept.HTML: "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
    Accept.XML: "application/xml, text/xml;q=0.9, text/plain;q=0.8, */*;q=0.1",
    Accept.ANY: "*/*",
}


def build_request(
    url: Url, policy: CrawlerPolicy, *, accept: Accept, held: CacheValidators
) -> bytes:
    """Return the bytes of a GET: one honest name, no cookie, no referrer, no login."""
    target = url.target
    if url.scheme == "http" and policy.proxy.choose(url) is not None:
        target = str(url)
    lines = [
        f"GET {target} HTTP/1.1",
        f"Host: {url.authority}",
        f"User-Agent: {policy.user_agent}",
        f"Accept: {ACCEPT_HEADERS[accept]}",
        f"Accept-Language: {policy.accept_language}",
        "Accept-Encoding: gzip, deflate",
    ]
    if sendable(held.etag):
        lines.append(f"If-None-Match: {held.etag}")
    if sendable(held.last_modified):
        lines.append(f"If-Modified-Since: {held.last_modified}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def sendable(value: str | None) -> bool:
    """Say whether a value we once received may be sent back."""
    return bool(value) and value is not None and value.isascii() and value.isprintable()


def kept_headers(exchange: Exchange) -> Mapping[str, str]:
    """Return the headers worth keeping; a value that cannot be printed is left out."""
    kept: dict[str, str] = {}
    for name, value in exchange.headers:
        if name not in KEPT_HEADERS or name in kept:
            continue
        text = value.decode("latin-1").strip()
        if text.isprintable():
            kept[name] = text[:MAX_VALUE_CHARACTERS]
    return kept


def redirect_target(exchange: Exchange, base: Url) -> Url | None:
    """Return where a redirect leads, or None if the answer is none."""
    if exchange.status not in REDIRECT_STATUSES:
        return None
    locations = [value for name, value in exchange.headers if name == "location"]
    if len(locations) != 1:
        raise BadHttp(str(base), f"redirects with {len(locations)} Location headers")
    try:
        text = locations[0].decode().strip()
    except UnicodeDecodeError:
        raise BadHttp(str(base), "sent a Location that is not UTF-8") from None
    if not text or not text.isprintable() or " " in text:
        raise BadHttp(str(base), "sent a Location that is not a URL")
    try:
        return parse_url(text, base)
    except UnsupportedScheme as error:
        raise BlockedScheme(str(base), f"leads to a URL that {error.why}") from None
    except InvalidUrl as error:
        raise BadHttp(str(base), f"sent a Location that {error.why}") from None


def retry_after(exchange: Exchange, policy: CrawlerPolicy, now: datetime) -> timedelta:
    """Return how long to leave a host alone: what it asks for, within reason."""
    asked = pause_asked(exchange.value("retry-after"), now) or policy.default_pause
    return min(max(asked, policy.host_delay, timedelta(seconds=1)), policy.max_pause)


def pause_asked(value: str, now: datetime) -> timedelta | None:
    """Read a Retry-After: seconds, or a moment; None if it is neither."""
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:9]), 10**8))
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return max(moment - now, timedelta())
    except OverflowError:
        return None
