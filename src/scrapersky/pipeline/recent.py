"""Pages and sitemaps that one stage has just fetched and the next one reads too: asked for once."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from scrapersky.crawler import FetchResult
from scrapersky.kit.clock import utc_now

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_PAGE_BYTES: Final = MAX_BYTES // 8
"""What is longer is fetched again, rather than that it drives out all others."""
MAX_PAGES: Final = 500
MAX_AGE: Final = timedelta(minutes=10)


@dataclass(slots=True)
class RecentPages:
    """The last pages of this process, within bounds; each is handed out once.

    Another process, or one that was restarted, simply fetches the page again.
    """

    _pages: OrderedDict[str, tuple[datetime, FetchResult]] = field(
        default_factory=OrderedDict
    )
    _bytes: int = 0

    def keep(self, url: str, fetched: FetchResult) -> None:
        """Hold a page for the stage that comes next."""
        self._forget(url)
        if fetched.inflated_bytes > MAX_PAGE_BYTES:
            return
        self._pages[url] = (utc_now(), fetched)
        self._bytes += fetched.inflated_bytes
        while self._bytes > MAX_BYTES or len(self._pages) > MAX_PAGES:
            self._forget(next(iter(self._pages)))

    def take(self, url: str) -> FetchResult | None:
        """Hand a page out, if it is here and fresh."""
        held = self._forget(url)
        if held is None or utc_now() - held[0] > MAX_AGE:
            return None
        return held[1]

    def _forget(self, url: str) -> tuple[datetime, FetchResult] | None:
        held = self._pages.pop(url, None)
        if held is not None:
            self._bytes -= held[1].inflated_bytes
        return held
