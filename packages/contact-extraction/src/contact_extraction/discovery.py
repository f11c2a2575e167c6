"""Where a site's sitemaps may be: candidates in the order in which to try them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Final

from contact_extraction.errors import InvalidUrl
from contact_extraction.html import HeadLink, HtmlPage
from contact_extraction.page_type import (
    PageRating,
    PageType,
    rank_pages,
    rate_page,
    telling_text,
)
from contact_extraction.urls import Url, canonical, canonical_url, parse_url

MAX_CANDIDATES: Final = 200
MAX_PAGES: Final = 500
MAX_TELLING: Final = 50
MAX_LINKED: Final = 80


class FoundBy(StrEnum):
    """How a candidate was found; the values of `sitemap_files.found_by`."""

    ROBOTS = "robots_txt"
    HTML_LINK = "html_link"
    WELL_KNOWN = "well_known_path"
    PAGE_LINK = "page_link"
    FEED_LINK = "feed_link"
    INDEX = "sitemap_index"


@dataclass(frozen=True, slots=True)
class SitemapCandidate:
    """A URL at which there may be a sitemap."""

    url: str
    found_by: FoundBy
    is_promised: bool
    """Whether the site itself names it; a guess that is absent is not a failure."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page of the same site that a page links to, with what its address promises."""

    url: str
    text: str
    rating: PageRating


def sitemap_candidates(
    home: str,
    *,
    robots: str = "",
    page: HtmlPage | None = None,
    generator: str | None = None,
) -> list[SitemapCandidate]:
    """Return every place to look for a sitemap, each once, the surest first.

    The order: what robots.txt names, what the home page names, the paths its program
    uses, the paths that others use, feeds. Raises InvalidUrl if `home` is not a URL.
    """
    base = parse_url(home)
    found: dict[str, SitemapCandidate] = {}
    for candidate in _all_candidates(base, robots, page, generator):
        found.setdefault(candidate.url, candidate)
        if len(found) >= MAX_CANDIDATES:
            break
    return list(found.values())


def sitemap_lines(robots: str, base: Url | None = None) -> list[str]:
    """Return the URLs of all `Sitemap:` lines, each once, in their order."""
    found: dict[str, None] = {}
    for line in robots[:_MAX_ROBOTS].replace("\0", "").splitlines():
        if match := _SITEMAP_LINE.match(line):
            url = _url(match[1].split(" #")[0], base)
            if url is not None:
                found.setdefault(str(url))
    return list(found)[:MAX_CANDIDATES]


def page_links(page: HtmlPage, url: str, *, limit: int = MAX_PAGES) -> list[PageLink]:
    """Return the pages of the same site that a page links to, the most promising first.

    This is what a site without a sitemap yields. What is hidden, a trap or a file is
    left out; `rel=nofollow` is honoured.
    """
    texts = site_links(page, url)
    return [
        PageLink(target, telling_text(target, texts[target]), rating)
        for target, rating in rank_pages(texts, texts)[:limit]
    ]


def site_links(page: HtmlPage, url: str) -> dict[str, list[str]]:
    """Return the pages of the same site that a page links to, each with its texts.

    What is hidden is left out, unless it is called a contact page: menus unfold.
    `rel=nofollow` is honoured.
    """
    address = parse_url(url)
    base = _base_of(page, address)
    site = address.site
    found: dict[str, list[str]] = {}
    root, folder = _root_and_folder(base)
    for link in page.links:
        href = link.href
        if href.startswith("#") or (link.rel and "nofollow" in link.rel.split()):
            continue
        if len(href) > _MAX_KNOWN:
            known = _target(href, base)
        elif href.startswith(_ABSOLUTE):
            known = _known_target(href, root)
        elif _PLAIN_NAME.match(href):
            known = _known_target(href, folder)
        else:
            known = _target(href, base)
        if known is None or known[1] != site:
            continue
        name = known[0]
        named = [text[:_MAX_TEXT] for text in (link.text, link.title) if text]
        if link.hidden and name not in found and not _is_contact(name, named):
            continue
        texts = found.setdefault(name, [])
        texts += [text for text in named if text not in texts]
        del texts[_MAX_TEXTS:]
    return found


def _root_and_folder(base: Url) -> tuple[Url, Url]:
    """Give what links from the root and from the page's folder refer to.

    Of links that are written in full, and of these, the page itself makes no difference:
    the pages of a site share the addresses that its menu leads to.
    """
    folder = f"{base.path.rpartition('/')[0]}/"
    return (
        replace(base, path="/", query=None),
        replace(base, path=folder, query=None),
    )


