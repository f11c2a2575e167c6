"""Where tests keep their databases: in memory, if the machine has a place for that."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

MEMORY: Final = "/dev/shm"
ENOUGH: Final = 4 << 30
RUN: Final = "TEST_RUN"
"""The environment variable with the process that a test run began with."""


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


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Make a directory once for all workers of a test run; the others wait for the first.

    The process that the run began with removes it, by `remove_shared`.
    """
    owner = os.environ.get(RUN, str(os.getpid()))
    parent = Path(roomy_directory() or tempfile.gettempdir())
    shared = parent / f"scrapersky-test-{owner}-shared"
    shared.mkdir(exist_ok=True)
    # The server's own account may pass through.
    shared.chmod(0o711)
    made, begun = shared / name, shared / f"{name}.begun"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(begun, ignore_errors=True)
            make(begun)
            begun.rename(made)
    return made


def remove_shared() -> None:
    """Remove what was made once for the run that this process began."""
    for parent in (MEMORY, tempfile.gettempdir()):
        place = Path(parent) / f"scrapersky-test-{os.getpid()}-shared"
        shutil.rmtree(place, ignore_errors=True)
