"""What CSS hides or mirrors, as far as a page says so itself."""

import re
from collections.abc import Iterable
from typing import Final

_HIDDEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:^|[;\s{])(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?:px|em|rem|%|pt)?\s*(?:;|!|}|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(
    r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|bidi-override"
    r"|text-indent\s{0,3}:\s{0,3}-\d{3}|font-size\s{0,3}:\s{0,3}0\b|opacity\s{0,3}:\s{0,3}0\s{0,3}[;}]"
    r"|(?:left|top)\s{0,3}:\s{0,3}-\d{3}",
    re.IGNORECASE,
)
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
        text = sheet[:MAX_SHEET]
        last = -1
        for count, mark in enumerate(_MARKS.finditer(text)):
            if count > MAX_RULES:
                break
            start = text.rfind("{", max(0, mark.start() - MAX_RULE), mark.start())
            if start < 0 or start == last:
                continue
            last = start
            end = text.find("}", mark.end(), mark.end() + MAX_RULE)
            body = text[start:end]
            names = _selected(text, start)
            if is_mirrored(body):
                mirrored.update(names)
            elif is_hidden(body):
                hidden.update(names)
    return frozenset(hidden), frozenset(mirrored)


def _selected(text: str, brace: int) -> list[str]:
    """Give the plain class and id selectors before an opening brace."""
    before = text[max(0, brace - MAX_RULE) : brace]
    cut = max(before.rfind("}"), before.rfind("{"), before.rfind("*/") + 1)
    names = []
    for selector in before[cut + 1 :].split(","):
        match = _NAME.fullmatch(selector.strip())
        if match:
            names.append(match[1].lower().removeprefix("."))
    return names
