"""The workers beside `scrapersky up`, each a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Final, Self

POLL_SECONDS: Final = 0.5
RESTART_SECONDS: Final = 2.0
"""Seconds before one that ended is started again."""
ADDED_NICENESS: Final = 10
"""By how much a worker beside the API gives way to it on a busy machine."""
STOP_SECONDS: Final = 10.0
"""Seconds beyond their grace in which workers may end."""
WORKER: Final = (
    sys.executable, "-c", "from scrapersky.cli import main; main()", "worker", "--beside",
)  # fmt: skip


class WorkerProcesses:
    """So many worker processes while the block lasts; one that ends is started again."""

    def __init__(
        self,
        size: int,
        report: Callable[[str], None],
        *,
        grace: float,
        port: int | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        self._size = size
        self._report = report
        self._grace = grace
        self._port = port
        self._command = command or (*WORKER, str(os.getpid()))
        self._ending = Event()
        self._workers: list[subprocess.Popen[bytes]] = []
        self._asked: set[int] = set()
        self._watcher = Thread(target=self._watch, name="worker-processes", daemon=True)

    def __enter__(self) -> Self:
        """Start them."""
        self._workers = [self._start(place) for place in range(self._size)]
        if self._size:
            self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ask them to stop, and wait until they have handed back what they held."""
        self._ending.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self.ask_to_stop()
        for worker in self._workers:
            try:
                worker.wait(self._grace + STOP_SECONDS)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    def ask_to_stop(self) -> None:
        """Ask each of them once, and wait for none."""
        self._ending.set()
        for worker in self._workers:
            if worker.pid not in self._asked:
                self._asked.add(worker.pid)
                worker.send_signal(signal.SIGTERM)

    def _start(self, place: int) -> subprocess.Popen[bytes]:
        # One port cannot serve them all: each has the next, or finds its own.
        given = {} if self._port is None else {"WORKER_PORT": str(self._port + place)}
        # A session of its own: Ctrl-C is for us, who ask them to stop.
        return subprocess.Popen(
            self._command, env=os.environ | given, start_new_session=True
        )

    def _watch(self) -> None:
        while not self._ending.wait(POLL_SECONDS):
            for place, worker in enumerate(self._workers):
                if worker.poll() is None:
                    continue
                self._report(f"A worker ended ({worker.returncode}). Starting another")
                if self._ending.wait(RESTART_SECONDS):
                    return
                self._workers[place] = self._start(place)


def lower_priority() -> None:
    """Let the API have a processor first: people wait for it, nobody for a page.

    What this process starts gives way too, its parsers above all.
    """
    os.nice(ADDED_NICENESS)


def end_with(parent: int) -> None:
    """Ask this process to stop once the one that started it is gone."""

    def watch() -> None:
        gone = Event()
        while os.getppid() == parent:
            gone.wait(POLL_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="parent", daemon=True).start()
