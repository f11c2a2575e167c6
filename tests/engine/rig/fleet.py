"""Starts worker processes fast, and does to them what operating systems do."""

import contextlib
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext, ForkServerProcess

from tests.engine.rig.worker import Order, work


def _context() -> ForkServerContext:
    # A worker is forked from a server that has imported everything: 20 ms, not 1 s,
    # so a run can afford hundreds of kills.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.engine.rig.worker"])
    return context


@dataclass
class Fleet:
    """So many worker processes, replaced as they die."""

    order: Order
    size: int
    seed: int = 0
    workers: list[ForkServerProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._context = _context()

    def start(self, order: Order | None = None) -> ForkServerProcess:
        """Start one more worker."""
        process = self._context.Process(target=work, args=(order or self.order,))
        process.start()
        self.workers.append(process)
        return process

    def fill(self) -> None:
        """Replace the dead until the fleet is complete."""
        self.workers = [worker for worker in self.workers if worker.is_alive()]
        while len(self.workers) < self.size:
            self.start()

    def kill_one(self) -> None:
        """SIGKILL a random worker, and wait until the system has buried it."""
        victim = self.chance.choice(self.workers)
        victim.kill()
        victim.join()

    def pause_one(self) -> ForkServerProcess:
        """SIGSTOP a random worker; its sockets stay open, its clock stands still."""
        victim = self.chance.choice(self.workers)
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGSTOP)
        return victim

    def resume(self, victim: ForkServerProcess) -> None:
        """SIGCONT a worker that was stopped."""
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGCONT)

    def ask_to_stop(self, victim: ForkServerProcess) -> float:
        """SIGTERM a worker; return the seconds until it was gone."""
        started = time.monotonic()
        victim.terminate()
        victim.join(30)
        assert not victim.is_alive(), "the worker did not stop within 30 s"
        return time.monotonic() - started

    def end(self) -> None:
        """SIGKILL everyone."""
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.join()
            worker.close()
        self.workers = []


@contextlib.contextmanager
def running_fleet(order: Order, *, size: int, seed: int = 0) -> Iterator[Fleet]:
    """Yield a complete fleet; end every worker after."""
    fleet = Fleet(order, size, seed)
    try:
        fleet.fill()
        yield fleet
    finally:
        fleet.end()


def wait_for(condition: Callable[[], bool], *, seconds: float, what: str) -> float:
    """Return how long the condition took to hold; raise if it never does."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > seconds:
            raise TimeoutError(f"{what} not within {seconds:.0f} s")
        time.sleep(0.05)
    return time.monotonic() - started
