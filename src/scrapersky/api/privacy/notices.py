"""Who must be notified by when that their data is held, and who has been."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, Field, model_validator
from sqlalchemy import ColumnElement, Select, func, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.email_type import EmailType
from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import Admin, ChunkedConnection, Transaction, actor_of
from scrapersky.api.privacy.shape import FilteredListRequest, FilterRequest
from scrapersky.api.records.query import read_filters
from scrapersky.api.schema import COUNTED_ROWS, REFUSALS, ListOut, RequestModel, Total
from scrapersky.api.time_list import cursor_key, read_place, write_place
from scrapersky.api.title import Line
from scrapersky.curation.clause import clause
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.notice import (
    NoticeDetails,
    NoticeResult,
    mark_all_informed,
    mark_informed,
    mark_open,
    refuse_future,
)
from scrapersky.records import Contact, ContactNotice, Domain, Evidence
from scrapersky.records.notice import LegalBasis

router = APIRouter(prefix="/notices")

MOST_CONTACTS: Final = 10_000
SOURCES_SHOWN: Final = 5
FIELDS: Final = {
    column.key: column
    for column in (
        ContactNotice.contact_id, ContactNotice.obtained_at, ContactNotice.due_at,
        ContactNotice.legal_basis, ContactNotice.informed_at, ContactNotice.how,
        Contact.email, Contact.email_type, Contact.name, Contact.phone, Domain.domain,
    )
}  # fmt: skip
"""What a filter of the list may name."""


class NoticeState(StrEnum):
    """Which of the contacts the list shows."""

    OPEN = "open"
    OVERDUE = "overdue"
    INFORMED = "informed"


class NoticesWanted(FilterRequest):
    """Which contacts."""

    state: NoticeState = Field(
        NoticeState.OPEN,
        description="`open`: not informed yet; `overdue`: of these, whose month is over; "
        "`informed`: whom you have notified.",
    )


class NoticesAsked(NoticesWanted, FilteredListRequest):
    """Which page of the list; the ones due first come first."""


class NoticeSourceOut(BaseModel):
    """Where something about the contact was found."""

    url: str
    method: str = Field(examples=["mailto"])
    seen_at: datetime
    robots: str | None = Field(
        description="What the site's robots.txt said of the page."
    )


class NoticeOut(BaseModel):
    """One contact, and whether they were notified."""

    contact_id: UUID
    email: str | None
    email_type: EmailType = Field(
        description="An address of type SERVICE, as info@, is often nobody's own."
    )
    name: str | None
    phone: str | None
    domain: str
    obtained_at: datetime = Field(description="When the contact was first stored.")
    due_at: datetime = Field(description="A month later: they are notified by then.")
    is_overdue: bool
    informed_at: datetime | None
    informed_by: UUID | None
    how: str | None = Field(examples=["our first e-mail, with a link to the policy"])
    legal_basis: LegalBasis
    sources: list[NoticeSourceOut] = Field(
        description=f"The pages it was found on, the first {SOURCES_SHOWN}."
    )


class InformedIn(RequestModel):
    """Whom you have notified, when and how."""

    contact_ids: list[UUID] | None = Field(
        None, min_length=1, max_length=MOST_CONTACTS, description="Which contacts."
    )
    obtained_before: AwareDatetime | None = Field(
        None, description="Instead of ids: everyone whose data you had by then."
    )
    informed_at: AwareDatetime | None = Field(None, description="Without it: now.")
    how: Line | None = Field(
        None, description="How they were notified, or why they need not be."
    )
    legal_basis: LegalBasis | None = Field(
        None, description="Why their data is held, if not as it was."
    )

    @model_validator(mode="after")
    def names_whom(self) -> Self:
        """Refuse both, and neither."""
        if (self.contact_ids is None) == (self.obtained_before is None):
            raise ValueError("give either `contact_ids` or `obtained_before`")
        return self


class ReopenedIn(RequestModel):
    """Who has not been notified after all."""

    contact_ids: list[UUID] = Field(min_length=1, max_length=MOST_CONTACTS)


class MarkedOut(BaseModel):
    """What marking came to."""

    changed: int = Field(examples=[12])
    unchanged: int = Field(
        description="Marked so before, or no contacts of yours.", examples=[0]
    )


@router.get(
    "",
    operation_id="list_notices",
    summary="List who must be notified",
    response_model=ListOut[NoticeOut],
    responses=REFUSALS,
)
async def list_notices(
    request: Request,
    who: Admin,
    connection: Transaction,
    asked: Annotated[NoticesAsked, Query()],
) -> Any:  # noqa: ANN401 - the response model has the type
    """List contacts by when they must be notified that you hold their data, the next first.

    Whose data was got elsewhere is notified within a month what you hold, and from where
    (GDPR, article 14): each contact comes with the pages it was found on.
    """
    wanted = notices_wanted(who, asked)
    return await read_notices(request, connection, who, wanted, asked)


@router.post(
    "/informed",
    operation_id="mark_informed",
    summary="Mark people as notified",
    responses=REFUSALS,
)
async def inform(
    request: Request, who: Admin, connection: ChunkedConnection, asked: InformedIn
) -> MarkedOut:
    """Keep that people were notified; who was marked before keeps the earlier date."""
    refuse_future(asked.informed_at, utc_now())
    given = NoticeDetails(asked.informed_at, asked.how, asked.legal_basis)
    actor = actor_of(who, request)
    if asked.contact_ids is not None:
        done = await mark_informed(connection, actor, asked.contact_ids, given)
    else:
        assert asked.obtained_before is not None  # noqa: S101 - one of them is given
        done = await mark_all_informed(connection, actor, asked.obtained_before, given)
    return marked_out(done)


@router.post(
    "/open",
    operation_id="reopen_notices",
    summary="Mark people as not notified",
    responses=REFUSALS,
)
async def reopen(
    request: Request, who: Admin, connection: Transaction, asked: ReopenedIn
) -> MarkedOut:
    """Take it back that people were notified; they are due again as before."""
    return marked_out(
        await mark_open(connection, actor_of(who, request), asked.contact_ids)
    )


IS_OVERDUE: Final = ContactNotice.due_at < func.statement_timestamp()
STATES: Final[dict[NoticeState, tuple[ColumnElement[bool], ...]]] = {
    NoticeState.OPEN: (ContactNotice.informed_at.is_(None),),
    NoticeState.OVERDUE: (ContactNotice.informed_at.is_(None), IS_OVERDUE),
    NoticeState.INFORMED: (ContactNotice.informed_at.is_not(None),),
}


async def read_notices(
    request: Request,
    connection: AsyncConnection,
    who: Identity,
    wanted: list[ColumnElement[bool]],
    asked: NoticesAsked,
) -> dict[str, Any]:
    """Read one page, each contact with where it was found."""
    scope = [str(who.tenant_id), "contact_notices", asked.state, asked.filter]
    key = cursor_key(request)
    place = read_place(key, scope, asked.cursor)
    rows = await notices_after(connection, wanted, place, asked.limit + 1)
    some = notices_where(wanted).with_only_columns(literal(1)).limit(COUNTED_ROWS + 1)
    counting = select(func.count()).select_from(some.subquery())
    count = int(await connection.scalar(counting) or 0)
    shown = rows[: asked.limit]
    sources = await sources_of(connection, [row["contact_id"] for row in shown])
    following = None
    if len(rows) > asked.limit:
        last = shown[-1]
        following = write_place(key, scope, last["due_at"], last["contact_id"])
    return {
        "items": [
            {**row, "sources": sources.get(row["contact_id"], [])} for row in shown
        ],
        "next_cursor": following,
        "total": Total.up_to(count),
    }


def notices_wanted(who: Identity, asked: NoticesWanted) -> list[ColumnElement[bool]]:
    """Write which contacts are asked for."""
    return [
        ContactNotice.tenant_id == who.tenant_id,
        *STATES[asked.state],
        *(clause(FIELDS, condition) for condition in read_filters(asked.filter)),
    ]


def notices_where(wanted: list[ColumnElement[bool]]) -> Select[*tuple[Any, ...]]:
    """Write the query for contacts and whether they were notified."""
    return (
        select(
            ContactNotice.contact_id, *CONTACT, Domain.domain, ContactNotice.obtained_at,
            ContactNotice.due_at, ContactNotice.informed_at, ContactNotice.informed_by,
            ContactNotice.how, ContactNotice.legal_basis,
            IS_OVERDUE.label("is_overdue"),
        )
        .select_from(ContactNotice)
        .join(Contact, Contact.id == ContactNotice.contact_id)
        .join(Domain, Domain.id == Contact.domain_id)
        .where(*wanted)
    )  # fmt: skip


async def notices_after(
    connection: AsyncConnection,
    wanted: list[ColumnElement[bool]],
    place: tuple[datetime, object] | None,
    limit: int,
) -> list[dict[str, Any]]:
    """Read the next contacts behind a place in the order they are due in."""
    query = notices_where(wanted)
    if place is not None:
        here = (
            literal(place[0], ContactNotice.due_at.type),
            literal(place[1], ContactNotice.contact_id.type),
        )
        position = tuple_(ContactNotice.due_at, ContactNotice.contact_id)
        query = query.where(position > tuple_(*here))
    query = query.order_by(ContactNotice.due_at, ContactNotice.contact_id)
    rows = await connection.execute(query.limit(limit))
    return [dict(row) for row in rows.mappings()]


CONTACT: Final = (Contact.email, Contact.email_type, Contact.name, Contact.phone)


async def sources_of(
    connection: AsyncConnection, contacts: list[UUID]
) -> dict[UUID, list[dict[str, Any]]]:
    """Tell where contacts were found: each page once, the earliest first."""
    found = (
        select(
            Evidence.contact_id,
            Evidence.url,
            func.min(Evidence.method).label("method"),
            func.min(Evidence.seen_at).label("seen_at"),
            func.min(Evidence.robots).label("robots"),
            func.row_number()
            .over(
                partition_by=Evidence.contact_id,
                order_by=(func.min(Evidence.seen_at), Evidence.url),
            )
            .label("place"),
        )
        .where(Evidence.contact_id == func.any(literal(contacts)))
        .group_by(Evidence.contact_id, Evidence.url)
        .subquery()
    )
    query = select(found).where(found.c.place <= SOURCES_SHOWN)
    sources: dict[UUID, list[dict[str, Any]]] = {}
    rows = await connection.execute(query.order_by(found.c.contact_id, found.c.place))
    for row in rows.mappings():
        sources.setdefault(row["contact_id"], []).append(dict(row))
    return sources


def marked_out(done: NoticeResult) -> MarkedOut:
    """Write what marking came to."""
    return MarkedOut(changed=done.changed, unchanged=done.unchanged)
