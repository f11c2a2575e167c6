"""Recognise URLs that are not worth a fetch: files, archives, machinery, traps."""

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from contact_extraction.wordlist import load_words

MAX_DEPTH: Final = 20
MAX_REPEATS: Final = 2


def split_url(url: str) -> tuple[str, str]:
    """Return the path without its first slash, unquoted, and the query as it is."""
    text, _, query = url[:_MAX_URL].partition("#")[0].partition("?")
    _, slashes, rest = text.partition("://")
    path = rest.partition("/")[2] if slashes else text
    return unquote(path) if "%" in path else path, query


def filter_path(path: str) -> str | None:
    """Say why a path is not worth fetching; None if it may be."""
    segments = [segment for segment in path.lower().split("/") if segment]
    if not segments:
        return None
    names = set(segments)
    return (
        _trap(segments, names)
        or _asset(segments, names)
        or (_calendar(segments, names) if _DATED.search(path) else None)
        or _archive(segments)
        or ("machinery: log-in, cart or interface" if names & _MACHINES else None)
        or ("trap: a session id" if _has_session(path) else None)
    )


def filter_query(query: str) -> str | None:
    """Say why a query makes a page not worth fetching; None if it does not."""
    return next((why for pattern, why in _QUERIES if pattern.search(query)), None)


def _trap(segments: Sequence[str], names: AbstractSet[str]) -> str | None:
    if len(segments) > MAX_DEPTH:
        return "trap: the path is too deep"
    if len(names) == len(segments):
        return None
    name, times = Counter(segments).most_common(1)[0]
    if times > MAX_REPEATS:
        return f'trap: "{name[:40]}" repeats in the path'
    pairs = Counter(pairwise(segments))
    if pairs.most_common(1)[0][1] > 1:
        return "trap: a part of the path repeats"
    return None


def _asset(segments: Sequence[str], names: AbstractSet[str]) -> str | None:
    if "." in segments[-1] and (found := _ASSET.search(segments[-1])):
        return f"asset: a .{found[1]} file"
    if segments[0] in _ASSET_FOLDERS or "wp-content" in names:
        return "asset: a folder of files"
    return None


def _calendar(segments: Sequence[str], names: AbstractSet[str]) -> str | None:
    years = [at for at, name in enumerate(segments) if _YEAR.match(name)]
    if not years:
        return None
    if not _CALENDARS.isdisjoint(names):
        return "calendar: a date in a calendar"
    first = years[0]
    if not _YEAR_ONLY.fullmatch(segments[first]):
        return None
    if first == len(segments) - 1:
        return "archive: the posts of a year" if first else None
    if all(_DAY.fullmatch(name) for name in segments[first + 1 :]):
        return "archive: the posts of a month or day"
    return None


def _archive(segments: Sequence[str]) -> str | None:
    if not _ARCHIVES.isdisjoint(segments[:-1]):
        return "archive: a list of posts"
    last = segments[-1]
    if last.isdigit() and len(segments) > 1 and segments[-2] in _PAGES:
        return "pagination: a further page of a list"
    if last in _FEEDS:
        return "archive: a feed"
    if last in _SEARCHES:
        return "archive: search results"
    return None


def _has_session(path: str) -> bool:
    # The pattern is slow, and what it needs is rare.
    return (";" in path or "(" in path) and _PATH_SESSION.search(path) is not None


_MAX_URL: Final = 2_048
_ASSET: Final = re.compile(
    r"\.(jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|css|js|mjs|json|xml|map|woff2?|ttf|otf"
    r"|eot|mp[34]|m4[av]|avi|mov|wmv|webm|ogg|wav|flac|zip|gz|tgz|rar|7z|exe|dmg|apk|iso"
    r"|pdf|docx?|xlsx?|pptx?|odt|ods|csv|txt|rtf|ics|vcf|epub|psd|ai|eps|swf|rss|atom)$"
)
_ASSET_FOLDERS: Final = frozenset(
    ("wp-includes", "cdn-cgi", "_next", "static", "assets", "fileadmin", "typo3temp")
)
_PATH_SESSION: Final = re.compile(
    r";(?:jsessionid|phpsessid|sid)=|(?:^|/)\([SAF]\([a-z0-9]+\)\)", re.IGNORECASE
)
_CALENDARS: Final = load_words("page_calendars")
_DATED: Final = re.compile(r"(?:^|/)(?:19|20)\d\d")
"""What a path with a date in it looks like: most have none, and need no closer look."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\D|$)")
_YEAR_ONLY: Final = re.compile(r"(?:19|20)\d\d")
_DAY: Final = re.compile(r"\d{1,2}")
_ARCHIVES: Final = load_words("page_archives")
_PAGES: Final = frozenset(("page", "seite", "pagina", "strona", "sida", "side", "pag"))
_FEEDS: Final = frozenset(("feed", "rss", "atom", "rss2", "feeds"))
_SEARCHES: Final = frozenset(
    ("search", "search.php", "search.aspx", "suche", "recherche", "buscar", "cerca")
)
_MACHINES: Final = load_words("page_machines")
_QUERIES: Final = (
    (
        re.compile(
            r"(?:^|&)(?:phpsessid|jsessionid|sessionid|session_id|sid|oscsid|zenid|cfid"
            r"|cftoken)=[\w-]{6,}",
            re.IGNORECASE,
        ),
        "trap: a session id",
    ),
    (
        re.compile(
            r"(?:^|&)(?:tribe-bar-date|eventdate|date|day|month|year|ical|outlook-ical"
            r"|cal_?date)=[\d-]*\d"
        ),
        "calendar: a date in the query",
    ),
    (
        re.compile(
            r"(?:^|&)(?:page|paged|pg|seite|start|offset|startpage|product-page|pagenum)"
            r"=\d+"
        ),
        "pagination: a further page of a list",
    ),
    (
        re.compile(r"(?:^|&)(?:s|q|search|query|suche|buscar|recherche)="),
        "archive: search results",
    ),
    (
        re.compile(
            r"(?:^|&)(?:add-to-cart|replytocom|share|print|orderby|order|sort|sortby|filter"
            r"|filter_\w+|add_to_wishlist|remove_item|redirect_to|attachment_id|preview"
            r"|amp|variant|currency|format|feed|cat|tag|author|m)(?:=|&|$)"
        ),
        "machinery: an action or a list, not a page",
    ),
    (re.compile(r"&[^&]*&[^&]*&[^&]*&"), "trap: a combination of filters"),
)
