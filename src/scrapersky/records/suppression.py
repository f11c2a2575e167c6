"""Who must not be contacted: kept as keyed hashes, so the list itself says nothing."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, OwnedRecord


class Suppression(OwnedRecord, Base):
    """An address, number, domain or person that is never stored or exported."""

    __tablename__ = "suppressions"
    __table_args__ = (
        UniqueConstraint("tenant_id", "kind", "value_hash"),
        Index("ix_suppressions_tenant_id_value_hash", "tenant_id", "value_hash"),
        Index("ix_suppressions_tenant_id_tail_hash", "tenant_id", "tail_hash"),
        Index(
            "ix_suppressions_tenant_id_entry_hash",
            "tenant_id",
            "entry_hash",
            postgresql_where=text("entry_hash IS NOT NULL"),
        ),
        CheckConstraint("kind IN ('email', 'phone', 'domain', 'person')", name="kind"),
    )

    kind: Mapped[str]
    value_hash: Mapped[bytes] = mapped_column(BYTEA)
    tail_hash: Mapped[bytes | None] = mapped_column(BYTEA)
    """Of a phone number: its last digits, by which texts are searched for it."""
    entry_hash: Mapped[bytes | None] = mapped_column(BYTEA)
    """Of a person: the entry of their address, with which this one is taken off the list."""
    key_fingerprint: Mapped[bytes | None] = mapped_column(BYTEA)
    """Which key it is hashed with; NULL if an older version made it."""
    reason: Mapped[str | None]


class SuppressionKey(Base):
    """A key of the list; its secret is NULL if it is kept outside the database."""

    __tablename__ = "suppression_keys"

    fingerprint: Mapped[bytes] = mapped_column(BYTEA, primary_key=True)
    secret: Mapped[bytes | None] = mapped_column(BYTEA)
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
