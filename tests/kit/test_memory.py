"""Memory that is free again is the system's."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import psutil
from scrapersky.kit.spool import give_memory_back
{before}
process = psutil.Process()
largest = b"x" * (5 << 20)
del largest
first = process.memory_info().rss
bodies = [b"x" * (1 << 20) for _ in range(100)]
behind_them = [bytearray(2_000) for _ in range(100)]
del bodies
print((process.memory_info().rss - first) >> 20)
"""


def growth(before: str) -> int:
    """Return by how many MiB a process has grown that holds its bodies no more."""
    program = PROGRAM.format(before=before)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="the C library is not glibc"
)
def test_a_process_kept_the_size_it_had_with_all_bodies_in_it() -> None:
    assert growth("give_memory_back()") < 20
    assert growth("") > 50, "the C library does so by itself: drop ours"
