"""Webhooks: whom we tell of changes, and what each was sent."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ForeignKey, Identity, Index, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord
from scrapersky.records.subscription import Subscription, due_index

PENDING: Final = "pending"
DELIVERED: Final = "delivered"
FAILED: Final = "failed"


class WebhookEndpoint(OwnedRecord, Subscription, Base):
    """An address of a tenant that changes are posted to."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        Index("ix_webhook_endpoints_tenant_id", "tenant_id"),
        due_index("webhook_endpoints"),
    )

    name: Mapped[str]
    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    """Types of events that it receives, also `company.*`."""
    format: Mapped[str]
    ignored_actors: Mapped[list[str]] = mapped_column(ARRAY(Text))
    """Whose changes it does not receive: usually its own."""
    schemes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    """How messages are signed: v1, v1a or both."""
    secrets: Mapped[bytes] = mapped_column(BYTEA)
    """Encrypted; after a rotation two of them."""
    public_key: Mapped[str | None]
    failing_since: Mapped[datetime | None]
    problem: Mapped[str | None]
    """Why it receives nothing now, if so."""
    disabled_at: Mapped[datetime | None]


class WebhookDelivery(OwnedRecord, Base):
    """One message to an endpoint, and how it went. It names records, never their values."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_endpoint_id", "endpoint_id", "position"),
        Index(
            "ix_webhook_deliveries_pending",
            "endpoint_id",
            "position",
            postgresql_where=text("state = 'pending'"),
        ),
        Index("ix_webhook_deliveries_created_at", "created_at"),
    )

    endpoint_id: Mapped[UUID] = mapped_column(
        ForeignKey("webhook_endpoints.id", ondelete="CASCADE")
    )
    position: Mapped[int] = mapped_column(Identity(always=True))
    """In the order in which they are sent."""
    type: Mapped[str]
    event_count: Mapped[int]
    cursor: Mapped[str]
    """From where on the log was read for it."""
    body: Mapped[bytes | None] = mapped_column(BYTEA)
    """Compressed, while it may have to be sent again."""
    state: Mapped[str]
    attempts: Mapped[list[Json]] = mapped_column(JSONB, server_default=text("'[]'"))
    """When each one was, and what came of it."""
    attempt_count: Mapped[int] = mapped_column(server_default=text("0"))
    """Of those since it was last begun with; a person may begin anew."""
    next_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
