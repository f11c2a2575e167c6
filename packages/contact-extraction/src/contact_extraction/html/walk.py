"""One pass over the tree of a page, without recursion, into lines, links and images.

This is the hottest loop of extraction: a page of 60 KB has some 1,500 nodes. Hence
the local names, the small caches and the fast way out for an element with one text.
"""

import re
from itertools import islice
from typing import Any, Final, NamedTuple

import turbohtml

from contact_extraction.html.item import attributes_of
from contact_extraction.html.page import (
    Form,
    HeadLink,
    HtmlLink,
    HtmlPage,
    Image,
    Line,
    Script,
)
from contact_extraction.html.sight import FOLDED, LEAST_SEEN, SEEN
from contact_extraction.html.text import clean, words
from contact_extraction.html.visibility import Visibility, names_of

MAX_NODES: Final = 150_000
DEEP_LEVELS: Final = 512
"""Levels below which an element counts as many: browsers nest no deeper than that."""
DEEP_COST: Final = 16
MAX_LINKS: Final = 2_000
MAX_LINE: Final = 200_000
MAX_LINES: Final = 20_000
MAX_HEAD: Final = 10_000
_FRAMES: Final = ("frame", "iframe")
MAX_FORMS: Final = 100
FOLD_LINES: Final = 4
FOLD_TEXT: Final = 60
_NOT_FOLDED: Final = False


def read_page(
    document: turbohtml.Document, source: str, *, truncated: bool
) -> HtmlPage:
    """Walk the whole tree once and freeze what was seen."""
    walk = _Walk(document, source, truncated=truncated)
    return walk.page()


