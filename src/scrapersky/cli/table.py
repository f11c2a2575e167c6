"""Tables whose identifiers can be copied: for a terminal, and for a pipe.

What stands in them comes from strangers: it is shown as it is, and obeyed by nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any

import orjson
from rich import box
from rich.console import Console, RenderableType
from rich.style import StyleType
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from scrapersky.kit.plain_text import plain_text

PIPED_WIDTH = 10_000
MIN_COLUMN_WIDTH = 12
"""Columns of a terminal that each column beside the identifiers gets at least."""


class PlainTable(Table):
    """A table of texts: in its cells nothing is markup, an emoji's name or a sequence."""

    def __init__(self, *headings: str, title: str | None = None) -> None:
        super().__init__(*headings, title=title, box=box.SIMPLE)

    @override
    def add_row(
        self,
        *cells: RenderableType | None,
        style: StyleType | None = None,
        end_section: bool = False,
    ) -> None:
        """Add a row; styles are given with `Text`, never written into a cell."""
        plain = map(plain_cell, cells)
        super().add_row(*plain, style=style, end_section=end_section)


def plain_cell(cell: RenderableType | None) -> RenderableType | None:
    """Return a text without what a terminal obeys, and anything else as it is."""
    return Text(plain_text(cell)) if isinstance(cell, str) else cell


def plain_console(*, width: int | None = None, stderr: bool = False) -> Console:
    """Return a console that reads no markup and no names of emojis in what it prints."""
    return Console(
        width=width, stderr=stderr, markup=False, emoji=False, highlight=False
    )


def print_json(found: Any) -> None:  # noqa: ANN401 - whatever a command has to say
    """Print what a command found for a program."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
    print(orjson.dumps(found, option=options, default=str).decode())


def print_done(said: str, found: Mapping[str, Any], *, as_json: bool) -> None:
    """Say what a command did: to a person in a sentence, to a program in JSON."""
    if as_json:
        print_json(found)
    else:
        print(said)


def print_table(table: PlainTable, *, whole: Collection[str] = ()) -> None:
    """Print a table; what stands in the columns called `whole` is never cut.

    Into a pipe every row is one line, so that `grep` finds all of it.
    """
    needed = 0
    for column in table.columns:
        cells = [str(cell) for cell in column.cells]
        if column.header in whole:
            column.no_wrap = True
            column.min_width = max(map(len, [str(column.header), *cells]))
        needed += (column.min_width or MIN_COLUMN_WIDTH) + 3
    console = plain_console()
    width = max(console.width, needed) if console.is_terminal else PIPED_WIDTH
    plain_console(width=width).print(table)
