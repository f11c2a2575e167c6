"""WF7 and WF8: a contact, and the evidence for every value of it."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Executable,
    ForeignKey,
    Index,
    Integer,
    Row,
    String,
    Text,
    case,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from contact_extraction.email_type import EmailType
from scrapersky.records.base import (
    ERROR_LIMIT,
    Base,
    Json,
    OwnedRecord,
    derived,
    list_indexes,
    ordering,
)
from scrapersky.records.business import LocalBusiness
from scrapersky.records.contact_file import CONTACT_COLUMNS, SELECT_CONTACTS
from scrapersky.records.domain import domain_name
from scrapersky.records.kind import (
    CHANGED,
    Column,
    Decision,
    EmptyState,
    ExportFile,
    Kind,
    Show,
    StatusChoice,
)
from scrapersky.records.link import Related, through_domain
from scrapersky.records.person import decision_maker
from scrapersky.records.status import (
    CONTACT_CURATION_STATUS,
    CONTACT_PROCESSING_STATUS,
    DELIVERABILITY,
    EMAIL_TYPE,
    ContactCurationStatus,
    ContactProcessingStatus,
    Deliverability,
)
from scrapersky.records.work_queue import Attribute, work_queue

SyncStatus = Annotated[
    ContactProcessingStatus | None, mapped_column(CONTACT_PROCESSING_STATUS)
]
"""Where a contact is on its way into a CRM."""
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
        # What was queued for a CRM while nothing took it up is found when something does.
        *(
            Index(
                f"ix_contacts_{connector}_sync_queued",
                "tenant_id",
                "id",
                postgresql_where=text(
                    f"{connector}_sync_status = '{ContactProcessingStatus.QUEUED}'"
                ),
            )
            for connector in ("hubspot", "pipedrive", "brevo", "mautic")
        ),
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
    name_order: Mapped[str | None] = ordering()
    role: Mapped[str | None]
    phone: Mapped[str | None]
    phones: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    address: Mapped[Json | None]
    social_links: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    confidence: Mapped[float | None]
    notes: Mapped[str | None]
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    validation: Mapped[Json | None]
    deliverability: Mapped[Deliverability | None] = derived(DELIVERABILITY)
    """The verdict of the validation; empty until there is one."""
    validated_at: Mapped[datetime | None]
    gone_at: Mapped[datetime | None]
    """Since when its website does not have it any more."""
    contact_curation_status: Mapped[ContactCurationStatus] = mapped_column(
        CONTACT_CURATION_STATUS, server_default=ContactCurationStatus.NEW.value
    )
    validation_processing_status: Mapped[ContactProcessingStatus | None] = (
        mapped_column(CONTACT_PROCESSING_STATUS)
    )
    validation_processing_error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
    # What it is to whoever set it queued; the outbox (records/sync.py) knows more.
    hubspot_sync_status: Mapped[SyncStatus]
    pipedrive_sync_status: Mapped[SyncStatus]
    brevo_sync_status: Mapped[SyncStatus]
    mautic_sync_status: Mapped[SyncStatus]


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
        Index(
            "ix_contact_evidence_gone",
            "tenant_id",
            text("md5(value)"),
            postgresql_where=text("gone_at IS NOT NULL"),
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
    snapshot_id: Mapped[UUID | None]
    """The page as it was; no foreign key, for most evidence outlives the page's bytes."""
    span_start: Mapped[int | None] = mapped_column(Integer)
    span_end: Mapped[int | None] = mapped_column(Integer)
    """From which to which character of the page's text it stands."""
    field: Mapped[str]
    value: Mapped[str]
    url: Mapped[str]
    snippet: Mapped[str]
    method: Mapped[str]
    confidence: Mapped[float]
    robots: Mapped[str | None]
    seen_at: Mapped[datetime]
    gone_at: Mapped[datetime | None]
    """Since when the page does not say it any more."""


MOST_EVIDENCE = 200


def its_evidence(row: Row[Any]) -> Executable:
    """Ask where every value of a contact was seen."""
    return (
        select(
            Evidence.field,
            Evidence.value,
            Evidence.url,
            Evidence.snippet,
            Evidence.method,
            Evidence.confidence,
            Evidence.seen_at,
            Evidence.robots,
        )
        .where(Evidence.contact_id == row.id, Evidence.value != "")
        .order_by(Evidence.field, Evidence.confidence.desc(), Evidence.id)
        .limit(MOST_EVIDENCE)
    )


