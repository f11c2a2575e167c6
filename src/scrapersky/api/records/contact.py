"""People correct contacts: create, edit, merge, delete, validate."""

from collections.abc import Iterator
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import Field, field_validator, model_validator
from sqlalchemy import delete, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.email_quality import judge_email
from contact_extraction.email_type import EmailType
from scrapersky.api.dependency import Curator, Transaction, actor_of
from scrapersky.api.records.decide import set_status
from scrapersky.api.records.detail import answer_detail, answer_with, record_of
from scrapersky.api.records.edit import differing, locked, note_edit
from scrapersky.api.records.router import address_of
from scrapersky.api.records.schema import (
    Detail,
    MergedDetail,
    StatusIn,
    StatusOut,
    record_model,
)
from scrapersky.api.records.version import Version, require_version
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, VERSIONS, RequestModel
from scrapersky.api.title import Title
from scrapersky.curation.batch.submission import SubmittedLine
from scrapersky.errors import (
    InvalidDecision,
    InvalidSubject,
    RecordConflict,
    UnknownRecord,
)
from scrapersky.kit.canonical import canonical_email, canonical_phone
from scrapersky.privacy.notice import merge_notices
from scrapersky.privacy.suppression_filter import refuse_suppressed
from scrapersky.records import KINDS, Contact, Domain, Evidence
from scrapersky.records.audit import Actor, note
from scrapersky.records.contact import BY_HAND

CONTACTS = KINDS["contacts"]
PATH = address_of(CONTACTS)
MOST_MERGED = 50

router = APIRouter(tags=["records"])
Text = Annotated[str, Field(max_length=500)]


class AddressIn(RequestModel):
    """A postal address in its parts."""

    text: Text | None = None
    street: Text | None = None
    city: Text | None = None
    state: Text | None = None
    postal_code: Text | None = None
    country: Text | None = None


class ContactIn(RequestModel):
    """What to change; what is left out stays as it is, null makes it unknown."""

    email: str | None = Field(None, max_length=254)
    name: Text | None = None
    role: Text | None = None
    phone: str | None = Field(
        None, max_length=40, description="With its country code: +44 20 7946 0018."
    )
    address: AddressIn | None = None
    social_links: dict[Text, Text] = Field({}, max_length=50)
    notes: str | None = Field(None, max_length=10_000)
    tags: list[Title] = Field([], max_length=100)

    @field_validator("email")
    @classmethod
    def spelt_email(cls, value: str | None) -> str | None:
        """Accept what is an address, in its one form."""
        if value is None:
            return None
        try:
            address = canonical_email(value)
        except InvalidSubject:
            raise ValueError("not an e-mail address") from None
        if not judge_email(address).is_valid:
            raise ValueError("not an e-mail address")
        return address

    @field_validator("phone")
    @classmethod
    def spelt_phone(cls, value: str | None) -> str | None:
        """Accept what is a number with its country code, in its one form."""
        if value is None:
            return None
        try:
            return canonical_phone(value)
        except InvalidSubject:
            raise ValueError("not a phone number with its country code") from None


class NewContactIn(ContactIn):
    """A contact that somebody types in: of a known domain, with a way to reach it."""

    domain: str = Field(
        min_length=1,
        max_length=500,
        description="A domain you have, by its name or an address on it.",
        examples=["harbour-dental.example"],
    )

    @model_validator(mode="after")
    def is_reachable(self) -> Self:
        """Refuse who can be reached neither by e-mail nor by phone."""
        if self.email is None and self.phone is None:
            raise ValueError("give an e-mail address or a phone number")
        return self


class MergeIn(RequestModel):
    """Which contacts are one, and which of them stays."""

    ids: list[UUID] = Field(min_length=1, max_length=MOST_MERGED)
    into: UUID


@router.post(
    PATH,
    operation_id="create_contact",
    summary="Create a contact",
    status_code=201,
    response_model=Detail[record_model(CONTACTS)],  # type: ignore[misc]
    responses=REFUSALS | NOT_FOUND | CONFLICT,
)
async def create_contact(
    request: Request, who: Curator, connection: Transaction, asked: NewContactIn
) -> Any:  # noqa: ANN401 - the response model has the type
    """Create a contact by hand; every value is kept with who typed it."""
    actor = actor_of(who, request)
    try:
        record_id = await create(connection, actor, asked)
    except IntegrityError:
        raise RecordConflict(
            "The domain has a contact with this e-mail address or number.",
            hint="Edit that one.",
        ) from None
    row = await record_of(connection, CONTACTS, record_id)
    return await answer_with(connection, CONTACTS, row, status=201)


