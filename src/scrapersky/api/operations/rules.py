"""Rules: what is decided without a person; make, try, switch, run, see, undo."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

import orjson
from fastapi import APIRouter, Header, Request, Response, status
from pydantic import BaseModel, Field
from sqlalchemy import Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import (
    BulkEngine,
    Curator,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.operations.actions import ActionOut, actions_page
from scrapersky.api.operations.state import Operations
from scrapersky.api.problem import Problem
from scrapersky.api.records.schema import CuratedName
from scrapersky.api.records.version import etag_of, require_version
from scrapersky.api.schema import (
    CONFLICT,
    NOT_FOUND,
    ListOut,
    RequestModel,
    Word,
)
from scrapersky.api.tenancy import BULK_TIMEOUT, acting_for
from scrapersky.api.time_list import PageAsked
from scrapersky.api.title import Line
from scrapersky.curation.action import ActionResult
from scrapersky.curation.clause import where
from scrapersky.curation.condition import (
    Condition,
    Conditions,
    in_short,
    read_conditions,
)
from scrapersky.curation.rule import (
    change_rule,
    delete_rule,
    preview,
    rule_row,
    run_rule,
    save_rule,
)
from scrapersky.errors import RecordChanged, RecordConflict, UnknownRecord
from scrapersky.records import CURATED, CurationAction, Kind, SelectionRule, kind_named
from scrapersky.records.audit import note

router = APIRouter(prefix="/api/v3/rules", tags=["rules"])

MOST_RULES: Final = 200
MAX_RULES_BYTES: Final = 1_048_576
"""Bytes of the conditions of a tenant's rules together: a list shows all of them."""
RUN_WAIT_SECONDS: Final = 5.0
"""Seconds a run is waited for; it goes on after that."""


class RuleOut(BaseModel):
    """A rule, and what it has decided so far."""

    id: UUID
    name: str = Field(examples=["Good dentists"])
    kind: str = Field(examples=["places"])
    conditions: list[Condition]
    status: str = Field(examples=["Selected"])
    is_enabled: bool
    best_first: bool = Field(
        description="Of the pages that fit, only the best of each site, within its budget."
    )
    created_at: datetime
    updated_at: datetime
    etag: str = Field(description="Send it as `If-Match` with a change.")
    decided: int = Field(description="Records it decided about and that stand so.")
    actions: int = Field(description="How often it decided.")
    last_decided_at: datetime | None


class RuleIn(RequestModel):
    """A rule to make: all conditions must hold; it decides about new records only."""

    name: Line = Field(examples=["Good dentists"])
    kind: CuratedName
    conditions: Conditions = Field(
        examples=[[{"field": "rating", "comparison": "at_least", "value": 4}]]
    )
    status: Word = Field(examples=["Selected"])
    is_enabled: bool = True
    best_first: bool = Field(
        default=False,
        description="For pages that are selected: only the best of each site, within its"
        " budget, chosen a few at a time by what the others held.",
    )


class RuleChange(RequestModel):
    """What to change of a rule; the rest stays."""

    name: Line | None = None
    conditions: Conditions | None = None
    status: Word | None = None
    is_enabled: bool | None = None
    best_first: bool | None = None


class PreviewIn(RequestModel):
    """A rule to try without saving it."""

    kind: CuratedName
    conditions: Conditions = Field(default_factory=list)
    status: Word | None = Field(None, description="Checked too, if it is given.")


class SampleOut(BaseModel):
    """A record the rule would decide about."""

    id: UUID
    label: str | None


class PreviewOut(BaseModel):
    """What a rule would decide now."""

    count: int
    sample: list[SampleOut]


class RuleRunOut(BaseModel):
    """What a run of a rule came to, as far as it was waited for."""

    finished: bool
    action_id: UUID | None = Field(
        description="Follow it at GET /actions/{id}; null if nothing was to decide."
    )
    changed: int
    queued: int
    skipped: dict[str, int]


@router.get("", operation_id="list_rules")
async def list_rules(who: Reader, connection: Transaction) -> list[RuleOut]:
    """List the rules, the oldest first: in this order they decide."""
    return await shown_rules(connection, who.tenant_id)


