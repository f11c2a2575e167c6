"""Bounds on processor time that a slow machine keeps too."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

USUAL: Final = 0.008
"""Seconds of processor time that the work below takes on what is called a usual machine."""
TIMES: Final = 3
NOISE: Final = 3
"""How much slower a second can be than the one in which the machine was asked."""


@contextmanager
def takes_at_most(seconds: float) -> Iterator[None]:
    """Fail if the block takes more processor time than that on a usual machine.

    A machine that others share is several times as slow in some hours. What these bounds
    are there to find is time that grows faster than its input, which no hour explains.
    """
    # What other tests have left behind would be looked through at this one's expense.
    gc.disable()
    try:
        began = time.process_time()
        yield
        spent = time.process_time() - began
    finally:
        gc.enable()
    # Asked only where it matters: most blocks take next to nothing.
    if spent >= seconds:
        slower = slowness()
        assert spent < seconds * slower * NOISE, (
            f"{spent:.2f} s, {slower:.1f} times as slow"
        )


def slowness() -> float:
    """Return how many times as long as usual a piece of work takes now, at least 1."""
    return max(1.0, *(_work() / USUAL for _ in range(TIMES)))


def _work() -> float:
    began, total = time.process_time(), 0
    for number in range(100_000):
        total += number * number
    return time.process_time() - began
