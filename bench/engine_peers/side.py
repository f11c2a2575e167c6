"""One side of a comparison of two trees: whichever `ours` is on the path, told what to do.

    python bench/engine_peers/side.py TASK URL NUMBER...

`bench/engine_beside.py` starts it with the path of one tree or the other. It prepares,
prints a line, waits for one, does what is timed and prints its figures as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import uvloop

from bench.engine_peers import ours
from curation_sdk import Worker

NEVER_REACHED = 1_000_000
"""A rate per minute that is counted against, and never met."""


def wait_for_go() -> None:
    """Say that everything is ready, and wait to be told to begin."""
    print("ready", flush=True)
    sys.stdin.readline()


def drain(url: str, items: int, batch: int) -> dict[str, float]:
    """Drain a queue of this many items."""
    uvloop.run(ours.prepare(url, items))
    wait_for_go()
    began = time.process_time()
    seconds = uvloop.run(ours.drain(url, batch))
    client = time.process_time() - began
    if uvloop.run(ours.finished(url)) != items:
        raise RuntimeError("not every item was finished")
    return {"seconds": seconds, "client_seconds": client}


def fill(url: str, items: int) -> dict[str, float]:
    """Queue this many items, and do no more."""
    uvloop.run(ours.prepare(url, items))
    wait_for_go()
    return {}


def join(url: str, batch: int) -> dict[str, float]:
    """Drain with others; return when it ended, on the clock that processes share."""
    ends: list[float] = []
    ours.drain_at_the_gate(url, batch, Gate(), Ends(ends))
    return {"ended": ends[0]}


def latency(url: str, samples: int) -> dict[str, float]:
    """Queue single items into an idle worker."""
    uvloop.run(ours.prepare(url, 0))
    wait_for_go()
    found = sorted(uvloop.run(ours.start_latencies(url, samples)))
    return {
        "p50_ms": found[len(found) // 2] * 1000,
        "p99_ms": found[int(len(found) * 0.99)] * 1000,
    }


def claims(url: str, rows: int, count: int) -> dict[str, float]:
    """Claim ten at a time in a table of so many rows."""
    uvloop.run(ours.prepare_table(url, rows))
    wait_for_go()
    [found] = uvloop.run(ours.claim_times({rows: url}, count, batch=10)).values()
    return {"ms": sorted(found)[len(found) // 2] * 1000}


class Gate:
    """Stands for the barrier that processes of one parent share."""

    def wait(self) -> None:
        """Wait for the parent."""
        wait_for_go()


class Ends:
    """Stands for the queue that processes of one parent share."""

    def __init__(self, into: list[float]) -> None:
        self.put = into.append


async def limited_claim_times(
    free: str, limited: str, count: int, *, batch: int
) -> tuple[list[float], list[float]]:
    """Claim turn by turn, without limits and within a rate; return the seconds of each."""
    found: tuple[list[float], list[float]] = ([], [])
    async with AsyncExitStack() as stack:
        claimers = []
        for url, options in ((free, {}), (limited, {"rate_per_minute": NEVER_REACHED})):
            database = ours.engine_for(url)
            stack.push_async_callback(database.dispose)
            stage = ours.no_op_stage(batch, **options)
            worker = await stack.enter_async_context(Worker(database, [stage]))
            claimers.append(worker._runs["no_op"].claimer)
        for claimer in claimers:
            await claimer.next_batch()
        for _ in range(count):
            for claimer, times in zip(claimers, found, strict=True):
                began = time.perf_counter()
                held = await claimer.next_batch()
                times.append(time.perf_counter() - began)
                if len(held) != batch:
                    raise RuntimeError(f"claimed {len(held)} instead of {batch}")
    return found


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "drain": drain,
    "fill": fill,
    "join": join,
    "latency": latency,
    "claims": claims,
}

if __name__ == "__main__":
    task, address, *numbers = sys.argv[1:]
    print(json.dumps(TASKS[task](address, *map(int, numbers))), flush=True)
