"""Read a parsed slab column by column: all locations, then all dates, and so on.

Walking the tree once per tag name is three times as fast as looking at every child of
every `<url>`. Each value is put to its item by its parent element, so that a missing,
doubled or misplaced tag never moves a value to a neighbour.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import compress
from typing import Final, TypeVar, cast

from contact_extraction.sitemap.model import (
    MAX_PER_PAGE,
    Alternate,
    ChangeFreq,
    Entry,
    NewsArticle,
    SitemapKind,
    Video,
)
from contact_extraction.sitemap.regular import RegularColumns, sliced, stripped
from contact_extraction.sitemap.when import parse_moment, parse_moments
from contact_extraction.sitemap.xml_chunk import NAMESPACES, Tree

Value = TypeVar("Value")
Column = Sequence[str | None]


class Items:
    """The `<url>` or `<sitemap>` elements of one tree, and where each says it is."""

    def __init__(self, tree: Tree, name: str) -> None:
        self._tree = tree
        self._namespace = _namespace(tree)
        self.elements = [*tree.iter(self._namespace + name)]
        if not self.elements:
            self._namespace = "{*}"
            self.elements = [*tree.iter("{*}" + name)]
        self.more: list[str | None] = []
        """The second and later locations of an item."""
        self.locations = self._locations()

    def _locations(self) -> Column:
        found = self.column("loc", rest=self.more) or [None] * len(self.elements)
        if None not in found:
            return found
        pairs = zip(found, self.elements, strict=True)
        return [text or _other_location(element) for text, element in pairs]

    def column(self, name: str, rest: list[str | None] | None = None) -> Column:
        """Return the text of the named child of each item, None where it has none.

        Further children of that name go to `rest`.
        """
        found = list(self._tree.iter(self._namespace + name))
        if not found:
            return ()
        parents = [element.getparent() for element in found]
        if parents == self.elements:
            return [element.text for element in found]
        values: list[str | None] = [None] * len(self.elements)
        for parent, element in zip(parents, found, strict=True):
            place = self._places.get(parent)
            if place is None:
                continue
            if values[place] is None:
                values[place] = element.text
            elif rest is not None:
                rest.append(element.text)
        return values

    def images(self) -> list[tuple[str, ...]] | None:
        """Return the images of each item, None if nowhere is one."""
        found = list(self._tree.iter(self._name("image", "loc")))
        if not found:
            return None
        texts = [element.text or "" for element in found]
        owners = [element.getparent().getparent() for element in found]  # type: ignore[union-attr]
        if not self._places.keys() >= set(owners):
            pairs = zip(owners, texts, strict=True)
            kept = [pair for pair in pairs if pair[0] in self._places]
            owners, texts = [pair[0] for pair in kept], [pair[1] for pair in kept]
        # The texts stand in the order of the items, so counting them is grouping them.
        return sliced(
            stripped(texts), list(map(Counter(owners).__getitem__, self.elements))
        )

    def groups(
        self, prefix: str, local: str, read: Callable[[Tree], Value | None]
    ) -> list[tuple[Value, ...]] | None:
        """Return for each item what `read` makes of its children of that name."""
        found = list(self._tree.iter(self._name(prefix, local)))
        if not found:
            return None
        lists: list[list[Value]] = [[] for _ in self.elements]
        for element in found:
            place = self._places.get(element.getparent())
            if place is not None and len(lists[place]) < MAX_PER_PAGE:
                value = read(element)
                if value is not None:
                    lists[place].append(value)
        return [tuple(values) for values in lists]

    def _name(self, prefix: str, local: str) -> str:
        # By the prefix, not by the URI: every second generator has a typing error there.
        return f"{{{self._tree.nsmap.get(prefix, NAMESPACES[prefix])}}}{local}"

    @cached_property
    def _places(self) -> dict[Tree | None, int]:
        return {item: place for place, item in enumerate(self.elements)}


class RegularItems:
    """The items of a regular slab: plain columns and perhaps images."""

    def __init__(self, regular: RegularColumns) -> None:
        self.more: list[str | None] = []
        self._regular = regular
        self.locations = regular.columns["loc"]

    def column(self, name: str) -> Column:
        """Return the text of the named child of each item."""
        return self._regular.columns.get(name, ())

    def images(self) -> list[tuple[str, ...]] | None:
        """Return the images of each item."""
        return self._regular.images

    def groups(
        self, prefix: str, local: str, read: Callable[[Tree], Value | None]
    ) -> None:
        """Return nothing: a regular slab has no videos, news or alternates."""


class ChangeFreqCache(dict[str | None, ChangeFreq | None]):
    """Remembers what each spelling of a change frequency means."""

    def __missing__(self, text: str | None) -> ChangeFreq | None:
        try:
            value = ChangeFreq((text or "").strip().lower())
        except ValueError:
            value = None
        return self.setdefault(text, value)


class PriorityCache(dict[str | None, float | None]):
    """Remembers what each spelling of a priority means."""

    def __missing__(self, text: str | None) -> float | None:
        try:
            value = float((text or "").strip().replace(",", "."))
        except ValueError:
            value = -1.0
        return self.setdefault(text, value if 0.0 <= value <= 1.0 else None)


@dataclass(frozen=True, slots=True)
class EntryBuilder:
    """The entries of one tree, and what its pages show."""

    entries: list[Entry]
    newest: datetime | None
    shows: Mapping[SitemapKind, tuple[int, int]]
    """For images, videos, news: how many pages have one, and how many there are."""
    alternates: int


def read_rows(items: Items | RegularItems, urls: Sequence[str | None]) -> EntryBuilder:
    """Return an entry for each item whose URL was admitted."""
    nothing = (None,) * len(urls)
    empty = ((),) * len(urls)
    times, precisions = parse_moments(items.column("lastmod"))
    images = items.images()
    videos = items.groups("video", "video", _video)
    news = items.groups("news", "news", _news)
    alternates = items.groups("xhtml", "link", _alternate)
    columns = (
        urls,
        times or nothing,
        precisions or nothing,
        list(map(ChangeFreqCache().__getitem__, items.column("changefreq"))) or nothing,
        list(map(PriorityCache().__getitem__, items.column("priority"))) or nothing,
        images or empty,
        videos or empty,
        [found[0] if found else None for found in news] if news else nothing,
        alternates or empty,
        nothing,
    )
    entries = list(map(_ENTRY, zip(*columns, strict=True)))
    if None in urls:
        entries = list(compress(entries, urls))
    return EntryBuilder(
        entries=entries,
        newest=max(filter(None, compress(times, urls)), default=None),
        shows={
            SitemapKind.IMAGE: _shown(images),
            SitemapKind.VIDEO: _shown(videos),
            SitemapKind.NEWS: _shown(news),
        },
        alternates=_shown(alternates)[1],
    )


# The same as Entry(*row), without a Python frame for each of fifty thousand rows.
_ENTRY: Final = cast(
    "Callable[[tuple[object, ...]], Entry]", partial(tuple.__new__, Entry)
)


def _shown(groups: Sequence[tuple[object, ...]] | None) -> tuple[int, int]:
    if groups is None:
        return 0, 0
    return sum(map(bool, groups)), sum(map(len, groups))


def _namespace(tree: Tree) -> str:
    name, brace, _ = str(tree.tag).rpartition("}")
    return name + brace


_MAX_TEXT: Final = 2_048


def _other_location(element: Tree) -> str | None:
    """Return where an item without a location says it is: its own text, or a link."""
    text = (element.text or "").strip()
    if text.startswith(("http://", "https://")):
        return text[:_MAX_TEXT]
    links = element.iterchildren("{*}link")
    return next((href for link in links if (href := link.get("href"))), None)


def _text(element: Tree | None) -> str | None:
    text = element.text if element is not None else None
    return text.strip()[:_MAX_TEXT] or None if text else None


def _child(element: Tree, local: str) -> str | None:
    return _text(element.find("{*}" + local))


def _video(element: Tree) -> Video:
    return Video(
        title=_child(element, "title"),
        url=_child(element, "content_loc") or _child(element, "player_loc"),
        thumbnail=_child(element, "thumbnail_loc"),
        published=parse_moment(_child(element, "publication_date"))[0],
    )


def _news(element: Tree) -> NewsArticle:
    publication = element.find("{*}publication")
    about = element if publication is None else publication
    return NewsArticle(
        publication=_child(about, "name"),
        language=_child(about, "language"),
        title=_child(element, "title"),
        published=parse_moment(_child(element, "publication_date"))[0],
    )


def _alternate(element: Tree) -> Alternate | None:
    language, href = element.get("hreflang"), element.get("href")
    if not language or not href or len(href) > _MAX_TEXT:
        return None
    return Alternate(language.strip()[:_LANGUAGE_CHARACTERS], href.strip())


_LANGUAGE_CHARACTERS: Final = 35
