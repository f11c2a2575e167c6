"""The readable text of a page as one string, with a way back to lines and blocks."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import methodcaller
from typing import Final

from contact_extraction.html import HtmlPage, Line

SNIPPET_CHARACTERS: Final = 200
_LINE_WITH_DIGIT: Final = re.compile(r"^[^0-9\n]*[0-9].*", re.MULTILINE)
_bare: Final = methodcaller("strip", ".,;:()[]")


@dataclass(frozen=True)
class PageText:
    """The visible lines of a page joined by line ends, folded blocks at the end."""

    page: HtmlPage
    lines: tuple[Line, ...]
    text: str
    starts: tuple[int, ...]
    visible_end: int

    @property
    def visible_text(self) -> str:
        """Give only what a visitor sees without opening anything."""
        return self.text[: self.visible_end]

    @cached_property
    def lower(self) -> str:
        """Give the text in lower case, of the same length, for cheap searches."""
        page = self.page
        is_whole = page.visible_text == self.text
        low = page.lower_text if is_whole else self.text.lower()
        # "İ" grows when lowered; offsets must still fit.
        return low if len(low) == len(self.text) else _same_length_lower(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Give the words of the page without the signs around them.

        Looking a word up here first spares most searches through the text.
        """
        return frozenset(map(_bare, set(self.text.split())))

    @cached_property
    def numbered(self) -> str:
        """Give only the lines with a digit, for searches that need one."""
        return "\n".join(_LINE_WITH_DIGIT.findall(self.text))

    def line_at(self, offset: int) -> int:
        """Give the number of the line a place in the text is in."""
        return bisect_right(self.starts, offset) - 1

    def snippet(self, start: int, end: int) -> str:
        """Cut at most 200 characters around a value, the value inside."""
        if end - start >= SNIPPET_CHARACTERS:
            return self.text[start : start + SNIPPET_CHARACTERS].replace("\n", " ")
        room = (SNIPPET_CHARACTERS - (end - start)) // 2
        left = max(0, start - room)
        right = min(len(self.text), end + room)
        if left > 0:
            space = self.text.find(" ", left, start)
            newline = self.text.find("\n", left, start)
            cuts = [c for c in (space, newline) if c >= 0]
            left = min(cuts) + 1 if cuts else left
        return self.text[left:right].replace("\n", " ").strip()

    def ancestors(self, line: int, most: int = 8) -> list[int]:
        """Give the blocks around a line, innermost first."""
        chain = []
        block = self.lines[line].container
        for _ in range(most):
            chain.append(block)
            if block == 0:
                break
            block = self.page.parents[block]
        return chain


MAX_TEXT: Final = 4 * 1024 * 1024


def page_text(page: HtmlPage) -> PageText:
    """Lay out the visible lines of a page."""
    lines = [line for line in page.lines if not line.hidden or line.folded]
    starts = [0, *accumulate(len(line.text) + 1 for line in lines)]
    if starts[-1] > MAX_TEXT:
        del lines[bisect_right(starts, MAX_TEXT) :]
    del starts[len(lines) :]
    visible = next(
        (
            start + len(line.text)
            for line, start in zip(reversed(lines), reversed(starts), strict=True)
            if not line.hidden
        ),
        0,
    )
    text = "\n".join([line.text for line in lines])
    return PageText(page, tuple(lines), text, tuple(starts), visible)


def _same_length_lower(text: str) -> str:
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)
