"""The processes that serve and work on this database, and when each was last heard of."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json


class ProcessRole(StrEnum):
    """What a process is there for."""

    UP = "up"
    SERVE = "serve"
    WORKER = "worker"
    CELERY = "celery"
    """Celery's parent process; those that it starts are workers."""


class Process(Base):
    """One `scrapersky up`, `serve`, `worker` or process of Celery that has not said goodbye."""

    __tablename__ = "processes"

    name: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    host: Mapped[str]
    pid: Mapped[int]
    version: Mapped[str]
    address: Mapped[str | None]
    """Where it serves `/metrics` and `/health`."""
    stages: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    jobs: Mapped[list[Json]] = mapped_column(JSONB, server_default=text("'[]'"))
    """The jobs that it runs: `id`, `interval_seconds` (none if it is told when) and `problem`."""
    in_hand: Mapped[int] = mapped_column(server_default=text("0"))
    resting: Mapped[str | None]
    """Why it claims nothing, if it does not."""
    drain_asked_at: Mapped[datetime | None]
    started_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    back_at: Mapped[datetime | None]
    """When it was the first to be heard of again, after nobody was for a while."""
