"""Rows that follow the change log: where each one is, and which process is at it."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

LEASE_SECONDS: Final = 60


class Subscription:
    """The columns of a table whose rows each follow the change log of their tenant.

    `scrapersky.changes.subscriber` works on them, one process at a time on each row.
    """

    cursor: Mapped[str]
    """What comes after it has not been taken over yet."""
    is_active: Mapped[bool] = mapped_column(server_default=text("true"))
    next_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    """When it is looked after at the latest, if nothing changes before."""
    lease: Mapped[UUID | None]
    leased_until: Mapped[datetime | None]


def due_index(table: str) -> Index:
    """Make the index by which rows are found that are due."""
    return Index(f"ix_{table}_due", "next_at", postgresql_where=text("is_active"))
