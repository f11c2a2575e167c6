"""What CSS hides, mirrors or paints in the colour of its ground, as a page says itself."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from contact_extraction.html.colour import UNKNOWN, Colour, read_colour

_GONE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE
)
_OUTSIDE: Final = re.compile(
    r"text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{3,}", re.IGNORECASE
)
_NOTHING: Final = r"\s*:\s*0(?:\.0+)?(?:px|em|rem|%|pt)?\s*(?:;|!|}|$)"
_SIZELESS: Final = re.compile(rf"(?:^|[;\s{{])font-size{_NOTHING}", re.IGNORECASE)
_FADED: Final = re.compile(rf"(?:^|[;\s{{])opacity{_NOTHING}", re.IGNORECASE)
# The way of writing for screen readers alone.
_CLIPPED: Final = re.compile(
    r"clip\s*:\s*rect\(\s*[01](?:px)?[\s,]|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
# What fades in moves, too.
_MOVES: Final = ("transition", "animation", "transform", "will-change")
_MARKS: Final = (
    "none", "hidden", "bidi-override", "-999", "-1000", "opacity:0", "opacity: 0",
    "font-size:0", "font-size: 0", "rect(", "inset(", "transparent",
)  # fmt: skip
_NAME: Final = re.compile(r"(?:[a-z]{1,10})?([.#][\w-]{1,80})", re.IGNORECASE)
MAX_SHEET: Final = 500_000
MAX_KNOWN: Final = 100_000
"""Characters of style sheets that are remembered for the next page of the site."""
MAX_RULES: Final = 2_000
MAX_RULE: Final = 3_000
MAX_STYLE: Final = 2_000


class StyleEffect(NamedTuple):
    """What a style, of an element or of a rule, does to the text under it."""

    is_hidden: bool = False
    is_mirrored: bool = False
    is_doubted: bool = False
    is_transparent: bool = False
    ink: Colour | None = None
    paper: Colour | None = None


class StyleNames(NamedTuple):
    """The single classes and `#ids` that style sheets do something to, as written."""

    hidden: frozenset[str]
    mirrored: frozenset[str]
    doubted: frozenset[str]
    sizeless: frozenset[str]
    transparent: frozenset[str]
    inks: dict[str, Colour]
    papers: dict[str, Colour]


def look_of(style: str) -> StyleEffect:
    """Say what an inline style does; nothing else can undo it."""
    return _look_of(style[:MAX_STYLE])


# The pages of a site share their styles.
@lru_cache(1_024)
def _look_of(style: str) -> StyleEffect:
    is_clipped = bool(_CLIPPED.search(style))
    is_outside = bool(_OUTSIDE.search(style)) and not is_clipped
    ink, paper = _colours_in(style)
    return StyleEffect(
        is_hidden=is_outside
        or bool(_GONE.search(style) or _SIZELESS.search(style) or _FADED.search(style)),
        is_mirrored=_is_mirrored(style),
        is_doubted=is_clipped,
        is_transparent=_is_transparent(style),
        ink=ink,
        paper=paper,
    )


def _is_mirrored(style: str) -> bool:
    """Say whether a style shows text from right to left, letter by letter."""
    low = style.lower()
    return "bidi-override" in low and "rtl" in low


def _is_transparent(style: str) -> bool:
    """Say whether letters have no colour, and neither an outline nor a picture inside."""
    if "transparent" not in style or "text-" in style or "clip" in style:
        return False
    return bool(_NO_INK.search(style))


_NO_INK: Final = re.compile(r"(?<![\w-])color\s*:\s*transparent", re.IGNORECASE)


def names_in_sheets(sheets: Iterable[str], *, is_whole: bool) -> StyleNames:
    """Find what style sheets hide, mirror, make small or paint.

    Rules for combinations of elements are left alone: they mostly serve menus. Unless
    these are all of the page's sheets, only rules that set both colours say something.
    """
    whole = tuple(sheet[:MAX_SHEET] for sheet in sheets)
    is_short = sum(map(len, whole)) <= MAX_KNOWN
    return (_known_names if is_short else _names_in)(whole, is_whole=is_whole)


def _names_in(sheets: tuple[str, ...], *, is_whole: bool) -> StyleNames:
    found: dict[str, set[str]] = defaultdict(set)
    inks: dict[str, Colour] = {}
    papers: dict[str, Colour] = {}
    texts = [_without_media(sheet) for sheet in sheets]
    for text in texts:
        for start in _rules(text):
            end = text.find("}", start, start + MAX_RULE)
            if kind := _kind_of_rule(text[start:end].lower()):
                found[kind].update(_selected(text, start))
    if _may_be_faint(texts, is_whole=is_whole):
        for text in texts:
            _read_colours(text, inks, papers, is_whole=is_whole)
    return StyleNames(
        hidden=frozenset(found["hidden"]),
        mirrored=frozenset(found["mirrored"]),
        doubted=frozenset(found["doubted"]),
        sizeless=frozenset(found["sizeless"]),
        transparent=frozenset(found["transparent"]),
        inks=inks,
        papers=papers,
    )


_known_names: Final = lru_cache(32)(_names_in)


def _kind_of_rule(body: str) -> str | None:
    """Say which of the sets of names a rule adds to; it is given in lower case."""
    if _is_mirrored(body):
        return "mirrored"
    if ("display" in body or "visibility" in body) and _GONE.search(body):
        return "hidden"
    if "clip" in body and _CLIPPED.search(body):
        return "doubted"
    if "-" in body and _OUTSIDE.search(body):
        return "hidden"
    if "font-size" in body and _SIZELESS.search(body):
        return "sizeless"
    if "opacity" in body and _FADED.search(body):
        return None if any(word in body for word in _MOVES) else "doubted"
    return "transparent" if _is_transparent(body) else None


def _without_media(text: str) -> str:
    """Leave out what holds only on paper or on some screens: there it is a menu's fold."""
    place = text.find("@media")
    if place < 0:
        return text
    kept, start = [], 0
    while place >= 0:
        kept.append(text[start:place])
        start = _end_of_block(text, place)
        place = text.find("@media", start)
    kept.append(text[start:])
    return "".join(kept)