def first_business(domain_id: Attribute) -> ColumnElement[Any]:
    """Show what the first business of a domain is called."""
    return (
        select(LocalBusiness.name)
        .where(LocalBusiness.domain_id == domain_id)
        .order_by(LocalBusiness.created_at, LocalBusiness.id)
        .limit(1)
        .correlate_except(LocalBusiness)
        .scalar_subquery()
    )


CONTACTS = Kind(
    Contact,
    path="/contacts",
    singular="contact",
    plural="contacts",
    label=("email", "phone"),
    under=("name", "role", "business"),
    icon="contact",
    key="c",
    about="E-mail addresses and phone numbers, with the source of each.",
    source=EmptyState(
        "Contacts are found on selected pages.", "/curate/pages", "Go to pages"
    ),
    decision=Decision(
        column=Contact.contact_curation_status,
        choices=(
            StatusChoice(ContactCurationStatus.QUEUED, "s", "check"),
            StatusChoice(ContactCurationStatus.SKIPPED, "n", "cross"),
            StatusChoice(ContactCurationStatus.NEW, "b", "undo"),
        ),
        on=ContactCurationStatus.QUEUED,
        starts="contact_validation",
        queue=CONTACT_VALIDATION_QUEUE,
        is_optional=True,
        auto_select=(("email", "known", None),),
    ),
    columns=(
        Column(field="email", title="E-mail or phone", width=14.5, grow=2, show=Show.TITLE,
               instead=("phone",), under=("business",)),
        Column(field="contact_curation_status", title="Decision", width=8.5),
        Column(field="deliverability", title="Deliverability", width=7.5),
        Column(field="validation_processing_status", title="Verification", width=6.5,
               is_hidden=True),
        Column(field="name", title="Name", width=11, grow=1.2, show=Show.PERSON,
               under=("role",)),
        Column(field="role", title="Role", width=7, grow=0.8, is_hidden=True),
        Column(field="phone", title="Phone", width=10.5, show=Show.PHONE,
               only_with="email"),
        Column(field="business", title="Business", width=9, grow=1.2, is_hidden=True),
        Column(field="email_type", title="Address type", width=8, show=Show.WORD, is_hidden=True),
        Column(field="confidence", title="Confidence", width=6, show=Show.SHARE),
        Column(field="domain", title="Domain", width=8, grow=1, is_hidden=True),
        Column(field="tags", title="Tags", width=8, is_hidden=True),
        CHANGED,
    ),
    facts=(
        "email", "deliverability", "email_type", "name", "role", "phone", "phones",
        "business", "domain",
        "address", "social_links", "confidence", "notes", "tags", "validation",
    ),
    facets=(
        "contact_curation_status", "deliverability", "validation_processing_status",
        "email_type", "role", "tags",
    ),
    orders={"name": Contact.name_order},
    words=(Contact.email, Contact.name, Contact.role, Contact.phone),
    extras={
        "domain": domain_name(Contact.domain_id),
        "business": first_business(Contact.domain_id),
        "decision_maker": decision_maker(Contact.domain_id),
        # A contact is named only where it reaches that one person.
        "whose": case((Contact.name.is_not(None), "staff"), else_="own"),
    },
    linked=through_domain(Contact.domain_id),
    related=(
        Related(kind="domains", ours="domain_id"),
        Related(kind="pages", ours="page_id"),
        Related(kind="businesses", theirs="domain_id", ours="domain_id"),
        Related(kind="companies", theirs="domain_id", ours="domain_id"),
    ),
    origins=its_evidence,
    form="contact",
    file=ExportFile(
        columns=CONTACT_COLUMNS,
        query=text(f"{SELECT_CONTACTS} WHERE c.tenant_id = :tenant AND c.id = ANY(:ids)"),
        needed={"email": Contact.email, "phone": Contact.phone, "name": Contact.name},
        withheld_by=("domain", "email", "phone"),
    ),
    is_mergeable=True,
)  # fmt: skip
