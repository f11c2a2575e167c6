"""What is wrong with the installation, since when, and whether somebody was notified."""

from datetime import datetime

from sqlalchemy import CheckConstraint, SmallInteger, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class Alert(Base):
    """One rule about one thing, from when it held until it did not."""

    __tablename__ = "alerts"

    rule: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    summary: Mapped[str]
    advice: Mapped[str]
    since: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    ended_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    """When somebody was notified that it holds."""
    end_sent_at: Mapped[datetime | None]
    """When somebody was notified that it is over."""


class AlertWatch(Base):
    """When the rules were last looked at, by whichever process."""

    __tablename__ = "alert_watch"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(
        SmallInteger, primary_key=True, server_default=text("1"), autoincrement=False
    )
    looked_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
