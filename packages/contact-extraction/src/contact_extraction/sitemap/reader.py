"""Read a sitemap of any form from bytes that come in pieces."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from contact_extraction.errors import BadSitemap, HtmlNotSitemap
from contact_extraction.sitemap import column, feed
from contact_extraction.sitemap.generator import find_generator
from contact_extraction.sitemap.model import (
    MEBIBYTE,
    Dialect,
    Entry,
    Sitemap,
    SitemapKind,
    SitemapLimits,
    Truncation,
)
from contact_extraction.sitemap.regular import read_regular
from contact_extraction.sitemap.stream import GzipStream, Transcoder
from contact_extraction.sitemap.url_filter import UrlFilter
from contact_extraction.sitemap.xml_chunk import (
    Root,
    Tree,
    XmlChunker,
    XmlChunkParser,
    after_prolog,
    find_root,
    holds_notes,
    lenient_tree,
)
from contact_extraction.urls import Url, parse_url

DEFAULT_LIMITS: Final = SitemapLimits()


def parse_sitemap(
    data: bytes,
    *,
    url: str | None = None,
    site: str | None = None,
    limits: SitemapLimits = DEFAULT_LIMITS,
) -> Sitemap:
    """Read a whole sitemap, feed or list of URLs; raise BadSitemap if it is none.

    Args:
        data: the body as it came, gzip or not.
        url: where it came from; locations may be relative to it.
        site: the registrable domain; pages elsewhere are dropped and counted.
        limits: how much is read.
    """
    reader = SitemapReader(url=url, site=site, limits=limits)
    entries = reader.feed(data)
    entries += reader.close()
    return replace(reader.sitemap(), entries=tuple(entries))


def stream_sitemap(
    chunks: Iterable[bytes], reader: "SitemapReader"
) -> Iterator[list[Entry]]:
    """Yield the pages of a sitemap in batches; ask the reader afterwards for the rest.

    Memory does not grow with the file. Raises BadSitemap as `parse_sitemap` does.
    """
    for chunk in chunks:
        if batch := reader.feed(chunk):
            yield batch
        if reader.is_done:
            break
    if batch := reader.close():
        yield batch


class SitemapReader:
    """Takes bytes as they arrive and gives back the pages they name.

    `feed` and `close` return pages; `sitemap` says all else, once closed.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        site: str | None = None,
        limits: SitemapLimits = DEFAULT_LIMITS,
    ) -> None:
        base = parse_url(url) if url else None
        self._limits = limits
        self._inflater = GzipStream(limits)
        self._transcoder = Transcoder()
        self._body = _Body(base, site, limits.max_urls)
        self._read = 0
        self._cut: Truncation | None = None

    @property
    def is_done(self) -> bool:
        """Say whether more bytes could not change the result."""
        return self._cut is not None or self._body.is_full

    def feed(self, chunk: bytes) -> list[Entry]:
        """Take some bytes and return the pages that are complete with them."""
        entries: list[Entry] = []
        for piece in self._inflater.feed(chunk):
            if self.is_done:
                break
            entries += self._take(piece)
        return entries

    def close(self) -> list[Entry]:
        """Say that all bytes have come and return the last pages."""
        entries: list[Entry] = []
        if not self.is_done:
            for piece in self._inflater.close():
                entries += self._take(piece)
        entries += self._body.take(self._transcoder.close())
        self._cut = self._cut or self._inflater.cut
        entries += self._body.close(is_cut=self._cut is not None)
        return entries

    def sitemap(self) -> Sitemap:
        """Report what the file was and what was left out, without its pages."""
        return replace(
            self._body.sitemap(),
            bytes_read=self._read,
            was_gzip=self._inflater.was_gzip,
            cut=self._cut or self._body.cut,
        )

    def _take(self, piece: bytes) -> list[Entry]:
        room = self._limits.max_bytes - self._read
        if len(piece) > room:
            piece = piece[:room]
            self._cut = Truncation.BYTES
        self._read += len(piece)
        return self._body.take(self._transcoder.feed(piece))


