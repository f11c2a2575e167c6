"""Plan which sitemap to read next: each once, not too deep, not too many."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from contact_extraction.sitemap.model import Entry

MAX_DEPTH: Final = 3
MAX_FILES: Final = 50
MAX_URLS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Stop:
    """A sitemap to read, and the index that names it."""

    url: str
    depth: int
    parent: str | None = None


class SitemapWalk:
    """Hands out sitemaps breadth first; loops, depth and numbers are bounded.

    Take a stop with `next_stop`, read it, and say what it held with `found`. Whatever
    was left out is counted, so that a walk cut short never looks complete.
    """

    def __init__(
        self,
        start: Iterable[str],
        *,
        max_depth: int = MAX_DEPTH,
        max_files: int = MAX_FILES,
        max_urls: int = MAX_URLS,
    ) -> None:
        self.too_deep = 0
        self.too_many = 0
        self.repeated = 0
        self.files = 0
        self.urls = 0
        self._max_depth = max_depth
        self._max_files = max_files
        self._max_urls = max_urls
        self._seen: set[str] = set()
        self._waiting: deque[Stop] = deque()
        for url in start:
            self._add(Stop(url, depth=1))

    @property
    def room(self) -> int:
        """Return how many more page URLs the walk may take."""
        return max(0, self._max_urls - self.urls)

    @property
    def is_cut(self) -> bool:
        """Say whether something was left out: the outcome is then `ok_partial`."""
        return bool(self.too_deep or self.too_many)

    def next_stop(self) -> Stop | None:
        """Return the next sitemap to read; None at the end or at a limit."""
        if not self._waiting:
            return None
        if self.files >= self._max_files or not self.room:
            self.too_many += len(self._waiting)
            self._waiting.clear()
            return None
        self.files += 1
        return self._waiting.popleft()

    def found(self, stop: Stop, *, pages: int, sitemaps: Iterable[Entry] = ()) -> None:
        """Take note of what a sitemap held."""
        self.urls += pages
        for child in sitemaps:
            if stop.depth >= self._max_depth:
                self.too_deep += 1
            else:
                self._add(Stop(child.url, stop.depth + 1, parent=stop.url))

    def _add(self, stop: Stop) -> None:
        if stop.url in self._seen:
            self.repeated += 1
        elif len(self._waiting) >= self._max_files:
            self.too_many += 1
        else:
            self._seen.add(stop.url)
            self._waiting.append(stop)