async def create(
    connection: AsyncConnection, actor: Actor, asked: NewContactIn
) -> UUID:
    """Store a contact that somebody typed in."""
    values = asked.model_dump(exclude={"domain"}, exclude_unset=True)
    await refuse_suppressed(connection, actor.tenant_id, values)
    kind = judge_email(asked.email).type if asked.email else EmailType.UNKNOWN
    record_id: UUID = (
        await connection.execute(
            insert(Contact)
            .values(
                **values,
                tenant_id=actor.tenant_id,
                created_by=actor.user_id,
                domain_id=await domain_called(connection, actor, asked.domain),
                email_type=kind,
                confidence=1.0,
            )
            .returning(Contact.id)
        )
    ).scalar_one()
    await keep_evidence(connection, actor, record_id, values, how="typed")
    await note(connection, actor, "created", "contacts", record_id=record_id)
    return record_id


async def domain_called(
    connection: AsyncConnection, actor: Actor, written: str
) -> UUID:
    """Return the tenant's domain of this name; raise UnknownRecord if there is none."""
    name = SubmittedLine.read(1, written).domain
    found: UUID | None = await connection.scalar(
        select(Domain.id).where(
            Domain.tenant_id == actor.tenant_id, Domain.domain == name
        )
    )
    if found is None:
        raise UnknownRecord(
            f"You have no domain {written[:100]!r}.",
            hint="Submit it first: POST /api/v3/domains.",
        )
    return found