def _target(href: str, base: Url) -> tuple[str, str] | None:
    """Give the address and the site that a link leads to."""
    target = _url(href, base)
    return None if target is None else (str(canonical(target)), target.site)


_known_target: Final = lru_cache(4_096)(_target)


def linked_pages(
    page: HtmlPage, url: str, *, limit: int = MAX_LINKED
) -> list[PageLink]:
    """Return the pages to go on to from a page, the most promising first.

    Unlike `page_links` with the frames and the parts that the page is put together from.
    """
    texts = site_links(page, url)
    found = {
        target: _rated_link(target, tuple(texts[target]))
        for target in list(texts)[:MAX_PAGES]
    }
    for target in _parts(page, url, is_bare=len(texts) < _FEW_LINKS):
        if target not in found:
            found[target] = _part_link(target)
    kept = [
        link
        for link in found.values()
        if link.rating.filtered is None and link.rating.score >= _WORTH_KEEPING
    ]
    kept.sort(key=lambda link: (-link.rating.score, len(link.url), link.url))
    return kept[:limit]


# Every page of a site has the links of its menu.
@lru_cache(1_024)
def _rated_link(url: str, texts: tuple[str, ...]) -> PageLink:
    rated = [(text, rate_page(url, link_text=text)) for text in ("", *texts)]
    text, rating = max(rated, key=lambda pair: pair[1].score)
    return PageLink(url, text, rating)


def _parts(page: HtmlPage, url: str, *, is_bare: bool) -> Iterator[str]:
    """Yield what a page is put together from: frames, and files that scripts load.

    Only a page with hardly a link has its menu elsewhere.
    """
    address = parse_url(url)
    base = _base_of(page, address)
    named = list(page.frames)
    if is_bare:
        source = page.lower_source[:_MAX_SOURCE]
        if any(sign in source for sign in _INCLUDING):
            named += _INCLUDED.findall(page.source[:_MAX_SOURCE])
        for script in page.scripts:
            if ".htm" in script.text or ".php" in script.text:
                named += _LOADED.findall(script.text[:_MAX_SOURCE])
    for href in named[:_MAX_PARTS]:
        target = _url(href, base) if href else None
        if target is not None and target.site == address.site:
            yield str(canonical(target))


def _part_link(url: str) -> PageLink:
    """Rate a part of a page: its own name may promise more than what it is."""
    rating = rate_page(url)
    if rating.filtered is None and rating.score < _PART.score:
        rating = _PART
    return PageLink(url, "", rating)


def home_link(url: str) -> PageLink:
    """Return the home page as a page that is read like any other."""
    home = canonical_url(url)
    return PageLink(home, "", rate_page(home))


def telling_links(
    page: HtmlPage, url: str, *, limit: int = MAX_TELLING
) -> dict[str, str]:
    """Return what a page calls those pages of its site whose address promises less.

    A sitemap has addresses only: this is what to add to them.
    """
    texts = site_links(page, url)
    promising = {
        target: text
        for target, _ in rank_pages(texts, texts)
        if (text := telling_text(target, texts[target]))
    }
    return dict(islice(promising.items(), limit))


def _is_contact(url: str, texts: Iterable[str]) -> bool:
    return _names_contact(url, tuple(texts))


@lru_cache(1_024)
def _names_contact(url: str, texts: tuple[str, ...]) -> bool:
    rating = rate_page(url, link_text=telling_text(url, texts))
    return rating.type is PageType.CONTACT_ROOT


def _all_candidates(
    base: Url, robots: str, page: HtmlPage | None, generator: str | None
) -> Iterator[SitemapCandidate]:
    for line in sitemap_lines(robots, base):
        yield SitemapCandidate(line, FoundBy.ROBOTS, is_promised=True)
    if page is not None:
        yield from _from_head(page, base, _is_sitemap, FoundBy.HTML_LINK)
        yield from _from_links(page, base)
    for path in _paths(generator):
        yield SitemapCandidate(
            f"{base.origin}{path}", FoundBy.WELL_KNOWN, is_promised=False
        )
    if page is not None:
        yield from _from_head(page, base, _is_feed, FoundBy.FEED_LINK)
    for path in _FEED_PATHS:
        yield SitemapCandidate(
            f"{base.origin}{path}", FoundBy.WELL_KNOWN, is_promised=False
        )


def _from_head(
    page: HtmlPage, base: Url, is_wanted: Callable[[HeadLink], bool], found_by: FoundBy
) -> Iterator[SitemapCandidate]:
    inner = _base_of(page, base)
    for link in page.head_links:
        url = _url(link.href, inner) if is_wanted(link) else None
        if url is not None and url.site == base.site:
            yield SitemapCandidate(str(url), found_by, is_promised=True)


