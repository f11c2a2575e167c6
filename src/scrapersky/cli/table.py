"""Tables whose identifiers can be copied: for a terminal, and for a pipe."""

from collections.abc import Collection

from rich.console import Console
from rich.table import Table

PIPED = 10_000
OTHERS = 12
"""Columns of a terminal that each column beside the identifiers gets at least."""


def print_table(table: Table, *, whole: Collection[str]) -> None:
    """Print a table; what stands in the columns called `whole` is never cut.

    Into a pipe every row is one line, so that `grep` finds all of it.
    """
    needed = 0
    for column in table.columns:
        cells = [str(cell) for cell in column.cells]
        if column.header in whole:
            column.no_wrap = True
            column.min_width = max(map(len, [str(column.header), *cells]))
        needed += (column.min_width or OTHERS) + 3
    console = Console()
    width = max(console.width, needed) if console.is_terminal else PIPED
    Console(width=width).print(table)
