"""Nothing may be left behind: no task, no socket, no file, no child."""

import asyncio
import gc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest


@pytest.fixture(autouse=True)
async def nothing_left_behind() -> AsyncIterator[None]:
    """Fail the test that leaks."""
    me = psutil.Process()
    tasks = asyncio.all_tasks()
    files = open_files()
    children = {child.pid for child in me.children()}

    yield

    for _ in range(50):
        gc.collect()
        if not left_behind(tasks, files, children):
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"left behind: {left_behind(tasks, files, children)}")


def left_behind(
    tasks: set[asyncio.Task[Any]], files: set[tuple[str, str]], children: set[int]
) -> list[object]:
    processes = {child.pid for child in psutil.Process().children()}
    return [
        *(asyncio.all_tasks() - tasks - {asyncio.current_task()}),
        *(open_files() - files),
        *(processes - children),
    ]


def open_files() -> set[tuple[str, str]]:
    """Return every open descriptor with what it points to."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add((entry.name, str(entry.readlink())))
        except OSError:
            continue
    return {one for one in found if not one[1].startswith("/proc/")}
