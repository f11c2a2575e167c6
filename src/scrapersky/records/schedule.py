"""What the scheduler did, and what operators changed of its settings."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, JsonObject


class RunOutcome(StrEnum):
    """What may become of a run."""

    RUNNING = "running"
    EXECUTED = "executed"
    FAILED = "failed"
    MISSED = "missed"
    SKIPPED = "skipped"
    LOST = "lost"
    """Its process ended without a word."""


class SchedulerRun(Base):
    """One due time of one job, or its work between two of them, and what came of it."""

    __tablename__ = "scheduler_runs"
    __table_args__ = (
        Index("ix_scheduler_runs_job_id_due_at", "job_id", "due_at"),
        Index(
            "uq_scheduler_runs_singleton",
            "job_id",
            "due_at",
            unique=True,
            postgresql_where=text("is_singleton"),
        ),
        Index(
            "ix_scheduler_runs_running",
            "job_id",
            postgresql_where=text("outcome = 'running'"),
        ),
    )

    id: Mapped[UUID] = mapped_column(
        primary_key=True, server_default=func.time_ordered_uuid()
    )
    job_id: Mapped[str]
    process: Mapped[str]
    due_at: Mapped[datetime]
    is_singleton: Mapped[bool] = mapped_column(server_default=text("false"))
    outcome: Mapped[str]
    items: Mapped[int | None]
    succeeded: Mapped[int | None]
    failed: Mapped[int | None]
    retried: Mapped[int | None]
    last_item_error: Mapped[str | None]
    error: Mapped[str | None]
    started_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    finished_at: Mapped[datetime | None]


class StageOverride(Base):
    """Settings of a stage that hold instead of those the processes were started with."""

    __tablename__ = "stage_overrides"

    stage: Mapped[str] = mapped_column(primary_key=True)
    changes: Mapped[Json]
    """By the names of the settings without their prefix, in small letters."""
    origins: Mapped[JsonObject]
    """Who changed each of them, and when: `by` and `at`."""
    changed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
