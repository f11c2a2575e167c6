"""Rules: what a tenant wants decided without a person, with a preview and an undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky import engine as queue_engine
from scrapersky.curation.condition import Comparison, Condition, read_conditions, where
from scrapersky.curation.decision import (
    Actor,
    Decided,
    Selection,
    count_selected,
    decide_here,
    selected,
)
from scrapersky.curation.kind import Kind, kind_named
from scrapersky.models import CurationAction, SelectionRule

SAMPLE = 20


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as code uses it."""

    id: UUID
    name: str
    kind: Kind
    conditions: tuple[Condition, ...]
    status: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rule would decide now: how many, and some of them."""

    count: int
    sample: tuple[UUID, ...]


async def save_rule(
    engine: AsyncEngine,
    actor: Actor,
    *,
    name: str,
    kind: str,
    conditions: Sequence[Any],
    status: str,
    is_enabled: bool = True,
) -> UUID:
    """Make a rule, or change the one of that name; raise if it makes no sense."""
    found = kind_named(kind)
    found.status_named(status)
    read = read_conditions(conditions)
    where(found, read)
    values = {
        "kind": kind,
        "conditions": {"all": [c.model_dump(mode="json") for c in read]},
        "status": status,
        "is_enabled": is_enabled,
    }
    statement = insert(SelectionRule).values(
        tenant_id=actor.tenant_id, created_by=actor.user_id, name=name, **values
    )
    statement = statement.on_conflict_do_update(
        index_elements=["tenant_id", "name"], set_=values
    )
    async with engine.begin() as connection:
        result = await connection.execute(statement.returning(SelectionRule.id))
        return UUID(str(result.scalar_one()))


async def delete_rule(engine: AsyncEngine, actor: Actor, rule_id: UUID) -> bool:
    """Remove a rule; what it decided stays decided."""
    async with engine.begin() as connection:
        result = await connection.execute(
            delete(SelectionRule).where(
                SelectionRule.id == rule_id, SelectionRule.tenant_id == actor.tenant_id
            )
        )
    return bool(result.rowcount)


async def preview(
    engine: AsyncEngine,
    tenant_id: UUID,
    kind: Kind,
    conditions: tuple[Condition, ...],
) -> Preview:
    """Tell what a rule would decide about the records nobody has decided about."""
    selection = Selection(conditions=(undecided(kind), *conditions))
    query = (
        select(kind.model.id).where(selected(kind, tenant_id, selection)).limit(SAMPLE)
    )
    async with engine.connect() as connection:
        sample = (await connection.scalars(query)).all()
    return Preview(
        await count_selected(engine, tenant_id, kind, selection), tuple(sample)
    )


async def rules_of(
    connection: AsyncConnection, tenant_id: UUID, kind: Kind
) -> list[Rule]:
    """Return the enabled rules of a tenant for one kind, oldest first."""
    query = (
        select(SelectionRule)
        .where(
            SelectionRule.tenant_id == tenant_id,
            SelectionRule.kind == kind.name,
            SelectionRule.is_enabled,
        )
        .order_by(SelectionRule.created_at, SelectionRule.id)
    )
    rows = (await connection.execute(query)).all()
    return [
        Rule(row.id, row.name, kind, read_conditions(row.conditions["all"]), row.status)
        for row in rows
    ]


async def apply_rules(
    connection: AsyncConnection,
    tenant_id: UUID,
    kind: Kind,
    *,
    user_id: UUID | None,
    among: Condition | None = None,
) -> Decided:
    """Let a tenant's rules decide about undecided records, in the caller's transaction.

    `among` narrows it to the records a stage has just made. Each rule's decisions are
    an action of that rule, which can be undone like a person's.
    """
    total = Decided()
    for rule in await rules_of(connection, tenant_id, kind):
        actor = Actor(tenant_id, user_id, f"rule: {rule.name}")
        conditions = (undecided(kind), *((among,) if among else ()), *rule.conditions)
        total += await decide_here(
            connection,
            actor,
            kind,
            rule.status,
            Selection(conditions=conditions),
            rule_id=rule.id,
        )
    return total


async def run_rules(
    engine: AsyncEngine, tenant_id: UUID, kind: Kind, *, user_id: UUID | None
) -> Decided:
    """Let the rules decide about everything that waits for a decision now."""
    async with engine.begin() as connection:
        total = await apply_rules(connection, tenant_id, kind, user_id=user_id)
    if total.queued:
        await queue_engine.wake(engine, kind.stage)
    return total


async def decided_counts(engine: AsyncEngine, rule_id: UUID) -> int:
    """Count what a rule has decided so far."""
    query = select(func.coalesce(func.sum(CurationAction.changed_count), 0)).where(
        CurationAction.rule_id == rule_id, CurationAction.undone_at.is_(None)
    )
    async with engine.connect() as connection:
        return int(await connection.scalar(query) or 0)


def undecided(kind: Kind) -> Condition:
    """Rules never overrule a person: they decide only about what is new."""
    name = kind.status.key
    return Condition(field=name, comparison=Comparison.EQUAL, value="New")
