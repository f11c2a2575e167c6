"""The one place that knows the HTML library: bytes in, a plain typed `Page` out.

Everything else in `extraction` reads `Page`, so the parser can be changed here. A
page is walked once; what a visitor would read becomes `lines` (one per block, white
space collapsed), what CSS hides becomes lines marked `hidden`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import orjson
import turbohtml
from turbohtml.clean import LinkDetector, PhoneNumbers
from turbohtml.detect import detect_language

from scrapersky.errors import ExtractionError

MAX_CHARACTERS: Final = 10 * 1024 * 1024
MAX_NODES: Final = 400_000
MAX_LINKS: Final = 2_000
MAX_LINE: Final = 200_000
FOLD_LINES: Final = 4
FOLD_TEXT: Final = 100


class NotMarkup(ExtractionError):
    """The bytes could not be read as a page at all."""


@dataclass(frozen=True, slots=True)
class Line:
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


@dataclass(frozen=True, slots=True)
class Link:
    """One `<a href>` or `<area href>`; `line` is the index of the line it stands in."""

    href: str
    text: str
    rel: str
    title: str
    region: str
    hidden: bool
    line: int


@dataclass(frozen=True, slots=True)
class Image:
    """One `<img>`; `names` joins its class and id with those of the link around it."""

    src: str
    alt: str
    names: str
    region: str
    hidden: bool
    line: int


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


@dataclass(frozen=True, slots=True)
class Item:
    """A thing described by microdata, RDFa or a microformat.

    Property names have no vocabulary prefix: `name`, not `https://schema.org/name`.
    """

    types: tuple[str, ...]
    properties: Mapping[str, tuple["str | Item", ...]]
    line: int = -1

    def texts(self, name: str) -> tuple[str, ...]:
        """Give the plain text values of a property."""
        return tuple(v for v in self.properties.get(name, ()) if isinstance(v, str))

    def items(self, name: str) -> tuple["Item", ...]:
        """Give the nested items of a property."""
        return tuple(v for v in self.properties.get(name, ()) if isinstance(v, Item))


@dataclass(frozen=True)
class Page:
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
    links: tuple[Link, ...]
    images: tuple[Image, ...]
    scripts: tuple[Script, ...]
    forms: tuple[Form, ...]
    frames: tuple[str, ...]
    protected: tuple[tuple[str, int], ...]
    """Values of `data-cfemail` and the line each stands in."""
    truncated: bool
    encoding: str | None = None
    _document: turbohtml.Document | None = field(default=None, repr=False)

    def meta(self, name: str) -> str:
        """Give the content of the first `<meta>` with this name or property, or ''."""
        return next((content for key, content in self.metas if key == name), "")

    @cached_property
    def visible_text(self) -> str:
        """Join the lines a visitor sees, one per row."""
        return "\n".join(line.text for line in self.lines if not line.hidden)

    @cached_property
    def json_ld(self) -> tuple[dict[str, Any], ...]:
        """Give every object of the JSON-LD blocks, graphs and lists unfolded."""
        return tuple(
            thing
            for script in self.scripts
            if "ld+json" in script.type
            for thing in _unfolded(_lenient_json(script.text))
        )

    @cached_property
    def mail_attributes(self) -> tuple[dict[str, str], ...]:
        """Give the attributes of elements that carry an address in parts."""
        if self._document is None or not _MAIL_ATTRIBUTE.search(self.source):
            return ()
        found = self._document.select(
            "[data-email], [data-mail], [data-mailto], [data-e-mail], [data-domain],"
            " [data-host][data-user], [data-website][data-name], [data-u][data-d]"
        )
        return tuple(_attributes(element) for element in found[:MAX_HCARDS])

    @cached_property
    def microdata(self) -> tuple[Item, ...]:
        """Give the top-level microdata items."""
        if self._document is None or "itemscope" not in self.source.lower():
            return ()
        return _readable_items(self._document.microdata)

    @cached_property
    def rdfa(self) -> tuple[Item, ...]:
        """Give the top-level RDFa resources."""
        if self._document is None or "typeof" not in self.source.lower():
            return ()
        return _readable_items(self._document.rdfa)

    @cached_property
    def hcards(self) -> tuple[Item, ...]:
        """Give the hCards and h-cards."""
        if self._document is None or not _HCARD_HINT.search(self.source):
            return ()
        cards = self._document.select(".vcard, .h-card")[:MAX_HCARDS]
        return tuple(_hcard(card) for card in cards)


@dataclass(frozen=True, slots=True)
class PhoneSpan:
    """A telephone number found in a text, and the plan it belongs to."""

    start: int
    end: int
    text: str
    e164: str | None
    region: str | None
    extension: str | None


def parse_page(markup: bytes | str, *, encoding: str | None = None) -> Page:
    """Parse a page however broken it is; `encoding` is the one the server named."""
    truncated = len(markup) > MAX_CHARACTERS
    if truncated:
        markup = markup[:MAX_CHARACTERS]
    document = _document(markup, encoding)
    source = markup if isinstance(markup, str) else _decoded(markup, document)
    return _Walk(document, source, truncated=truncated).page()


SURE_LANGUAGE: Final = 0.6


def text_language(text: str) -> str | None:
    """Guess the ISO 639-3 code of the language a text is written in."""
    match = detect_language(text[:4000])
    return match.language if match.confidence >= SURE_LANGUAGE else None


PhoneDetector = LinkDetector
"""A finder of telephone numbers, made by `phone_detector` and used many times."""


def phone_detector(regions: tuple[str, ...]) -> PhoneDetector:
    """Build a finder of telephone numbers for `find_phones`."""
    phones = PhoneNumbers(regions=regions)
    return LinkDetector(emails=False, bare_domains=False, phones=phones)


def find_phones(detector: PhoneDetector, text: str) -> Iterator[PhoneSpan]:
    """Find the telephone numbers written in a text."""
    for span in detector.find(text):
        if span.phone is not None:
            yield PhoneSpan(
                start=span.start,
                end=span.end,
                text=span.text,
                e164=span.phone.e164,
                region=span.phone.region,
                extension=span.phone.extension,
            )


MAX_HCARDS: Final = 200
_MAIL_ATTRIBUTE: Final = re.compile(r"data-(?:e?-?mail|domain|host|website|d=)")
_HCARD_HINT: Final = re.compile(r"\b(?:vcard|h-card)\b")


def words(text: str) -> frozenset[str]:
    """Read a set from words parted by white space; keeps tables readable."""
    return frozenset(text.split())


_BLOCKS: Final = words(
    "address article aside blockquote body br button caption center dd details dialog "
    "dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 "
    "header hr html legend li main menu nav ol option optgroup p pre section select "
    "summary table tbody td tfoot th thead tr ul"
)
_SKIPPED: Final = words(
    "head style template svg math iframe object embed audio video canvas textarea "
    "noembed noframes datalist"
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_REGIONS: Final = {
    "header": "header",
    "nav": "nav",
    "footer": "footer",
    "aside": "aside",
    "main": "main",
}
_BOLD: Final = frozenset(("b", "strong"))
_REGION_NAME: Final = re.compile(
    r"(?:^|[\s_-])(?:(footer|foot|colophon|impressum|copyright)"
    r"|(header|masthead|topbar|branding|head)"
    r"|(nav|navbar|menu|navigation|breadcrumbs?)"
    r"|(sidebar))(?:$|[\s_-])",
    re.IGNORECASE,
)
_REGION_GROUPS: Final = ("", "footer", "header", "nav", "aside")
_HIDDEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:^|[;\s])(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?:px|em|rem|%|pt)?\s*(?:;|!|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_REVERSED_STYLE: Final = re.compile(r"bidi-override", re.IGNORECASE)
_CSS_RULE: Final = re.compile(r"([^{}@]{1,400})\{([^{}]{1,2000})\}")
_CSS_NAME: Final = re.compile(
    r"^\s*(?:[a-z]{1,10})?([.#][\w-]{1,80})\s*$", re.IGNORECASE
)
_INVISIBLE: Final = dict.fromkeys(
    (
        *range(0x20),
        *range(0x7F, 0xA0),
        0xAD,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFFF0, 0xFFFC),
        *range(0xE0000, 0xE0080),
        *range(0xD800, 0xE000),
    )
)
_OVERRIDE_RUN: Final = re.compile("\u202e([^\u202c\u202d\u202e\n]*)[\u202c\u202d]?")


def clean(text: str) -> str:
    """Collapse white space and drop control, bidi and zero-width characters."""
    text = " ".join(text.split())
    if text.isprintable():
        return text
    if "\u202e" in text:
        text = _OVERRIDE_RUN.sub(lambda run: run[1][::-1], text)
    return " ".join(text.translate(_INVISIBLE).split())


def _document(markup: bytes | str, encoding: str | None) -> turbohtml.Document:
    for label in (encoding, None) if encoding else (None,):
        try:
            return turbohtml.parse(
                markup,
                encoding=label if isinstance(markup, bytes) else None,
                detect_encoding=isinstance(markup, bytes),
                positions=False,
            )
        except LookupError:
            continue
        except (ValueError, MemoryError, RecursionError, OverflowError) as error:
            raise NotMarkup(f"the page cannot be parsed: {error}") from error
    raise NotMarkup("the page cannot be parsed")


def _decoded(markup: bytes, document: turbohtml.Document) -> str:
    # The raw text only serves cheap `in` tests and scripts, so a wrong byte is harmless.
    try:
        return markup.decode(document.encoding or "utf-8", "replace")
    except LookupError:
        return markup.decode("utf-8", "replace")


_Node = turbohtml.Node
# One number per kind of thing that waits on the stack of the walk.
_LEAVE_BLOCK: Final = 0
_LEAVE_LINK: Final = 1
_LEAVE_BOLD: Final = 2
_LEAVE_ANCHOR: Final = 3


@dataclass(frozen=True, slots=True)
class _Context:
    """What an element hands down to its children."""

    tag: str = "body"
    heading: int = 0
    region: str = ""
    hidden: bool = False
    container: int = 0


class _Walk:
    """One pass over the tree, without recursion."""

    def __init__(
        self, document: turbohtml.Document, source: str, *, truncated: bool
    ) -> None:
        self.document = document
        self.source = source
        self.truncated = truncated
        self.title = ""
        self.base = ""
        self.root: Mapping[str, str] = {}
        self.body: Mapping[str, str] = {}
        self.metas: list[tuple[str, str]] = []
        self.head_links: list[HeadLink] = []
        self.lines: list[Line] = []
        self.parents: list[int] = [0]
        self.links: list[Link] = []
        self.images: list[Image] = []
        self.scripts: list[Script] = []
        self.forms: list[Form] = []
        self.frames: list[str] = []
        self.protected: list[tuple[str, int]] = []
        self.hidden_names: frozenset[str] = frozenset()
        self.reversed_names: frozenset[str] = frozenset()
        self.budget = MAX_NODES
        self.pieces: list[str] = []
        self.link_end = -1
        self.marks: list[str] = []

    def page(self) -> Page:
        """Walk the whole tree and freeze what was seen."""
        self._read_head()
        self._walk_body()
        return Page(
            source=self.source,
            title=self.title,
            language=(self.root.get("lang") or self.root.get("xml:lang") or "").strip(),
            base=self.base,
            root_attributes=self.root,
            body_attributes=self.body,
            metas=tuple(self.metas),
            head_links=tuple(self.head_links),
            lines=tuple(self.lines),
            parents=tuple(self.parents),
            links=tuple(self.links),
            images=tuple(self.images),
            scripts=tuple(self.scripts),
            forms=tuple(self.forms),
            frames=tuple(self.frames),
            protected=tuple(self.protected),
            truncated=self.truncated,
            encoding=self.document.encoding,
            _document=self.document,
        )

    def _read_head(self) -> None:
        """Read what may stand anywhere but is not text: metas, scripts, styles."""
        root = self.document.root
        if root is not None:
            self.root = _attributes(root)
        sheets: list[str] = []
        tags = ("title", "meta", "link", "base", "script", "style", "iframe", "body")
        for count, element in enumerate(self.document.iter_elements(tags)):
            if count > MAX_LINKS * 5:
                self.truncated = True
                break
            self._read_head_element(element, sheets)
        self.hidden_names, self.reversed_names = _style_names(sheets)

    def _read_head_element(self, element: turbohtml.Element, sheets: list[str]) -> None:
        tag = element.tag
        attr = element.attr
        if tag == "title":
            # An SVG may hold a title too; the first one is the page's.
            self.title = self.title or clean(element.text)
        elif tag == "meta":
            name = attr("property") or attr("name") or attr("http-equiv") or ""
            name = name or attr("itemprop") or ""
            if name:
                self.metas.append((name.lower(), clean(attr("content") or "")))
        elif tag == "link":
            self._read_head_link(element)
        elif tag == "base":
            self.base = self.base or (attr("href") or "").strip()
        elif tag == "script":
            src = attr("src") or ""
            text = "" if src else element.text
            self.scripts.append(Script(src, (attr("type") or "").lower(), text))
        elif tag == "style":
            sheets.append(element.text)
        elif tag == "iframe":
            self.frames.append(attr("src") or attr("data-src") or "")
        elif not self.body:
            self.body = _attributes(element)

    def _read_head_link(self, element: turbohtml.Element) -> None:
        attr = element.attr
        self.head_links.append(
            HeadLink(
                rel=(attr("rel") or "").lower(),
                href=(attr("href") or "").strip(),
                type=(attr("type") or "").lower(),
                hreflang=attr("hreflang") or "",
                sizes=attr("sizes") or "",
            )
        )

    def _walk_body(self) -> None:
        root = self.document.root
        if root is None:
            return
        later: list[tuple[turbohtml.Element, _Context]] = []
        self._walk_from(root, _Context(), later)
        # Hidden parts come last, so that they never split a visible line.
        for element, context in later:
            if self.budget <= 0:
                break
            first = len(self.lines)
            self._walk_from(element, context, None)
            self._fold(first)

    def _fold(self, first: int) -> None:
        """Tell a hidden tab from a hidden scrap by its size."""
        added = self.lines[first:]
        if len(added) < FOLD_LINES or sum(len(a.text) for a in added) < FOLD_TEXT:
            return
        self.lines[first:] = [replace(line, folded=True) for line in added]

    def _walk_from(
        self,
        start: turbohtml.Element,
        context: _Context,
        later: list[tuple[turbohtml.Element, _Context]] | None,
    ) -> None:
        stack: list[Any] = [(start, context)]
        pieces = self.pieces
        text_type = turbohtml.Text
        element_type = turbohtml.Element
        budget = self.budget
        while stack:
            node, context = stack.pop()
            kind = type(node)
            if kind is text_type:
                pieces.append(node.data)
                continue
            if kind is int:
                self._leave(node, context)
                continue
            if kind is not element_type:
                continue
            budget -= 1
            if budget <= 0:
                self.truncated = True
                break
            tag = node.tag
            if tag == "br":
                self._flush(context)
                continue
            if tag == "script" or tag in _SKIPPED:
                continue
            context, is_done = self._enter(node, tag, context, later)
            if is_done:
                continue
            self._push(node, tag, context, stack)
        self._flush(_Context(hidden=later is None))
        self.budget = budget

    def _enter(
        self,
        node: turbohtml.Element,
        tag: str,
        context: _Context,
        later: list[tuple[turbohtml.Element, _Context]] | None,
    ) -> tuple[_Context, bool]:
        """Work out the context of an element; True means it is not walked now."""
        attrs = node.attrs
        hidden = reverse = False
        region = context.region
        if len(attrs):
            names = _names(attrs)
            hidden = self._is_hidden(attrs, names)
            reverse = self._is_reversed(tag, attrs, names)
            if "data-cfemail" in attrs:
                self.protected.append((str(attrs["data-cfemail"]), len(self.lines)))
            if tag in _BLOCKS and not region and names:
                region = _named_region(names)
        if reverse:
            self.pieces.append(node.text[::-1])
            return context, True
        if tag in _REGIONS:
            region = _REGIONS[tag]
        if hidden and not context.hidden:
            inner = _Context(tag, 0, region, hidden=True, container=context.container)
            if later is not None:
                later.append((node, inner))
                return context, True
            context = inner
        if tag in _BLOCKS:
            self._flush(context)
            self.parents.append(context.container)
            context = _Context(
                tag,
                _HEADINGS.get(tag, context.heading),
                region,
                context.hidden,
                len(self.parents) - 1,
            )
        elif tag == "img":
            self._read_image(node, context)
        elif tag == "input":
            return context, True
        return context, False

    def _push(
        self,
        node: turbohtml.Element,
        tag: str,
        context: _Context,
        stack: list[Any],
    ) -> None:
        children = node.children
        if tag in _BLOCKS:
            if tag == "form":
                self._read_form(node)
            stack.append((_LEAVE_BLOCK, context))
        elif tag in ("a", "area"):
            # Two links side by side are two things, whatever CSS puts between them.
            if self.link_end == len(self.pieces) and self.pieces:
                self.pieces.append(" ")
            href = node.attr("href")
            if href is None or len(self.links) >= MAX_LINKS:
                stack.append((_LEAVE_ANCHOR, context))
            else:
                mark = (node, context, len(self.lines), len(self.pieces))
                stack.append((_LEAVE_LINK, mark))
        elif tag in _BOLD:
            stack.append((_LEAVE_BOLD, (len(self.lines), len(self.pieces))))
        stack.extend([(child, context) for child in reversed(children)])

    def _leave(self, kind: int, detail: Any) -> None:  # noqa: ANN401
        if kind == _LEAVE_BLOCK:
            self._flush(detail)
            return
        if kind == _LEAVE_ANCHOR:
            self.link_end = len(self.pieces)
            return
        if kind == _LEAVE_BOLD:
            line, piece = detail
            if line == len(self.lines):
                self._mark("".join(self.pieces[piece:]))
            return
        node, context, line, piece = detail
        self.link_end = len(self.pieces)
        # A link around whole blocks has already been flushed into lines.
        same_line = line == len(self.lines)
        text = (
            "".join(self.pieces[piece:])
            if same_line
            else " ".join(part.text for part in self.lines[line : line + 5])
        )
        text = clean(text[:1000])
        if same_line:
            self._mark(text)
        self.links.append(
            Link(
                href=(node.attr("href") or "").strip(),
                text=text,
                rel=(node.attr("rel") or "").lower(),
                title=clean(node.attr("title") or node.attr("aria-label") or ""),
                region=context.region,
                hidden=context.hidden,
                line=line,
            )
        )

    def _mark(self, text: str) -> None:
        text = clean(text[:200])
        if text:
            self.marks.append(text)

    def _flush(self, context: _Context) -> None:
        pieces = self.pieces
        if not pieces:
            return
        text = "".join(pieces)
        pieces.clear()
        marks = tuple(self.marks)
        self.marks.clear()
        if context.tag == "pre":
            parts = [clean(part) for part in text.splitlines()[:2000]]
        else:
            parts = [clean(text)]
        for part in parts:
            if part:
                self.lines.append(
                    Line(
                        text=part[:MAX_LINE],
                        tag=context.tag,
                        heading=context.heading,
                        region=context.region,
                        hidden=context.hidden,
                        container=context.container,
                        marks=marks,
                    )
                )

    def _is_hidden(self, attrs: Mapping[str, Any], names: str) -> bool:
        if "hidden" in attrs:
            return True
        style = attrs.get("style")
        if style and _HIDDEN_STYLE.search(str(style)[:2000]):
            return True
        return bool(
            self.hidden_names
            and names
            and any(name in self.hidden_names for name in names.split())
        )

    def _is_reversed(self, tag: str, attrs: Mapping[str, Any], names: str) -> bool:
        if tag == "bdo" and str(attrs.get("dir")).lower() == "rtl":
            return True
        style = attrs.get("style")
        if style and _REVERSED_STYLE.search(str(style)[:2000]):
            return "rtl" in str(style).lower()
        return bool(
            self.reversed_names
            and names
            and any(name in self.reversed_names for name in names.split())
        )

    def _read_image(self, node: turbohtml.Element, context: _Context) -> None:
        if len(self.images) >= MAX_LINKS:
            return
        parent = node.parent
        names = _names(node.attrs)
        if isinstance(parent, turbohtml.Element):
            names += " " + _names(parent.attrs)
        self.images.append(
            Image(
                src=(node.attr("src") or node.attr("data-src") or "")[:2048],
                alt=clean((node.attr("alt") or "")[:1000]),
                names=names[:500],
                region=context.region,
                hidden=context.hidden,
                line=len(self.lines),
            )
        )

    def _read_form(self, node: turbohtml.Element) -> None:
        if len(self.forms) >= MAX_HCARDS:
            return
        fields = node.find_all(["input", "textarea", "select"], limit=100)
        self.forms.append(
            Form(
                action=node.attr("action") or "",
                fields=tuple(
                    (f.attr("name") or "", (f.attr("type") or f.tag).lower())
                    for f in fields
                ),
            )
        )


def _attributes(element: turbohtml.Element) -> dict[str, str]:
    return {
        name: " ".join(value) if isinstance(value, list) else value or ""
        for name, value in element.attrs.items()
    }


def _names(attrs: Mapping[str, Any]) -> str:
    """Join the classes and `#id` of an element into one lower-case string."""
    classes = attrs.get("class")
    identity = attrs.get("id")
    if classes is None and identity is None:
        return ""
    names = " ".join(classes) if isinstance(classes, list) else classes or ""
    if identity:
        names = f"{names} #{identity}"
    return names.lower()[:500]


def _named_region(names: str) -> str:
    match = _REGION_NAME.search(names.replace("#", " "))
    return _REGION_GROUPS[match.lastindex] if match and match.lastindex else ""


def _style_names(sheets: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Find the single classes and ids that a page's own style sheets hide or mirror."""
    hidden: set[str] = set()
    mirrored: set[str] = set()
    for sheet in sheets:
        if "none" not in sheet and "hidden" not in sheet and "override" not in sheet:
            continue
        for selectors, body in _CSS_RULE.findall(sheet[:200_000]):
            is_hidden = bool(_HIDDEN_STYLE.search(body))
            is_mirrored = "bidi-override" in body and "rtl" in body
            if not is_hidden and not is_mirrored:
                continue
            for selector in selectors.split(","):
                match = _CSS_NAME.match(selector)
                if match:
                    name = match[1].lower().removeprefix(".")
                    (hidden if is_hidden else mirrored).add(name)
    return frozenset(hidden), frozenset(mirrored)


