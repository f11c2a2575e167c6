"""Decisions about records: by people and by rules, each of which can be undone."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord


class SelectionRule(OwnedRecord, Base):
    """What a tenant wants decided without a person: "page type contact: select"."""

    __tablename__ = "selection_rules"
    __table_args__ = (UniqueConstraint("tenant_id", "name"),)

    name: Mapped[str]
    kind: Mapped[str]
    conditions: Mapped[Json]
    status: Mapped[str]
    is_enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    best_first: Mapped[bool] = mapped_column(server_default=text("false"))
    """Of the pages that fit, only the best of each site, within the site's budget."""


class ActionType(StrEnum):
    """What an action does to its records."""

    DECIDED = "decided"
    """Gave them a status."""
    WORKED = "worked"
    """Assigned, tagged or filled in companies."""
    IMPORTED = "imported"
    """Brought in what a file says."""
    MERGED = "merged"
    """Put companies together."""


class CurationAction(OwnedRecord, Base):
    """What was done to one or many records at once, by a person or by a rule."""

    __tablename__ = "curation_actions"
    __table_args__ = (
        Index("ix_curation_actions_tenant_id_created_at", "tenant_id", "created_at"),
    )

    kind: Mapped[str]
    what: Mapped[str] = mapped_column(server_default=text("'decided'"))
    """An `ActionType`."""
    status: Mapped[str]
    """The status that was set; empty where none was."""
    rule_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("selection_rules.id", ondelete="SET NULL"), index=True
    )
    selection: Mapped[Json]
    changed_count: Mapped[int] = mapped_column(server_default=text("0"))
    queued_count: Mapped[int] = mapped_column(server_default=text("0"))
    skipped: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    matched_count: Mapped[int | None]
    """How many records were meant, where that was counted before."""
    finished_at: Mapped[datetime | None]
    undone_at: Mapped[datetime | None]


class CurationChange(Base):
    """What one action changed on one record, so that it can be undone exactly."""

    __tablename__ = "curation_changes"

    action_id: Mapped[UUID] = mapped_column(
        ForeignKey("curation_actions.id", ondelete="CASCADE"), primary_key=True
    )
    record_id: Mapped[UUID] = mapped_column(primary_key=True, index=True)
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    status_before: Mapped[str | None]
    stage_status_before: Mapped[str | None]
    error_before: Mapped[str | None]
    queued: Mapped[bool]
    before: Mapped[Json | None]
    """The values that were not a status, by the name of their column."""
    after: Mapped[Json | None]
