"""Work that is done so seldom that it takes a small share of the time."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class DutyCycle:
    """Says when it is time again: after so many times as long as the last turn took."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._due_at = 0.0

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Say whether it is time, and how long the block takes if it is."""
        began = monotonic()
        is_due = began >= self._due_at
        yield is_due
        if is_due:
            ended = monotonic()
            self._due_at = ended + self._share * (ended - began)
