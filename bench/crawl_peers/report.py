"""How a timed crawler tells the harness what it did."""

import json
import resource
import sys
import time
from types import TracebackType
from typing import Self

from bench.crawl_peers.extract import Taken


class Timed:
    """Times a crawl by the clock and by the processor, children included."""

    def __init__(self) -> None:
        self.taken = Taken()
        self.began = self.cpu = 0.0

    def __enter__(self) -> Self:
        self.cpu = cpu_seconds()
        self.began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        seconds = time.perf_counter() - self.began
        # The children's share appears once they were waited for, so look a bit later.
        self.result = {"seconds": seconds, **self.taken.summary()}

    def say(self) -> None:
        """Print the result as the last line of the output."""
        print(json.dumps({**self.result, "cpu": cpu_seconds() - self.cpu}), flush=True)


def cpu_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def given_urls() -> list[str]:
    """Return the URLs on the input, one a line."""
    return sys.stdin.read().split()
