"""What a company's own website says of a field that the map gives, and how lists ask for it."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    func,
    select,
)
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base
from scrapersky.records.link import LinkedField, table
from scrapersky.records.status import MAP_FIELD, MAP_VERDICT, MapField, MapVerdict
from scrapersky.records.work_queue import Attribute

VERDICTS: Final = "company_verdicts"


class CompanyVerdict(Base):
    """One field of the place that a company is shown by, held against its own website.

    There is a row where the map gives the field and the website was looked at.
    """

    __tablename__ = VERDICTS
    __table_args__ = (
        Index(
            "ix_company_verdicts_by_verdict",
            "tenant_id",
            "field",
            "verdict",
            "company_id",
        ),
        CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence_is_a_share"),
    )

    company_id: Mapped[UUID] = mapped_column(
        ForeignKey("companies.id", ondelete="CASCADE"), primary_key=True
    )
    field: Mapped[MapField] = mapped_column(MAP_FIELD, primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    verdict: Mapped[MapVerdict] = mapped_column(MAP_VERDICT)
    confidence: Mapped[float]
    source: Mapped[str]
    """The map: the source of the place."""
    claimed: Mapped[str]
    said: Mapped[str | None]
    """What the website has instead, or too."""
    why: Mapped[str]
    url: Mapped[str | None]
    snippet: Mapped[str | None]
    seen_at: Mapped[datetime | None]
    judged_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


def verdict_on(field: MapField, company_id: Attribute) -> ColumnElement[Any]:
    """Show the verdict on one field."""
    return (
        select(CompanyVerdict.verdict)
        .where(CompanyVerdict.company_id == company_id, CompanyVerdict.field == field)
        .correlate_except(CompanyVerdict)
        .scalar_subquery()
    )


def by_verdict(company_id: Attribute, field: MapField | None = None) -> LinkedField:
    """Reach the verdict on one field; without one, on any."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        verdicts = table(VERDICTS)
        found = select(verdicts.c.company_id).where(matches)
        if field is not None:
            found = found.where(verdicts.c.field == field)
        return company_id.in_(found)

    return LinkedField(VERDICTS, "verdict", through)
