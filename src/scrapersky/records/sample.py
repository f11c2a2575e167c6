"""Samples: values of a list drawn at random, which people mark right or wrong."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord
from scrapersky.records.status import VALUE_MARK, ValueMark


class ValueSample(OwnedRecord, Base):
    """Some values of one field of a list, and of how many they were drawn."""

    __tablename__ = "value_samples"
    __table_args__ = (
        Index("ix_value_samples_tenant_id_created_at", "tenant_id", "created_at"),
    )

    kind: Mapped[str]
    field: Mapped[str]
    query: Mapped[Json]
    """The list: its `filter` and `q`, as in its address."""
    population: Mapped[int]


class SampledValue(Base):
    """One value of a sample as it was then, where it was read, and what a person says of it."""

    __tablename__ = "sampled_values"
    __table_args__ = (Index("ix_sampled_values_tenant_id_value", "tenant_id", "value"),)

    sample_id: Mapped[UUID] = mapped_column(
        ForeignKey("value_samples.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    record_id: Mapped[UUID]
    value: Mapped[str | None]
    """NULL: it had to be forgotten. Its mark still counts."""
    domain: Mapped[str | None]
    url: Mapped[str | None]
    snippet: Mapped[str | None]
    method: Mapped[str | None]
    confidence: Mapped[float | None]
    mark: Mapped[ValueMark | None] = mapped_column(VALUE_MARK)
    marked_by: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL")
    )
    marked_at: Mapped[datetime | None]
