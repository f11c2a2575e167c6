"""What a parsed page looks like to the rest of `extraction`."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import turbohtml

from contact_extraction.html.item import Item, attributes_of, read_hcard, read_items
from contact_extraction.html.json_ld import read_json_ld
from contact_extraction.html.sight import SEEN

# Lines, links and images are tuples: a page makes thousands of them, and a frozen
# dataclass takes four times as long to build.


class Line(NamedTuple):
    """One block of text as a visitor reads it.

    `tag` is the nearest block element, `heading` its level (0 for none), `region` one
    of header, nav, footer, aside, main or empty. `container` is the number of the
    enclosing block; `Page.parents` gives the block around that one. `marks` are the
    parts set in bold or in a link.
    """

    text: str
    tag: str
    heading: int
    region: str
    hidden: bool
    container: int
    marks: tuple[str, ...]
    folded: bool = False
    """Hidden, yet part of a longer block such as a tab or an accordion."""
    certainty: float = SEEN
    """How surely a visitor sees it."""


class HtmlLink(NamedTuple):
    """One `<a href>` or `<area href>`; `line` is the index of the line it stands in.

    `title` is what it is called beside its text: its `title`, `aria-label` or, where it
    is a picture, the picture's `alt`.
    """

    href: str
    text: str
    rel: str
    title: str
    region: str
    hidden: bool
    line: int
    certainty: float = SEEN


class Image(NamedTuple):
    """One `<img>`; `names` joins its class and id with those of the link around it."""

    src: str
    alt: str
    names: str
    region: str
    hidden: bool
    line: int
    certainty: float = SEEN


@dataclass(frozen=True, slots=True)
class Script:
    """One `<script>`: its address or its text."""

    src: str
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class HeadLink:
    """One `<link rel>`."""

    rel: str
    href: str
    type: str
    hreflang: str
    sizes: str


@dataclass(frozen=True, slots=True)
class Form:
    """One `<form>` with the names and types of its fields."""

    action: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HtmlPage:
    """A parsed page. Structured data is read only when asked for."""

    source: str
    title: str
    language: str
    base: str
    root_attributes: Mapping[str, str]
    body_attributes: Mapping[str, str]
    metas: tuple[tuple[str, str], ...]
    head_links: tuple[HeadLink, ...]
    lines: tuple[Line, ...]
    parents: tuple[int, ...]
    links: tuple[HtmlLink, ...]
    images: tuple[Image, ...]
    scripts: tuple[Script, ...]
    forms: tuple[Form, ...]
    frames: tuple[str, ...]
    frame_titles: tuple[str, ...]
    """What each frame is called, perhaps nothing."""
    protected: tuple[tuple[str, int, float], ...]
    """Values of `data-cfemail`, the line each stands in, and how surely it is seen."""
    truncated: bool
    encoding: str | None = None
    _document: turbohtml.Document | None = field(default=None, repr=False)
    _unseen: AbstractSet[turbohtml.Node] = field(default=frozenset(), repr=False)
    """The elements that hide what is in them, or may."""

    def meta(self, name: str) -> str:
        """Give the content of the first `<meta>` with this name or property, or ''."""
        return next((content for key, content in self.metas if key == name), "")

    @cached_property
    def visible_text(self) -> str:
        """Join the lines a visitor sees, one per row."""
        return "\n".join(line.text for line in self.lines if not line.hidden)

    @cached_property
    def lower_text(self) -> str:
        """Give what a visitor sees in lower case, for cheap searches."""
        return self.visible_text.lower()

    @cached_property
    def lower_source(self) -> bytes:
        """Give the markup in lower case, for cheap searches.

        Of bytes only the letters of ASCII change, which takes a tenth of the time.
        """
        return self.source.encode("utf-8", "ignore").lower()

    @cached_property
    def word_count(self) -> int:
        """Count the words that a visitor sees."""
        return len(self.visible_text.split())

    @cached_property
    def json_ld(self) -> tuple[dict[str, Any], ...]:
        """Give every object of the JSON-LD blocks, graphs and lists unfolded."""
        return tuple(
            thing
            for script in self.scripts
            if "ld+json" in script.type
            for thing in read_json_ld(script.text)
        )

    @cached_property
    def mail_attributes(self) -> tuple[dict[str, str], ...]:
        """Give the attributes of elements that carry an address, perhaps in parts."""
        if self._document is None or not (
            _MAIL_SIGNS.search(self.source) or self._has("joomla-hidden-mail")
        ):
            return ()
        found = self._document.select(_MAIL_ELEMENTS)[:MAX_ELEMENTS]
        return tuple(attributes_of(one) for one in found if self._is_seen(one))

    @cached_property
    def mail_handlers(self) -> tuple[str, ...]:
        """Give the scripts in attributes such as `onclick` that may build an address."""
        if self._document is None or not self._has("onclick", "onClick", "onmouseover"):
            return ()
        found: list[str] = []
        for element in self._document.select("[onclick], [onmouseover]"):
            code = element.attr("onclick") or element.attr("onmouseover") or ""
            if any(sign in code for sign in _HANDLER_SIGNS):
                found.append(code[:MAX_HANDLER])
                if len(found) >= MAX_ELEMENTS:
                    break
        return tuple(found)

    @cached_property
    def widgets(self) -> tuple[str, ...]:
        """Give the addresses of the pages that Facebook's boxes show."""
        if self._document is None or not self._has("fb-page"):
            return ()
        boxes = self._document.select(".fb-page[data-href]")[:MAX_ELEMENTS]
        return tuple(box.attr("data-href") or "" for box in boxes)

    @cached_property
    def microdata(self) -> tuple[Item, ...]:
        """Give the top-level microdata items."""
        if self._document is None or not self._has("itemscope"):
            return ()
        return read_items(self._document.microdata)

    @cached_property
    def rdfa(self) -> tuple[Item, ...]:
        """Give the top-level RDFa resources."""
        if self._document is None or not self._has("typeof"):
            return ()
        return read_items(self._document.rdfa)

    @cached_property
    def hcards(self) -> tuple[Item, ...]:
        """Give the hCards and h-cards."""
        if self._document is None or not self._has("vcard", "h-card"):
            return ()
        cards = self._document.select(".vcard, .h-card")[:MAX_ELEMENTS]
        return tuple(
            read_hcard(card, self._unseen) for card in cards if self._is_seen(card)
        )

    def _is_seen(self, element: turbohtml.Element) -> bool:
        """Say whether nothing around an element hides it, as far as browsers nest."""
        node: turbohtml.Node | None = element if self._unseen else None
        for _ in range(MAX_DEPTH):
            if node is None:
                return True
            if node in self._unseen:
                return False
            node = node.parent
        return False

    def _has(self, *names: str) -> bool:
        """Say cheaply whether markup may use one of these names."""
        return any(name in self.source for name in names)


MAX_ELEMENTS: Final = 200
MAX_DEPTH: Final = 512
MAX_HANDLER: Final = 2_000
MAIL_NAMES: Final = (
    "data-email",
    "data-mail",
    "data-mailto",
    "data-e-mail",
    "data-enc-email",
    "data-encoded-email",
    "data-address",
)
_MAIL_ELEMENTS: Final = ", ".join(
    (
        *(f"[{name}]" for name in MAIL_NAMES if name != "data-address"),
        "[data-mailto-token]",
        "[data-domain]",
        "[data-host][data-user]",
        "[data-website][data-name]",
        "[data-u][data-d]",
        "joomla-hidden-mail[first][last]",
    )
)
# What all begin with stands first, so that the matcher runs from one to the next.
_MAIL_SIGNS: Final = re.compile(r"data-(?:e-?mail|mail|enc|domain|host|website|d=)")
_HANDLER_SIGNS: Final = (
    "@",
    "%40",
    "&#64",
    "\\x40",
    "fromCharCode",
    "atob(",
    "[at]",
    "(at)",
)
