"""What was taken of every site, what each tenant took each day, and what it paid."""

from datetime import date
from uuid import UUID

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class SiteUsage(Base):
    """What fetching and reading a domain's pages has cost so far."""

    __tablename__ = "site_usage"

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE"), primary_key=True
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    pages_fetched: Mapped[int] = mapped_column(server_default=text("0"))
    bytes: Mapped[int] = mapped_column(server_default=text("0"))
    parse_ms: Mapped[int] = mapped_column(server_default=text("0"))


class TenantUsage(Base):
    """The same for all domains of a tenant, on one day (UTC)."""

    __tablename__ = "tenant_usage"

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(primary_key=True)
    pages_stored: Mapped[int] = mapped_column(server_default=text("0"))
    pages_fetched: Mapped[int] = mapped_column(server_default=text("0"))
    bytes: Mapped[int] = mapped_column(server_default=text("0"))
    parse_ms: Mapped[int] = mapped_column(server_default=text("0"))


class PageGain(Base):
    """What chosen pages of one kind held on a tenant's sites built with one program."""

    __tablename__ = "page_gains"

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    generator: Mapped[str] = mapped_column(primary_key=True)
    page_type: Mapped[str] = mapped_column(primary_key=True)
    pages: Mapped[int] = mapped_column(server_default=text("0"))
    promised: Mapped[float] = mapped_column(server_default=text("0"))
    """The sum of what was expected of them, without what was learnt here."""
    paid: Mapped[int] = mapped_column(server_default=text("0"))
    """How many of them held something new."""
