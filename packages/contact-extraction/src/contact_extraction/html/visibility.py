"""Whether a visitor sees an element, as far as the page says so itself."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

import turbohtml

from contact_extraction.html.colour import UNKNOWN, Colour, read_colour
from contact_extraction.html.sight import DOUBTED, OPENED, SEEN
from contact_extraction.html.style import StyleEffect, look_of, names_in_sheets
from contact_extraction.html.text import words

MAX_STYLED: Final = 100
MAX_GROUND: Final = 8
"""How many elements around a text are asked for the colour of its ground."""
_SPECIAL: Final = "[style], [hidden], [data-cfemail], [aria-hidden=true]"
_SPECIAL_TAGS: Final = ("bdo", "noscript", "details", "summary", "font[color]")
_SPOKEN: Final = words("sr-only visually-hidden screen-reader-text")
"""Classes by which frameworks write for screen readers alone."""
_PLAIN_NAME: Final = re.compile(r"#?[A-Za-z_][A-Za-z0-9_-]*")
# Elements that style sheets in other files paint by their tag.
_PAINTED_TAGS: Final = words("header footer nav main aside section article body html")
_SIZED: Final = words("p div li td h1 h2 h3 h4 h5 h6")
_STYLING: Final = words("class id style")
MAX_PARTS: Final = 50
_ABSENT: Final = "\0"
_NO_LOOK: Final = StyleEffect()


class Visibility:
    """What the attributes and style sheets of one page do to its elements."""

    def __init__(
        self,
        document: turbohtml.Document,
        sheets: Sequence[str],
        *,
        is_whole: bool,
    ) -> None:
        self.is_whole = is_whole and not any("@import" in sheet for sheet in sheets)
        """Whether no other file has style sheets of the page."""
        style = names_in_sheets(sheets, is_whole=self.is_whole)
        self.hidden, self.mirrored = _lower(style.hidden), _lower(style.mirrored)
        self.has_names = bool(self.hidden or self.mirrored)
        self.doubted = _lower(style.doubted | _SPOKEN)
        self.sizeless = _lower(style.sizeless)
        self.transparent = _lower(style.transparent)
        self.inks = {name.lower(): ink for name, ink in style.inks.items()}
        self.papers = {name.lower(): paper for name, paper in style.papers.items()}
        self.looks: dict[str, StyleEffect] = {}
        self.by_names: dict[str, tuple[bool, bool]] = {}
        grounds = {*style.papers.values()} - {UNKNOWN}
        faint = {name for name, ink in style.inks.items() if ink in grounds}
        named = style.doubted | style.sizeless | style.transparent | faint | _SPOKEN
        self.has_bait = bool(style.sizeless or style.transparent or faint)
        self.special = _elements(document, named)
        """The elements to look at; all others are seen as what is around them."""

    def is_hidden_or_mirrored(
        self, node: turbohtml.Element, tag: str, names: str
    ) -> tuple[bool, bool]:
        """Say whether an element is hidden, and whether its text runs backwards."""
        attr = node.attr
        hidden = attr("hidden", _ABSENT) is not _ABSENT
        mirrored = tag == "bdo" and (attr("dir") or "").lower() == "rtl"
        style = attr("style")
        if style:
            look = self._look(style)
            hidden = hidden or look.is_hidden
            mirrored = mirrored or look.is_mirrored
        if names and self.has_names:
            is_hidden, is_mirrored = self.does_hide_or_mirror(names)
            hidden, mirrored = hidden or is_hidden, mirrored or is_mirrored
        return hidden, mirrored

    def does_hide_or_mirror(self, names: str) -> tuple[bool, bool]:
        """Say what the classes and the id of an element do to it, its attributes apart."""
        known = self.by_names.get(names)
        if known is None:
            own = names.split()
            known = self.by_names[names] = (
                not self.hidden.isdisjoint(own),
                not self.mirrored.isdisjoint(own),
            )
        return known

    def is_bait(self, node: turbohtml.Element, tag: str, names: str) -> bool:
        """Say whether text has no size, no colour, or that of the ground under it."""
        style = node.attr("style")
        look = self._look(style) if style else _NO_LOOK
        if look.is_transparent:
            return True
        if not self.has_bait:
            return bool(look.ink or look.paper or tag == "font") and self._is_faint(
                node
            )
        own = names.split()
        if not self.transparent.isdisjoint(own):
            return True
        # What sets a size again only had the gaps between its parts closed.
        if not self.sizeless.isdisjoint(own) and not _has_sized_parts(node):
            return True
        if (
            look.ink
            or look.paper
            or tag == "font"
            or not self.inks.keys().isdisjoint(own)
        ):
            return self._is_faint(node)
        return False

    def certainty(
        self, node: turbohtml.Element, tag: str, names: str, outer: float
    ) -> float:
        """Say how surely what an element contains is seen, by that of what is around."""
        if tag == "details":
            is_open = node.attr("open", _ABSENT) is not _ABSENT
            return outer if is_open else min(outer, OPENED)
        if tag == "summary":
            return SEEN if outer == OPENED else outer
        return min(outer, DOUBTED) if self._is_doubted(node, tag, names) else outer

    def _is_doubted(self, node: turbohtml.Element, tag: str, names: str) -> bool:
        if tag in ("body", "html"):
            return False
        if tag == "noscript" or node.attr("aria-hidden") == "true":
            return True
        if names and not self.doubted.isdisjoint(names.split()):
            return True
        style = node.attr("style")
        return self._look(style).is_doubted if style else False

    def _is_faint(self, node: turbohtml.Element) -> bool:
        """Say whether letters have the colour of their ground, if both are known.

        Whatever has a class may be painted by another file, if there is one.
        """
        ink = paper = None
        around: turbohtml.Node | None = node
        for _ in range(MAX_GROUND):
            if not isinstance(around, turbohtml.Element):
                break
            own_ink, own_paper, is_known = self._colours(around)
            ink, paper = ink or own_ink, paper or own_paper
            if ink and paper:
                return ink == paper != UNKNOWN
            if not is_known or around.tag in _PAINTED_TAGS:
                break
            around = around.parent
        return False

    def _colours(
        self, node: turbohtml.Element
    ) -> tuple[Colour | None, Colour | None, bool]:
        """Give the colours an element sets, and whether nobody else sets any."""
        attr = node.attr
        style = attr("style")
        look = self._look(style) if style else _NO_LOOK
        own = [node.tag] if node.tag == "body" else names_of(node).split()
        ink, paper = look.ink, look.paper
        for name in own:
            ink = ink or self.inks.get(name)
            paper = paper or self.papers.get(name)
        if node.tag == "font" and not ink:
            ink = read_colour(attr("color") or "")
        if not paper and (ground := attr("bgcolor")):
            paper = read_colour(ground)
        if attr("background"):
            paper = UNKNOWN
        is_known = all(name in self.inks or name in self.papers for name in own)
        return ink, paper, not own or (self.is_whole and is_known)

    def _look(self, style: str) -> StyleEffect:
        known = self.looks.get(style)
        if known is None:
            known = self.looks[style] = look_of(style)
        return known


def names_of(node: turbohtml.Element) -> str:
    """Join the classes and `#id` of an element into one lower-case string."""
    classes = node.attr("class")
    identity = node.attr("id")
    if not identity:
        return classes.lower()[:500] if classes else ""
    return f"{classes or ''} #{identity}".lower()[:500]


def _elements(
    document: turbohtml.Document, names: Iterable[str]
) -> set[turbohtml.Node]:
    plain = sorted(name for name in names if _PLAIN_NAME.fullmatch(name))
    selectors = (n if n[0] == "#" else f".{n}" for n in plain[:MAX_STYLED])
    found: set[turbohtml.Node] = set()
    found.update(document.select(", ".join((_SPECIAL, *selectors))))
    # One tag alone is looked up, a list of them is searched for.
    for tag in _SPECIAL_TAGS:
        found.update(document.select(tag))
    return found


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _has_sized_parts(node: turbohtml.Element) -> bool:
    """Say whether an element has no text of its own and parts with styles of theirs."""
    children = node.children
    if any(type(c) is turbohtml.Text and not c.data.isspace() for c in children):
        return False
    parts = [*islice(node.descendants, MAX_PARTS)]
    return len(parts) == MAX_PARTS or any(
        part.tag in _SIZED or not _STYLING.isdisjoint(part.attrs.keys())
        for part in parts
        if isinstance(part, turbohtml.Element)
    )
