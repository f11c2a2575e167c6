"""Rows that an export has read and its client has not: kept on disk, not in memory.

They are read at the speed of the database, however slowly they are taken away: a client
that reads a byte now and then keeps a file waiting, and no connection.
"""

import asyncio
import pickle
import threading
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

from scrapersky.export.turns import ExportTurns
from scrapersky.kit.spool import Spool

CHUNKS_IN_MEMORY: Final = 2
"""As much as is read ahead for a client that takes it at once."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""What may wait of one export; beyond, rows are read as fast as they are sent."""
FILE_BYTES: Final = 4 * 1024 * 1024
"""After this much another file is begun; one that was read is given back."""

Rows = Sequence[dict[str, Any]]
RowChunks = AsyncGenerator[Rows, None]


class ExportBuffer:
    """Chunks of rows on their way from the database to a client."""

    def __init__(self, turns: ExportTurns) -> None:
        self._turns = turns
        self._chunks: deque[Rows | int] = deque()
        """Rows, or the size of what was written of them."""
        self._in_memory = 0
        self._files: deque[Spool] = deque()
        self._start = 0
        # Files are written, read and closed by threads: none of them may meet a
        # descriptor that means another file by now.
        self._lock = threading.Lock()
        self._is_closed = False
        self._has_more = asyncio.Event()
        self._has_room = asyncio.Event()
        self.waiting = 0
        """Bytes on disk."""

    async def chunks(self, source: RowChunks) -> RowChunks:
        """Yield what is read ahead of whoever takes it; closed early, end that at once."""
        filling = asyncio.create_task(self._fill(source))
        try:
            while await self._is_more(filling):
                rows = await self._take()
                self._has_room.set()
                yield rows
            filling.result()
        finally:
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
            self._close()

    async def _fill(self, source: RowChunks) -> None:
        try:
            async with aclosing(source):
                async for rows in source:
                    await self._put(rows)
                    self._has_more.set()
                    while self.waiting >= MOST_BYTES:
                        self._has_room.clear()
                        await self._has_room.wait()
        finally:
            self._has_more.set()

    async def _is_more(self, filling: asyncio.Task[None]) -> bool:
        """Wait for the next chunk; say whether there is one."""
        while not self._chunks and not filling.done():
            self._has_more.clear()
            await self._has_more.wait()
        return bool(self._chunks)

    async def _put(self, rows: Rows) -> None:
        if self._in_memory < CHUNKS_IN_MEMORY:
            self._in_memory += 1
            self._chunks.append(rows)
        else:
            self._chunks.append(await self._turns.compute(self._write, rows))

    async def _take(self) -> Rows:
        first = self._chunks.popleft()
        if isinstance(first, int):
            return await self._turns.compute(self._read, first)
        self._in_memory -= 1
        return first

    def _write(self, rows: Rows) -> int:
        written = pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if not self._is_closed:
                if not self._files or self._files[-1].size >= FILE_BYTES:
                    self._files.append(Spool())
                self._files[-1].write(written)
                self.waiting += len(written)
        return len(written)

    def _read(self, size: int) -> Rows:
        with self._lock:
            if self._start == self._files[0].size:
                self._files.popleft().close()
                self._start = 0
            written = self._files[0].read(size, self._start)
            self._start += size
            self.waiting -= size
        rows: Rows = pickle.loads(written)  # noqa: S301 - nobody else can write there
        return rows

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            self.waiting = 0
            while self._files:
                self._files.popleft().close()
