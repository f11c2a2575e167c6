"""The colours of CSS, as far as it takes to see that a text has that of its ground."""

import re
from functools import lru_cache
from typing import Final

Colour = tuple[int, int, int]
UNKNOWN: Final[Colour] = (-1, -1, -1)
"""Something is painted, but in which colour is not known: an image, a variable."""
WHITE: Final[Colour] = (255, 255, 255)
BLACK: Final[Colour] = (0, 0, 0)
MAX_DISTANCE: Final = 16
"""How far from white or black nobody sees a difference."""


@lru_cache(maxsize=1024)
def read_colour(text: str) -> Colour | None:
    """Read a colour, nearly white as white and nearly black as black; None for none."""
    text = text.strip().lower()
    if text in _NONE:
        return None
    parts = _parts(text)
    if parts is None:
        return _NAMED.get(text, UNKNOWN)
    if min(parts) >= WHITE[0] - MAX_DISTANCE:
        return WHITE
    return BLACK if max(parts) <= MAX_DISTANCE else parts


def _parts(text: str) -> Colour | None:
    if match := _HEX.fullmatch(text):
        digits = match[1]
        if len(digits) == SHORT_HEX:
            digits = "".join(2 * digit for digit in digits)
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if match := _RGB.fullmatch(text):
        red, green, blue = (min(255, int(match[n])) for n in (1, 2, 3))
        return red, green, blue
    return None


SHORT_HEX: Final = 3
_HEX: Final = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})")
# A colour that lets another one through is not known.
_RGB: Final = re.compile(
    r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*1(?:\.0+)?\s*)?\)"
)
_NAMED: Final = {"white": WHITE, "snow": WHITE, "ivory": WHITE, "black": BLACK}
_NONE: Final = frozenset(
    ("", "none", "transparent", "inherit", "initial", "unset", "currentcolor")
)
