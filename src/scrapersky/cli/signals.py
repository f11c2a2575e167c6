"""A request to stop, however it comes, unwinds the stack so that everything is stopped."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, TypeVar

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ResultT = TypeVar("ResultT")


class StopRequested(BaseException):
    """Someone asked this process to stop; not an error, so nothing catches it by chance."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


@contextmanager
def raised_signals() -> Iterator[None]:
    """Turn SIGTERM, SIGHUP and Ctrl-C into StopRequested, for a command that has an end.

    With their default action the process would end on the spot, and leave PostgreSQL running.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        raise StopRequested(number)

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """End quietly at a signal, for what runs until it gets one.

    The web server raises the signal again that it was stopped by.
    """
    with suppress(StopRequested), raised_signals():
        yield


def run_stoppable(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run something to its end; a signal cancels it, and is raised as StopRequested.

    Raised in the middle of the event loop it could be lost in a callback, or leave half
    a message to the database; what is cancelled takes back what it had begun.
    """
    asked: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}

    async def cancelled_by_signals() -> ResultT:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop(number: int) -> None:
            asked.append(number)
            if task is not None:
                task.cancel()

        for number in SIGNALS:
            loop.add_signal_handler(number, stop, number)
        return await work

    try:
        return asyncio.run(cancelled_by_signals())
    except (asyncio.CancelledError, Exception):
        # What fails after the signal fails because of it: a driver that is cancelled in the
        # middle of a message may say so in words of its own.
        if asked:
            raise StopRequested(asked[0]) from None
        raise
    finally:
        # The loop has put the default action in their place.
        for number, handler in before.items():
            signal.signal(number, handler)
