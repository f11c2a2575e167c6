"""Nothing may be left behind: no task, no socket, no file."""

import asyncio
import gc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

ME = Path("/proc/self")


@pytest.fixture(autouse=True)
async def nothing_left_behind() -> AsyncIterator[None]:
    """Fail the test that leaks."""
    before = belongings()

    yield

    # Long: a leak stays for ever, a busy machine only takes its time.
    for _ in range(1500):
        if not (belongings() - before):
            return
        gc.collect()
        await asyncio.sleep(0.02)
    pytest.fail(f"left behind: {belongings() - before}")


def belongings() -> set[Any]:
    """Return every task and open descriptor of this process."""
    return {*asyncio.all_tasks(), *open_files()} - {asyncio.current_task()}


def open_files() -> set[tuple[str, str]]:
    """Return every open descriptor with what it points to."""
    found = set()
    for entry in (ME / "fd").iterdir():
        try:
            found.add((entry.name, str(entry.readlink())))
        except OSError:
            continue
    elsewhere = {f"socket:[{inode}]" for inode in unix_sockets()}
    return {
        one
        for one in found
        if one[1] not in elsewhere and not one[1].startswith("/proc/")
    }


def unix_sockets() -> set[str]:
    """Return the sockets that the crawler never opens.

    An application that another module's tests share may connect to its database in its
    own thread at any time.
    """
    lines = (ME / "net/unix").read_text().splitlines()[1:]
    return {line.split()[6] for line in lines}
