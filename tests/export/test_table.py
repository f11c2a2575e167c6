"""Tables of any length: flat memory, many sheets, and nothing left behind."""

import asyncio
import io
import os
import re
import tempfile
import zipfile
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scrapersky.export import table
from scrapersky.export.table import csv_bytes, jsonl_bytes, xlsx_bytes


async def rows(count: int, step: int = 100) -> AsyncGenerator[Sequence[Any], None]:
    for start in range(0, count, step):
        yield [
            {"n": n, "text": f"=row {n}"}
            for n in range(start, min(start + step, count))
        ]


async def test_rows_are_written_as_they_come() -> None:
    parts = [part async for part in csv_bytes(["text", "n"], rows(250))]
    lines = [part async for part in jsonl_bytes(["n"], rows(250))]

    assert len(parts) == 4
    assert parts[0] == b"\xef\xbb\xbftext,n\r\n"
    assert b"".join(parts).count(b"\r\n") == 251
    assert parts[1].startswith(b"'=row 0,0\r\n")
    assert b"".join(lines).splitlines()[-1] == b'{"n":249}'


async def test_what_fits_no_sheet_goes_on_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table, "SHEET_ROWS", 100)

    parts = [
        part
        async for part in xlsx_bytes(["n", "text"], rows(250), title="all", sheets=3)
    ]

    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as book:
        sheets = [book.read(f"xl/worksheets/sheet{n}.xml") for n in (1, 2, 3)]
    assert [sheet.count(b"<row ") for sheet in sheets] == [101, 101, 51]
    assert b"=row 249" in sheets[2]
    # To filter and to read, and not only to keep.
    assert all(b"<autoFilter " in sheet and b"<cols>" in sheet for sheet in sheets)


async def test_a_time_was_too_wide_for_its_column_and_shown_as_hashes() -> None:
    async def seen() -> AsyncGenerator[Sequence[Any], None]:
        yield [{"Seen": datetime(2026, 11, 16, 9, 30, tzinfo=UTC), "URL": "x" * 99}]

    parts = [part async for part in xlsx_bytes(["Seen", "URL"], seen(), title="all")]

    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    first, second = map(float, re.findall(r'<col [^>]*width="([\d.]+)"', sheet))
    assert len("2026-11-16 09:30:00") < first < second < 52


async def test_a_caller_who_leaves_stops_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked = 0
    is_begun = asyncio.Event()

    async def endless() -> AsyncGenerator[Sequence[Any], None]:
        nonlocal asked
        while True:
            asked += 1
            is_begun.set()
            await asyncio.sleep(0)
            yield [{"n": 1}] * 100

    async def read() -> None:
        async for _ in xlsx_bytes(["n"], endless(), title="all"):
            pass

    reading = asyncio.create_task(read())
    await is_begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    before = asked
    await asyncio.sleep(0.1)

    assert asked == before
    assert not os.listdir(tmp_path)  # noqa: PTH208 - a moment
