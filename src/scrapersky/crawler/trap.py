"""Sites without end: how much of one site is ever fetched, and what looks like a trap.

A calendar has a next month for ever, and a broken link adds a directory at each step.
What is counted is the shape of a path, so that such a site costs a few pages.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from scrapersky.errors import Trap
from scrapersky.kit.urls import Url, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapLimits:
    """How far into one site a crawl goes."""

    urls: int = 500
    urls_per_shape: int = 50
    """Shapes are paths with their numbers and ids left out."""
    depth: int = 20
    """Directories in a path."""
    hops: int = 20
    """Links followed from the first page."""
    repeats: int = 2
    """How often a directory may come again in one path."""
    same_body: int = 5
    """How many addresses may lead to the very same bytes."""


@dataclass(slots=True)
class SiteBudget:
    """What one crawl of one site has used up; ask before each URL."""

    limits: TrapLimits = field(default_factory=TrapLimits)
    _seen: set[Url] = field(default_factory=set)
    _shapes: Counter[str] = field(default_factory=Counter)
    _bodies: Counter[bytes] = field(default_factory=Counter)

    def is_new(self, url: Url) -> bool:
        """Say whether a URL, without tracking and session ids, was not admitted yet."""
        return canonical(url) not in self._seen

    def admit(self, url: Url, *, hops: int = 0) -> Url:
        """Count a URL and return its canonical form; raise Trap if the site has no end."""
        plain = canonical(url)
        if plain in self._seen:
            return plain
        shape = path_shape(plain)
        if (why := self._refusal(plain, shape, hops)) is not None:
            raise Trap(str(plain), why)
        self._seen.add(plain)
        self._shapes[shape] += 1
        return plain

    def saw(self, url: Url, body: bytes) -> None:
        """Count a body; raise Trap when too many addresses lead to the same one."""
        digest = blake2b(body, digest_size=16).digest()
        self._bodies[digest] += 1
        if body and self._bodies[digest] >= self.limits.same_body:
            raise Trap(
                str(url), f"is the same page for the {self._bodies[digest]}th time"
            )

    def _refusal(self, url: Url, shape: str, hops: int) -> str | None:
        limits = self.limits
        segments = [segment for segment in url.path.split("/") if segment]
        if len(self._seen) >= limits.urls:
            return f"is beyond the {limits.urls} pages of a site"
        if self._shapes[shape] >= limits.urls_per_shape:
            return f"is beyond the {limits.urls_per_shape} pages like it"
        if hops > limits.hops:
            return f"is more than {limits.hops} links away from the first page"
        if len(segments) > limits.depth:
            return f"is more than {limits.depth} directories deep"
        if most_repeats(segments) > limits.repeats:
            return "repeats its own directories"
        return None


def path_shape(url: Url) -> str:
    """Return a path without its numbers and ids, and the names of its parameters."""
    path = _NUMBER.sub("0", _IDENTIFIER.sub("*", url.path))
    names = sorted(
        {pair.partition("=")[0] for pair in (url.query or "").split("&") if pair}
    )
    return f"{path}?{'&'.join(_NUMBER.sub('0', name) for name in names)}"


def most_repeats(segments: list[str]) -> int:
    """Return how often the most frequent directory comes in a path."""
    return max(Counter(segments).values(), default=0)


_NUMBER = re.compile(r"[0-9]+")
_IDENTIFIER = re.compile(
    r"(?<![0-9A-Za-z])(?=[a-z-]*[0-9])[0-9a-f-]{12,}(?![0-9A-Za-z])", re.IGNORECASE
)
