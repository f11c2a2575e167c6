"""Sitemaps in every form the web writes them."""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from simulated_town.sites.reply import TEXT, XML, Reply

LASTMOD: Final = "2026-10-0{day}T08:30:00+00:00"
EDITED: Final = "2026-11-02T09:15:00+00:00"
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
BIG_CHUNK: Final = 1_000
_SHELVES: Final = (
    *("letters", "maps/harbour", "photographs/1920s", "plans", "de/karten"),
    *("blog", "collection/deeds", "category/minutes"),
)
_SUBJECTS: Final = (
    *("old-bridge-repairs", "market-square-from-above", "the-flood-of-spring"),
    *("Lighthouse-Keepers", "school-register", "first-railway-timetable.html"),
    *("a-list-of-every-ship-that-came-in", "tram-lines"),
)


def url_set(
    urls: Iterable[str], *, comment: str = "", edited: frozenset[str] = frozenset()
) -> Reply:
    """Answer with a sitemap of these URLs; those that were edited were changed last."""
    entries = "".join(
        f"<url><loc>{escape(url)}</loc>"
        f"<lastmod>{EDITED if url in edited else LASTMOD.format(day=place % 9 + 1)}"
        "</lastmod></url>\n"
        for place, url in enumerate(urls)
    )
    return _xml(f"{comment}<urlset {_NAMESPACE}>\n{entries}</urlset>")


def image_url_set(urls: Iterable[str], image: str) -> Reply:
    """Answer with a sitemap whose pages name an image each."""
    spaces = (
        f'{_NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    )
    entries = "".join(
        f"<url><loc>{escape(url)}</loc><changefreq>daily</changefreq><image:image>"
        f"<image:loc>{escape(image)}</image:loc></image:image></url>\n"
        for url in urls
    )
    return _xml(f"<urlset {spaces}>\n{entries}</urlset>")


def index(urls: Iterable[str], *, comment: str = "") -> Reply:
    """Answer with an index of sitemaps."""
    entries = "".join(
        f"<sitemap><loc>{escape(url)}</loc>"
        f"<lastmod>{LASTMOD.format(day=1)}</lastmod></sitemap>\n"
        for url in urls
    )
    return _xml(f"{comment}<sitemapindex {_NAMESPACE}>\n{entries}</sitemapindex>")


def text_list(urls: Sequence[str]) -> Reply:
    """Answer with a sitemap of plain lines."""
    return Reply("\n".join(urls).encode() + b"\n", TEXT)


def packed(reply: Reply) -> Reply:
    """Answer with the same as a gzip file, as `sitemap.xml.gz` is."""
    return Reply(gzip.compress(reply.body, mtime=0), "application/x-gzip")


def feed(title: str, home: str, posts: Iterable[tuple[str, str]]) -> Reply:
    """Answer with an RSS feed of articles: title and address."""
    items = "".join(
        f"<item><title>{escape(name)}</title><link>{escape(url)}</link>"
        "<pubDate>Thu, 01 Oct 2026 08:00:00 +0000</pubDate></item>"
        for name, url in posts
    )
    return Reply(
        f'{_HEAD}<rss version="2.0"><channel><title>{escape(title)}</title>'
        f"<link>{escape(home)}</link>{items}</channel></rss>".encode(),
        "application/rss+xml; charset=utf-8",
    )


def big_url_set(origin: str, count: int) -> Iterator[bytes]:
    """Write a very long sitemap piece by piece; it is never whole in memory."""
    yield f"{_HEAD}<urlset {_NAMESPACE}>\n".encode()
    for start in range(0, count, BIG_CHUNK):
        yield "".join(
            f"<url><loc>{origin}/{_shelf_mark(number)}</loc>"
            f"<lastmod>{LASTMOD.format(day=number % 9 + 1)}</lastmod></url>\n"
            for number in range(start, min(start + BIG_CHUNK, count))
        ).encode()
    yield b"</urlset>\n"


def _shelf_mark(number: int) -> str:
    """Name one of very many pages as large sites do: most say nothing of contacts."""
    if number % 1_000 == 1:
        return f"branch-{number}/contact"
    shelf = _SHELVES[number % len(_SHELVES)]
    subject = _SUBJECTS[number // 7 % len(_SUBJECTS)]
    return f"{shelf}/{subject}-{number}"


def _xml(text: str) -> Reply:
    return Reply((_HEAD + text).encode(), XML)
