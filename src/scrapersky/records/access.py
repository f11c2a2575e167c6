"""What the gate of the API keeps: sessions, answers already given, its own secret."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class Installation(Base):
    """The one row that makes this installation itself: a secret nobody else has."""

    __tablename__ = "installation"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(
        SmallInteger, primary_key=True, server_default=text("1"), autoincrement=False
    )
    secret: Mapped[bytes] = mapped_column(BYTEA)
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class LoginSession(Base):
    """A person logged in from one browser; only the hash of its cookie is kept."""

    __tablename__ = "login_sessions"

    token_hash: Mapped[bytes] = mapped_column(BYTEA, primary_key=True)
    id: Mapped[UUID] = mapped_column(
        unique=True, server_default=text("gen_random_uuid()")
    )
    """What it is called where its cookie must not be seen."""
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    device: Mapped[str | None]
    """What its browser called itself."""
    address: Mapped[str | None]
    """Where it was opened from."""
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    seen_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime] = mapped_column(index=True)


class RevokedToken(Base):
    """An access token whose owner has logged out before it expired."""

    __tablename__ = "revoked_tokens"

    token_hash: Mapped[bytes] = mapped_column(BYTEA, primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class IdempotencyKey(Base):
    """A request that must have one effect however often it is sent, and its answer."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        PrimaryKeyConstraint("tenant_id", "route", "key", name="pk_idempotency_keys"),
        Index("ix_idempotency_keys_expires_at", "expires_at"),
    )

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    route: Mapped[str]
    key: Mapped[str]
    holder: Mapped[UUID]
    """Which request does the work; another may only once `held_until` is past."""
    held_until: Mapped[datetime]
    fingerprint: Mapped[bytes | None] = mapped_column(BYTEA)
    status: Mapped[int | None] = mapped_column(SmallInteger)
    media_type: Mapped[str | None]
    body: Mapped[bytes | None] = mapped_column(BYTEA)
    expires_at: Mapped[datetime]