def _is_sitemap(link: HeadLink) -> bool:
    return "sitemap" in link.rel.split()


def _is_feed(link: HeadLink) -> bool:
    is_alternate = "alternate" in link.rel.split()
    return is_alternate and link.type.lower().startswith(_FEED_TYPES)


def _from_links(page: HtmlPage, base: Url) -> Iterator[SitemapCandidate]:
    """Find links in the page that end like a sitemap: the foot of many a site has one."""
    inner = _base_of(page, base)
    for link in page.links:
        if "sitemap" not in link.href.lower():
            continue
        url = _url(link.href, inner)
        if url is not None and url.site == base.site and _SITEMAP_FILE.search(url.path):
            yield SitemapCandidate(str(url), FoundBy.PAGE_LINK, is_promised=True)


def _paths(generator: str | None) -> Iterable[str]:
    first = _PATHS_OF.get((generator or "").casefold(), ())
    return (*first, *_WELL_KNOWN)


def _base_of(page: HtmlPage, url: Url) -> Url:
    """Return what relative links refer to; a `<base>` to another site is ignored."""
    base = _url(page.base, url) if page.base else None
    return base if base is not None and base.site == url.site else url


def _url(text: str, base: Url | None) -> Url | None:
    try:
        return parse_url(text, base)
    except InvalidUrl:
        return None


_MAX_KNOWN: Final = 300
_ABSOLUTE: Final = ("/", "http://", "https://")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-][^:]*+$")
_WORTH_KEEPING: Final = 0.05
_FEW_LINKS: Final = 5
_MAX_PARTS: Final = 20
_MAX_SOURCE: Final = 200_000
_PART: Final = PageRating(PageType.UNKNOWN, 0.55, ("another page is made of it",))
_INCLUDING: Final = (b"data-include", b"w3-include-html", b"hx-get", b"data-load")
_INCLUDED: Final = re.compile(
    r"""\b(?:data-include|w3-include-html|hx-get|data-load)=["']?([\w./-]{1,200})""",
    re.IGNORECASE,
)
_LOADED: Final = re.compile(r"""["']([\w./-]{1,200}\.(?:html?|php))["']""")
_MAX_ROBOTS: Final = 500 * 1024
_MAX_TEXT: Final = 200
_MAX_TEXTS: Final = 8
_SITEMAP_LINE: Final = re.compile(
    r"\ufeff?\s{0,20}sitemap\s{0,20}:\s*(\S[^\r\n]*)", re.IGNORECASE
)
_SITEMAP_FILE: Final = re.compile(
    r"\.(?:xml|xml\.gz|txt)$|sitemap[^/]*\.(?:php|aspx)$", re.IGNORECASE
)
_PATHS_OF: Final = {
    "wordpress": ("/wp-sitemap.xml", "/sitemap_index.xml", "/sitemap.xml"),
    "yoast seo": ("/sitemap_index.xml",),
    "rank math": ("/sitemap_index.xml",),
    "shopify": ("/sitemap.xml",),
    "wix": ("/sitemap.xml", "/pages-sitemap.xml"),
    "squarespace": ("/sitemap.xml",),
    "typo3": ("/sitemap.xml", "/?type=1533906435"),
    "joomla": ("/index.php?option=com_osmap&view=xml&id=1", "/sitemap.xml"),
    "drupal": ("/sitemap.xml",),
    "prestashop": ("/1_index_sitemap.xml", "/1_en_0_sitemap.xml"),
    "magento": ("/pub/sitemap.xml", "/media/sitemap.xml"),
    "ghost": ("/sitemap.xml", "/sitemap-pages.xml"),
    "jimdo": ("/sitemap.xml",),
}
# In the order of how often each exists; one request each, so the list stays short.
_WELL_KNOWN: Final = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/wp-sitemap.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap1.xml",
    "/sitemap/sitemap.xml",
    "/sitemaps/sitemap.xml",
    "/sitemap/index.xml",
    "/sitemap/sitemap-index.xml",
    "/sitemaps.xml",
    "/page-sitemap.xml",
    "/pages-sitemap.xml",
    "/post-sitemap.xml",
    "/sitemap_index.xml.gz",
    "/sitemap-0.xml",
    "/sitemap.php",
    "/sitemap.txt",
    "/sitemap-news.xml",
    "/.sitemap.xml",
    "/sitemap",
)
_FEED_TYPES: Final = (
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
)
_FEED_PATHS: Final = ("/feed/", "/rss.xml", "/atom.xml", "/feed.xml", "/index.xml")
