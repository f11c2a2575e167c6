"""The item that is worked now: its stage, key and correlation id, and how long it waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

__all__ = [
    "WorkingItem",
    "correlation_id",
    "is_working_alone",
    "uncounted_wait",
    "working_item",
]


class WorkingItem(NamedTuple):
    """An item while its function runs."""

    stage: str
    """The name of the stage."""
    item: str
    """The row's primary key as text."""
    fence: int
    """The number of the claim."""

    @property
    def correlation_id(self) -> str:
        """What its log lines, its attempt and its events have in common."""
        return correlation_id(self.item, self.fence)


working: ContextVar[WorkingItem | None] = ContextVar(
    "curation_sdk_working", default=None
)


class Stopwatch(Protocol):
    """What measures whether the item in work is slow."""

    def pause(self) -> object:
        """Stop counting; return the item that it counts for."""
        ...

    def resume(self, held: object) -> None:
        """Go on counting, if it still counts for that item."""
        ...


stopwatch: ContextVar[Stopwatch | None] = ContextVar(
    "curation_sdk_stopwatch", default=None
)


@contextmanager
def uncounted_wait() -> Iterator[None]:
    """Let the time inside the block make no item slow (`slow_after`).

    For waiting in a queue of the worker's own, such as a pool of processes: an item that
    is set back for it has been worked for nothing, and meets the same queue again.
    """
    watch = stopwatch.get()
    if watch is None:
        yield
        return
    held = watch.pause()
    try:
        yield
    finally:
        watch.resume(held)


def working_item() -> WorkingItem | None:
    """Return the item whose function is calling, or None outside of any."""
    return working.get()


def correlation_id(item: str, fence: int) -> str:
    """Return what identifies one attempt at an item, in logs and in its history."""
    return f"{fence}-{item}"


_is_alone: ContextVar[bool] = ContextVar("curation_sdk_is_alone", default=False)


def is_working_alone() -> bool:
    """Return whether the current item is worked alone, so that all others wait for it.

    Work that would have to wait long for something (a rate limit, a lock) should return
    `Later` instead.
    """
    return _is_alone.get()


@contextmanager
def working_alone() -> Iterator[None]:
    """Count everything that begins inside the block, tasks included, as working alone."""
    token = _is_alone.set(True)
    try:
        yield
    finally:
        _is_alone.reset(token)
