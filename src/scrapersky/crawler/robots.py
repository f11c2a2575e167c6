"""robots.txt by RFC 9309: read once per origin, kept for an hour, obeyed to the letter."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from cachetools import LRUCache
from protego import Protego

from contact_extraction.urls import Url
from scrapersky.crawler.connection import Exchange
from scrapersky.crawler.hosts import RobotsState, StoredRobots
from scrapersky.crawler.limits import KIB, MIB
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.result import RobotsVerdict

MAX_PARSED_CHARACTERS = 4 * MIB
"""Parsed rules take sixty times the memory of their text."""
MIN_WEIGHT_CHARACTERS = 2 * KIB
MAX_SITEMAPS = 100
MAX_EXPLAINED_RULES = 200
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500
MIN_DELAY = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin, parsed."""

    stored: StoredRobots
    rules: Protego | None
    token: str

    def verdict(self, url: Url) -> RobotsVerdict:
        """Return what the rules say about one URL."""
        if self.rules is None:
            return RobotsVerdict(
                allowed=self.stored.state is not RobotsState.UNREACHABLE,
                rule=self.stored.why,
            )
        allowed = self.rules.can_fetch(str(url), self.token)
        return RobotsVerdict(
            allowed=allowed,
            rule=None if allowed else explain(self.stored.text, url),
            crawl_delay=self.crawl_delay,
            sitemaps=self.sitemaps,
        )

    @property
    def weight(self) -> int:
        """Return what keeping the rules costs, in characters of their text."""
        return len(self.stored.text) + MIN_WEIGHT_CHARACTERS

    @property
    def crawl_delay(self) -> timedelta | None:
        """Return the delay asked for, at least a second; None if none is."""
        asked = self.rules.crawl_delay(self.token) if self.rules is not None else None
        if asked is None:
            return None
        return max(MIN_DELAY, timedelta(seconds=min(asked, 10**6)))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Return the Sitemap lines, as written."""
        if self.rules is None:
            return ()
        return tuple(list(self.rules.sitemaps)[:MAX_SITEMAPS])


def parse_robots(stored: StoredRobots, token: str) -> RobotsRules:
    """Parse what was stored, in linear time whatever it holds."""
    if stored.state is not RobotsState.RULES:
        return RobotsRules(stored, None, token)
    return RobotsRules(stored, Protego.parse(only_ours(stored.text, token)), token)


def only_ours(text: str, token: str) -> str:
    """Keep the groups that concern us, and every sitemap.

    A file may name thousands of agents over thousands of rules, which costs the
    parser their product; to us only our own name and `*` matter.
    Only a rule ends the names of a group: other records must not (RFC 9309, 2.2.4).
    """
    lines: list[str] = []
    names: dict[str, None] | None = None
    is_ours = True
    before: list[str] = []
    for line in text.splitlines():
        if (found := _AGENT.match(line)) is not None:
            names = {} if names is None else names
            name = found[1].partition("#")[0].strip().lower()
            if name == "*" or _AFTER_PRODUCT.split(name)[0] == token.lower():
                names["*" if name == "*" else token.lower()] = None
        elif names is not None and not _RULE.match(line):
            before.append(line)
        else:
            if names is not None:
                is_ours = bool(names)
                lines += _begin_group(names, before)
                names, before = None, []
            if is_ours or _SITEMAP.match(line):
                lines.append(line)
    return "\n".join(
        [*lines, *(_begin_group(names, before) if names is not None else ())]
    )


def _begin_group(names: dict[str, None], before: list[str]) -> list[str]:
    """Begin a group; of one that is not ours, only its sitemaps matter."""
    if not names:
        return [line for line in before if _SITEMAP.match(line)]
    return [*(f"User-agent: {name}" for name in names), *before]


def without_comments(text: str) -> str:
    """Drop what is written for people: it rules nothing, and may name somebody."""
    return _COMMENT.sub("", text)


def without_repeats(text: str) -> str:
    """Keep each rule of a group once: half a megabyte may say the same all over."""
    lines: list[str] = []
    seen: set[str] = set()
    for line in text.splitlines():
        if line in seen:
            continue
        if _RULE.match(line):
            seen.add(line)
        elif _AGENT.match(line):
            seen.clear()
        lines.append(line)
    return "\n".join(lines)


def interpret(exchange: Exchange, policy: CrawlerPolicy, now: datetime) -> StoredRobots:
    """Return what an answer to the question for a robots.txt comes to."""
    status = exchange.status
    if status == TOO_MANY_REQUESTS or status >= SERVER_ERROR:
        return unreachable_robots(f"the server answered {status}", policy, now)
    expires = now + policy.robots_age
    if not exchange.is_success:
        why = f"no rules: the server answered {status}"
        return StoredRobots(RobotsState.ABSENT, "", why, expires)
    body = cut_at_line(exchange.content, policy.limits.robots_bytes)
    text = body.decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "")
    text = without_repeats(without_comments(text))
    return StoredRobots(RobotsState.RULES, text, "", expires)


def unreachable_robots(why: str, policy: CrawlerPolicy, now: datetime) -> StoredRobots:
    """Return what is kept of a robots.txt that could not be read."""
    return StoredRobots(RobotsState.UNREACHABLE, "", why, now + policy.robots_retry)


def cut_at_line(body: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes, ending at the end of a line."""
    if len(body) <= limit:
        return body
    end = max(body.rfind(b"\n", 0, limit), body.rfind(b"\r", 0, limit))
    return body[: end + 1] if end >= 0 else b""


def explain(text: str, url: Url) -> str:
    """Return the longest Disallow line that, alone, forbids the URL."""
    patterns = sorted(
        {found[1] for found in _DISALLOW.finditer(text)}, key=len, reverse=True
    )
    for pattern in patterns[:MAX_EXPLAINED_RULES]:
        alone = Protego.parse(f"User-agent: *\nDisallow: {pattern}")
        if not alone.can_fetch(str(url), "anyone"):
            return f"Disallow: {pattern[:200]}"
    return "Disallow"


class ParsedRobotsCache:
    """The parsed files of the origins met last; the text itself is the ledger's."""

    def __init__(self) -> None:
        self._parsed: LRUCache[str, RobotsRules] = LRUCache(
            MAX_PARSED_CHARACTERS, getsizeof=lambda robots: robots.weight
        )

    def find(self, origin: str, stored: StoredRobots) -> RobotsRules | None:
        """Return the parsed form of what is stored, if it was parsed before."""
        known = self._parsed.get(origin)
        return known if known is not None and known.stored is stored else None

    def put(self, origin: str, robots: RobotsRules) -> None:
        """Keep a parsed file; those not asked for the longest make room."""
        if robots.weight <= MAX_PARSED_CHARACTERS:
            self._parsed[origin] = robots


_COMMENT = re.compile(r"#[^\r\n]*")
_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*(.*)", re.IGNORECASE)
_AFTER_PRODUCT = re.compile(r"[\s/*;(]")
# With the misspellings that the parser takes for rules.
_RULE = re.compile(
    r"\s*(?:allow|diss?all?[oa]w|diasllow|disalow)\s*[:\s]", re.IGNORECASE
)
_SITEMAP = re.compile(r"\s*site[- ]?maps?\s*[:\s]", re.IGNORECASE)
_DISALLOW = re.compile(
    r"^[ \t]*disallow[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE
)
