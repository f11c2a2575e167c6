"""Where tests keep their databases: in memory, if the machine has a place for that."""

import os
from typing import Final

MEMORY: Final = "/dev/shm"
ENOUGH: Final = 4 << 30


def roomy_directory() -> str | None:
    """Return a directory in memory, or None for the usual one.

    Tests kill servers, never the machine: waiting for a disk proves nothing here.
    """
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return None
    is_roomy = found.f_bavail * found.f_frsize >= ENOUGH
    # A server that is started for root may run from a copy of its programs.
    return MEMORY if is_roomy and not found.f_flag & os.ST_NOEXEC else None