class _Body:
    """The file in UTF-8: finds out its form, then hands it to that form's reader."""

    def __init__(self, base: Url | None, site: str | None, max_urls: int) -> None:
        self.cut: Truncation | None = None
        self._pages = UrlFilter(base=base, site=site, max_urls=max_urls, any_host=False)
        self._children = UrlFilter(
            base=base, site=site, max_urls=max_urls, any_host=True
        )
        self._tally = _Tally()
        self._start = bytearray()
        self._form: _Xml | _Lines | _Whole | None = None

    @property
    def is_full(self) -> bool:
        return self._pages.is_full or self._children.is_full

    def take(self, piece: bytes) -> list[Entry]:
        if self._form is not None:
            return self._form.take(piece)
        self._start += piece
        if len(self._start) < _SNIFFED_BYTES:
            return []
        return self._begin()

    def close(self, *, is_cut: bool) -> list[Entry]:
        entries = [] if self._form is not None else self._begin()
        if self._form is not None:
            entries += self._form.close(is_cut=is_cut)
            if not is_cut and self._form.ended_early:
                self.cut = Truncation.ENDED_EARLY
        if self.is_full:
            self.cut = Truncation.URLS
        return entries

    def sitemap(self) -> Sitemap:
        form = self._form
        generator, version = self._tally.generator or (None, None)
        return Sitemap(
            kind=self._tally.kind(form.kind if form else SitemapKind.STANDARD),
            dialect=form.dialect if form else Dialect.SITEMAP,
            sitemaps=tuple(self._tally.sitemaps),
            seen=self._pages.seen + self._children.seen,
            kept=self._pages.kept + self._children.kept,
            dropped=dict(self._pages.dropped + self._children.dropped),
            images=self._tally.shown[SitemapKind.IMAGE],
            videos=self._tally.shown[SitemapKind.VIDEO],
            news=self._tally.shown[SitemapKind.NEWS],
            alternates=self._tally.alternates,
            newest=self._tally.newest,
            generator=generator,
            generator_version=version,
            recovered=form.recovered if form else False,
        )

    def _begin(self) -> list[Entry]:
        start = bytes(self._start).lstrip()
        self._start.clear()
        self._form, rest = self._recognise(start)
        return self._form.take(rest)

    def _recognise(self, start: bytes) -> "tuple[_Xml | _Lines | _Whole, bytes]":
        if not start.strip(b"\0 \t\r\n"):
            raise BadSitemap("it has no bytes")
        _refuse_html(start)
        self._tally.note(start)
        found = find_root(start)
        if found is None:
            if _FIRST_URL.match(start):
                return _Lines(self._pages), start
            raise BadSitemap(_looks(start))
        root = Root(found)
        if root.name in _ITEMS:
            is_clean = found.start() == after_prolog(start)
            form = _Xml(root, self._pages, self._children, self._tally)
            form.recovered = not is_clean
            return form, start[found.end() :]
        dialect = feed.DIALECTS.get(root.name)
        return _Whole(dialect, self._pages, self._tally), start[found.start() :]


