"""The suppression list: who must be left alone."""

import asyncio
import codecs
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import (
    Admin,
    BulkEngine,
    ChunkedConnection,
    Transaction,
    actor_of,
)
from scrapersky.api.middleware.body import large_body
from scrapersky.api.privacy.shape import (
    FilteredListParameters,
    Region,
    Written,
    keep_no_copy,
    read_list,
)
from scrapersky.api.records.decide import set_status
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.schema import StatusIn, StatusOut
from scrapersky.api.records.unpacking import ANY_BYTES
from scrapersky.api.schema import NOT_FOUND, REFUSALS, ListOut, RequestModel
from scrapersky.api.title import Line
from scrapersky.errors import InvalidSubject
from scrapersky.privacy.stopped import stopped_among, stopped_companies
from scrapersky.privacy.subject import Subject, SubjectKind, any_subject
from scrapersky.privacy.suppression import SuppressionResult, lift, suppress_lines
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records import Suppression
from scrapersky.records.company import COMPANIES
from scrapersky.records.status import LeadStatus

router = APIRouter(prefix="/suppressions")

MAX_LIST_BYTES: Final = 100 * 1024 * 1024
LINES_AT_ONCE: Final = 2_000
LONGEST_LINE: Final = 4_096
MOST_VALUES: Final = 1_000


class SuppressionOut(BaseModel):
    """One entry; whom it protects is known only to whoever asks with the value."""

    id: UUID
    kind: SubjectKind
    reason: str | None
    created_at: datetime
    created_by: UUID | None


class SuppressionsIn(RequestModel):
    """Whom to leave alone from now on."""

    values: list[Written] = Field(
        min_length=1,
        max_length=MOST_VALUES,
        description="E-mail addresses, phone numbers and domains.",
        examples=[["ada@example.com", "+44 20 7946 0018", "example.org"]],
    )
    reason: Line | None = None
    region: Region | None = None
    dry_run: bool = Field(
        default=False, description="Only say how many contacts would be removed."
    )


class RefusedValue(BaseModel):
    """A line that says nothing we understand."""

    line: int
    reason: str


class SuppressedOut(BaseModel):
    """What adding to the list came to."""

    ids: list[UUID] = Field(description="The new entries (the first 1,000).")
    added: int
    known: int = Field(description="How many were on the list already.")
    contacts_removed: int
    refused: list[RefusedValue] = Field(description="The first 100.")


class ValuesIn(RequestModel):
    """Which values to look up."""

    values: list[Written] = Field(min_length=1, max_length=MOST_VALUES)
    region: Region | None = None


class CheckedOut(BaseModel):
    """What the list says about one value."""

    position: int = Field(description="Which of the values it is, from 1.")
    kind: SubjectKind | None = Field(description="null: none of the three.")
    is_suppressed: bool


class ChecksOut(BaseModel):
    """What the list says about every value."""

    items: list[CheckedOut]


@router.get(
    "",
    operation_id="list_suppressions",
    summary="List the entries",
    response_model=ListOut[SuppressionOut],
    responses=REFUSALS,
)
async def list_suppressions(
    request: Request, who: Admin, connection: Transaction, asked: FilteredListParameters
) -> Any:  # noqa: ANN401 - the response model has the type
    """List the entries, the latest first; the values themselves are kept nowhere."""
    columns = (
        Suppression.id, Suppression.kind, Suppression.reason, Suppression.created_at,
        Suppression.created_by,
    )  # fmt: skip
    return await read_list(request, connection, who, columns, asked)


@router.post(
    "",
    operation_id="create_suppressions",
    summary="Leave people alone",
    status_code=201,
    responses=REFUSALS,
)
async def create_suppressions(
    request: Request, who: Admin, connection: Transaction, asked: SuppressionsIn
) -> SuppressedOut:
    """Put values on the list and remove the contacts that have them, at once.

    From then on no stage, import or edit stores them, and no export hands them out.
    """
    async with connection.begin_nested() as attempt:
        done = await suppress_lines(
            connection,
            actor_of(who, request),
            asked.values,
            reason=asked.reason,
            region=asked.region,
        )
        if asked.dry_run:
            await attempt.rollback()
    answer = suppressed_out(done)
    return answer.model_copy(update={"ids": []}) if asked.dry_run else answer


@router.post(
    "/check",
    operation_id="check_suppressions",
    summary="Ask whether values are on the list",
    responses=REFUSALS,
)
async def check_suppressions(
    request: Request, who: Admin, connection: Transaction, asked: ValuesIn
) -> ChecksOut:
    """Ask about values: each by its own entry, by that of its domain, or its company."""
    keep_no_copy(request)
    subjects = await asyncio.to_thread(
        lambda: [read(value, asked.region) for value in asked.values]
    )
    named = [one.value for one in subjects if one and one.kind != SubjectKind.DOMAIN]
    hosts = [one.value for one in subjects if one and one.kind == SubjectKind.DOMAIN]
    guard = await look_up(connection, who.tenant_id, named, domains=hosts)
    rows = [{one.kind.value: one.value} if one else {} for one in subjects]
    stopped = await stopped_among(connection, who.tenant_id, rows)
    hides = {
        SubjectKind.EMAIL: guard.hides_email,
        SubjectKind.PHONE: guard.hides_phone,
        SubjectKind.DOMAIN: guard.hides_domain,
    }
    return ChecksOut(
        items=[
            CheckedOut(
                position=position,
                kind=one.kind if one else None,
                is_suppressed=bool(
                    one and (hides[one.kind](one.value) or stopped.hides(one.value))
                ),
            )
            for position, one in enumerate(subjects, start=1)
        ]
    )


