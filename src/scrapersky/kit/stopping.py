"""How long work hears that its process is to stop: it asks between two steps."""

from collections.abc import Callable

IsStopping = Callable[[], bool]


def never() -> bool:
    """Say that nothing has to stop."""
    return False
