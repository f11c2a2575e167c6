"""What time it is, for code that must not ask by itself."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time of this machine, aware, in UTC."""
    return datetime.now(UTC)
