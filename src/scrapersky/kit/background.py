"""Work that goes on beside a block, and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def in_background(
    work: Coroutine[Any, Any, None], *, name: str
) -> AsyncIterator[None]:
    """Run `work` while the block lasts."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        await cancel(task)


async def cancel(task: asyncio.Task[None]) -> None:
    """End a task and wait until it has; raise what it failed with before."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
