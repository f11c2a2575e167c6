"""Whose turn it is: exports share the database and the processor with everyone else."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar

STEPS_AT_ONCE: Final = 2
"""Connections that all exports of a process use at once, out of those of the requests."""
MOST_THREADS: Final = 64
"""More than exports can use: a workbook keeps one while it is written, and waits in it."""

Result = TypeVar("Result")


class ExportTurns:
    """Lets exports read in turn, and compute in turn beside the event loop.

    However many there are, whoever asks for a list finds a connection, and competes with
    one thread for the processor.
    """

    def __init__(self) -> None:
        self.step = asyncio.Semaphore(STEPS_AT_ONCE)
        """Held while rows are read: `async with turns.step:`."""
        self.slice = threading.Semaphore(1)
        """Held by a thread while it computes: `with turns.slice:`."""
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="export")

    async def compute(
        self, work: Callable[..., Result], *given: object, **named: object
    ) -> Result:
        """Do this beside the event loop, when no other export computes."""

        def in_turn() -> Result:
            with self.slice:
                return work(*given, **named)

        return await self.run(in_turn)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do this beside the event loop at once; whoever computes takes turns itself."""
        # Rows that a thread asks for are read for the same tenant.
        there = partial(copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(self._threads, there)

    def close(self) -> None:
        """Begin nothing more; what is under way in a thread ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
