"""Waiting in tests: for something to happen, never for a time to pass."""

import asyncio
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
