"""What one piece of work has cost: bytes received and seconds of parsing, failures too."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Meter:
    """Counts while the work goes on."""

    bytes: int = 0
    """As they came over the wire."""
    parse_seconds: float = 0.0
    """Time that children were kept busy."""


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def measured() -> Iterator[Meter]:
    """Count all that the current task fetches and parses inside the block."""
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def count_bytes(size: int) -> None:
    """Add what was received."""
    if (meter := _METER.get()) is not None:
        meter.bytes += size


def count_parsing(seconds: float) -> None:
    """Add how long a child was kept busy."""
    if (meter := _METER.get()) is not None:
        meter.parse_seconds += seconds