class _Xml:
    """`<urlset>` and `<sitemapindex>`, slab by slab."""

    dialect = Dialect.SITEMAP

    def __init__(
        self, root: Root, pages: UrlFilter, children: UrlFilter, tally: "_Tally"
    ) -> None:
        self.kind = (
            SitemapKind.INDEX if root.name == "sitemapindex" else SitemapKind.STANDARD
        )
        self.ended_early = False
        self.recovered = False
        self._root = root
        self._pages = pages
        self._children = children
        self._tally = tally
        self._item = _ITEMS[root.name]
        self._slabs = XmlChunker(root, self._item)
        self._parser = XmlChunkParser(root, self._slabs)

    def take(self, piece: bytes) -> list[Entry]:
        entries: list[Entry] = []
        for slab in self._slabs.feed(piece):
            entries += self._read(slab)
        return entries

    def close(self, *, is_cut: bool) -> list[Entry]:
        rest = self._slabs.close()
        end = rest.rfind(self._root.end)
        if end < 0 and not self._root.is_empty:
            self.ended_early = True
            # A location without its end tag may be half a URL.
            end = rest.rfind(b">") + 1
        self._tally.note(rest[max(end, 0) :])
        entries = self._read(rest[: max(end, 0)])
        self.recovered |= self._parser.recovered and not (is_cut or self.ended_early)
        return entries

    def _read(self, slab: bytes) -> list[Entry]:
        if holds_notes(slab):
            self._tally.note(slab)
        regular = None if self._root.prefix else read_regular(slab, self._item)
        if regular is not None and "loc" in regular.columns:
            return self._read_regular(column.RegularItems(regular))
        entries: list[Entry] = []
        for tree in self._parser.trees(slab):
            items = column.Items(tree, "url")
            if items.elements:
                urls = self._pages.admit(items.locations)
                entries += self._tally.count(column.read_rows(items, urls))
                entries += _entries(self._pages, items.more)
            if len(items.elements) < len(tree):
                self._read_children(column.Items(tree, "sitemap"))
        return entries

    def _read_regular(self, items: column.RegularItems) -> list[Entry]:
        if self.kind is SitemapKind.INDEX:
            self._read_children(items)
            return []
        urls = self._pages.admit(items.locations)
        return self._tally.count(column.read_rows(items, urls))

    def _read_children(self, children: column.Items | column.RegularItems) -> None:
        urls = self._children.admit(children.locations)
        rows = column.read_rows(children, urls)
        self._tally.sitemaps += rows.entries
        self._tally.sitemaps += _entries(self._children, children.more)
        self._tally.see(rows.newest)


class _Whole:
    """Feeds, and XML whose root nobody knows: read in one go, so with a cap."""

    def __init__(
        self, dialect: Dialect | None, pages: UrlFilter, tally: "_Tally"
    ) -> None:
        self.kind = SitemapKind.FEED if dialect else SitemapKind.STANDARD
        self.dialect = dialect or Dialect.SITEMAP
        self.ended_early = False
        self.recovered = False
        self._pages = pages
        self._tally = tally
        self._content = bytearray()

    def take(self, piece: bytes) -> list[Entry]:
        room = _MAX_WHOLE - len(self._content)
        self.ended_early |= len(piece) > room
        self._content += piece[:room]
        return []

    def close(self, *, is_cut: bool) -> list[Entry]:
        # What follows the last tag may be half a URL.
        content = bytes(self._content[: self._content.rfind(b">") + 1])
        tree, was_mended = lenient_tree(content)
        self.recovered = was_mended and not is_cut
        return (
            self._posts(tree)
            if self.kind is SitemapKind.FEED
            else self._locations(tree)
        )

    def _posts(self, tree: Tree) -> list[Entry]:
        posts, generator = feed.read_feed(tree)
        self._tally.generator = self._tally.generator or generator
        urls = self._pages.admit([post.url for post in posts])
        self._tally.see(max((p.moment[0] for p in posts if p.moment[0]), default=None))
        return [
            Entry(url, *post.moment, title=post.title)
            for url, post in zip(urls, posts, strict=True)
            if url is not None
        ]

    def _locations(self, tree: Tree) -> list[Entry]:
        items = column.Items(tree, "url")
        if not items.elements:
            raise BadSitemap(f"its root is <{_local(tree)}> and it names no locations")
        urls = self._pages.admit(items.locations)
        return self._tally.count(column.read_rows(items, urls))