@router.post(
    "/import",
    operation_id="import_suppressions",
    summary="Put a whole list on it",
    status_code=201,
    dependencies=[large_body(MAX_LIST_BYTES)],
    responses=REFUSALS,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/plain": {
                    "schema": {"type": "string", "maxLength": MAX_LIST_BYTES}
                },
                ANY_BYTES: {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "maxLength": MAX_LIST_BYTES,
                    }
                },
            },
        }
    },
)
async def import_suppressions(
    request: Request,
    who: Admin,
    engine: BulkEngine,
    reason: Annotated[Line | None, Query()] = None,
    region: Annotated[Region | None, Query()] = None,
) -> SuppressedOut:
    """Take a text or CSV file, one value a line in its first column, of any length."""
    total, number = SuppressionResult(), 0
    async for lines in line_groups(request.stream()):
        done = await suppress_lines(
            engine,
            actor_of(who, request),
            lines,
            reason=reason,
            region=region,
            first=number + 1,
        )
        number += len(lines)
        total.add(done)
    return suppressed_out(total)


class StoppedCompanyOut(BaseModel):
    """A company on the list, which its lead status says."""

    id: UUID
    name: str | None
    domain: str | None
    phone: str | None
    since: datetime | None = Field(description="When it was put there; null: unknown.")
    by: str | None = Field(description="Who did.")


class StoppedCompaniesOut(BaseModel):
    """Companies on the list, the latest change first."""

    items: list[StoppedCompanyOut]
    next_after: UUID | None = Field(description="Go on with `after`.")


class StoppedAsked(RequestModel):
    """Which part of the companies on the list."""

    q: str | None = Field(None, max_length=200, description="A part of the name.")
    limit: int = Field(50, ge=1, le=200)
    after: UUID | None = Field(None, description="`next_after` of the part before.")


@router.get(
    "/companies",
    operation_id="list_stopped_companies",
    summary="List the companies that must not be contacted",
    responses=REFUSALS,
)
async def list_stopped(
    who: Admin, connection: Transaction, asked: Annotated[StoppedAsked, Query()]
) -> StoppedCompaniesOut:
    """List the companies of the status Do Not Contact, with when and by whom it was set."""
    found = await stopped_companies(
        connection, who.tenant_id, words=asked.q, after=asked.after, most=asked.limit
    )
    rows = found[: asked.limit]
    return StoppedCompaniesOut(
        items=[StoppedCompanyOut(**row._asdict()) for row in rows],
        next_after=rows[-1].id if len(found) > asked.limit else None,
    )


@router.delete(
    "/companies/{company_id}",
    operation_id="lift_stopped_company",
    summary="Take a company off the list",
    responses=REFUSALS | NOT_FOUND,
)
async def lift_stopped(
    request: Request, who: Admin, connection: ChunkedConnection, company_id: UUID
) -> StatusOut:
    """Give a company the status New again; it can be undone like any decision."""
    await record_of(connection, COMPANIES, company_id)
    asked = StatusIn(ids=[company_id], status=LeadStatus.NEW.value)
    return await set_status(connection, actor_of(who, request), COMPANIES, asked)


@router.delete(
    "/{suppression_id}",
    operation_id="delete_suppression",
    summary="Take an entry off the list",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def delete_suppression(
    request: Request, who: Admin, connection: Transaction, suppression_id: UUID
) -> None:
    """Take an entry off; its values come back only if they are found anew."""
    await lift(connection, actor_of(who, request), suppression_id)


def read(value: str, region: str | None) -> Subject | None:
    """Read a value; None for what is none of the three."""
    try:
        return any_subject(value, region)
    except InvalidSubject:
        return None


def suppressed_out(done: SuppressionResult) -> SuppressedOut:
    """Write what adding to the list came to."""
    return SuppressedOut(
        ids=done.ids[:MOST_VALUES],
        added=len(done.ids),
        known=done.known,
        contacts_removed=done.contacts_removed,
        refused=[RefusedValue(line=line, reason=why) for line, why in done.refusals],
    )


async def line_groups(parts: AsyncIterator[bytes]) -> AsyncIterator[list[str]]:
    """Yield lines as they arrive, some at a time; a line without end is cut."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    rest, group = "", list[str]()
    async for part in parts:
        *lines, rest = (rest + decoder.decode(part).replace("\x00", "")).split("\n")
        rest = rest[:LONGEST_LINE]
        group += (line[:LONGEST_LINE] for line in lines)
        while len(group) >= LINES_AT_ONCE:
            yield group[:LINES_AT_ONCE]
            group = group[LINES_AT_ONCE:]
    yield [*group, rest]