@router.post(
    "",
    operation_id="create_rule",
    status_code=status.HTTP_201_CREATED,
    responses=CONFLICT,
)
async def create_rule(
    who: Curator,
    request: Request,
    connection: Transaction,
    body: RuleIn,
) -> RuleOut:
    """Make a rule; it decides about records as they are made from now on."""
    count, taken = await count_rules(connection, who.tenant_id, body.name)
    if taken:
        raise RecordConflict("Another rule has this name.", hint="Choose another.")
    if count >= MOST_RULES:
        raise RecordConflict(f"There are {MOST_RULES} rules already.")
    await require_room(connection, who.tenant_id, body.conditions)
    actor = actor_of(who, request)
    rule_id = await save_rule(
        connection,
        actor,
        name=body.name,
        kind=body.kind,
        conditions=body.conditions,
        status=body.status,
        is_enabled=body.is_enabled,
        best_first=body.best_first,
    )
    noted = {**body.model_dump(), "conditions": in_short(body.conditions)}
    await note(connection, actor, "made", f"rule {body.name}", noted)
    return await one_rule(connection, who.tenant_id, rule_id)


@router.post("/preview", operation_id="preview_rule")
async def preview_rule(
    who: Reader,
    connection: Transaction,
    body: PreviewIn,
) -> PreviewOut:
    """Report what a rule would decide about the records nobody has decided about."""
    kind = kind_named(body.kind, CURATED)
    if body.status is not None:
        kind.status_named(body.status)
    read = read_conditions(body.conditions)
    where(kind, read)
    found = await preview(connection, who.tenant_id, kind, read)
    labels = await labels_of(connection, kind, found.sample)
    sample = [SampleOut(id=one, label=labels.get(one)) for one in found.sample]
    return PreviewOut(count=found.count, sample=sample)


@router.get("/{rule_id}", operation_id="read_rule", responses=NOT_FOUND)
async def read_rule(
    who: Reader,
    connection: Transaction,
    response: Response,
    rule_id: UUID,
) -> RuleOut:
    """Read one rule."""
    found = await one_rule(connection, who.tenant_id, rule_id)
    response.headers["ETag"] = found.etag
    return found


@router.patch(
    "/{rule_id}",
    operation_id="change_rule",
    responses={
        **NOT_FOUND,
        **CONFLICT,
        412: {"model": Problem, "description": "Someone changed it meanwhile"},
        428: {"model": Problem, "description": "If-Match is missing"},
    },
)
async def patch_rule(
    *,
    who: Curator,
    request: Request,
    connection: Transaction,
    rule_id: UUID,
    body: RuleChange,
    if_match: Annotated[str | None, Header(max_length=100)] = None,
) -> RuleOut:
    """Change a rule, or switch it on or off; what it decided stays decided."""
    row = await rule_row(connection, who.tenant_id, rule_id)
    require_version(if_match, row.updated_at)
    actor = actor_of(who, request)
    changes = body.model_dump(exclude_none=True)
    if body.conditions is not None:
        await require_room(connection, who.tenant_id, body.conditions, beside=rule_id)
    if changes:
        as_of = None if if_match == "*" else row.updated_at
        if not await change_rule(connection, actor, rule_id, as_of=as_of, **changes):
            raise RecordChanged(
                "Someone else changed the rule in the meantime.",
                hint="Read it again, and make your change of what it is now.",
            )
        noted = {**changes}
        if body.conditions is not None:
            noted["conditions"] = in_short(body.conditions)
        await note(connection, actor, "changed", f"rule {row.name}", noted)
    return await one_rule(connection, who.tenant_id, rule_id)


@router.delete(
    "/{rule_id}",
    operation_id="delete_rule",
    status_code=status.HTTP_204_NO_CONTENT,
    responses=NOT_FOUND,
)
async def remove_rule(
    who: Curator,
    request: Request,
    connection: Transaction,
    rule_id: UUID,
) -> None:
    """Remove a rule; what it decided stays decided, and can still be undone."""
    row = await rule_row(connection, who.tenant_id, rule_id)
    actor = actor_of(who, request)
    if not await delete_rule(connection, actor, rule_id):
        raise UnknownRecord("There is no such rule.")
    await note(connection, actor, "removed", f"rule {row.name}")


@router.post("/{rule_id}/run", operation_id="run_rule", responses=NOT_FOUND)
async def run_one_rule(
    *,
    who: Curator,
    request: Request,
    response: Response,
    engine: BulkEngine,
    operations: Operations,
    rule_id: UUID,
) -> RuleRunOut:
    """Let a rule decide now about what waits; 202 if that takes a while."""
    # The run outlives its request, so it cannot be in the request's transaction.
    actor = actor_of(who, request)
    row = await rule_row(engine, who.tenant_id, rule_id)

    async def run() -> ActionResult:
        with acting_for(who.tenant_id, statement_timeout=BULK_TIMEOUT):
            return await run_rule(engine, actor, rule_id)

    task = operations.send(run(), f"rule {row.name}")
    done, _ = await asyncio.wait({task}, timeout=RUN_WAIT_SECONDS)
    if done:
        decided = task.result()
        return RuleRunOut(
            finished=True,
            action_id=decided.action_id,
            changed=decided.changed,
            queued=decided.queued,
            skipped=decided.skipped,
        )
    response.status_code = status.HTTP_202_ACCEPTED
    async with engine.connect() as connection:
        action = await latest_action(connection, rule_id)
    return RuleRunOut(
        finished=False,
        action_id=action.id if action else None,
        changed=action.changed_count if action else 0,
        queued=action.queued_count if action else 0,
        skipped=action.skipped if action else {},
    )


