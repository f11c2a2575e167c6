"""One person: show them everything that is held, or erase it."""

from typing import Any, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator
from sqlalchemy.exc import SQLAlchemyError

from scrapersky.api.dependency import (
    Admin,
    SystemChunkedConnection,
    SystemTransaction,
    actor_of,
)
from scrapersky.api.privacy.shape import Region, Written, keep_no_copy
from scrapersky.api.schema import REFUSALS, RequestModel
from scrapersky.db.failure import explain
from scrapersky.db.transaction import retry_after_disconnect
from scrapersky.errors import DatabaseProblem, ErasureUnfinished
from scrapersky.privacy.person import MAX_RECORDS, erase_person, export_person
from scrapersky.privacy.subject import Subject, email_subject, phone_subject

router = APIRouter(prefix="/people")


class PersonIn(RequestModel):
    """Who is meant: by e-mail address or by phone number."""

    email: Written | None = Field(None, examples=["ada@example.com"])
    phone: Written | None = Field(None, examples=["+44 20 7946 0018"])
    region: Region | None = None

    @model_validator(mode="after")
    def names_one(self) -> Self:
        """Refuse both, and neither."""
        if (self.email is None) == (self.phone is None):
            raise ValueError("give either `email` or `phone`")
        return self

    def subject(self) -> Subject:
        """Return who is meant."""
        if self.email is not None:
            return email_subject(self.email)
        return phone_subject(self.phone or "", self.region)


class HeldOut(BaseModel):
    """One record that says something about the person."""

    table: str = Field(examples=["contacts"])
    id: str | None
    values: dict[str, Any]
    origin: list[dict[str, Any]] = Field(
        description="Where it was found: page, method, time; or source and licence."
    )


class PersonDataOut(BaseModel):
    """Everything that is held about a person."""

    records: list[HeldOut]
    is_complete: bool = Field(
        description=f"false: there are more than {MAX_RECORDS:,}."
    )


class ErasedOut(BaseModel):
    """What an erasure came to: records by table."""

    deleted: dict[str, int] = Field(examples=[{"contacts": 1, "contact_evidence": 3}])
    cleaned: dict[str, int] = Field(examples=[{"domains": 1}])
    suppressed: bool = Field(description="It will not be stored again.")


@router.post(
    "/export",
    operation_id="export_person",
    summary="Show what is held about a person",
    responses=REFUSALS,
)
async def show_person(
    request: Request, who: Admin, connection: SystemTransaction, asked: PersonIn
) -> PersonDataOut:
    """Gather every record of your tenant in which the person is written."""
    keep_no_copy(request)
    held = await export_person(connection, actor_of(who, request), asked.subject())
    return PersonDataOut(
        records=[
            HeldOut(table=one.table, id=one.id, values=one.values, origin=one.origin)
            for one in held
        ],
        is_complete=len(held) < MAX_RECORDS,
    )


@router.post(
    "/erase",
    operation_id="erase_person",
    summary="Erase a person",
    responses=REFUSALS,
)
async def forget_person(
    request: Request, who: Admin, connection: SystemChunkedConnection, asked: PersonIn
) -> ErasedOut:
    """Erase a person from every table of your tenant, and keep them from coming back.

    Done again, it finishes what was interrupted.
    """
    keep_no_copy(request)
    actor, subject = actor_of(who, request), asked.subject()
    try:
        done = await retry_after_disconnect(
            connection, lambda: erase_person(connection, actor, subject)
        )
    except (SQLAlchemyError, OSError) as error:
        raise unfinished(error) from error
    return ErasedOut(deleted=done.deleted, cleaned=done.cleaned, suppressed=True)


def unfinished(error: Exception) -> Exception:
    """Say that a part may be erased already; what is no outage is not changed."""
    state = explain(error)
    if not isinstance(state, DatabaseProblem):
        return error
    return ErasureUnfinished(
        f"The erasure is not finished. {state}",
        hint="Send it again until it is answered with 200: it goes on where it was.",
    )
