"""Lists as people have them: a workbook that arrives is read as the CSV it could be."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scrapersky.errors import BodyTooBig
from scrapersky.kit.workbook import MAX_BYTES, MAX_ROWS, ZIP_MAGIC, as_table

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ANY_BYTES: Final = "application/octet-stream"
"""What a file may be called as well: it is known by its first bytes."""
SENT_BYTES: Final = 256 * 1024


async def unpacked(
    stream: AsyncIterator[bytes], rows: int = MAX_ROWS
) -> AsyncIterator[bytes]:
    """Yield a list as it arrives; of a workbook, the first sheet as CSV."""
    start = b""
    async for part in stream:
        start += part
        if len(start) >= len(ZIP_MAGIC):
            break
    if not start.startswith(ZIP_MAGIC):
        yield start
        async for part in stream:
            yield part
        return
    with TemporaryDirectory(prefix="scrapersky-") as folder:
        book, table = Path(folder) / "book.xlsx", Path(folder) / "table.csv"
        await receive(book, start, stream)
        await asyncio.to_thread(as_table, book, table, rows)
        with table.open("rb") as lines:
            while part := await asyncio.to_thread(lines.read, SENT_BYTES):
                yield part


async def receive(path: Path, start: bytes, stream: AsyncIterator[bytes]) -> None:
    """Write what arrives, up to the size of a large workbook."""
    size = len(start)
    with path.open("wb") as file:
        file.write(start)
        async for part in stream:
            size += len(part)
            if size > MAX_BYTES:
                raise BodyTooBig(
                    f"The workbook is larger than {MAX_BYTES // 1024**2} MB.",
                    hint="Save it as CSV (UTF-8).",
                )
            await asyncio.to_thread(file.write, part)
