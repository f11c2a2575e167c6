"""Cut an XML sitemap into slabs that are small, complete documents of their own.

A slab is the root's start tag, some hundred `<url>` elements and the end tag. So memory
is bounded by the slab and not by the file, parsing runs at the full speed of the tree
parser, and damage in one place never costs more than the elements it touches.
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from lxml import etree

from contact_extraction.errors import BadSitemap
from contact_extraction.sitemap.repair import repaired
from contact_extraction.sitemap.stream import PIECE_BYTES

# Undocumented, and the only name that lxml has for it: hence the bound on its version.
Tree: TypeAlias = etree._Element  # noqa: SLF001

NAMESPACES: Final = {
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "xhtml": "http://www.w3.org/1999/xhtml",
}


class Root:
    """The start tag of the root element, as it is put around every slab."""

    def __init__(self, found: re.Match[bytes]) -> None:
        self.prefix = found["prefix"] or b""
        self.name = found["name"].decode("ascii", "replace").lower()
        self.start = _with_namespaces(found)
        self.end = b"</" + self.prefix + found["name"] + b">"
        self.is_empty = found[0].endswith(b"/>")


def find_root(start: bytes) -> re.Match[bytes] | None:
    """Find the start tag of the root element; None if it is not complete.

    Raises BadSitemap for a DOCTYPE: no sitemap needs one, and every attack with
    entities does. Junk in front of the root is stepped over.
    """
    at = after_prolog(start)
    if start[at : at + len(_DOCTYPE)].upper() == _DOCTYPE:
        raise BadSitemap("it has a DOCTYPE", hint="no sitemap needs one")
    # Servers put warnings in front, so a root we know wins over the first tag.
    return _KNOWN_ROOT.search(start, at) or _ROOT.match(start, at)


def after_prolog(start: bytes) -> int:
    """Return where the declaration, comments and instructions end."""
    at = 0
    while True:
        at += len(start[at : at + PIECE_BYTES]) - len(
            start[at : at + PIECE_BYTES].lstrip()
        )
        for opening, closing in _PROLOG:
            if start.startswith(opening, at):
                end = start.find(closing, at + len(opening))
                if end < 0:
                    return at
                at = end + len(closing)
                break
        else:
            return at


def holds_notes(xml: bytes) -> bool:
    """Say whether there may be comments or CDATA; quick where there are none."""
    # One rare byte is searched ten times as fast as two common ones.
    return b"!" in xml and b"<!" in xml


class XmlChunker:
    """Collects bytes of the root's content and gives them out as slabs."""

    def __init__(self, root: Root, item: bytes) -> None:
        self._root = root
        self._mark = b"</" + root.prefix + item + b">"
        self._content = b""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the content in parts that end after an item."""
        self._content += piece
        while len(self._content) >= PIECE_BYTES:
            cut = self._cut()
            if not cut:
                return
            slab, self._content = self._content[:cut], self._content[cut:]
            yield slab

    def close(self) -> bytes:
        """Return the content after the last slab."""
        return self._content

    def count(self, slab: bytes) -> int:
        """Return how many items end in the slab."""
        return slab.count(self._mark)

    def split(self, slab: bytes) -> Iterator[bytes]:
        """Yield the items of a slab one by one."""
        start = 0
        while (end := slab.find(self._mark, start)) >= 0:
            end += len(self._mark)
            yield slab[start:end]
            start = end
        if start < len(slab):
            yield slab[start:]

    def _cut(self) -> int:
        """Find the last place where one item ends, outside comments and CDATA."""
        end = len(self._content)
        for _ in range(_CUT_TRIES):
            at = self._content.rfind(self._mark, 0, end)
            if at < 0:
                break
            if not self._is_open(at):
                return at + len(self._mark)
            end = at
        return len(self._content) if len(self._content) >= _MAX_SLAB else 0

    def _is_open(self, at: int) -> bool:
        content = self._content
        if not holds_notes(content):
            return False
        return any(
            content.rfind(opening, 0, at) > content.rfind(closing, 0, at)
            for opening, closing in ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"))
        )


class XmlChunkParser:
    """Parses slabs: strictly, then repaired, then item by item."""

    def __init__(self, root: Root, slabs: XmlChunker) -> None:
        self.recovered = False
        self._root = root
        self._slabs = slabs
        self._strict = _parser(recover=False)
        self._lenient = _parser(recover=True)
        self._salvages = _MAX_SALVAGES

    def trees(self, slab: bytes) -> Iterator[Tree]:
        """Yield the slab as one tree; if it is broken beyond repair, one per item."""
        _refuse_many_names(slab)
        tree = self._strict_tree(slab)
        if tree is None:
            self.recovered = True
            slab = repaired(slab)
            tree = self._strict_tree(slab)
        if tree is None:
            yield from self._salvaged(slab)
        else:
            yield _without_dtd(tree)

    def _strict_tree(self, content: bytes) -> Tree | None:
        document = b"".join((self._root.start, content, self._root.end))
        try:
            return etree.fromstring(document, self._strict)
        except etree.XMLSyntaxError:
            return None

    def _salvaged(self, slab: bytes) -> Iterator[Tree]:
        """Yield the one tree that a lenient parser sees, if it sees all items in it."""
        tree = self._lenient_tree(self._root.start + slab)
        items = self._slabs.count(slab)
        if (tree is not None and len(tree) >= items) or items > self._salvages:
            if tree is not None:
                yield _without_dtd(tree)
            return
        # What the lenient parser gives up on may cost the rest of the slab with it.
        self._salvages -= items
        for item in self._slabs.split(slab):
            tree = self._lenient_tree(self._root.start + item)
            if tree is not None:
                yield _without_dtd(tree)

    def _lenient_tree(self, xml: bytes) -> Tree | None:
        try:
            # The stubs do not know that a lenient parser may find no element at all.
            return etree.fromstring(xml, self._lenient)
        except etree.XMLSyntaxError:
            return None


def lenient_tree(xml: bytes) -> tuple[Tree, bool]:
    """Parse a whole document; say too whether it had to be repaired."""
    _refuse_many_names(xml)
    try:
        return _without_dtd(etree.fromstring(xml, _parser(recover=False))), False
    except etree.XMLSyntaxError:
        pass
    try:
        tree: Tree | None = etree.fromstring(repaired(xml), _parser(recover=True))
    except etree.XMLSyntaxError as error:
        raise BadSitemap(f"its XML cannot be read: {error.msg}") from None
    if tree is None:
        raise BadSitemap("its XML holds no element")
    return _without_dtd(tree), True


_DOCTYPE: Final = b"<!DOCTYPE"
_PROLOG: Final = ((b"<?", b"?>"), (b"<!--", b"-->"))
# Stopping at any "<" keeps the search linear; no honest root has one in its attributes.
_TAG_REST: Final = rb"(?=[\s/>])[^<>]{0,8000}+>"
_ROOT: Final = re.compile(
    rb"<(?P<prefix>[\w.-]{1,40}:)?(?P<name>[\w.-]{1,40})" + _TAG_REST
)
_KNOWN_ROOT: Final = re.compile(
    rb"<(?P<prefix>[\w.-]{1,40}:)?(?P<name>urlset|sitemapindex|rss|feed|RDF)"
    + _TAG_REST
)
_USUAL_TAG: Final = (
    rb"/|(?:url|loc|lastmod|changefreq|priority|sitemap)>"
    rb"|image:(?:image|loc|title|caption|license|geo_location)>"
    rb"|video:(?:video|title|description|thumbnail_loc|content_loc|duration)>"
    rb"|news:(?:news|publication|name|language|publication_date|title)>"
    rb'|xhtml:link(?:\s++(?:rel|hreflang|href)="[^"<]*+")*+\s*+/?>'
)
_UNUSUAL_TAG: Final = re.compile(rb"<(?!" + _USUAL_TAG + rb")[^<>]{1,20000}+")
_NAME: Final = re.compile(rb"<[^\s/>!?<]{1,200}+|\s[\w:.-]{1,200}+(?==)")
_MAX_NAMES: Final = 5_000
_CUT_TRIES: Final = 8
_MAX_SALVAGES: Final = 5_000
_MAX_SLAB: Final = 8 * PIECE_BYTES


def _refuse_many_names(xml: bytes) -> None:
    # The XML library keeps every name it ever met until the process ends.
    names = set(_NAME.findall(b"\n".join(_UNUSUAL_TAG.findall(xml))))
    if len(names) > _MAX_NAMES:
        raise BadSitemap(f"it has more than {_MAX_NAMES:,} different tags")


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_blank_text=True,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )


def _with_namespaces(found: re.Match[bytes]) -> bytes:
    """Declare the usual prefixes where a generator used but forgot to declare them."""
    tag = found[0].removesuffix(b"/>").removesuffix(b">")
    for prefix, uri in NAMESPACES.items():
        if b"xmlns:" + prefix.encode() not in tag:
            tag += f' xmlns:{prefix}="{uri}"'.encode()
    own = found["prefix"]
    if own and b"xmlns:" + own[:-1] not in tag:
        tag += b" xmlns:" + own[:-1] + b'="http://www.sitemaps.org/schemas/sitemap/0.9"'
    return tag + b">"


def _without_dtd(tree: Tree) -> Tree:
    # A second lock: the prolog was searched for a DOCTYPE before.
    if tree.getroottree().docinfo.internalDTD is not None:
        raise BadSitemap("it has a DOCTYPE", hint="no sitemap needs one")
    return tree
