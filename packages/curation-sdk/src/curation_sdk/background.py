"""Background tasks: what a worker does besides working items, for as long as it runs."""

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import asyncpg

from curation_sdk.connection import is_transient, root_of
from curation_sdk.events import Event, Events, WorkerFault
from curation_sdk.log import get_logger

FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 1.0
RECOVERY_SECONDS = 5.0
"""Seconds without an error after which the pause before a restart is short again."""
LOG_INTERVAL_SECONDS = 60.0
"""How often the same fault is logged: an outage has hundreds, which say nothing new."""

log = get_logger(__name__)

_witnesses: "WeakKeyDictionary[asyncio.AbstractEventLoop, WeakSet[asyncio.Task[Any]]]"
_witnesses = WeakKeyDictionary()


class BackgroundTasks:
    """Tasks that survive every error, and end only by `end`."""

    def __init__(self, worker: str, events: Events[Event]) -> None:
        self._worker = worker
        self._events = events
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_ended = False
        self._logged_at: dict[tuple[str, type[BaseException]], float] = {}
        self._unlogged: Counter[tuple[str, type[BaseException]]] = Counter()

    @property
    def is_running(self) -> bool:
        """Whether there are tasks; all are cancelled when an event loop shuts down."""
        return bool(self._tasks)

    @property
    def is_ending(self) -> bool:
        """Whether tasks are cancelled because the worker or the event loop ends."""
        return self._is_ended or is_loop_ending()

    def keep(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run something again and again, with a pause after each end or error."""
        self.start(self._keep_going(work))

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something once."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        witnesses().add(task)
        return task

    def report(self, doing: str, error: Exception) -> None:
        """Report that something failed and will be tried again.

        Every fault is an event; of the same kind, one in a minute is logged.
        """
        self._events.emit(WorkerFault(doing, repr(error)))
        fault, now = (doing, type(root_of(error))), time.monotonic()
        if now - self._logged_at.get(fault, -math.inf) < LOG_INTERVAL_SECONDS:
            self._unlogged[fault] += 1
            return
        self._logged_at[fault] = now
        level = log.warning if is_transient(error) else log.exception
        level(
            "worker.fault",
            worker=self._worker,
            doing=doing,
            why=repr(error),
            repeated=self._unlogged.pop(fault, 0),
            **statements_of(error),
        )

    async def end(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        self._is_ended = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep_going(self, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            began = time.monotonic()
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - nothing may end a worker
                self.report(work.__name__.strip("_"), error)
            except asyncio.CancelledError:
                if not self.is_ending:
                    # Whoever cancelled this task may do so again: another one goes on.
                    self.keep(work)
                raise
            if time.monotonic() - began > RECOVERY_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)


def statements_of(error: BaseException) -> dict[str, str]:
    """Return what PostgreSQL says of a deadlock: who waited for whom, and doing what."""
    cause = root_of(error)
    if not isinstance(cause, asyncpg.DeadlockDetectedError):
        return {}
    return {"detail": str(cause.detail), "where": str(cause.context)}


def witnesses() -> "WeakSet[asyncio.Task[Any]]":
    """Return the tasks that tell whether this event loop ends: all are cancelled then."""
    loop = asyncio.get_running_loop()
    return _witnesses.setdefault(loop, WeakSet(asyncio.all_tasks()))


def is_loop_ending() -> bool:
    """Return whether every other task is being cancelled, as when an event loop is closed.

    Those that began since do not count: a driver that is cancelled may begin some.
    """
    this = asyncio.current_task()
    others = [task for task in witnesses() if task is not this and not task.done()]
    return all(task.cancelling() for task in others)


async def survive_cancellation() -> None:
    """Let the current task go on although it was cancelled."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
    # Before Python 3.13, one that has not been raised yet is raised all the same.
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most this long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
