"""Decide for each URL of a sitemap whether it is kept, and count why it is not."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from scrapersky.errors import InvalidUrl, UnsupportedScheme
from scrapersky.extraction.sitemap.model import Drop
from scrapersky.kit.urls import MAX_LENGTH, Url, canonical, parse_url


class Gate:
    """Admits each URL of a file once, in canonical form."""

    def __init__(
        self, *, base: Url | None, site: str | None, max_urls: int, any_host: bool
    ) -> None:
        self.dropped: Counter[Drop] = Counter()
        self.kept = 0
        self.is_full = False
        self._base = base
        self._site = site
        self._max_urls = max_urls
        self._any_host = any_host or site is None
        self._seen: set[str] = set()
        self._prefix: str | None = None
        self._usual = b""

    @property
    def seen(self) -> int:
        """Return how many URLs came by, kept or not."""
        return self.kept + self.dropped.total()

    def admit(self, locs: Sequence[str | None]) -> list[str | None]:
        """Return each URL in canonical form, or None in place of one that is dropped.

        Nearly every file holds only plain URLs of one origin, none twice. That is seen
        by looking at the whole column at once; only other columns are read one by one.
        """
        if not self._all_plain(locs):
            return [self._admit_one(loc) for loc in locs]
        fresh = set(locs)
        if len(fresh) < len(locs) or not self._seen.isdisjoint(fresh):
            return [self._admit_one(loc) for loc in locs]
        if self.kept + len(locs) > self._max_urls:
            return [self._admit_one(loc) for loc in locs]
        self._seen |= fresh  # type: ignore[arg-type]  # plain means that none is None
        self.kept += len(locs)
        return list(locs)

    def _all_plain(self, locs: Sequence[str | None]) -> bool:
        if self._prefix is None or None in locs:
            return False
        column = "\n" + "\n".join(locs)  # type: ignore[arg-type]  # see the line above
        if not column.isascii() or column.count("\n" + self._prefix) != len(locs):
            return False
        odd = column.encode().translate(None, _PLAIN)
        if odd != self._usual * len(locs) and not _has_only_names(odd, column, locs):
            return False
        return max(map(len, locs)) <= MAX_LENGTH  # type: ignore[arg-type]

    def _admit_one(self, loc: str | None) -> str | None:
        parsed = self._parsed(loc)
        url = self._accepted(parsed) if isinstance(parsed, Url) else parsed
        if isinstance(url, Drop):
            self.dropped[url] += 1
            return None
        return url

    def _accepted(self, url: Url) -> str | Drop:
        if not self._any_host and not _is_within(url.host, self._site or ""):
            return Drop.OTHER_HOST
        text = str(url)
        if text in self._seen:
            return Drop.DUPLICATE
        if self.kept >= self._max_urls:
            self.is_full = True
            return Drop.OVER_LIMIT
        if self._prefix is None:
            self._prefix = f"{url.origin}/"
            self._usual = b"\n" + b"." * self._prefix.count(".")
        self._seen.add(text)
        self.kept += 1
        return text

    def _parsed(self, loc: str | None) -> Url | Drop:
        text = (loc or "").strip()
        if not text:
            return Drop.EMPTY
        if "&amp;" in text:
            # Escaped twice, as many a plugin does.
            text = text.replace("&amp;", "&")
        try:
            return canonical(parse_url(text, self._base))
        except UnsupportedScheme:
            return Drop.NOT_HTTP
        except InvalidUrl:
            return Drop.TOO_LONG if len(text) > MAX_LENGTH else Drop.BAD_URL


# What `kit.urls` leaves as it is. Without "?", ";" and "(" nothing can be a session id
# or a tracking parameter, so such a URL is its own canonical form. Dots and line ends
# are looked at apart: they show how many URLs there are, and where "/../" may be.
_PLAIN: Final = (
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_~!$&*+,=:@-"
)


def _has_only_names(odd: bytes, column: str, locs: Sequence[object]) -> bool:
    """Say whether the dots beyond those of the host are all of the kind of .html."""
    return odd.replace(b".", b"") == b"\n" * len(locs) and "/." not in column


def _is_within(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")
