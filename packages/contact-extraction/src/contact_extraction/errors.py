"""Every error this package raises on purpose.

ExtractionError         bytes could not be understood
├── NotMarkup           they are no page at all
├── BadAnnotations      a line of an annotated file is not in the format
└── BadSitemap          no sitemap in any form we read (HtmlNotSitemap, SitemapTooBig);
                        each has an outcome word
InvalidUrl              a text is not an http(s) URL we can use
└── UnsupportedScheme   it is a URL, of a kind that is never fetched

`retryable` says to a queue that the same bytes will not be understood later either.
"""

from typing import ClassVar


class ExtractionError(Exception):
    """Bytes could not be understood."""

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class NotMarkup(ExtractionError):
    """The bytes could not be read as a page at all."""


class BadAnnotations(ExtractionError):
    """A line of an annotated file is not what the format asks for."""


class BadSitemap(ExtractionError):
    """The bytes are not sitemap in any form we read."""

    outcome: ClassVar[str] = "bad_xml"
    """The one word for what happened, in logs, counters and on a record."""

    def __init__(self, why: str, *, hint: str | None = None) -> None:
        super().__init__(f"not a sitemap: {why}", hint=hint)
        self.why = why


class HtmlNotSitemap(BadSitemap):
    """A web page stands where a sitemap was asked for: a soft 404."""


class SitemapTooBig(BadSitemap):
    """The sitemap inflates to far more than its bytes promise."""

    outcome = "too_big"


class InvalidUrl(ValueError):
    """A text is not an http(s) URL we can use."""

    retryable: ClassVar[bool] = False

    def __init__(self, url: str, why: str) -> None:
        # The text came from outside: only a short, printable form may travel on.
        shown = ascii(url[:100]).strip("'\"")
        super().__init__(f"{shown}: {why}")
        self.url = shown
        self.why = why


class UnsupportedScheme(InvalidUrl):
    """The URL is of a kind that is never fetched: only http and https are."""
