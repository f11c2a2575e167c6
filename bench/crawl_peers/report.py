"""How a timed crawler reports what it did to the harness."""

import json
import sys
import time
from types import TracebackType
from typing import Any, Self

import psutil

from bench.crawl_peers.extract import Taken


class Timed:
    """Times a crawl by the clock and by the processor, children included."""

    def __init__(self) -> None:
        self.taken = Taken()
        self.began = self.cpu = 0.0
        self.result: dict[str, Any] = {}

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
        cpu = cpu_seconds() - self.cpu
        self.result = {"seconds": seconds, "cpu": cpu, **self.taken.summary()}

    def say(self) -> None:
        """Print the result as the last line of the output."""
        print(json.dumps(self.result), flush=True)


def cpu_seconds() -> float:
    """Return the processor time of this process and its living children."""
    me = psutil.Process()
    tree = [me, *me.children(recursive=True)]
    times = [process.cpu_times() for process in tree]
    return sum(each.user + each.system for each in times)


def given_urls() -> list[str]:
    """Return the URLs on the input, one a line."""
    return sys.stdin.read().split()
