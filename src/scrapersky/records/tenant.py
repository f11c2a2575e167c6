"""Tenants, the people in them, and the keys their programs use."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord, Record
from scrapersky.records.status import ROLE, Role


class Tenant(Record, Base):
    """A customer: everything it owns is invisible to every other."""

    __tablename__ = "tenants"

    name: Mapped[str]
    slug: Mapped[str] = mapped_column(unique=True)
    suspended_at: Mapped[datetime | None]
    budget: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    """What it may take a day, where that is not as set for all."""


class User(Record, Base):
    """A person, or the system itself, acting within one tenant."""

    __tablename__ = "users"
    __table_args__ = (
        UniqueConstraint("tenant_id", "email"),
        # Only within a tenant: whoever names a subject first elsewhere takes nothing.
        Index(
            "uq_users_tenant_id_issuer_subject",
            "tenant_id",
            text("coalesce(issuer, '')"),
            "subject",
            unique=True,
            postgresql_where=text("subject IS NOT NULL"),
        ),
    )

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    email: Mapped[str]
    name: Mapped[str | None]
    role: Mapped[Role] = mapped_column(ROLE, server_default=Role.VIEWER.value)
    password_hash: Mapped[str | None]
    subject: Mapped[str | None]
    """Who they are to the issuer of access tokens, where that is not our id."""
    issuer: Mapped[str | None]
    """Who calls them so; NULL until an application with `JWT_ISSUER` has started."""
    is_system: Mapped[bool] = mapped_column(server_default=text("false"))
    disabled_at: Mapped[datetime | None]


class ApiKey(OwnedRecord, Base):
    """A key for a program: only its hash is kept, and a prefix to recognise it by."""

    __tablename__ = "api_keys"

    name: Mapped[str]
    prefix: Mapped[str] = mapped_column(unique=True)
    secret_hash: Mapped[bytes] = mapped_column(BYTEA)
    role: Mapped[Role] = mapped_column(ROLE, server_default=Role.VIEWER.value)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    is_personal: Mapped[bool] = mapped_column(server_default=text("false"))
    """Made by a person, so that it ends with them; others are the machine's own."""
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
