"""Where large bodies are held: in memory that is given back, or in a file without a name."""

import ctypes
import os
import tempfile
from functools import cache
from typing import Final

MAX_MEMORY_BYTES = 256 * 1024
"""Bytes of a body up to which it is not worth a file.

Most pages are shorter. A hundred bodies at once are what a worker must have room for.
"""
M_MMAP_THRESHOLD: Final = -3
LARGE_BLOCK_BYTES: Final = 256 * 1024


class Spool:
    """Bytes in a file that nobody else can open and that is gone when it is closed."""

    __slots__ = ("_descriptor", "size")

    def __init__(self) -> None:
        self._descriptor, name = tempfile.mkstemp(prefix="scrapersky-spool-")
        os.unlink(name)  # noqa: PTH108 - a name was given, not a path
        self.size = 0

    def __del__(self) -> None:
        self.close()

    def fileno(self) -> int:
        """Return the descriptor, so that it can be handed to a child."""
        return self._descriptor

    def write(self, data: bytes | bytearray) -> None:
        """Add bytes; raise OSError where the disk has no room for them."""
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view)
            self.size += written
            view = view[written:]

    def read(self, size: int, start: int = 0) -> bytes:
        """Return so many bytes from a place on."""
        return os.pread(self._descriptor, size, start)

    def close(self) -> None:
        """Give the file back; doing so twice does no harm."""
        descriptor, self._descriptor = getattr(self, "_descriptor", -1), -1
        if descriptor >= 0:
            os.close(descriptor)


@cache
def give_memory_back() -> None:
    """Have the C library return large blocks to the system as soon as they are freed.

    Left to itself, glibc raises the size from which it does so to that of the largest
    block ever freed: after one page of five megabytes, bodies come from the heap, which
    then keeps the size it had with all of them in it.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
