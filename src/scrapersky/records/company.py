"""Leads: one row per company and location, and what people do about it."""

from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Executable,
    ForeignKey,
    Index,
    Row,
    Text,
    UniqueConstraint,
    Uuid,
    case,
    func,
    literal,
    null,
    select,
    text,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import (
    Base,
    Json,
    JsonObject,
    OwnedRecord,
    Texts,
    list_indexes,
    ordering,
    phone_digits_index,
)
from scrapersky.records.business import LocalBusiness
from scrapersky.records.company_member import MEMBERS, CompanyMember, CompanyMerge
from scrapersky.records.company_verdict import by_verdict, verdict_on
from scrapersky.records.contact import Contact, Evidence
from scrapersky.records.domain import (
    domain_name,
    office_addresses,
    where_its_offices_are,
)
from scrapersky.records.kind import (
    CHANGED,
    Column,
    Decision,
    EmptyState,
    ExportFile,
    Kind,
    QuickFilter,
    Show,
    StatusChoice,
)
from scrapersky.records.link import (
    HITS,
    LinkedField,
    LinkedWords,
    LinkTable,
    Related,
    by_domain,
    table,
)
from scrapersky.records.person import Person
from scrapersky.records.place import Place
from scrapersky.records.place_search import PlaceSearchHit
from scrapersky.records.status import (
    LEAD_STATUS,
    OWN_TYPE,
    LeadStatus,
    MapField,
    MapVerdict,
    OwnType,
)
from scrapersky.records.tenant import User

MOST_ORIGINS: Final = 20
"""Places where one value was seen that are shown."""
WORK: Final = ("lead_status", "owner_id", "notes", "tags", "own", "follow_up_on")
"""What people write about a company; the rest is read from its records."""


class Company(OwnedRecord, Base):
    """A company at one location, made of everything that is known about it.

    People's e-mail addresses and names stay in their own tables: a company only points
    at them, so whoever is erased there is gone here too.
    """

    __tablename__ = "companies"
    __table_args__ = (
        *list_indexes("companies", "lead_status"),
        Index("ix_companies_by_name_order", "tenant_id", "name_order", "id"),
        Index("ix_companies_by_first_seen", "tenant_id", "first_seen_at", "id"),
        Index("ix_companies_by_confidence", "tenant_id", "confidence", "id"),
        Index("ix_companies_tenant_id_phone", "tenant_id", "phone"),
        phone_digits_index("companies"),
        Index(
            "ix_companies_by_follow_up",
            "tenant_id",
            "follow_up_on",
            "id",
            postgresql_where=text("follow_up_on IS NOT NULL"),
        ),
        # Whose best address or decision maker has gone is summed up again.
        Index(
            "ix_companies_without_their_email",
            "tenant_id",
            postgresql_where=text(
                "email_kind IS NOT NULL AND email_contact_id IS NULL"
            ),
        ),
        Index(
            "ix_companies_without_their_person",
            "tenant_id",
            postgresql_where=text(
                "decision_maker_reason IS NOT NULL AND decision_maker_id IS NULL"
            ),
        ),
        CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence_is_a_share"),
    )

    name: Mapped[str | None]
    name_order: Mapped[str | None] = ordering()
    categories: Mapped[Texts]
    street: Mapped[str | None]
    city: Mapped[str | None]
    city_order: Mapped[str | None] = ordering()
    region: Mapped[str | None]
    postal_code: Mapped[str | None]
    country: Mapped[str | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    domain_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("domains.id", ondelete="SET NULL"), index=True
    )
    business_status: Mapped[str | None]
    rating: Mapped[float | None]
    reviews_count: Mapped[int | None]
    email_contact_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("contacts.id", ondelete="SET NULL"), index=True
    )
    email_kind: Mapped[str | None]
    """Whom the best address reaches: person, company, shared inbox or free mail."""
    email_reason: Mapped[str | None]
    decision_maker_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("people.id", ondelete="SET NULL"), index=True
    )
    decision_maker_reason: Mapped[str | None]
    records_count: Mapped[int] = mapped_column(server_default=text("0"))
    """How many records of sources say about it."""
    contacts_count: Mapped[int] = mapped_column(server_default=text("0"))
    confidence: Mapped[float | None]
    first_seen_at: Mapped[datetime | None]
    seen_at: Mapped[datetime | None]
    lead_status: Mapped[LeadStatus] = mapped_column(
        LEAD_STATUS, server_default=LeadStatus.NEW.value
    )
    owner_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    notes: Mapped[str | None]
    tags: Mapped[Texts]
    own: Mapped[JsonObject]
    """The values of the tenant's own columns."""
    follow_up_on: Mapped[date | None]
    """The day on which to get in touch again."""
    worked_at: Mapped[datetime | None]
    """When a person last wrote about it; what the machine sums up is not an edit."""


