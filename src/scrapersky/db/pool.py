"""Connections that are waited for: at first for all the waiting of one request together."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry
from typing_extensions import override

SOONEST: Final = 0.001
"""A timeout of nothing would mean to wait for ever."""


@dataclass(slots=True)
class Waiting:
    """How long one request has waited for connections, while that is counted."""

    until: float
    """From this moment on every wait is as long as it may be: work is under way."""
    seconds: float = field(default=0.0, init=False)

    @property
    def is_counted(self) -> bool:
        """Whether the waits before shorten the next one."""
        return time.monotonic() < self.until


WAITING: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


@contextmanager
def waiting_together(within: float) -> Iterator[None]:
    """Let what the block waits for connections count together, in its first seconds."""
    before = WAITING.set(Waiting(time.monotonic() + within))
    try:
        yield
    finally:
        WAITING.reset(before)


class SharedPatience(AsyncAdaptedQueuePool):
    """A pool in which whoever asks a second time does not wait a second time as long.

    A request of several transactions would otherwise be told only after several waits
    that the database is busy.
    """

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as its base
        super().__init__(*given, **named)
        self._usual = self._timeout

    @override
    def recreate(self) -> AsyncAdaptedQueuePool:
        self._timeout = self._usual
        made = super().recreate()
        assert isinstance(made, SharedPatience)  # noqa: S101 - it makes its own kind
        return made

    @override
    def _do_get(self) -> ConnectionPoolEntry:
        waiting, began = WAITING.get(), time.monotonic()
        # The base reads it at once, before anyone else can run.
        self._timeout = self._usual
        if waiting is not None and waiting.is_counted:
            self._timeout = max(self._usual - waiting.seconds, SOONEST)
        try:
            return super()._do_get()
        finally:
            if waiting is not None:
                waiting.seconds += time.monotonic() - began
