"""What CSS hides or mirrors, as far as a page says so itself."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_HIDDEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:^|[;\s{])(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?:px|em|rem|%|pt)?\s*(?:;|!|}|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_MARKS: Final = ("none", "hidden", "bidi-override", "-999", "-1000")
_NAME: Final = re.compile(r"(?:[a-z]{1,10})?([.#][\w-]{1,80})", re.IGNORECASE)
MAX_SHEET: Final = 500_000
MAX_RULES: Final = 2_000
MAX_RULE: Final = 3_000


def is_hidden(style: str) -> bool:
    """Say whether an inline style takes an element out of sight."""
    return bool(_HIDDEN.search(style[:2000]))


def is_mirrored(style: str) -> bool:
    """Say whether an inline style shows text from right to left, letter by letter."""
    low = style[:2000].lower()
    return "bidi-override" in low and "rtl" in low


def hidden_and_mirrored(sheets: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Find the single classes and `#ids` that style sheets hide, and those they mirror.

    Rules for combinations of elements are left alone: they mostly serve menus.
    """
    hidden: set[str] = set()
    mirrored: set[str] = set()
    for sheet in sheets:
        text = _without_media(sheet[:MAX_SHEET])
        for start in _rules(text):
            end = text.find("}", start, start + MAX_RULE)
            body = text[start:end]
            if is_mirrored(body):
                mirrored.update(_selected(text, start))
            elif is_hidden(body):
                hidden.update(_selected(text, start))
    return frozenset(hidden), frozenset(mirrored)


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

    Plain searches for five words: a regular expression over every style sheet cost
    more than parsing the page.
    """
    seen: set[int] = set()
    for mark in _MARKS:
        place = text.find(mark)
        while place >= 0 and len(seen) < MAX_RULES:
            near = text[max(0, place - NEAR) : place]
            if (
                mark in ("bidi-override", "-999", "-1000")
                or "display" in near
                or "visibility" in near
            ):
                start = text.rfind("{", max(0, place - MAX_RULE), place)
                if start >= 0 and start not in seen:
                    seen.add(start)
                    yield start
            place = text.find(mark, place + len(mark))


NEAR: Final = 14
_BRACE: Final = re.compile(r"[{}]")


def _selected(text: str, brace: int) -> list[str]:
    """Give the plain class and id selectors before an opening brace."""
    before = text[max(0, brace - MAX_RULE) : brace]
    cut = max(before.rfind(sign) for sign in "{}/;>")
    names = []
    for selector in before[cut + 1 :].split(","):
        match = _NAME.fullmatch(selector.strip())
        if match:
            names.append(match[1].lower().removeprefix("."))
    return names
