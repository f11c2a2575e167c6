"""Starts worker processes fast, and does to them what operating systems do."""

import contextlib
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.synchronize import Event

from sdk_tests.rig.waiting import HUNG
from sdk_tests.rig.worker import Order, work

PRELOADED = [
    "sdk_tests.rig.revision_1",
    "sdk_tests.rig.stranger",
    "sdk_tests.rig.worker",
]


def prepared_context() -> ForkServerContext:
    """Return what starts processes that have imported everything already.

    They are forked from one server: 20 ms each, not 1 s, so a run can afford hundreds
    of kills.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with _path_in_environment():
        forkserver.ensure_running()
    return context


@contextlib.contextmanager
def _path_in_environment() -> Iterator[None]:
    # The server looks for modules where its environment says, not where this process
    # does, and passes over in silence what it does not find.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


@dataclass(frozen=True, slots=True)
class Member:
    """A worker process, and whether it has begun to work."""

    process: ForkServerProcess
    ready: Event

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self.process.pid is not None
        return self.process.pid


@dataclass
class Fleet:
    """So many worker processes, replaced as they die."""

    order: Order
    size: int
    seed: int = 0
    workers: list[Member] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._context = prepared_context()

    def start(self, order: Order | None = None) -> Member:
        """Start one more worker."""
        ready = self._context.Event()
        process = self._context.Process(target=work, args=(order or self.order, ready))
        process.start()
        member = Member(process, ready)
        self.workers.append(member)
        return member

    def fill(self) -> None:
        """Replace the dead until the fleet is complete."""
        alive = [member for member in self.workers if member.process.is_alive()]
        for member in self.workers:
            if member not in alive:
                member.process.close()
        self.workers = alive
        while len(self.workers) < self.size:
            self.start()

    def choose(self) -> Member:
        """Return a random worker that is at work: a fault must hit someone busy."""
        deadline = time.monotonic() + HUNG
        while True:
            busy = [member for member in self.workers if member.ready.is_set()]
            if busy:
                return self.chance.choice(busy)
            if time.monotonic() > deadline:
                raise TimeoutError("no worker started")
            time.sleep(0.01)

    def kill_one(self) -> None:
        """SIGKILL a random worker, and wait until the system has buried it."""
        victim = self.choose()
        victim.process.kill()
        victim.process.join()

    def pause_one(self) -> Member:
        """SIGSTOP a random worker; its sockets stay open, its clock stands still."""
        victim = self.choose()
        os.kill(victim.pid, signal.SIGSTOP)
        return victim

    def resume(self, victim: Member) -> None:
        """SIGCONT a worker that was stopped."""
        os.kill(victim.pid, signal.SIGCONT)

    def ask_to_stop(self, victim: Member) -> float:
        """SIGTERM a worker; return the seconds until it was gone."""
        started = time.monotonic()
        victim.process.terminate()
        victim.process.join(HUNG)
        assert not victim.process.is_alive(), "the worker did not stop"
        return time.monotonic() - started

    def end(self) -> None:
        """SIGKILL everyone."""
        for member in self.workers:
            member.process.kill()
        for member in self.workers:
            member.process.join()
            member.process.close()
        self.workers = []


@contextlib.contextmanager
def running_fleet(order: Order, *, size: int, seed: int = 0) -> Iterator[Fleet]:
    """Yield a complete fleet; end every worker after."""
    fleet = Fleet(order, size, seed)
    try:
        fleet.fill()
        # A database that is taken away before a worker has started ends that worker.
        for member in fleet.workers:
            assert member.ready.wait(HUNG), "a worker did not start"
        yield fleet
    finally:
        fleet.end()


def wait_for(
    condition: Callable[[], bool], *, seconds: float, what: str, every: float = 0.05
) -> float:
    """Return how long the condition took to hold; raise if it never does."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > seconds:
            raise TimeoutError(f"{what} not within {seconds:.0f} s")
        time.sleep(every)
    return time.monotonic() - started