@router.patch(
    f"{PATH}/{{record_id}}",
    operation_id="edit_contact",
    summary="Edit a contact",
    response_model=Detail[record_model(CONTACTS)],  # type: ignore[misc]
    responses=REFUSALS | NOT_FOUND | CONFLICT | VERSIONS,
)
async def edit_contact(
    request: Request,
    *,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    asked: ContactIn,
    version: Version = None,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Change values by hand; each is kept with who wrote it, and stays at a re-crawl."""
    changes = asked.model_dump(exclude_unset=True)
    actor = actor_of(who, request)
    try:
        await change_contact(connection, actor, record_id, changes, version)
    except IntegrityError:
        raise RecordConflict(
            "Another contact of the same domain has this e-mail address or number, or "
            "the contact would have neither.",
            hint="Merge the two, or keep one way to reach it.",
        ) from None
    return await answer_detail(connection, CONTACTS, record_id)


async def change_contact(
    connection: AsyncConnection,
    actor: Actor,
    record_id: UUID,
    changes: dict[str, Any],
    version: str | None,
) -> None:
    """Change one contact, unless someone else has meanwhile."""
    row = await locked(connection, CONTACTS, record_id)
    require_version(version, row.updated_at)
    changes = differing(row, changes)
    if not changes:
        return
    await refuse_suppressed(connection, actor.tenant_id, changes)
    values = dict(changes)
    if changes.get("email"):
        # What was found out about the old address is not true of the new one.
        values["email_type"] = judge_email(changes["email"]).type
        values |= {"validation": None, "validated_at": None}
    await connection.execute(
        update(Contact).where(Contact.id == record_id).values(values)
    )
    await keep_evidence(connection, actor, record_id, changes)
    await note_edit(connection, actor, CONTACTS, row, changes)


async def keep_evidence(
    connection: AsyncConnection,
    actor: Actor,
    record_id: UUID,
    changes: dict[str, Any],
    *,
    how: str = "written",
) -> None:
    """Keep with every value who wrote it."""
    rows = [
        {
            "tenant_id": actor.tenant_id,
            "created_by": actor.user_id,
            "contact_id": record_id,
            "field": name,
            "value": value,
            "url": "",
            "snippet": f"{how} by {actor.name}",
            "method": BY_HAND,
            "confidence": 1.0,
            "seen_at": func.clock_timestamp(),
        }
        for name, value in written(changes)
    ]
    for row in rows:
        await connection.execute(upsert(Evidence).values(row).on_conflict_do_nothing())


def written(changes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the values that somebody wrote, under the names a crawl gives them.

    What somebody took away is kept as nothing, which no page fills again.
    """
    for name, value in changes.items():
        if name in {"notes", "tags"}:
            continue  # about the contact, not of it
        if name == "social_links":
            yield from (value or {}).items()
        elif name == "address":
            joined = ", ".join(part for part in (value or {}).values() if part)
            if joined:
                yield name, value.get("text") or joined
        else:
            yield name, value or ""


@router.delete(
    f"{PATH}/{{record_id}}",
    operation_id="delete_contact",
    summary="Delete a contact",
    status_code=204,
    responses=REFUSALS | NOT_FOUND | VERSIONS,
)
async def delete_contact(
    request: Request,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    version: Version = None,
) -> None:
    """Delete a contact with its evidence; to keep it away for good, suppress it."""
    row = await locked(connection, CONTACTS, record_id)
    if version is not None:
        require_version(version, row.updated_at)
    await connection.execute(delete(Contact).where(Contact.id == record_id))
    actor = actor_of(who, request)
    await note(connection, actor, "deleted", "contacts", record_id=record_id)


@router.post(
    f"{PATH}/{{record_id}}/validate",
    operation_id="validate_contact",
    summary="Validate a contact",
    responses=REFUSALS | NOT_FOUND,
)
async def validate_contact(
    request: Request, who: Curator, connection: Transaction, record_id: UUID
) -> StatusOut:
    """Queue a contact for validation, also if it was validated before."""
    await record_of(connection, CONTACTS, record_id)
    asked = StatusIn(ids=[record_id], status="Queued", force=True)
    return await set_status(connection, actor_of(who, request), CONTACTS, asked)


@router.post(
    f"{PATH}/merge",
    operation_id="merge_contacts",
    summary="Merge contacts",
    response_model=MergedDetail[record_model(CONTACTS)],  # type: ignore[misc]
    responses=REFUSALS | CONFLICT,
)
async def merge_contacts(
    request: Request,
    who: Curator,
    connection: Transaction,
    asked: MergeIn,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Make one contact of several: it keeps what it has, and takes what it lacks."""
    others = [each for each in dict.fromkeys(asked.ids) if each != asked.into]
    await merge(connection, actor_of(who, request), asked.into, others)
    more = {"action_id": None}
    return await answer_detail(connection, CONTACTS, asked.into, more)


async def merge(
    connection: AsyncConnection, actor: Actor, into: UUID, others: list[UUID]
) -> None:
    """Merge contacts into one; raise before anything is written if one is not there."""
    wanted = [into, *others]
    query = (
        select(Contact)
        .where(Contact.id == func.any(literal(wanted)))
        .order_by(Contact.id)
        .with_for_update()
    )
    rows = {row.id: row for row in await connection.execute(query)}
    if len(rows) < len(wanted) or not others:
        raise InvalidDecision(
            "A merge needs two or more contacts of yours; nothing was changed.",
            hint="List the contacts again: some may be gone.",
        )
    kept, merged = rows[into], [rows[each] for each in others]
    values = united(kept, merged)
    # Whoever is merged goes first: two contacts may not have the same address.
    await move_evidence(connection, into, others)
    await merge_notices(connection, into, others)
    await connection.execute(
        delete(Contact).where(Contact.id == func.any(literal(others)))
    )
    await connection.execute(update(Contact).where(Contact.id == into).values(values))
    details = {
        "merged": [
            {"id": str(each.id), "email": each.email, "phone": each.phone}
            for each in merged
        ]
    }
    await note(connection, actor, "merged", "contacts", details, record_id=into)


def united(kept: Any, merged: list[Any]) -> dict[str, Any]:  # noqa: ANN401 - rows
    """Return the values of several contacts as one."""
    values: dict[str, Any] = {}
    for name in ("email", "name", "role", "phone", "address", "page_id", "notes"):
        known = [getattr(each, name) for each in (kept, *merged)]
        values[name] = next((value for value in known if value), None)
    notes = [each.notes for each in (kept, *merged) if each.notes]
    values["notes"] = "\n\n".join(dict.fromkeys(notes)) or None
    for name in ("phones", "social_links"):
        values[name] = {}
        for each in (*reversed(merged), kept):
            values[name] |= getattr(each, name) or {}
    tags = [tag for each in (kept, *merged) for tag in each.tags]
    values["tags"] = list(dict.fromkeys(tags))
    known = [each.confidence for each in (kept, *merged) if each.confidence is not None]
    values["confidence"] = max(known, default=None)
    if kept.email is None and values["email"] is not None:
        source = next(each for each in merged if each.email == values["email"])
        values["email_type"] = source.email_type
    return values


async def move_evidence(
    connection: AsyncConnection, into: UUID, others: list[UUID]
) -> None:
    """Give a contact the evidence of others, each piece once."""
    columns = [
        column.name
        for column in Evidence.__table__.columns
        if column.name not in {"id", "contact_id", "created_at", "updated_at"}
    ]
    theirs = select(
        literal(into), *(getattr(Evidence, name) for name in columns)
    ).where(Evidence.contact_id == func.any(literal(others)))
    await connection.execute(
        upsert(Evidence)
        .from_select(["contact_id", *columns], theirs)
        .on_conflict_do_nothing()
    )