class _Lines:
    """A text file with one URL per line."""

    kind = SitemapKind.TEXT
    dialect = Dialect.TEXT
    recovered = False
    ended_early = False

    def __init__(self, pages: UrlFilter) -> None:
        self._pages = pages
        self._rest = b""

    def take(self, piece: bytes) -> list[Entry]:
        lines, newline, self._rest = (self._rest + piece).rpartition(b"\n")
        if len(self._rest) > _MAX_LINE:
            # Too long to be a URL: counted as one when its end comes.
            self._rest = self._rest[:_MAX_LINE]
        return self._read(lines) if newline else []

    def close(self, *, is_cut: bool) -> list[Entry]:
        return [] if is_cut else self._read(self._rest)

    def _read(self, lines: bytes) -> list[Entry]:
        text = lines.decode("utf-8", "replace").replace("\r", "\n")
        found = [words[0] for line in text.split("\n") if (words := line.split())]
        found = [word for word in found if word[0] != "#"]
        urls = [word for word in found if self._pages.looks_like_url(word)]
        self._pages.refuse(len(found) - len(urls))
        return _entries(self._pages, urls)


def _entries(url_filter: UrlFilter, locations: Sequence[str | None]) -> list[Entry]:
    return [Entry(url) for url in url_filter.admit(locations) if url is not None]


class _Tally:
    """What is counted and noted over a whole file."""

    def __init__(self) -> None:
        self.sitemaps: list[Entry] = []
        self.pages = 0
        self.shown: Counter[SitemapKind] = Counter()
        self.alternates = 0
        self.newest: datetime | None = None
        self.generator: tuple[str, str | None] | None = None
        self._pages_with: Counter[SitemapKind] = Counter()

    def note(self, xml: bytes) -> None:
        """Look for the generator's name until it is known."""
        if self.generator is None:
            self.generator = find_generator(xml[:_MAX_NOTES])

    def count(self, rows: column.EntryBuilder) -> list[Entry]:
        """Add up what the pages show and when they changed; give the pages back."""
        self.pages += len(rows.entries)
        for kind, (pages, shown) in rows.shows.items():
            self.shown[kind] += shown
            self._pages_with[kind] += pages
        self.alternates += rows.alternates
        self.see(rows.newest)
        return rows.entries

    def see(self, when: datetime | None) -> None:
        """Remember the newest change."""
        if when is not None and (self.newest is None or when > self.newest):
            self.newest = when

    def kind(self, kind: SitemapKind) -> SitemapKind:
        """Return the kind of the file: of what more than half of its pages show."""
        if kind is not SitemapKind.STANDARD and kind is not SitemapKind.INDEX:
            return kind
        if len(self.sitemaps) > self.pages:
            return SitemapKind.INDEX
        if not self.pages:
            return kind
        for special in (SitemapKind.NEWS, SitemapKind.VIDEO, SitemapKind.IMAGE):
            if self._pages_with[special] * 2 > self.pages:
                return special
        return SitemapKind.STANDARD


_SNIFFED_BYTES: Final = 64 * 1024
_MAX_WHOLE: Final = 10 * MEBIBYTE
_MAX_LINE: Final = 64 * 1024
_MAX_NOTES: Final = 64 * 1024
_ITEMS: Final = {"urlset": b"url", "sitemapindex": b"sitemap"}
_FIRST_URL: Final = re.compile(
    rb"(?:\s*#[^\n]{0,500}\n){0,20}\s*https?://", re.IGNORECASE
)
_HTML: Final = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|div|script)\b", re.IGNORECASE
)
_MAGIC: Final = (
    (b"{", "it is JSON"),
    (b"[", "it is JSON"),
    (b"%PDF", "it is a PDF"),
    (b"PK\x03\x04", "it is a zip file"),
    (b"\x89PNG", "it is an image"),
    (b"\xff\xd8", "it is an image"),
    (b"GIF8", "it is an image"),
)


def _refuse_html(start: bytes) -> None:
    at = after_prolog(start)
    if _HTML.match(start, at):
        raise HtmlNotSitemap(
            "it is a web page",
            hint="the server answers with a page where it has no file",
        )


def _looks(start: bytes) -> str:
    for magic, what in _MAGIC:
        if start.startswith(magic):
            return what
    return "it is neither XML nor a list of URLs"


def _local(tree: Tree) -> str:
    return ascii(str(tree.tag).rpartition("}")[2][:40]).strip("'")
