"""A request to stop, however it comes, unwinds the stack so that everything is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequested(BaseException):
    """Someone asked this process to stop; not an error, so nothing catches it by chance."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Turn SIGTERM, SIGHUP and Ctrl-C into StopRequested, and end quietly on it.

    The web server re-raises the signal it was stopped by. With the default action
    that would end the process on the spot, and leave PostgreSQL running.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise StopRequested

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    except StopRequested:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