_BLOCKS: Final = words(
    "address article aside blockquote body br button caption center dd details dialog "
    "dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 "
    "header hr html legend li main menu nav ol option optgroup p pre section select "
    "summary table tbody td tfoot th thead tr ul"
)
_SKIPPED: Final = words(
    "head script style template svg math iframe object embed audio video canvas textarea "
    "noembed noframes datalist input"
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_REGIONS: Final = words("header nav footer aside main")
_BESIDE_LINKS: Final = words("a span label small strong b")
_BOLD: Final = words("b strong")
_MARKING: Final = words("b strong area img")
# What a tag is, as bits: one look at a table instead of one at each of these sets.
_SKIP, _BLOCK, _REGION, _HEADING, _INLINE, _BREAK = 1, 2, 4, 8, 16, 32
_KINDS: Final = {
    tag: _SKIP * (tag in _SKIPPED)
    | _BLOCK * (tag in _BLOCKS)
    | _REGION * (tag in _REGIONS)
    | _HEADING * (tag in _HEADINGS)
    | _INLINE * (tag == "a" or tag in _MARKING)
    | _BREAK * (tag == "br")
    for tag in (*_SKIPPED, *_BLOCKS, *_REGIONS, *_HEADINGS, *_MARKING, "a")
}
MAX_PARTS: Final = 50
MAX_SAID: Final = 1_000
_SOMETHING: Final = re.compile(r"@|\d(?:\D{0,3}\d){5}|[A-ZÀ-Þ][\w'-]+ [A-ZÀ-Þ]")
_EMAIL_ENCODER: Final = (
    ".eeb-rtl {unicode-bidi: bidi-override; direction: rtl}.eeb-nodis {display: none}"
)
_MAIL_LABEL: Final = re.compile(
    r"(?<!\w)(?:e-?mail(?:[ -]?add?ress\w{0,2})?|mail|courriel|correo(?: electr[oó]nico)?"
    r"|e-?post|posta|poczta|sähköposti)$",
    re.IGNORECASE,
)
_REGION_NAME: Final = re.compile(
    r"(?:^|[\s_-])(?:(footer|foot|colophon|impressum|copyright)"
    r"|(header|masthead|topbar|branding|head)"
    r"|(nav|navbar|menu|navigation|breadcrumbs?)"
    r"|(sidebar))(?:$|[\s_-])"
)
_REGION_GROUPS: Final = ("", "footer", "header", "nav", "aside")


class _Context(NamedTuple):
    """What an element hands down to its children."""

    tag: str = "body"
    heading: int = 0
    region: str = ""
    hidden: bool = False
    container: int = 0
    certainty: float = SEEN


_Later = list[tuple[turbohtml.Element, _Context, bool]]
"""Hidden elements, their contexts, and whether each may be a tab."""


class _FullError(Exception):
    """The page has more lines than are read; the walk ends where it is."""


class _Walk:
    def __init__(
        self, document: turbohtml.Document, source: str, *, truncated: bool
    ) -> None:
        self.document = document
        self.source = source
        self.truncated = truncated
        self.title = ""
        self.base = ""
        self.body: dict[str, str] = {}
        self.metas: list[tuple[str, str]] = []
        self.head_links: list[HeadLink] = []
        self.lines: list[Line] = []
        self.parents: list[int] = [0]
        self.links: list[HtmlLink] = []
        self.images: list[Image] = []
        self.scripts: list[Script] = []
        self.forms: list[Form] = []
        self.frames: list[str] = []
        self.frame_titles: list[str] = []
        self.protected: list[tuple[str, int, float]] = []
        self.visibility: Visibility
        self.has_protected = "data-cfemail" in source
        self.named = set(document.select("[class], [id]"))
        self.unseen: set[turbohtml.Node] = set()
        self.regions: dict[str, str] = {}
        self.budget = MAX_NODES
        self.pieces: list[str] = []
        self.marks: list[str] = []

    def page(self) -> HtmlPage:
        root = self.document.root
        attributes = attributes_of(root) if root is not None else {}
        self._read_head()
        if root is not None:
            self._walk_all(root)
        return HtmlPage(
            source=self.source,
            title=self.title,
            language=(
                attributes.get("lang") or attributes.get("xml:lang") or ""
            ).strip(),
            base=self.base,
            root_attributes=attributes,
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
            frame_titles=tuple(self.frame_titles),
            protected=tuple(self.protected),
            truncated=self.truncated,
            encoding=self.document.encoding,
            _document=self.document,
            _unseen=self.unseen,
        )

    def _read_head(self) -> None:
        """Read what may stand anywhere but is not text: metas, scripts, styles."""
        sheets: list[str] = []
        tags = ("title", "meta", "link", "base", "script", "style", "body", *_FRAMES)
        for count, element in enumerate(self.document.iter_elements(tags)):
            if count > MAX_HEAD:
                self.truncated = True
                break
            self._read_head_element(element, sheets)
        if "eeb-rtl" in self.source:
            # Email Encoder's own style sheet is a file of its own.
            sheets.append(_EMAIL_ENCODER)
        self.visibility = Visibility(
            self.document,
            sheets,
            is_whole=not any("stylesheet" in link.rel for link in self.head_links),
        )

    def _read_head_element(self, element: turbohtml.Element, sheets: list[str]) -> None:
        tag = element.tag
        attr = element.attr
        if tag == "title":
            # An SVG may hold a title too; the first one is the page's.
            self.title = self.title or clean(element.text)
        elif tag == "meta":
            name = attr("property") or attr("name") or attr("http-equiv")
            name = name or attr("itemprop")
            if name:
                self.metas.append((name.lower(), clean(attr("content") or "")))
        elif tag == "link":
            self.head_links.append(
                HeadLink(
                    rel=(attr("rel") or "").lower(),
                    href=(attr("href") or "").strip(),
                    type=(attr("type") or "").lower(),
                    hreflang=attr("hreflang") or "",
                    sizes=attr("sizes") or "",
                )
            )
        elif tag == "base":
            self.base = self.base or (attr("href") or "").strip()
        elif tag == "script":
            src = attr("src") or ""
            text = "" if src else element.text
            self.scripts.append(Script(src, (attr("type") or "").lower(), text))
        elif tag == "style":
            sheets.append(element.text)
        elif tag in _FRAMES:
            self.frames.append(attr("src") or attr("data-src") or "")
            self.frame_titles.append(clean(attr("title") or ""))
        elif not self.body:
            self.body = attributes_of(element)

    def _walk_all(self, root: turbohtml.Element) -> None:
        later: _Later = []
        try:
            self._walk_from(root, _Context(), later)
            # Hidden parts come last, so that they never split a visible line.
            for element, context, may_fold in later:
                if self.budget <= 0:
                    break
                first = len(self.lines)
                self._walk_from(element, context, None)
                if may_fold:
                    self._fold(first)
        except _FullError:
            self.truncated = True

    def _fold(self, first: int) -> None:
        """Distinguish a hidden tab from a hidden scrap by its size."""
        added = self.lines[first:]
        if len(added) >= FOLD_LINES and sum(len(a.text) for a in added) >= FOLD_TEXT:
            self.lines[first:] = [
                line._replace(folded=True, certainty=FOLDED) for line in added
            ]

    def _walk_from(
        self, start: turbohtml.Element, context: _Context, later: _Later | None
    ) -> None:
        """Read an element and all under it, in the order of the page.

        A text belongs to the line being written if it has the same context as the
        text before; `None` marks what is passed over, with all it contains.
        """
        text_type, element_type = turbohtml.Text, turbohtml.Element
        fragment_type = turbohtml.DocumentFragment
        pieces, flush, parents = self.pieces, self._flush, self.parents
        kinds, headings = _KINDS, _HEADINGS
        special, named = self.visibility.special, self.named
        # What a named tuple does itself, without the call of a Python function.
        make, kind_of = tuple.__new__, _Context
        has_names = self.visibility.has_names
        # The elements around the node at hand: what each hands down (`None` for nothing),
        # and whether it stands in a link or in bold. The innermost is kept at hand too.
        path: list[tuple[Any, _Context | None, bool]] = [(start, context, False)]
        top: Any = start
        outer: _Context | None = context
        is_marked = False
        current = context
        budget = self.budget
        node: Any
        for node in start.descendants:
            kind = type(node)
            if (
                kind is not text_type
                and kind is not element_type
                and kind is not fragment_type
            ):
                continue
            parent = node.parent
            while top != parent:
                path.pop()
                top, outer, is_marked = path[-1]
            if kind is fragment_type:
                # A template keeps its content in a fragment, which no visitor sees.
                top, outer = node, None
                path.append((top, outer, is_marked))
                continue
            if kind is text_type:
                if outer is None:
                    continue
                if outer is not current:
                    if pieces:
                        flush(current)
                    current = outer
                data = node.data
                if pieces and "@" in data and _ends_in_label(pieces[-1], data):
                    pieces.append(" ")
                if pieces or not data.isspace():
                    pieces.append(data)
                continue
            budget -= 1 if len(path) < DEEP_LEVELS else DEEP_COST
            if budget <= 0:
                self.truncated = True
                break
            tag = node.tag
            is_a = kinds.get(tag, 0)
            inner = None
            if outer is not None and not is_a & _SKIP:
                if outer is not current:
                    if pieces:
                        flush(current)
                    current = outer
                if is_a & _BREAK:
                    if pieces:
                        flush(current)
                    continue
                inner = outer
                if (has_names and node in named) or (special and node in special):
                    inner = self._see(node, tag, outer, later)
                if inner is not None:
                    if is_a & _BLOCK:
                        if pieces:
                            flush(current)
                        parents.append(inner.container)
                        region = inner.region
                        if not region and (is_a & _REGION or (named and node in named)):
                            region = self._region(node, tag)
                        heading = headings[tag] if is_a & _HEADING else inner.heading
                        inner = current = make(
                            kind_of,
                            (
                                tag,
                                heading,
                                region,
                                inner.hidden,
                                len(parents) - 1,
                                inner.certainty,
                            ),
                        )
                        if tag == "form":
                            self._read_form(node)
                    if is_a & _INLINE:
                        # The text of a nested element is part of the outer one's:
                        # reading it again at every level would be quadratic.
                        self._read_inline(node, tag, inner, is_nested=is_marked)
                        is_marked = True
            top, outer = node, inner
            path.append((top, outer, is_marked))
        if pieces:
            flush(current)
        self.budget = budget

    def _see(
        self, node: turbohtml.Element, tag: str, outer: _Context, later: _Later | None
    ) -> _Context | None:
        """Say what an element hands down by how it is seen; None passes it over."""
        sight = self.visibility
        names = names_of(node)
        is_special = node in sight.special
        hidden, mirrored = (
            sight.is_hidden_or_mirrored(node, tag, names)
            if is_special
            else sight.does_hide_or_mirror(names)
        )
        if mirrored:
            self.pieces.append(self._shown_text(node)[::-1])
            return None
        # A page hidden as a whole is shown by its script once that has run.
        if later is not None and tag != "body":
            is_bait = is_special and not hidden and sight.is_bait(node, tag, names)
            if hidden or is_bait:
                inner = outer._replace(tag=tag, heading=0, hidden=True)
                later.append((node, inner, not is_bait))
                self.unseen.add(node)
                return None
        if not is_special:
            return outer
        inner = self._doubt(node, tag, names, outer)
        code = node.attr("data-cfemail") if self.has_protected else None
        if code and not inner.hidden:
            self.protected.append((code, len(self.lines), inner.certainty))
        return inner

    def _doubt(
        self, node: turbohtml.Element, tag: str, names: str, outer: _Context
    ) -> _Context:
        """Hand down less certainty where a visitor may not see what stands there."""
        certainty = self.visibility.certainty(node, tag, names, outer.certainty)
        if certainty == outer.certainty:
            return outer
        if not (_KINDS.get(tag, 0) & _BLOCK) and not _says_something(node, tag):
            # An icon or a word in the middle of a line does not part it.
            return outer
        if certainty < LEAST_SEEN:
            self.unseen.add(node)
        return outer._replace(certainty=certainty)

    def _shown_text(self, node: turbohtml.Element) -> str:
        """Give the text of an element without what is hidden inside it."""
        found: list[str] = []
        waiting: list[turbohtml.Node] = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part, turbohtml.Text):
                found.append(part.data)
            elif isinstance(part, turbohtml.Element):
                sight = self.visibility
                hidden, _ = sight.is_hidden_or_mirrored(part, part.tag, names_of(part))
                if part is node or not hidden:
                    waiting += reversed(part.children)
        return "".join(found)

    def _region(self, node: turbohtml.Element, tag: str) -> str:
        if tag in _REGIONS:
            return tag
        names = names_of(node)
        return self._named_region(names) if names else ""

    def _named_region(self, names: str) -> str:
        known = self.regions.get(names)
        if known is None:
            match = _REGION_NAME.search(names.replace("#", " "))
            known = _REGION_GROUPS[match.lastindex or 0] if match else ""
            self.regions[names] = known
        return known

    def _read_inline(
        self, node: turbohtml.Element, tag: str, context: _Context, *, is_nested: bool
    ) -> None:
        if tag == "img":
            self._read_image(node, context)
            return
        text = "" if is_nested else _text_of(node)
        if text:
            self.marks.append(text[:200])
        if tag in _BOLD:
            return
        pieces = self.pieces
        # A link beside another or a label is a thing of its own, whatever CSS puts between.
        if pieces and not pieces[-1][-1:].isspace():
            before = node.previous_sibling
            if isinstance(before, turbohtml.Element) and before.tag in _BESIDE_LINKS:
                pieces.append(" ")
        attr = node.attr
        href = attr("href")
        if href is None or len(self.links) >= MAX_LINKS:
            return
        title = attr("title") or attr("aria-label") or (not text and _alt_of(node, tag))
        self.links.append(
            HtmlLink(
                href.strip(),
                text,
                (attr("rel") or "").lower(),
                clean(title) if title else "",
                context.region,
                context.hidden,
                len(self.lines),
                context.certainty,
            )
        )

    def _flush(self, context: _Context) -> None:
        pieces = self.pieces
        text = pieces[0] if len(pieces) == 1 else "".join(pieces)
        pieces.clear()
        if len(self.lines) >= MAX_LINES:
            raise _FullError
        marks = self.marks
        if context.tag == "pre":
            parts = [clean(part) for part in text.splitlines()[:2000]]
        else:
            parts = [clean(text)]
        for part in parts:
            if part:
                self.lines.append(
                    Line(
                        part if len(part) <= MAX_LINE else part[:MAX_LINE],
                        context.tag,
                        context.heading,
                        context.region,
                        context.hidden,
                        context.container,
                        tuple(marks) if marks else (),
                        _NOT_FOLDED,
                        context.certainty,
                    )
                )
        if marks:
            marks.clear()

    def _read_image(self, node: turbohtml.Element, context: _Context) -> None:
        if node.attr("alt") == "@" and self.pieces:
            self.pieces.append("@")  # between the halves of an address
        if len(self.images) >= MAX_LINKS:
            return
        parent = node.parent
        names = names_of(node)
        if isinstance(parent, turbohtml.Element):
            names += " " + names_of(parent)
        attr = node.attr
        self.images.append(
            Image(
                (attr("src") or attr("data-src") or "")[:2048],
                clean((attr("alt") or "")[:1000]),
                names[:500],
                context.region,
                context.hidden,
                len(self.lines),
                context.certainty,
            )
        )

    def _read_form(self, node: turbohtml.Element) -> None:
        if len(self.forms) >= MAX_FORMS:
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


def _ends_in_label(before: str, after: str) -> bool:
    """Say whether an address would stick to its label: `<b>Email</b>jo@acme.com`."""
    return after[0].isalnum() and bool(_MAIL_LABEL.search(before[-30:]))


def _says_something(node: turbohtml.Element, tag: str) -> bool:
    """Say whether the beginning of an element may hold an address, a number or a name."""
    if tag == "a":
        return True
    said = []
    for part in islice(node.descendants, MAX_PARTS):
        if type(part) is turbohtml.Text:
            said.append(part.data[:MAX_SAID])
        elif type(part) is turbohtml.Element and part.tag == "a":
            return True
    return bool(_SOMETHING.search("".join(said)))


def _alt_of(node: turbohtml.Element, tag: str) -> str:
    """Give what a link says that is a picture, or a part of one."""
    picture = node if tag == "area" else node.find("img")
    return (picture.attr("alt") or "")[:200] if picture is not None else ""


def _text_of(node: turbohtml.Element) -> str:
    """Give the text of an inline element, parts in blocks of their own set apart."""
    children = node.children
    if len(children) == 1 and type(children[0]) is turbohtml.Text:
        return clean(children[0].data[:1000])
    return clean(" ".join(node.text.split("\n"))[:1000])
