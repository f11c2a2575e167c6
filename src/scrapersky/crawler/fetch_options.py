"""What one request is for: what to send, what to take, what to refuse."""

from dataclasses import dataclass

from scrapersky.crawler.connection import Exchange
from scrapersky.crawler.log import printable
from scrapersky.crawler.request import sendable
from scrapersky.crawler.result import Accept, CacheValidators
from scrapersky.crawler.sniff import TEXTUAL, ContentKind, refused_type, sniff
from scrapersky.errors import BadHttp, BadXml, NotHtml

NO_VALIDATORS = CacheValidators()
NOT_MODIFIED = 304
PARTIAL_CONTENT = 206


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """What one request is for: what to send, what to take, what to refuse."""

    accept: Accept = Accept.ANY
    held: CacheValidators = NO_VALIDATORS
    max_wire: int = 0
    max_inflated: int = 0
    keep_partial: bool = False
    may_spool: bool = False
    keep: int | None = None

    def check_head(self, exchange: Exchange) -> None:
        """Look at status and headers; raise before a body is taken that is not wanted."""
        asked = sendable(self.held.etag) or sendable(self.held.last_modified)
        if exchange.status == NOT_MODIFIED and not asked:
            raise BadHttp(exchange.url, "answered 304 though nothing was held")
        if exchange.status == PARTIAL_CONTENT:
            raise BadHttp(exchange.url, "answered with a part nobody asked for")
        declared = exchange.value("content-type")
        if exchange.is_success and refused_type(declared):
            refuse(exchange.url, self.accept, f"a {printable(declared)[:60]}")

    def check_body(self, exchange: Exchange) -> ContentKind:
        """Say what a body is; raise if it is not what was asked for."""
        kind = sniff(exchange.content, exchange.value("content-type"))
        if not exchange.is_success:
            return kind
        if self.accept is Accept.HTML and kind not in {
            ContentKind.HTML,
            ContentKind.EMPTY,
        }:
            refuse(exchange.url, self.accept, f"{kind} content")
        if self.accept is Accept.XML and kind not in TEXTUAL | {ContentKind.GZIP}:
            refuse(exchange.url, self.accept, f"{kind} content")
        return kind


def refuse(url: str, accept: Accept, what: str) -> None:
    """Raise what says that a URL holds something else than was asked for."""
    if accept is Accept.HTML:
        raise NotHtml(url, f"is {what}, not a page")
    if accept is Accept.XML:
        raise BadXml(url, f"is {what}, neither XML nor text")
