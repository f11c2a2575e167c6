"""Who must not be contacted: kept as keyed hashes, so the list itself tells nothing."""

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base, OwnedRecord


class Suppression(OwnedRecord, Base):
    """An e-mail address, phone number or domain that is never stored or exported."""

    __tablename__ = "suppressions"
    __table_args__ = (
        UniqueConstraint("tenant_id", "kind", "value_hash"),
        CheckConstraint("kind IN ('email', 'phone', 'domain')", name="kind"),
    )

    kind: Mapped[str]
    value_hash: Mapped[bytes] = mapped_column(BYTEA)
    reason: Mapped[str | None]
