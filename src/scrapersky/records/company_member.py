"""Which records of sources are one company, as far as matching and people have said."""

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    JsonObject,
    OwnedRecord,
    Record,
    Texts,
    phone_digits_index,
)
from scrapersky.records.status import PAIR_VERDICT, PairVerdict

MEMBERS: Final = "company_members"
BLOCKS: Final = (
    "domain", "phone", "social", "name_block", "near_block", "moved_to",
)  # fmt: skip
"""What records that may be one company share."""


class CompanyMember(Record, Base):
    """What one source record says that distinguishes companies.

    A place and the business made of it are one member; so is a business without a
    place, and a domain that no business names.
    """

    __tablename__ = MEMBERS
    __table_args__ = (
        UniqueConstraint("place_id"),
        UniqueConstraint("business_id"),
        UniqueConstraint("domain_id"),
        *(
            Index(
                f"ix_company_members_by_{name}",
                "tenant_id",
                name,
                postgresql_where=text(f"{name} IS NOT NULL"),
            )
            for name in BLOCKS
        ),
        phone_digits_index(MEMBERS),
        Index(
            "ix_company_members_unmatched",
            "tenant_id",
            "id",
            postgresql_where=text("NOT is_matched"),
        ),
        Index(
            "ix_company_members_of_nothing",
            "tenant_id",
            postgresql_where=text("num_nonnulls(place_id, business_id, domain_id) = 0"),
        ),
        CheckConstraint("score BETWEEN 0 AND 1", name="score_is_a_share"),
    )

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    company_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("companies.id", ondelete="SET NULL"), index=True
    )
    place_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("places_staging.id", ondelete="SET NULL")
    )
    business_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("local_businesses.id", ondelete="SET NULL")
    )
    domain_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("domains.id", ondelete="SET NULL")
    )
    """Set where the domain is all there is."""
    source: Mapped[str]
    name: Mapped[str | None]
    domain: Mapped[str | None]
    """The registrable domain of its own website, never that of a directory."""
    phone: Mapped[str | None]
    social: Mapped[str | None]
    street: Mapped[str | None]
    locality: Mapped[str | None]
    """The words of its town, which its name may have beside it."""
    postal_code: Mapped[str | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    moved_to: Mapped[str | None]
    name_block: Mapped[str | None]
    near_block: Mapped[str | None]
    is_matched: Mapped[bool] = mapped_column(server_default=text("false"))
    score: Mapped[float | None]
    """How sure it belongs to its company; NULL: it began it."""
    reasons: Mapped[Texts]


class CompanyPair(Record, Base):
    """Two records that may be one company: a person's word, or a question to one."""

    __tablename__ = "company_pairs"
    __table_args__ = (
        UniqueConstraint("left_id", "right_id"),
        Index("ix_company_pairs_right_id", "right_id"),
        Index(
            "ix_company_pairs_open",
            "tenant_id",
            text("score DESC"),
            "id",
            postgresql_where=text("verdict IS NULL"),
        ),
        CheckConstraint("left_id <= right_id", name="in_order"),
    )

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    left_id: Mapped[UUID] = mapped_column(
        ForeignKey("company_members.id", ondelete="CASCADE")
    )
    right_id: Mapped[UUID] = mapped_column(
        ForeignKey("company_members.id", ondelete="CASCADE")
    )
    score: Mapped[float]
    reasons: Mapped[Texts]
    verdict: Mapped[PairVerdict | None] = mapped_column(PAIR_VERDICT)
    """What a person said last; NULL: nobody has."""
    decided_by: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL")
    )
    decided_at: Mapped[datetime | None]
    is_disputed: Mapped[bool] = mapped_column(server_default=text("false"))
    """Somebody else has said the opposite before."""


class CompanyMerge(OwnedRecord, Base):
    """Two companies that became one, with what is needed to take it back."""

    __tablename__ = "company_merges"
    __table_args__ = (
        Index("ix_company_merges_into", "tenant_id", "into_id", "created_at"),
    )

    into_id: Mapped[UUID] = mapped_column(
        ForeignKey("companies.id", ondelete="CASCADE")
    )
    gone_id: Mapped[UUID]
    """The key the other company had, and gets back."""
    work: Mapped[JsonObject]
    """What people had written about the other company."""
    work_before: Mapped[JsonObject]
    """And about the one that stayed."""
    member_ids: Mapped[list[UUID]] = mapped_column(
        ARRAY(Uuid), server_default=text("'{}'")
    )
    score: Mapped[float | None]
    reasons: Mapped[Texts]
    is_by_person: Mapped[bool] = mapped_column(server_default=text("false"))
    undone_at: Mapped[datetime | None]


class CompanyProgress(Base):
    """How far the records of a tenant have been read into companies."""

    __tablename__ = "company_progress"

    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(primary_key=True)
    """A kind of records, or `matching`: whether putting them together fails."""
    read_until: Mapped[datetime] = mapped_column(server_default=text("to_timestamp(0)"))
    """Everything that was stored until then has been read."""
    began_at: Mapped[datetime | None]
    """When reading began that has not ended."""
    cursor_at: Mapped[datetime | None]
    cursor_id: Mapped[UUID | None]
    """The last record of it that was read, and when that changed."""
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    """How often in a row matching has failed."""
    error: Mapped[str | None]
    resume_at: Mapped[datetime | None]
    """Before then it is not tried again."""
