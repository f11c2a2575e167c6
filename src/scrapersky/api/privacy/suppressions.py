"""The suppression list: who must be left alone."""

import asyncio
import codecs
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Bulk, Transaction, actor_of
from scrapersky.api.middleware.body import large_body
from scrapersky.api.operations.shape import NOT_FOUND
from scrapersky.api.privacy.shape import (
    REFUSALS,
    Admin,
    ListedBy,
    Region,
    Strict,
    Written,
    keep_no_copy,
    read_list,
)
from scrapersky.api.records.schema import RecordList
from scrapersky.api.title import Line
from scrapersky.errors import InvalidSubject
from scrapersky.privacy.subject import Subject, SubjectKind, any_subject
from scrapersky.privacy.suppression import Suppressing, lift, suppress_lines
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records import Suppression

router = APIRouter(prefix="/suppressions")

LARGEST_LIST: Final = 100 * 1024 * 1024
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


class SuppressionsIn(Strict):
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


class Refusal(BaseModel):
    """A line that says nothing we understand."""

    line: int
    reason: str


class SuppressedOut(BaseModel):
    """What adding to the list came to."""

    ids: list[UUID] = Field(description="The new entries (the first 1,000).")
    added: int
    known: int = Field(description="How many were on the list already.")
    contacts_removed: int
    refused: list[Refusal] = Field(description="The first 100.")


class ValuesIn(Strict):
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
    response_model=RecordList[SuppressionOut],
    responses=REFUSALS,
)
async def list_suppressions(
    request: Request, who: Admin, connection: Transaction, asked: ListedBy
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
    """Ask about values: each by its own entry, or by that of its domain."""
    keep_no_copy(request)
    subjects = await asyncio.to_thread(
        lambda: [read(value, asked.region) for value in asked.values]
    )
    named = [one.value for one in subjects if one and one.kind != SubjectKind.DOMAIN]
    hosts = [one.value for one in subjects if one and one.kind == SubjectKind.DOMAIN]
    guard = await look_up(connection, who.tenant_id, named, domains=hosts)
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
                is_suppressed=bool(one and hides[one.kind](one.value)),
            )
            for position, one in enumerate(subjects, start=1)
        ]
    )


@router.post(
    "/import",
    operation_id="import_suppressions",
    summary="Put a whole list on it",
    status_code=201,
    dependencies=[large_body(LARGEST_LIST)],
    responses=REFUSALS,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/plain": {"schema": {"type": "string", "maxLength": LARGEST_LIST}}
            },
        }
    },
)
async def import_suppressions(
    request: Request,
    who: Admin,
    engine: Bulk,
    reason: Annotated[Line | None, Query()] = None,
    region: Annotated[Region | None, Query()] = None,
) -> SuppressedOut:
    """Take a text or CSV file, one value a line in its first column, of any length."""
    total, number = Suppressing(), 0
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


def suppressed_out(done: Suppressing) -> SuppressedOut:
    """Write what adding to the list came to."""
    return SuppressedOut(
        ids=done.ids[:MOST_VALUES],
        added=len(done.ids),
        known=done.known,
        contacts_removed=done.contacts_removed,
        refused=[Refusal(line=line, reason=why) for line, why in done.refusals],
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