def _lenient_json(text: str) -> Any:  # noqa: ANN401
    """Read JSON as pages write it: comments around it, raw line ends, extra commas."""
    text = text.strip()[:1_000_000]
    for attempt in (_as_is, _mended):
        try:
            return orjson.loads(attempt(text))
        except orjson.JSONDecodeError:
            continue
    return None


def _as_is(text: str) -> str:
    return text


_JSON_WRAP: Final = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)"
    r"|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)\s*$|;\s*$"
)
_JSON_COMMA: Final = re.compile(r",(?=\s{0,200}[}\]])")


def _mended(text: str) -> str:
    text = _JSON_WRAP.sub("", text).strip()
    text = "".join(max(c, " ") for c in text)
    return _JSON_COMMA.sub("", text)


def _unfolded(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the objects of a JSON-LD value, without recursion, at most a thousand."""
    waiting = [value]
    given = 0
    while waiting and given < MAX_LINKS:
        thing = waiting.pop(0)
        if isinstance(thing, list):
            waiting[:0] = thing[:MAX_LINKS]
        elif isinstance(thing, dict):
            graph = thing.get("@graph")
            if isinstance(graph, list):
                waiting[:0] = graph[:MAX_LINKS]
            given += 1
            yield thing


def _readable_items(read: Callable[[], Sequence[Any]]) -> tuple[Item, ...]:
    try:
        found = read()
    except (RecursionError, ValueError):
        # The library refuses items nested hundreds deep; no honest page has them.
        return ()
    return tuple(_item(thing, depth=0) for thing in found[:MAX_LINKS])


_MAX_DEPTH: Final = 20


def _item(thing: Any, depth: int) -> Item:  # noqa: ANN401
    kinds = thing.type if isinstance(thing.type, list) else (thing.type or "").split()
    properties: dict[str, list[str | Item]] = {}
    for name, values in thing.properties.items():
        kept = properties.setdefault(_local(name), [])
        for value in values:
            if isinstance(value, str):
                kept.append(clean(value[:MAX_LINE]))
            elif depth < _MAX_DEPTH:
                kept.append(_item(value, depth + 1))
    return Item(
        types=tuple(_local(kind) for kind in kinds),
        properties={name: tuple(values) for name, values in properties.items()},
    )


def _local(name: str) -> str:
    """Cut the vocabulary from a property or type: `schema:Person` gives `Person`."""
    return re.split(r"[/#:]", name.rstrip("/#"))[-1]


_HCARD_CLASSES: Final = {
    "fn": "name",
    "p-name": "name",
    "n": "name",
    "org": "org",
    "p-org": "org",
    "organization-name": "org",
    "title": "role",
    "p-job-title": "role",
    "role": "role",
    "p-role": "role",
    "tel": "telephone",
    "p-tel": "telephone",
    "u-tel": "telephone",
    "fax": "faxNumber",
    "email": "email",
    "u-email": "email",
    "url": "url",
    "u-url": "url",
    "street-address": "streetAddress",
    "p-street-address": "streetAddress",
    "extended-address": "extendedAddress",
    "p-extended-address": "extendedAddress",
    "post-office-box": "postOfficeBoxNumber",
    "locality": "addressLocality",
    "p-locality": "addressLocality",
    "region": "addressRegion",
    "p-region": "addressRegion",
    "postal-code": "postalCode",
    "p-postal-code": "postalCode",
    "country-name": "addressCountry",
    "p-country-name": "addressCountry",
}


def _hcard(card: turbohtml.Element) -> Item:
    properties: dict[str, list[str]] = {}
    for count, element in enumerate(card.iter_elements(include_self=True)):
        if count > MAX_LINKS:
            break
        classes = element.attrs.get("class")
        for name in classes or () if isinstance(classes, list) else ():
            prop = _HCARD_CLASSES.get(name.lower())
            if prop:
                properties.setdefault(prop, []).append(_hcard_value(element, prop))
    return Item(
        types=("hCard",),
        properties={name: tuple(values) for name, values in properties.items()},
    )


def _hcard_value(element: turbohtml.Element, prop: str) -> str:
    href = element.attr("href") or ""
    if prop == "email" and href.lower().startswith("mailto:"):
        return clean(href[7:].split("?")[0])
    if prop == "url":
        return href
    if prop == "telephone":
        parts = element.select(".value")[:5]
        if parts:
            return clean(" ".join(part.text for part in parts))
    if element.tag == "abbr" and element.attr("title"):
        return clean(element.attr("title") or "")
    return clean(element.text[:1000])
