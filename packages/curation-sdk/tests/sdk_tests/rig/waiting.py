"""Waiting in tests: for something to happen, never for a time to pass."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

HUNG: Final = 120.0
"""Seconds after which a wait counts as hung. It proves nothing about speed."""
AT_ONCE: Final = 100
"""Turns of the event loop: far fewer than any timer or network needs."""


async def ends_at_once(task: "asyncio.Future[Any]") -> bool:
    """Return whether a task ends while the event loop turns, with no time to wait."""
    for _ in range(AT_ONCE):
        if task.done():
            break
        await asyncio.sleep(0)
    return task.done()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what has no event of its own."""
    async with asyncio.timeout(HUNG):
        while not is_so():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)


def wait_until(is_so: Callable[[], bool], what: object = "it") -> None:
    """Wait, outside an event loop, for what has no event of its own."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > HUNG:
            raise TimeoutError(f"{what} did not happen")
        time.sleep(0.02)
