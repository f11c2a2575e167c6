"""Every error ScraperSky raises on purpose.

ScraperSkyError
├── ConfigurationError      a setting is misspelt, invalid or unsafe
├── DatabaseProblem         the database cannot be used as it is
├── EngineError             a stage or a claim is not what it must be
├── InvalidUrl              a text is no http(s) URL we can use
│   └── UnsupportedScheme   it is a URL, of a kind we never fetch
├── FetchError              a URL could not be fetched
└── ExtractionError         bytes could not be understood

Each says what happened, and in `hint` what to do about it. `retryable` tells the
engine whether the same work may succeed later; `status_code` is the HTTP answer.
"""

from typing import ClassVar


class ScraperSkyError(Exception):
    """Something went wrong that we foresaw."""

    retryable: ClassVar[bool] = False
    status_code: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ConfigurationError(ScraperSkyError):
    """A setting is misspelt, invalid or unsafe; nothing was started."""


class DatabaseProblem(ScraperSkyError):
    """The database cannot be used as it is."""

    status_code = 503


class DatabaseUnreachable(DatabaseProblem):
    """Nothing answers where the database should be; it may later."""

    retryable = True


class DatabaseRefused(DatabaseProblem):
    """The database answered and refused us: user, password or database name."""


class DatabaseUnsuitable(DatabaseProblem):
    """The server is too old, or promises less than we promise."""


class SchemaMismatch(DatabaseProblem):
    """The schema in the database is not the one this code needs."""


class EmbeddedPostgresFailed(DatabaseProblem):
    """The embedded PostgreSQL could not be prepared, started or stopped."""


class EngineError(ScraperSkyError):
    """A stage, a claim or an outcome is not what the engine needs."""


class InvalidUrl(ScraperSkyError):
    """A text is no http(s) URL we can use."""

    status_code = 422

    def __init__(self, url: str, why: str) -> None:
        # The text came from outside: only a short, printable form may travel on.
        shown = ascii(url[:100]).strip("'\"")
        super().__init__(f"{shown}: {why}")
        self.url = shown
        self.why = why


class UnsupportedScheme(InvalidUrl):
    """The URL is of a kind we never fetch: only http and https are."""


class FetchError(ScraperSkyError):
    """A URL could not be fetched."""

    status_code = 502


class ExtractionError(ScraperSkyError):
    """Bytes could not be understood."""
