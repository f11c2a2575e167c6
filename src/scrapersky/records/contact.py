"""WF7 and WF8: a contact, and the evidence for every value of it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.kit.email_type import EmailType
from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord, list_indexes
from scrapersky.records.status import (
    CONTACT_CURATION_STATUS,
    CONTACT_PROCESSING_STATUS,
    EMAIL_TYPE,
    ContactCurationStatus,
    ContactProcessingStatus,
)
from scrapersky.records.work_queue import work_queue

BY_HAND = "by hand"
"""The method of a value that a person wrote."""


class Contact(OwnedRecord, Base):
    """One way to reach a business: by e-mail, or by phone where there is no e-mail.

    What is not known is NULL; there are no placeholders.
    """

    __tablename__ = "contacts"
    __table_args__ = (
        Index(
            "uq_contacts_domain_id_email",
            "domain_id",
            "email",
            unique=True,
            postgresql_where=text("email IS NOT NULL"),
        ),
        Index(
            "uq_contacts_domain_id_phone",
            "domain_id",
            "phone",
            unique=True,
            postgresql_where=text("email IS NULL"),
        ),
        *list_indexes("contacts", "contact_curation_status"),
        Index("ix_contacts_by_confidence", "tenant_id", "confidence", "id"),
        Index("ix_contacts_tenant_id_email", "tenant_id", "email"),
        # The database has the function too: an address without its subaddress.
        Index("ix_contacts_tenant_id_mailbox", "tenant_id", text("mailbox_of(email)")),
        Index("ix_contacts_tenant_id_phone", "tenant_id", "phone"),
        Index("ix_contacts_phones", "phones", postgresql_using="gin"),
        CheckConstraint("num_nonnulls(email, phone) >= 1", name="reachable"),
        CheckConstraint("email = lower(email)", name="email_lower_case"),
        CheckConstraint("email ~ '@[a-z0-9._-]+$'", name="email_ascii_domain"),
    )

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE")
    )
    page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="SET NULL"), index=True
    )
    email: Mapped[str | None]
    email_type: Mapped[EmailType] = mapped_column(
        EMAIL_TYPE, server_default=EmailType.UNKNOWN.value
    )
    name: Mapped[str | None]
    role: Mapped[str | None]
    phone: Mapped[str | None]
    phones: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    address: Mapped[Json | None]
    social_links: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    confidence: Mapped[float | None]
    notes: Mapped[str | None]
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    validation: Mapped[Json | None]
    validated_at: Mapped[datetime | None]
    contact_curation_status: Mapped[ContactCurationStatus] = mapped_column(
        CONTACT_CURATION_STATUS, server_default=ContactCurationStatus.NEW.value
    )
    validation_processing_status: Mapped[ContactProcessingStatus | None] = (
        mapped_column(CONTACT_PROCESSING_STATUS)
    )
    validation_processing_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))


CONTACT_VALIDATION_QUEUE = work_queue(
    Contact.validation_processing_status,
    error=Contact.validation_processing_error,
    queued=ContactProcessingStatus.QUEUED,
    processing=ContactProcessingStatus.PROCESSING,
    done=ContactProcessingStatus.COMPLETE,
    failed=ContactProcessingStatus.ERROR,
)


class Evidence(OwnedRecord, Base):
    """Where one value of a contact was seen, how it was read, and how sure we are.

    A value is from a page that was fetched, at a time when its robots.txt allowed that;
    or somebody wrote it by hand, and then the snippet says who.
    """

    __tablename__ = "contact_evidence"
    __table_args__ = (
        Index(
            "uq_contact_evidence_contact_id_field_value_url_method",
            "contact_id",
            "field",
            text("md5(value)"),
            text("md5(url)"),
            "method",
            unique=True,
        ),
        CheckConstraint(
            f"CASE WHEN method = '{BY_HAND}' THEN page_id IS NULL AND snippet <> ''"
            " ELSE url <> '' AND robots IS NOT NULL END",
            name="has_origin",
        ),
    )

    contact_id: Mapped[UUID] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE")
    )
    page_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("pages.id", ondelete="SET NULL"), index=True
    )
    field: Mapped[str]
    value: Mapped[str]
    url: Mapped[str]
    snippet: Mapped[str]
    method: Mapped[str]
    confidence: Mapped[float]
    robots: Mapped[str | None]
    seen_at: Mapped[datetime]
