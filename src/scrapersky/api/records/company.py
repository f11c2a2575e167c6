"""Companies are people's to work on: assign, note, tag, merge, split, answer."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy import and_, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import Curator, Reader, Transaction, actor_of
from scrapersky.api.field import OwnValue, RecordIds
from scrapersky.api.records.company_column import MOST_COLUMNS, own_values
from scrapersky.api.records.decide import selection_of
from scrapersky.api.records.detail import answer_detail, record_of
from scrapersky.api.records.edit import differing, locked, note_edit
from scrapersky.api.records.router import BASE, address_of
from scrapersky.api.records.schema import (
    LONGEST_WORDS,
    Detail,
    MergedDetail,
    record_model,
)
from scrapersky.api.records.version import Version, require_version
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, VERSIONS, RequestModel
from scrapersky.api.title import Title
from scrapersky.companies.correction import (
    answer_question,
    merges_into,
    questions,
    say_different,
    say_same,
    take_back_merge,
)
from scrapersky.curation.action import ActionResult, keep_merges, open_action
from scrapersky.curation.company_work import CompanyWork, work_on
from scrapersky.curation.condition import Conditions
from scrapersky.curation.undo import undo
from scrapersky.errors import InvalidDecision
from scrapersky.records import Company, User
from scrapersky.records.audit import Actor
from scrapersky.records.company import COMPANIES
from scrapersky.records.curation import ActionType
from scrapersky.records.status import PairVerdict

PATH = address_of(COMPANIES)
PAIRS = f"{BASE}/company-pairs"
MOST_MERGED = 50
MOST_QUESTIONS = 200
MOST_ASSIGNEES = 500
FOLLOW_UP = "The day on which to get in touch again; null: none."
MAY_OWN = and_(User.disabled_at.is_(None), User.is_system.is_(False))

router = APIRouter(tags=["records"])
OldTag = Annotated[str, Field(min_length=1, max_length=100)]
"""A tag to take away, whatever it holds."""
OwnValues = Annotated[
    dict[str, OwnValue],
    Field(
        max_length=MOST_COLUMNS,
        description="Values of your own columns; null takes one away.",
    ),
]

RECORDS = text(
    """SELECT id, source, name, phone, domain, street, postal_code, place_id,
      business_id, domain_id, score, reasons FROM company_members
    WHERE company_id = :company ORDER BY created_at, id LIMIT 200"""
)


class CompanyIn(RequestModel):
    """What to change; what is left out stays as it is, null makes it unknown."""

    owner_id: UUID | None = Field(None, description="Who works on it: a user of yours.")
    notes: str | None = Field(None, max_length=10_000)
    tags: list[Title] = Field([], max_length=100)
    own: OwnValues = Field({})
    follow_up_on: date | None = Field(None, description=FOLLOW_UP)


class WorkIn(RequestModel):
    """What to change on which companies: these ids, or all that a list would show."""

    ids: RecordIds | None = None
    filter: Conditions | None = None
    q: str | None = Field(None, max_length=LONGEST_WORDS)
    owner_id: UUID | None = Field(None, description="Null: nobody works on them.")
    add_tags: list[Title] = Field([], max_length=20)
    remove_tags: list[OldTag] = Field([], max_length=20)
    own: OwnValues = Field({})
    follow_up_on: date | None = Field(None, description=FOLLOW_UP)


class WorkOut(BaseModel):
    """What it came to, and the handle to undo it by."""

    action_id: UUID | None
    matched: int
    changed: int


class AssigneeOut(BaseModel):
    """Somebody a company may be assigned to."""

    id: UUID
    name: str


class CompanyMergeIn(RequestModel):
    """Which companies are one, and which of them stays."""

    ids: list[UUID] = Field(min_length=1, max_length=MOST_MERGED)
    into: UUID


class CompanySplitIn(RequestModel):
    """Which records of a company are another one."""

    records: list[UUID] = Field(min_length=1, max_length=200)


class PairAnswerIn(RequestModel):
    """Whether two records are one company."""

    verdict: PairVerdict


class CompanyRecordOut(BaseModel):
    """One record of a source that a company is made of, and why."""

    id: UUID
    source: str
    name: str | None
    phone: str | None
    domain: str | None
    street: str | None
    postal_code: str | None
    place_id: UUID | None
    business_id: UUID | None
    domain_id: UUID | None
    score: float | None = Field(description="How sure we are; null: it came first.")
    reasons: list[str] = Field(examples=[["same name", "same phone number"]])


class CompanyMergeOut(BaseModel):
    """Another company that became part of this one."""

    id: UUID
    gone_id: UUID
    records: int
    score: float | None
    reasons: list[str]
    is_by_person: bool
    created_at: datetime
    undone_at: datetime | None


class CompanyPartsOut(BaseModel):
    """What a company is made of."""

    records: list[CompanyRecordOut]
    merges: list[CompanyMergeOut]


class SideOut(BaseModel):
    """One of two records that may be one company."""

    company_id: UUID | None
    name: str | None
    phone: str | None
    domain: str | None
    street: str | None
    source: str


class CompanyPairOut(BaseModel):
    """Two records a person is asked about."""

    id: UUID
    score: float = Field(description="How likely they are one company.")
    reasons: list[str]
    verdict: PairVerdict | None
    is_disputed: bool = Field(description="Two people have said the opposite.")
    one: SideOut
    other: SideOut


class CompanySplitOut(BaseModel):
    """The company that was split off."""

    company_id: UUID


@router.patch(
    f"{PATH}/{{record_id}}",
    operation_id="edit_company",
    summary="Edit a company",
    response_model=Detail[record_model(COMPANIES)],  # type: ignore[misc]
    responses=REFUSALS | NOT_FOUND | VERSIONS,
)
async def edit_company(
    request: Request,
    *,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    asked: CompanyIn,
    version: Version = None,
) -> Any:  # noqa: ANN401 - the response model has the type
    """Assign a company, write notes and tags, say when to follow up.

    What the machine sums up in between is not a conflict; what another person wrote is.
    """
    changes = asked.model_dump(exclude_unset=True)
    await change_company(
        connection, actor_of(who, request), record_id, changes, version
    )
    return await answer_detail(connection, COMPANIES, record_id)


async def change_company(
    connection: AsyncConnection,
    actor: Actor,
    record_id: UUID,
    changes: dict[str, Any],
    version: str | None,
) -> None:
    """Change one company, unless another person has meanwhile."""
    row = await locked(connection, COMPANIES, record_id)
    worked_at = row.worked_at or row.created_at
    require_version(version, row.updated_at, since=worked_at)
    if "own" in changes:
        given = await own_values(connection, actor.tenant_id, changes["own"])
        own = {**row.own, **given}
        changes["own"] = {name: each for name, each in own.items() if each is not None}
    changes = differing(row, changes)
    if not changes:
        return
    await require_user(connection, changes.get("owner_id"))
    values = {**changes, "worked_at": func.clock_timestamp()}
    await connection.execute(
        update(Company).where(Company.id == record_id).values(values)
    )
    await note_edit(connection, actor, COMPANIES, row, changes)


@router.post(
    f"{PATH}/work",
    operation_id="work_on_companies",
    summary="Assign, tag and fill in companies",
    responses=REFUSALS,
)
async def work_on_many(
    request: Request, who: Curator, connection: Transaction, asked: WorkIn
) -> WorkOut:
    """Assign, tag or fill in companies by ids, or all that a filter means.

    It can be undone with `POST /api/v3/actions/{action_id}/undo`.
    """
    await require_user(connection, asked.owner_id)
    work = CompanyWork(
        assigns="owner_id" in asked.model_fields_set,
        owner_id=asked.owner_id,
        add_tags=asked.add_tags,
        remove_tags=asked.remove_tags,
        own=await own_values(connection, who.tenant_id, asked.own),
        sets_day="follow_up_on" in asked.model_fields_set,
        follow_up_on=asked.follow_up_on,
    )
    actor = actor_of(who, request)
    selection = selection_of(asked, who.user_id)
    return work_out(await work_on(connection, actor, selection, work))


def work_out(done: ActionResult) -> WorkOut:
    """Report work on companies, or its undo."""
    matched = done.changed + sum(done.skipped.values())
    return WorkOut(action_id=done.action_id, matched=matched, changed=done.changed)


@router.post(
    f"{BASE}/company-actions/{{action_id}}/undo",
    operation_id="undo_company_action",
    summary="Undo work on companies",
    deprecated=True,
    responses=REFUSALS | NOT_FOUND,
)
async def undo_action(
    request: Request, who: Curator, connection: Transaction, action_id: UUID
) -> WorkOut:
    """Undo work on companies as `POST /api/v3/actions/{action_id}/undo` does."""
    return work_out(await undo(connection, actor_of(who, request), action_id))


async def require_user(connection: AsyncConnection, user_id: UUID | None) -> None:
    """Raise unless the tenant has this user."""
    if user_id is None:
        return
    known = select(User.id).where(User.id == user_id, MAY_OWN)
    if await connection.scalar(known) is None:
        raise InvalidDecision(
            "There is no such user of yours.", hint="List them: GET /api/v3/assignees."
        )


@router.get(
    f"{BASE}/assignees",
    operation_id="list_assignees",
    summary="List who a company may be assigned to",
    responses=REFUSALS,
)
async def list_assignees(who: Reader, connection: Transaction) -> list[AssigneeOut]:
    """List the people of your tenant."""
    name = func.coalesce(User.name, User.email).label("name")
    query = select(User.id, name).where(User.tenant_id == who.tenant_id, MAY_OWN)
    rows = await connection.execute(query.order_by(name).limit(MOST_ASSIGNEES))
    return [AssigneeOut(id=row.id, name=row.name) for row in rows]


@router.get(
    f"{PATH}/{{record_id}}/records",
    operation_id="read_company_records",
    summary="Read what a company is made of",
    responses=REFUSALS | NOT_FOUND,
)
async def read_parts(
    who: Reader, connection: Transaction, record_id: UUID
) -> CompanyPartsOut:
    """Report which records a company is made of and why, and what was merged into it."""
    await record_of(connection, COMPANIES, record_id)
    records = (await connection.execute(RECORDS, {"company": record_id})).mappings()
    merges = await merges_into(connection, who.tenant_id, record_id)
    return CompanyPartsOut(
        records=[CompanyRecordOut(**row) for row in records],
        merges=[
            CompanyMergeOut.model_validate(row, from_attributes=True) for row in merges
        ],
    )


@router.post(
    f"{PATH}/merge",
    operation_id="merge_companies",
    summary="Merge companies",
    response_model=MergedDetail[record_model(COMPANIES)],  # type: ignore[misc]
    responses=REFUSALS | CONFLICT,
)
async def merge_companies(
    request: Request, who: Curator, connection: Transaction, asked: CompanyMergeIn
) -> Any:  # noqa: ANN401 - the response model has the type
    """Make one company of several; sources will not part them again.

    It can be undone with `POST /api/v3/actions/{action_id}/undo`.
    """
    actor = actor_of(who, request)
    count = len({*asked.ids} - {asked.into})
    action_id = await open_action(
        connection,
        actor,
        COMPANIES,
        ActionType.MERGED,
        selection={"ids": count},
        matched=count,
    )
    merges = await say_same(connection, actor, asked.into, asked.ids)
    ids = [(merge.id, merge.gone) for merge in merges]
    await keep_merges(connection, actor, action_id, ids)
    more = {"action_id": action_id}
    return await answer_detail(connection, COMPANIES, asked.into, more)


@router.post(
    f"{PATH}/{{record_id}}/split",
    operation_id="split_company",
    summary="Split a company",
    responses=REFUSALS | NOT_FOUND,
)
async def split_company(
    request: Request,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    asked: CompanySplitIn,
) -> CompanySplitOut:
    """Make some records of a company one of their own; they will not be put together."""
    await record_of(connection, COMPANIES, record_id)
    actor = actor_of(who, request)
    made = await say_different(connection, actor, record_id, asked.records)
    return CompanySplitOut(company_id=made)


@router.post(
    f"{BASE}/company-merges/{{merge_id}}/undo",
    operation_id="undo_company_merge",
    summary="Undo a merge of companies",
    responses=REFUSALS | NOT_FOUND,
)
async def undo_merge(
    request: Request, who: Curator, connection: Transaction, merge_id: UUID
) -> CompanySplitOut:
    """Give the other company back its key, its records, and what people wrote about it."""
    parted = await take_back_merge(connection, actor_of(who, request), merge_id)
    return CompanySplitOut(company_id=parted.gone)


@router.get(
    PAIRS,
    operation_id="list_company_pairs",
    summary="List possible duplicates",
    responses=REFUSALS,
)
async def list_pairs(who: Reader, connection: Transaction) -> list[CompanyPairOut]:
    """List the pairs that need a person: disputes first, then the likeliest."""
    rows = await questions(connection, who.tenant_id, MOST_QUESTIONS)
    return [
        CompanyPairOut(
            id=row.id,
            score=row.score,
            reasons=row.reasons,
            verdict=row.verdict,
            is_disputed=row.is_disputed,
            one=side(row, "one"),
            other=side(row, "other"),
        )
        for row in rows
    ]


def side(row: Any, name: str) -> SideOut:  # noqa: ANN401 - a row
    """Describe one of two records."""
    names = ("name", "phone", "domain", "street", "source")
    values = {each: getattr(row, f"{name}_{each}") for each in names}
    return SideOut(company_id=getattr(row, f"{name}_id"), **values)


@router.post(
    f"{PAIRS}/{{pair_id}}/answer",
    operation_id="answer_company_pair",
    summary="Say whether two records are one company",
    status_code=204,
    responses=REFUSALS | NOT_FOUND,
)
async def answer_pair(
    request: Request,
    who: Curator,
    connection: Transaction,
    pair_id: UUID,
    asked: PairAnswerIn,
) -> None:
    """Answer with `same` or `different`: the last word of a person always stands."""
    await answer_question(connection, actor_of(who, request), pair_id, asked.verdict)
