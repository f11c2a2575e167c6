"""How the memory of a process behaves that holds large bodies for a short time."""

import ctypes
from functools import cache
from typing import Final

M_MMAP_THRESHOLD: Final = -3
LARGE_BLOCK: Final = 256 * 1024


@cache
def give_memory_back() -> None:
    """Have the C library return large blocks to the system as soon as they are freed.

    Left to itself, glibc raises the size from which it does so to that of the largest
    block ever freed: after one page of five megabytes, bodies come from the heap, which
    then keeps the size it had with all of them in it.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)
