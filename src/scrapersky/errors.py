"""Every error ScraperSky raises on purpose.

ScraperSkyError
├── ConfigurationError      a setting is misspelt, invalid or unsafe
├── DatabaseProblem         the database cannot be used as it is
├── EngineError             a stage or a claim is not what it must be
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


class EngineError(ScraperSkyError):
    """A stage, a claim or an outcome is not what the engine needs."""


class FetchError(ScraperSkyError):
    """A URL could not be fetched."""

    status_code = 502


class ExtractionError(ScraperSkyError):
    """Bytes could not be understood."""