class CompanyAction(OwnedRecord, Base):
    """Work on companies as older releases keep it; ours is a `CurationAction`.

    It goes when no release that writes here runs on this schema any more.
    """

    __tablename__ = "company_actions"

    changed_count: Mapped[int] = mapped_column(server_default=text("0"))
    undone_at: Mapped[datetime | None]


class CompanyChange(Base):
    """What such work changed on one company."""

    __tablename__ = "company_changes"

    action_id: Mapped[UUID] = mapped_column(
        ForeignKey("company_actions.id", ondelete="CASCADE"), primary_key=True
    )
    company_id: Mapped[UUID] = mapped_column(
        ForeignKey("companies.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    before: Mapped[Json]
    after: Mapped[Json]


class CompanyColumn(OwnedRecord, Base):
    """A column of a tenant's own, whose values stand in `companies.own`."""

    __tablename__ = "company_columns"
    __table_args__ = (UniqueConstraint("tenant_id", "name"),)

    name: Mapped[str]
    """How filters and programs call it: `own.<name>`."""
    title: Mapped[str]
    type: Mapped[OwnType] = mapped_column(OWN_TYPE)
    choices: Mapped[Texts]


def of_contact(name: str) -> ColumnElement[Any]:
    """Show a value of the contact with the best address."""
    return (
        select(getattr(Contact, name))
        .where(Contact.id == Company.email_contact_id)
        .correlate_except(Contact)
        .scalar_subquery()
    )


def whose_address(name: str) -> ColumnElement[Any]:
    """Show a value of the person whose own address is the best; nobody has a shared one."""
    return case((Company.email_kind == "person", of_contact(name)))


def of_decision_maker(name: str) -> ColumnElement[Any]:
    """Show a value of the decision maker."""
    return (
        select(getattr(Person, name))
        .where(Person.id == Company.decision_maker_id)
        .correlate_except(Person)
        .scalar_subquery()
    )


def owner_name() -> ColumnElement[Any]:
    """Show who works on the company."""
    return (
        select(func.coalesce(User.name, User.email))
        .where(User.id == Company.owner_id)
        .correlate_except(User)
        .scalar_subquery()
    )


def by_member_hit() -> LinkedField:
    """Reach the searches that found a place of the company."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        members, hits = table(MEMBERS), table(HITS)
        return Company.id.in_(
            select(members.c.company_id)
            .join(hits, hits.c.place_id == members.c.place_id)
            .where(matches)
        )

    return LinkedField(HITS, "search_id", through)


def brought_along() -> ColumnElement[Any]:
    """Show what imported lines say that no column is for, by their headings."""
    business = LocalBusiness
    pair = func.jsonb_each(business.attributes["extra"]).table_valued("key", "value")
    return (
        select(
            func.coalesce(
                func.jsonb_object_agg(pair.c.key, pair.c.value), literal({}, JSONB)
            )
        )
        .select_from(CompanyMember)
        .join(business, business.id == CompanyMember.business_id)
        .join(pair, true())
        .where(CompanyMember.company_id == Company.id)
        .correlate_except(CompanyMember, business, pair)
        .scalar_subquery()
    )


def sources() -> ColumnElement[Any]:
    """List the sources that say something of the company."""
    return (
        select(func.array_agg(CompanyMember.source.distinct(), type_=ARRAY(Text)))
        .where(CompanyMember.company_id == Company.id)
        .correlate_except(CompanyMember)
        .scalar_subquery()
    )


def searches() -> ColumnElement[Any]:
    """List the searches that found a place of the company."""
    hit = PlaceSearchHit
    return (
        select(func.array_agg(hit.search_id.distinct(), type_=ARRAY(Uuid)))
        .join(CompanyMember, CompanyMember.place_id == hit.place_id)
        .where(CompanyMember.company_id == Company.id)
        .correlate_except(CompanyMember, hit)
        .scalar_subquery()
    )


def by_source() -> LinkedField:
    """Reach the sources that say something of the company."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        members = table(MEMBERS)
        return Company.id.in_(select(members.c.company_id).where(matches))

    return LinkedField(MEMBERS, "source", through)


def by_decision_maker(name: str) -> LinkedField:
    """Reach a value of the decision maker."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        return Company.decision_maker_id.in_(
            select(table("people").c.id).where(matches)
        )

    return LinkedField("people", name, through)


def by_email(name: str) -> LinkedField:
    """Reach a value of the contact with the best address."""

    def through(matches: ColumnElement[bool]) -> ColumnElement[bool]:
        return Company.email_contact_id.in_(
            select(table("contacts").c.id).where(matches)
        )

    return LinkedField("contacts", name, through)


def what_it_is_made_of(row: Row[Any]) -> Executable:
    """Report which records a company is made of and why, and where its address was seen."""
    members = (
        select(
            literal("all").label("field"),
            CompanyMember.name.label("value"),
            null().label("url"),
            func.coalesce(
                LocalBusiness.attributes["origin"].astext,
                func.nullif(func.array_to_string(CompanyMember.reasons, "; "), ""),
            ).label("snippet"),
            CompanyMember.source.label("method"),
            CompanyMember.score.label("confidence"),
            func.coalesce(Place.seen_at, CompanyMember.created_at).label("seen_at"),
            null().label("robots"),
        )
        .outerjoin(Place, Place.id == CompanyMember.place_id)
        .outerjoin(LocalBusiness, LocalBusiness.id == CompanyMember.business_id)
        .where(CompanyMember.company_id == row.id)
        .order_by(CompanyMember.created_at, CompanyMember.id)
        .limit(100)
    )
    email = (
        select(
            literal("email"),
            Evidence.value,
            Evidence.url,
            Evidence.snippet,
            Evidence.method,
            Evidence.confidence,
            Evidence.seen_at,
            Evidence.robots,
        )
        .where(Evidence.contact_id == row.email_contact_id, Evidence.field == "email")
        .limit(MOST_ORIGINS)
    )
    offices: Any = where_its_offices_are(row.domain_id)
    phones = (said_of_phone(row), seen_of_phone(row))
    return union_all(members, email, *phones, offices)


def said_of_phone(row: Row[Any]) -> Any:  # noqa: ANN401 - a query of mixed columns
    """Report which records of sources have the company's phone number."""
    return (
        select(
            literal("phone"),
            CompanyMember.phone,
            null(),  # the website may say otherwise
            func.coalesce(
                LocalBusiness.attributes["origin"].astext, CompanyMember.name
            ),
            CompanyMember.source,
            null(),
            func.coalesce(Place.seen_at, CompanyMember.created_at),
            null(),
        )
        .outerjoin(Place, Place.id == CompanyMember.place_id)
        .outerjoin(LocalBusiness, LocalBusiness.id == CompanyMember.business_id)
        .where(CompanyMember.company_id == row.id, CompanyMember.phone == row.phone)
        .limit(MOST_ORIGINS)
    )


def seen_of_phone(row: Row[Any]) -> Any:  # noqa: ANN401 - a query of mixed columns
    """Report where on the website the company's phone number was seen."""
    return (
        select(
            literal("phone"),
            Evidence.value,
            Evidence.url,
            Evidence.snippet,
            Evidence.method,
            Evidence.confidence,
            Evidence.seen_at,
            Evidence.robots,
        )
        .join(Contact, Contact.id == Evidence.contact_id)
        .where(
            Contact.domain_id == row.domain_id,
            Evidence.field.in_(("phone", "mobile")),
            Evidence.value == row.phone,
        )
        .order_by(Evidence.confidence.desc())
        .limit(MOST_ORIGINS)
    )


def took_over_a_stop(since: ColumnElement[Any]) -> ColumnElement[bool]:
    """Say whether a company that must not be contacted was merged into it since a time."""
    return (
        select(CompanyMerge.id)
        .where(
            CompanyMerge.into_id == Company.id,
            CompanyMerge.undone_at.is_(None),
            CompanyMerge.created_at > since,
            CompanyMerge.work["lead_status"].astext == LeadStatus.DO_NOT_CONTACT.value,
        )
        .correlate_except(CompanyMerge)
        .exists()
    )


NAMED_PERSON: Final = QuickFilter("Named person's e-mail", "email_kind:equal:person")
NO_WEBSITE: Final = QuickFilter("No website", "website:unknown")

CONTRADICTED: Final = QuickFilter(
    "Map contradicted", f"map_verdict:equal:{MapVerdict.CONTRADICTED}"
)
JUDGED: Final = {
    f"{'status' if field is MapField.STATUS else field}_verdict": field
    for field in MapField
}
"""How filters and columns call the verdict on each field."""

COMPANIES = Kind(
    Company,
    file=ExportFile(
        needed={
            "name": Company.name,
            "email": Company.email_contact_id,
            "phone": Company.phone,
            "decision_maker": Company.decision_maker_id,
        }
    ),
    path="/companies",
    singular="company",
    plural="companies",
    label=("name", "website"),
    unnamed="Unnamed company",
    under=("city", "domain"),
    icon="users",
    key="o",
    about="Your leads: one row per company, with the best person to contact.",
    source=EmptyState(
        "Companies are combined from places, businesses and domains.",
        "/search",
        "Start a search",
    ),
    decision=Decision(
        column=Company.lead_status,
        choices=(
            StatusChoice(LeadStatus.CONTACTED, "c", "letter"),
            StatusChoice(LeadStatus.REPLIED, "r", "check"),
            StatusChoice(LeadStatus.WON, "w", "star"),
            StatusChoice(LeadStatus.LOST, "l", "archive"),
            StatusChoice(LeadStatus.DO_NOT_CONTACT, "d", "cross"),
            StatusChoice(LeadStatus.NEW, "b", "undo"),
        ),
        lasting=LeadStatus.DO_NOT_CONTACT,
        renewed=took_over_a_stop,
    ),
    columns=(
        Column(field="name", title="Company", width=10.25, grow=1.5, show=Show.TITLE,
               instead=("website",), under=("categories", "city")),
        Column(field="decision_maker", title="Person", width=8.5, grow=1,
               show=Show.PERSON, under=("decision_maker_role",)),
        Column(field="phone", title="Phone", width=10.5, show=Show.PHONE),
        Column(field="email", title="E-mail", width=14, grow=1.2, show=Show.EMAIL,
               under=("email_person", "email_reason")),
        Column(field="lead_status", title="Status", width=8.25),
        Column(field="owner", title="Assigned to", width=6, sort="owner_id"),
        Column(field="follow_up_on", title="Follow up", width=6, is_hidden=True),
        Column(field="worked_at", title="Last activity", width=6.5),
        Column(field="categories", title="Categories", width=8, grow=1, is_hidden=True),
        Column(field="city", title="City", width=8, is_hidden=True),
        Column(field="website", title="Website", width=9, grow=1, show=Show.LINK,
               is_hidden=True),
        Column(field="tags", title="Tags", width=8, is_hidden=True),
        Column(field="notes", title="Notes", width=10, grow=1, is_hidden=True),
        Column(field="confidence", title="Confidence", width=6, show=Show.SHARE,
               is_hidden=True),
        Column(field="email_kind", title="Address type", width=7, show=Show.WORD,
               is_hidden=True),
        Column(field="deliverability", title="Deliverability", width=7, show=Show.WORD,
               is_hidden=True),
        *(
            Column(field=name, title=f"Map: {field.replace('_', ' ')}", width=7,
                   show=Show.WORD, is_hidden=True)
            for name, field in JUDGED.items()
        ),
        Column(field="seen_at", title="Last confirmed", width=6.5, is_hidden=True),
        Column(field="first_seen_at", title="Found", width=6, is_hidden=True),
        replace(CHANGED, is_hidden=True),
    ),
    facts=(
        "name", "email", "email_person", "email_reason", "phone", "decision_maker",
        "decision_maker_role", "decision_maker_reason", "owner", "follow_up_on", "extra",
        "notes", "tags", "street", "postal_code",
        "city", "country", "addresses", "website", "categories", "business_status",
        "confidence", "first_seen_at", "seen_at",
    ),
    facets=(
        "lead_status", "email_kind", "city", "country", "categories", "business_status",
        "tags", "owner_id",
    ),
    orders={"name": Company.name_order, "city": Company.city_order},
    quick_filters=(
        NAMED_PERSON,
        QuickFilter("Decision maker known", "decision_maker_id:known"),
        QuickFilter("Phone number", "phone:known"),
        NO_WEBSITE,
        CONTRADICTED,
        QuickFilter("New in the last 7 days", "first_seen_at:at_least:-P7D"),
        QuickFilter("My leads", "owner_id:equal:me"),
        QuickFilter("Follow-up due", "follow_up_on:at_most:P0D"),
        QuickFilter("Assigned to nobody", "owner_id:unknown"),
    ),
    words=(
        Company.name, Company.street, Company.city, Company.website, Company.phone,
        Company.notes,
    ),
    linked_words=(
        LinkedWords(
            Company.domain_id, Person.domain_id, (Person.name, Person.email, Person.phone)
        ),
        LinkedWords(
            Company.domain_id, Contact.domain_id, (Contact.name, Contact.email, Contact.phone)
        ),
    ),
    extras={
        "email": of_contact("email"),
        "email_person": whose_address("name"),
        "email_person_role": whose_address("role"),
        "decision_maker": of_decision_maker("name"),
        "decision_maker_role": of_decision_maker("role"),
        "decision_maker_email": of_decision_maker("email"),
        "owner": owner_name(),
        "domain": domain_name(Company.domain_id),
        "addresses": office_addresses(Company.domain_id),
        "deliverability": of_contact("deliverability"),
        "extra": brought_along(),
        **{name: verdict_on(field, Company.id) for name, field in JUDGED.items()},
    },
    linked={
        "map_verdict": by_verdict(Company.id),
        **{name: by_verdict(Company.id, field) for name, field in JUDGED.items()},
        "search_id": by_member_hit(),
        "source": by_source(),
        "domain": by_domain(Company.domain_id),
        "email": by_email("email"),
        "deliverability": by_email("deliverability"),
        "decision_maker": by_decision_maker("name"),
        "decision_maker_role": by_decision_maker("role"),
    },
    values={
        "deliverability": of_contact("deliverability"),
        "decision_maker_role": of_decision_maker("role"),
        "source": sources(),
        **{name: verdict_on(field, Company.id) for name, field in JUDGED.items()},
        "search_id": searches(),
    },
    related=(
        Related(kind="places", through=LinkTable(MEMBERS, "company_id", "place_id")),
        Related(kind="businesses", through=LinkTable(MEMBERS, "company_id", "business_id")),
        Related(kind="domains", ours="domain_id"),
        Related(kind="contacts", theirs="domain_id", ours="domain_id"),
        Related(kind="companies", theirs="domain_id", ours="domain_id"),
    ),
    origins=what_it_is_made_of,
    form="company",
    has_pairs=True,
    is_mergeable=True,
)  # fmt: skip
