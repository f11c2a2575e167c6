"""Rows wait on disk for who reads them slowly: in their order, and not too many."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrapersky.export import buffer
from scrapersky.export.buffer import CHUNKS_IN_MEMORY, ExportBuffer, Rows
from scrapersky.export.turns import ExportTurns
from sdk_tests.rig.waiting import HUNG


class Source:
    """Chunks of rows without end, or so many; counts what was asked of it."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.given = 0
        self.is_closed = False

    async def chunks(self) -> AsyncGenerator[Rows, None]:
        try:
            while self.given < self.many:
                self.given += 1
                yield [{"n": self.given, "text": "x" * 1_000}] * 10
                await asyncio.sleep(0)
        finally:
            self.is_closed = True

    async def until(self, given: int) -> None:
        async with asyncio.timeout(HUNG):
            while self.given < given:  # noqa: ASYNC110 - the product has no such event
                await asyncio.sleep(0.005)


async def test_rows_that_nobody_took_were_not_read() -> None:
    source, held = Source(50), ExportBuffer(ExportTurns())
    chunks = held.chunks(source.chunks())

    first = await anext(chunks)
    await source.until(50)
    rest = [rows async for rows in chunks]

    assert [rows[0]["n"] for rows in (first, *rest)] == [*range(1, 51)]
    assert source.is_closed
    assert held.waiting == 0


async def test_what_waits_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer, "MOST_BYTES", 20_000)
    source, held = Source(1_000), ExportBuffer(ExportTurns())
    chunks = held.chunks(source.chunks())
    await anext(chunks)

    await source.until(CHUNKS_IN_MEMORY + 2)
    await asyncio.sleep(0.05)
    given = source.given
    rest = [rows[0]["n"] async for rows in chunks]

    assert given < 100
    assert rest == [*range(2, 1_001)]


async def test_a_file_stayed_open_when_its_client_had_left() -> None:
    before = open_files()
    source, held = Source(500), ExportBuffer(ExportTurns())
    chunks = held.chunks(source.chunks())
    await anext(chunks)
    await source.until(CHUNKS_IN_MEMORY + 5)

    await chunks.aclose()

    assert source.is_closed
    assert held.waiting == 0
    assert open_files() == before


async def test_a_failure_while_reading_was_an_end() -> None:
    async def failing() -> AsyncGenerator[Rows, None]:
        yield [{"n": 1}]
        raise OSError("the database is away")

    chunks = ExportBuffer(ExportTurns()).chunks(failing())

    assert await anext(chunks) == [{"n": 1}]
    with pytest.raises(OSError, match="away"):
        await anext(chunks)


def open_files() -> set[str]:
    """Return the files without a name that this process has open."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(descriptor)  # noqa: PTH115 - a link to nowhere
        except OSError:
            continue
        if "scrapersky-spool-" in target:
            found.add(target)
    return found
