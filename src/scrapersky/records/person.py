"""WF7: a person of a business, whether or not they have an address of their own."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    UniqueConstraint,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, aliased, mapped_column

from contact_extraction.seniority import Seniority
from scrapersky.records.base import Base, OwnedRecord
from scrapersky.records.status import SENIORITY
from scrapersky.records.work_queue import Attribute


class Person(OwnedRecord, Base):
    """Somebody who works for a business, as its website names them.

    Each once per domain, however many pages name them. `email` and `phone` are theirs
    alone; the switchboard and info@ are nobody's.
    """

    __tablename__ = "people"
    __table_args__ = (
        UniqueConstraint("domain_id", "name_key"),
        Index("ix_people_by_time", "tenant_id", "updated_at", "id"),
        # By this the decision maker of a domain is the first row.
        Index("ix_people_by_standing", "domain_id", text("standing DESC"), "id"),
        Index("ix_people_tenant_id_mailbox", "tenant_id", text("mailbox_of(email)")),
        Index("ix_people_tenant_id_phone", "tenant_id", "phone"),
        CheckConstraint("email = lower(email)", name="email_lower_case"),
        CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence_is_a_share"),
    )

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE")
    )
    page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="SET NULL"), index=True
    )
    name: Mapped[str]
    name_key: Mapped[str]
    """What all spellings of the name share: no titles, accents or capitals."""
    role: Mapped[str | None]
    seniority: Mapped[Seniority | None] = mapped_column(SENIORITY)
    email: Mapped[str | None]
    phone: Mapped[str | None]
    confidence: Mapped[float]
    standing: Mapped[float]
    """How likely they decide for the business: whoever has most is its decision maker."""
    standing_reason: Mapped[str]
    evidence: Mapped[list[dict[str, Any]]] = mapped_column(
        JSONB, server_default=text("'[]'")
    )
    """The first few places that name them: url, snippet, method, robots, seen_at."""
    gone_at: Mapped[datetime | None]
    """Since when no page of the website names them any more."""


def decision_maker(
    domain_id: Attribute, shown: Callable[[type[Person]], Any] = lambda one: one.name
) -> ColumnElement[Any]:
    """Show who of a domain has the highest standing: chosen when it is asked.

    So whoever is erased leaves the place to the next, and no two workers can disagree.
    """
    one = aliased(Person)
    return (
        select(shown(one))
        .where(one.domain_id == domain_id, one.gone_at.is_(None))
        .order_by(one.standing.desc(), one.id)
        .limit(1)
        .correlate_except(one)
        .scalar_subquery()
    )
