"""Haste: whoever works in it holds others up, and should rather come back than wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_haste: ContextVar[bool] = ContextVar("in_haste", default=False)


@contextmanager
def haste() -> Iterator[None]:
    """Let everything that begins inside the block, tasks included, be in haste."""
    token = _in_haste.set(True)
    try:
        yield
    finally:
        _in_haste.reset(token)


def in_haste() -> bool:
    """Say whether others are held up by whoever asks."""
    return _in_haste.get()
