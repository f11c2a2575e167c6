"""Decide for each URL of a sitemap whether it is kept, and count why it is not."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from contact_extraction.errors import InvalidUrl, UnsupportedScheme
from contact_extraction.sitemap.model import Drop
from contact_extraction.urls import MAX_LENGTH, Url, canonical, parse_url


class UrlFilter:
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
        urls = self._plain(locs)
        if urls is None or self.kept + len(urls) > self._max_urls:
            return [self._admit_one(loc) for loc in locs]
        fresh = set(urls)
        if len(fresh) < len(urls) or not self._seen.isdisjoint(fresh):
            return [self._admit_one(loc) for loc in locs]
        self._seen |= fresh
        self.kept += len(urls)
        return [*urls]

    def _plain(self, locs: Sequence[str | None]) -> list[str] | None:
        """Return the URLs if all are canonical, or only lack capitals in escapes."""
        if self._prefix is None or None in locs:
            return None
        column = "\n" + "\n".join(locs)  # type: ignore[arg-type]  # see the line above
        if not column.isascii() or column.count("\n" + self._prefix) != len(locs):
            return None
        if "%" in column:
            column = _SMALL_ESCAPE.sub(_in_capitals, column)
            if _OTHER_ESCAPE.search(column):
                return None
        odd = column.encode().translate(None, _PLAIN)
        if odd != self._usual * len(locs) and not _has_only_names(odd, column, locs):
            return None
        urls = column.split("\n")
        del urls[0]
        return urls if max(map(len, urls), default=0) <= MAX_LENGTH else None

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
            return canonical(parse_url(self._with_scheme(text), self._base))
        except UnsupportedScheme:
            return Drop.NOT_HTTP
        except InvalidUrl:
            return Drop.TOO_LONG if len(text) > MAX_LENGTH else Drop.BAD_URL

    def looks_like_url(self, text: str) -> bool:
        """Say whether a line of text is meant as a URL of its own."""
        return bool(_ABSOLUTE.match(text)) or self._with_scheme(text) is not text

    def refuse(self, count: int) -> None:
        """Count lines that are not URLs at all."""
        if count:
            self.dropped[Drop.BAD_URL] += count

    def _with_scheme(self, text: str) -> str:
        """Complete `www.acme.com/` to a URL; read as a path it would be another page."""
        host = _BARE_HOST.match(text)
        if host is None:
            return text
        name = host[1].lower()
        own = self._site or (self._base.host if self._base else None)
        if not name.startswith("www.") and (own is None or not _is_within(name, own)):
            return text
        return f"{self._base.scheme if self._base else 'https'}://{text}"


_ABSOLUTE: Final = re.compile(r"https?://|/", re.IGNORECASE)
_BARE_HOST: Final = re.compile(
    r"((?:[\w-]{1,63}\.){1,8}[a-z]{2,24})(?::\d{1,5})?(?:[/?#]|$)", re.IGNORECASE
)
# What `kit.urls` leaves as it is. Without "?", ";" and "(" nothing can be a session id
# or a tracking parameter, so such a URL is its own canonical form. Dots and line ends
# are looked at apart: they show how many URLs there are, and where "/../" may be.
_PLAIN: Final = (
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_~!$&*+,=:@%-"
)

# Escapes of letters that are not ASCII stay escaped, in capitals.
_SMALL_ESCAPE: Final = re.compile(r"%(?:[89][a-f]|[a-f][0-9A-Fa-f]|[A-F][a-f])")
_OTHER_ESCAPE: Final = re.compile(r"%(?![89A-F][0-9A-F])")


def _in_capitals(found: re.Match[str]) -> str:
    return found[0].upper()


def _has_only_names(odd: bytes, column: str, locs: Sequence[object]) -> bool:
    """Say whether the dots beyond those of the host are all of the kind of .html."""
    return odd.replace(b".", b"") == b"\n" * len(locs) and "/." not in column


def _is_within(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")