def _end_of_block(text: str, start: int) -> int:
    """Return where the block that begins after `start` ends, blocks inside included."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth <= 0:
            return brace.end()
    return len(text)


def _rules(text: str) -> Iterator[int]:
    """Yield where the rules open that may hide or mirror something.

    Plain searches for some words: a regular expression over every style sheet cost
    more than parsing the page.
    """
    seen: set[int] = set()
    for mark in _MARKS:
        place = text.find(mark)
        while place >= 0 and len(seen) < MAX_RULES:
            near = text[max(0, place - NEAR_CHARACTERS) : place]
            if (
                mark not in _COMMON_MARKS
                or "display" in near
                or "visibility" in near
                or near.endswith(_COLOUR_BEFORE)
            ):
                start = text.rfind("{", max(0, place - MAX_RULE), place)
                if start >= 0 and start not in seen:
                    seen.add(start)
                    yield start
            place = text.find(mark, place + len(mark))


NEAR_CHARACTERS: Final = 14
_COMMON_MARKS: Final = frozenset(("none", "hidden", "transparent"))
_COLOUR_BEFORE: Final = (
    "{color:",
    ";color:",
    "{color: ",
    ";color: ",
    " color:",
    " color: ",
)
_BRACE: Final = re.compile(r"[{}]")


def _selected(text: str, brace: int) -> Iterator[str]:
    """Yield the plain class and id selectors before an opening brace."""
    before = text[max(0, brace - MAX_RULE) : brace]
    cut = max(before.rfind(sign) for sign in "{}/;>")
    for selector in before[cut + 1 :].split(","):
        if match := _NAME.fullmatch(selector.strip()):
            yield match[1].removeprefix(".")


def _may_be_faint(texts: Iterable[str], *, is_whole: bool) -> bool:
    """Say whether any letters have a colour that any ground has; most pages end here.

    Where all sheets are known, letters that the markup paints count as well.
    """
    inks: set[str] = set()
    papers: set[str] = set()
    for text in texts:
        papers.update(_SOME_PAPER.findall(text))
        inks.update(_SOME_INK.findall(text))
    grounds = {read_colour(paper) for paper in papers} - {UNKNOWN, None}
    if not grounds:
        return False
    return is_whole or any(read_colour(ink) in grounds for ink in inks)


# A literal first, and what may not stand before it last: so the search skips.
_SOME_PAPER: Final = re.compile(r"background(?:-color)?\s*:\s*([^;}!]{3,25})")
_SOME_INK: Final = re.compile(r"color(?<![\w-]color)\s*:\s*([^;}!]{3,25})")


def _read_colours(
    text: str, inks: dict[str, Colour], papers: dict[str, Colour], *, is_whole: bool
) -> None:
    """Note the colours of rules for one class, one id or the body; the last one counts."""
    painted = [rule for rule in text.split("}") if "color" in rule or "backg" in rule]
    if not is_whole:
        painted = [r for r in painted if "background" in r and _SOME_INK.search(r)]
    for rule in painted[:MAX_RULES]:
        selector, _, body = rule.rpartition("{")
        selector = selector.rpartition("/")[2].strip()
        if len(selector) > MAX_SELECTOR or (" " in selector and "," not in selector):
            continue
        names = [
            match[1].removeprefix(".") if match[1] else "body"
            for one in selector.split(",")
            if (match := _PAINTED.fullmatch(one.strip()))
        ]
        if not names:
            continue
        ink, paper = _colours_in(body)
        for name in names:
            if ink:
                inks[name] = ink
            if paper:
                papers[name] = paper


MAX_SELECTOR: Final = 200
_PAINTED: Final = re.compile(r"[a-z]{0,10}([.#][\w-]{1,80})|body")


def _colours_in(style: str) -> tuple[Colour | None, Colour | None]:
    """Read the colours of letters and of the ground under them."""
    ink = paper = None
    if "color" not in style and "background" not in style:
        return None, None
    for name, written in _COLOUR.findall(style[:MAX_STYLE]):
        value = written.partition("!")[0]
        if name == "color":
            ink = read_colour(value)
        elif name == "background-image":
            paper = paper if value.strip() == "none" else UNKNOWN
        else:
            paper = read_colour(value)
    return ink, paper


_COLOUR: Final = re.compile(
    r"(?<![\w-])(color|background(?:-color|-image)?)\s*:\s*([^;}]{1,60})"
)
