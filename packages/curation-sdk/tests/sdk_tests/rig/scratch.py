"""Where tests keep their databases: in memory, if the machine has a place for that."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = "/dev/shm"
ENOUGH: Final = 4 << 30


def roomy_directory(room: int = ENOUGH) -> str | None:
    """Return a directory in memory with so many bytes, or None for the usual one.

    Tests kill servers, never the machine: waiting for a disk proves nothing here.
    """
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return None
    is_roomy = found.f_bavail * found.f_frsize >= room
    # A server that is started for root may run from a copy of its programs.
    return MEMORY if is_roomy and not found.f_flag & os.ST_NOEXEC else None


def scratch_directory(
    kind: str, usual: str | None = None, *, room: int = ENOUGH
) -> Path:
    """Make a directory; remove those of the same kind whose process was killed."""
    parent = Path(roomy_directory(room) or usual or tempfile.gettempdir())
    for left in parent.glob(f"{kind}-*"):
        owner = re.fullmatch(rf"{kind}-(\d+)-\w+", left.name)
        if owner and not is_running(int(owner[1])):
            # A server that still runs there sees that its files are gone, and ends.
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{kind}-{os.getpid()}-", dir=parent))


def is_running(pid: int) -> bool:
    """Return whether there is such a process, also if it is somebody else's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