@router.get("/{rule_id}/actions", operation_id="list_rule_actions", responses=NOT_FOUND)
async def list_rule_actions(
    *,
    who: Reader,
    connection: Transaction,
    page: PageAsked,
    rule_id: UUID,
) -> ListOut[ActionOut]:
    """List what a rule decided, the latest first; each can be undone."""
    await rule_row(connection, who.tenant_id, rule_id)
    return await actions_page(connection, who, page, rule_id=rule_id)


async def one_rule(connection: Transaction, tenant_id: UUID, rule_id: UUID) -> RuleOut:
    """Show one rule, or raise UnknownRecord."""
    found = await shown_rules(connection, tenant_id, rule_id)
    if not found:
        raise UnknownRecord("There is no such rule.")
    return found[0]


async def shown_rules(
    connection: AsyncConnection, tenant_id: UUID, rule_id: UUID | None = None
) -> list[RuleOut]:
    """Show rules with what they have decided."""
    rule, action = SelectionRule, CurationAction
    decided = (
        select(
            action.rule_id,
            func.count().label("actions"),
            func.sum(action.changed_count)
            .filter(action.undone_at.is_(None))
            .label("decided"),
            func.max(action.created_at).label("last_decided_at"),
        )
        .where(action.rule_id.is_not(None), action.tenant_id == tenant_id)
        .group_by(action.rule_id)
        .subquery()
    )
    query = (
        select(
            rule,
            func.coalesce(decided.c.actions, 0).label("actions"),
            func.coalesce(decided.c.decided, 0).label("decided"),
            decided.c.last_decided_at,
        )
        .outerjoin(decided, decided.c.rule_id == rule.id)
        .where(rule.tenant_id == tenant_id)
        .order_by(rule.created_at, rule.id)
    )
    if rule_id is not None:
        query = query.where(rule.id == rule_id)
    rows = (await connection.execute(query)).all()
    return [
        RuleOut(
            **{name: getattr(row, name) for name in PLAIN},
            conditions=row.conditions["all"],
            etag=etag_of(row.updated_at),
        )
        for row in rows
    ]


PLAIN: Final = (
    "id",
    "name",
    "kind",
    "status",
    "is_enabled",
    "best_first",
    "created_at",
    "updated_at",
    "decided",
    "actions",
    "last_decided_at",
)


async def count_rules(
    connection: AsyncConnection, tenant_id: UUID, name: str
) -> tuple[int, bool]:
    """Count a tenant's rules, and say whether one has this name."""
    query = select(
        func.count(), func.coalesce(func.bool_or(SelectionRule.name == name), False)
    ).where(SelectionRule.tenant_id == tenant_id)
    count, taken = (await connection.execute(query)).one()
    return count, taken


async def require_room(
    connection: AsyncConnection,
    tenant_id: UUID,
    conditions: list[Condition],
    *,
    beside: UUID | None = None,
) -> None:
    """Raise unless a tenant's rules together stay short enough to be listed."""
    size = func.octet_length(cast(SelectionRule.conditions, Text))
    query = select(func.coalesce(func.sum(size), 0)).where(
        SelectionRule.tenant_id == tenant_id, SelectionRule.id.is_distinct_from(beside)
    )
    mine = orjson.dumps([each.model_dump(mode="json") for each in conditions])
    if int(await connection.scalar(query) or 0) + len(mine) > MAX_RULES_BYTES:
        raise RecordConflict(
            f"The conditions of all rules are longer than {MAX_RULES_BYTES:,} bytes.",
            hint="Shorten the lists of this rule, or delete another.",
        )


async def labels_of(
    connection: AsyncConnection, kind: Kind, ids: tuple[UUID, ...]
) -> dict[UUID, str | None]:
    """Return what people know records by."""
    label = func.left(kind.label_expression, 300)
    rows = await connection.execute(
        select(kind.record.id, label).where(kind.record.id.in_(ids))
    )
    return {row[0]: row[1] for row in rows}


async def latest_action(connection: AsyncConnection, rule_id: UUID) -> Any:  # noqa: ANN401 - a row
    """Return the action a rule has opened last."""
    query = (
        select(CurationAction)
        .where(CurationAction.rule_id == rule_id)
        .order_by(CurationAction.created_at.desc())
        .limit(1)
    )
    return (await connection.execute(query)).one_or_none()
