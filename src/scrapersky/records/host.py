"""Hosts of the web: whose turn it is, what they ask of crawlers, how they answered.

These rows belong to no tenant. Politeness is owed to a host by all of us together.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import CheckConstraint, Float, Interval, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class Host(Base):
    """A registrable domain or an IP address, and who may send the next request to it."""

    __tablename__ = "hosts"

    key: Mapped[str] = mapped_column(primary_key=True)
    lease_owner: Mapped[UUID | None]
    lease_until: Mapped[datetime | None]
    starts_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    """From when on the holder of the lease may send."""
    next_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    """From when on anyone else may, whatever becomes of the holder."""
    delay: Mapped[timedelta] = mapped_column(
        Interval, server_default=text("'1 second'")
    )
    paused_until: Mapped[datetime | None]
    pause_reason: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class HostOutcome(Base):
    """How often fetches from a host ended in one way, and what they cost."""

    __tablename__ = "host_outcomes"

    key: Mapped[str] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int] = mapped_column(server_default=text("0"))
    bytes: Mapped[int] = mapped_column(server_default=text("0"))
    seconds: Mapped[float] = mapped_column(Float, server_default=text("0"))
    last_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class HostRobots(Base):
    """The robots.txt of one origin, as it was read."""

    __tablename__ = "host_robots"
    __table_args__ = (
        CheckConstraint("state IN ('rules', 'absent', 'unreachable')", name="state"),
    )

    origin: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    text: Mapped[str]
    why: Mapped[str]
    fetched_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime]
    unreachable_since: Mapped[datetime | None]
    """Since when nobody has been able to read it."""
    site: Mapped[str | None] = mapped_column(index=True)
    """The registrable domain: all files of its hosts share one budget."""
    bytes: Mapped[int] = mapped_column(server_default="0")
    """What was received for it, however little of that is kept."""
