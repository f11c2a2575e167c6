"""A list of listeners, so that whoever makes news need not know who reads it."""

from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

EventT = TypeVar("EventT")
Listener = Callable[[EventT], None]

log = structlog.get_logger()


class Events(Generic[EventT]):
    """Tells every listener what happened; falsy while nobody listens."""

    def __init__(self) -> None:
        self._listeners: list[Listener[EventT]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def listen(self, listener: Listener[EventT]) -> Callable[[], None]:
        """Call `listener` with every event from now on; return how to stop it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def emit(self, event: EventT) -> None:
        """Tell everyone; a listener that raises is logged and harms nobody else."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("listener.failed", event_type=type(event).__name__)
