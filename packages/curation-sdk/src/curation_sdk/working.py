"""The item that is worked now, for log lines: its stage, its key, and its correlation id."""

from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["WorkingItem", "correlation_id", "working_item"]


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


def working_item() -> WorkingItem | None:
    """Return the item whose function is calling, or None outside of any."""
    return working.get()


def correlation_id(item: str, fence: int) -> str:
    """Return what identifies one attempt at an item, in logs and in its history."""
    return f"{fence}-{item}"
