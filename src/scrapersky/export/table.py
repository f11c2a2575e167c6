"""Write rows as CSV, JSON lines or a workbook, never holding more than a few of them."""

import asyncio
import csv
import io
from collections.abc import (
    AsyncGenerator,
    Collection,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from rustpy_xlsxwriter import Format, write_worksheets

from scrapersky.export.turns import ExportTurns
from scrapersky.kit.cell import csv_cell, xlsx_cell

BOM = "\ufeff"
"""Makes Excel read a CSV file as UTF-8."""
SHEET_ROWS = 1_000_000
"""Rows of one sheet; Excel takes 1,048,576 with the heading."""
SENT_BYTES = 256 * 1024
DAY = "yyyy-mm-dd"
MOMENT = "yyyy-mm-dd hh:mm:ss"
MIN_LETTERS, MAX_LETTERS = 8, 50
"""Letters that a column of a workbook shows."""
BUTTON_LETTERS = 4
"""Letters that the button of the filter takes beside a heading."""
SAMPLED_ROWS = 200
"""Rows at the top that say how wide columns are."""

Row = Mapping[str, Any]
RowStream = AsyncGenerator[Sequence[Row], None]
"""Rows a few hundred at a time."""
Parts = AsyncGenerator[bytes, None]


async def csv_bytes(
    columns: Sequence[str], chunks: RowStream, turns: ExportTurns | None = None
) -> Parts:
    """Write CSV as Excel and every CRM read it."""
    turns = turns or ExportTurns()
    yield (BOM + csv_text([[csv_cell(name) for name in columns]])).encode()
    async with aclosing(chunks):
        async for rows in chunks:
            yield await turns.compute(csv_rows, columns, rows)


def csv_rows(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    """Write some rows."""
    cells = ([csv_cell(row[name]) for name in columns] for row in rows)
    return csv_text(cells).encode("utf-8", "replace")


def csv_text(rows: Any) -> str:  # noqa: ANN401 - what csv takes
    """Write lines of CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


async def jsonl_bytes(
    columns: Sequence[str], chunks: RowStream, turns: ExportTurns | None = None
) -> Parts:
    """Write one JSON object a line, values in their own types."""
    turns = turns or ExportTurns()
    async with aclosing(chunks):
        async for rows in chunks:
            yield await turns.compute(json_rows, columns, rows)


def json_rows(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    """Write some rows."""
    return b"".join(
        orjson.dumps(
            {name: row[name] for name in columns},
            default=str,
            option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z,
        )
        for row in rows
    )


async def xlsx_bytes(
    columns: Sequence[str],
    chunks: RowStream,
    turns: ExportTurns | None = None,
    *,
    title: str,
    sheets: int = 1,
    days: Collection[str] = (),
) -> Parts:
    """Write a workbook; it begins to arrive when all of it is written.

    Columns of days are shown without a time.
    """
    with TemporaryDirectory(prefix="scrapersky-export-") as directory:
        path = Path(directory) / "export.xlsx"
        async with aclosing(chunks):
            turns = turns or ExportTurns()
            feed = Feed(columns, chunks, asyncio.get_running_loop(), turns, days)
            writing = asyncio.create_task(
                turns.run(partial(feed.write, path, title, sheets))
            )
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                # The thread cannot be cancelled: it ends when it asks for more rows.
                feed.is_wanted = False
                await asyncio.gather(writing, return_exceptions=True)
                raise
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, SENT_BYTES):
                yield part


class Feed:
    """Hands rows from the event loop to the thread that writes the workbook."""

    def __init__(
        self,
        columns: Sequence[str],
        chunks: RowStream,
        loop: asyncio.AbstractEventLoop,
        turns: ExportTurns,
        days: Collection[str],
    ) -> None:
        self.days = days
        self.turns = turns
        self.columns = columns
        self.chunks = chunks
        self.loop = loop
        self.is_wanted = True
        self.rows: Iterator[dict[str, Any]] = iter(())

    def write(self, path: Path, title: str, sheets: int) -> None:
        """Write all rows, as many sheets as they need; runs in a thread of its own."""
        # Closed whatever happens: until then it may hold everybody's turn.
        with closing(self.rows_one_by_one()) as self.rows:
            self._write(path, title, sheets)

    def _write(self, path: Path, title: str, sheets: int) -> None:
        names = [title if n == 0 else f"{title} {n + 1}" for n in range(sheets)]
        top = [*islice(self.rows, SAMPLED_ROWS)]
        self.rows = chain(top, self.rows)
        formats = {name: Format().set_num_format(DAY) for name in self.days}
        write_worksheets(
            [(name, self.sheet()) for name in names],
            str(path),
            freeze_panes={"general": {"row": 1, "col": 0}},
            bold_headers=True,
            autofilter=dict.fromkeys(names, True),
            column_widths=dict.fromkeys(names, widths(self.columns, top)),
            datetime_format=MOMENT,
            column_formats=dict.fromkeys(names, formats),
        )

    def sheet(self) -> Iterator[dict[str, Any]]:
        """Give the rows of one sheet; without any, an empty row under the heading."""
        given = 0
        for row in self.rows:
            yield row
            given += 1
            if given == SHEET_ROWS:
                return
        if not given:
            yield dict.fromkeys(self.columns)

    def rows_one_by_one(self) -> Generator[dict[str, Any], None, None]:
        """Ask the event loop for rows, and wait for them here."""
        while True:
            asked = asyncio.run_coroutine_threadsafe(self.next_rows(), self.loop)
            rows = asked.result()
            if rows is None:
                return
            with self.turns.slice:
                for row in rows:
                    yield {name: xlsx_cell(row[name]) for name in self.columns}

    async def next_rows(self) -> Sequence[Row] | None:
        """Return the next rows, or None at the end; raise when nobody wants them."""
        if not self.is_wanted:
            raise asyncio.CancelledError
        return await anext(self.chunks, None)


def widths(columns: Sequence[str], rows: Sequence[Row]) -> dict[str, float]:
    """Return how wide each column is: as its heading, or as what stands below it.

    A text that is cut is a nuisance; a time that is shown as nothing but #### is worse.
    """
    return {
        name: float(
            min(
                max(MIN_LETTERS, len(name) + BUTTON_LETTERS, *cell_widths(name, rows)),
                MAX_LETTERS,
            )
        )
        for name in columns
    }


def cell_widths(name: str, rows: Sequence[Row]) -> Iterator[int]:
    """Yield how much room each cell of a column takes."""
    return (letters(row[name]) + 1 for row in rows)


def letters(value: object) -> int:
    """Return how many letters a cell shows, in its longest line."""
    match value:
        case None:
            return 0
        case datetime():
            return len(MOMENT)
    return max(map(len, str(value).splitlines()), default=0)
