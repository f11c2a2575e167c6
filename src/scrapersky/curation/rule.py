"""Rules: what a tenant wants decided without a person, with a preview and an undo."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from scrapersky.curation.action import ActionResult
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Comparison, Condition, read_conditions
from scrapersky.curation.decision import (
    Selection,
    count_selected,
    decide,
    decide_here,
    selection_clause,
)
from scrapersky.curation.page_choice import (
    domains_among,
    explain,
    pick_best,
    pick_within,
)
from scrapersky.curation.site_budget import SiteBudget
from scrapersky.db.transaction import Database, transaction
from scrapersky.errors import InvalidDecision, RecordConflict, UnknownRecord
from scrapersky.records import CURATED, Kind, SelectionRule, kind_named
from scrapersky.records.audit import Actor

SAMPLE_ROWS = 20
SITES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as code uses it."""

    id: UUID
    name: str
    kind: Kind
    conditions: tuple[Condition, ...]
    status: str
    best_first: bool = False

    @property
    def selects_pages(self) -> bool:
        """Whether what it selects is fetched, and so is bounded by the site's budget."""
        decision = self.kind.deciding
        return decision.is_within_site_budget and self.status == decision.on


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rule would decide now: how many, and some of them."""

    count: int
    sample: tuple[UUID, ...]


async def save_rule(
    database: Database,
    actor: Actor,
    *,
    name: str,
    kind: str,
    conditions: Sequence[Any],
    status: str,
    is_enabled: bool = True,
    best_first: bool = False,
) -> UUID:
    """Make a rule, or change the one of that name; raise if it makes no sense."""
    found = kind_named(kind, CURATED)
    found.status_named(status)
    read = read_conditions(conditions)
    where(found, read)
    check_best_first(found, status, best_first=best_first)
    values = {
        "kind": kind,
        "conditions": {"all": [c.model_dump(mode="json") for c in read]},
        "status": status,
        "is_enabled": is_enabled,
        "best_first": best_first,
    }
    statement = insert(SelectionRule).values(
        tenant_id=actor.tenant_id, created_by=actor.user_id, name=name, **values
    )
    statement = statement.on_conflict_do_update(
        index_elements=["tenant_id", "name"], set_=values
    )
    async with transaction(database) as connection:
        result = await connection.execute(statement.returning(SelectionRule.id))
        return UUID(str(result.scalar_one()))


async def rule_row(database: Database, tenant_id: UUID, rule_id: UUID) -> Any:  # noqa: ANN401
    """Return one rule of a tenant as it is stored, or raise UnknownRecord."""
    query = select(SelectionRule).where(
        SelectionRule.id == rule_id, SelectionRule.tenant_id == tenant_id
    )
    async with transaction(database) as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownRecord("There is no such rule.")
    return found


async def change_rule(
    database: Database,
    actor: Actor,
    rule_id: UUID,
    *,
    as_of: datetime | None,
    **changes: Any,  # noqa: ANN401 - name, kind, conditions, status, is_enabled
) -> bool:
    """Change a rule; say whether it still was as it was read (`as_of`).

    Raises if it makes no sense as a whole, or if its new name is taken.
    """
    row = await rule_row(database, actor.tenant_id, rule_id)
    kind = kind_named(changes.get("kind", row.kind), CURATED)
    kind.status_named(changes.get("status", row.status))
    read = read_conditions(changes.pop("conditions", row.conditions["all"]))
    where(kind, read)
    check_best_first(
        kind,
        changes.get("status", row.status),
        best_first=changes.get("best_first", row.best_first),
    )
    changes["conditions"] = {"all": [c.model_dump(mode="json") for c in read]}
    unchanged = SelectionRule.updated_at == as_of if as_of is not None else true()
    statement = (
        update(SelectionRule)
        .where(
            SelectionRule.id == rule_id,
            SelectionRule.tenant_id == actor.tenant_id,
            unchanged,
        )
        .values(**changes)
    )
    try:
        async with transaction(database) as connection:
            return bool((await connection.execute(statement)).rowcount)
    except IntegrityError as error:
        raise RecordConflict(
            "Another rule has this name.", hint="Choose another name."
        ) from error


async def delete_rule(database: Database, actor: Actor, rule_id: UUID) -> bool:
    """Remove a rule; what it decided stays decided."""
    async with transaction(database) as connection:
        result = await connection.execute(
            delete(SelectionRule).where(
                SelectionRule.id == rule_id, SelectionRule.tenant_id == actor.tenant_id
            )
        )
    return bool(result.rowcount)


async def preview(
    database: Database,
    tenant_id: UUID,
    kind: Kind,
    conditions: tuple[Condition, ...],
) -> Preview:
    """Report what a rule would decide about the records nobody has decided about."""
    selection = Selection(conditions=(undecided_condition(kind), *conditions))
    query = (
        select(kind.record.id)
        .where(selection_clause(kind, tenant_id, selection))
        .limit(SAMPLE_ROWS)
    )
    async with transaction(database) as connection:
        sample = (await connection.scalars(query)).all()
    return Preview(
        await count_selected(database, tenant_id, kind, selection), tuple(sample)
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
        Rule(
            row.id,
            row.name,
            kind,
            read_conditions(row.conditions["all"]),
            row.status,
            row.best_first,
        )
        for row in rows
    ]


async def apply_rules(
    connection: AsyncConnection,
    tenant_id: UUID,
    kind: Kind,
    *,
    user_id: UUID | None,
    among: Condition | None = None,
    site: SiteBudget | None = None,
) -> ActionResult:
    """Let a tenant's rules decide about undecided records, in the caller's transaction.

    `among` narrows it to the records a stage has just made. Each rule's decisions are
    an action of that rule, which can be undone like a person's. Of a site no more pages
    are selected than `site`, or a person, allows to be fetched.
    """
    total = ActionResult()
    for rule in await rules_of(connection, tenant_id, kind):
        actor = Actor(tenant_id, user_id, f"rule: {rule.name}")
        if rule.best_first:
            domains = await domains_among(connection, tenant_id, among)
            total += await take_best(connection, actor, rule, domains)
            continue
        if site is not None and rule.selects_pages:
            domains = await domains_among(connection, tenant_id, among)
            fits = (
                undecided_condition(kind),
                *rule.conditions,
                *((among,) if among else ()),
            )
            picked = await pick_within(connection, tenant_id, fits, domains, site)
            total += await select_pages(connection, actor, rule, picked)
            continue
        total += await decide_here(
            connection,
            actor,
            kind,
            rule.status,
            Selection(conditions=(undecided_condition(kind), *rule.conditions)),
            rule_id=rule.id,
            among=(among,) if among else (),
        )
    return total


async def take_best(
    connection: AsyncConnection, actor: Actor, rule: Rule, domains: Collection[UUID]
) -> ActionResult:
    """Let a rule select the best pages of some sites."""
    picks = await pick_best(connection, actor.tenant_id, rule.conditions, domains)
    await explain(connection, picks)
    return await select_pages(connection, actor, rule, picks)


async def select_pages(
    connection: AsyncConnection, actor: Actor, rule: Rule, pages: Collection[UUID]
) -> ActionResult:
    """Let a rule select these pages."""
    if not pages:
        return ActionResult()
    return await decide_here(
        connection,
        actor,
        rule.kind,
        rule.status,
        Selection(ids=tuple(pages)),
        rule_id=rule.id,
    )


def check_best_first(kind: Kind, status: str, *, best_first: bool) -> None:
    """Raise InvalidDecision unless a rule has sites whose pages it could order."""
    decision = kind.deciding
    has_sites = decision.is_within_site_budget and status == decision.on
    if best_first and not has_sites:
        raise InvalidDecision(
            "Only a rule that selects pages can take the best of each site.",
            hint=f"Make it a rule for pages, with the status {decision.on}.",
        )


async def run_rule(database: Database, actor: Actor, rule_id: UUID) -> ActionResult:
    """Let one rule decide now about what waits, chunk by chunk, enabled or not."""
    row = await rule_row(database, actor.tenant_id, rule_id)
    kind = kind_named(row.kind, CURATED)
    read = read_conditions(row.conditions["all"])
    conditions = (undecided_condition(kind), *read)
    if row.best_first:
        rule = Rule(row.id, row.name, kind, read, row.status, best_first=True)
        return await run_best_first(database, actor, rule)
    selection = Selection(conditions=conditions)
    if not await count_selected(database, actor.tenant_id, kind, selection):
        return ActionResult()
    return await decide(
        database,
        replace(actor, name=f"{actor.name}, by rule: {row.name}"),
        kind,
        row.status,
        selection,
        rule_id=rule_id,
    )


async def run_best_first(database: Database, actor: Actor, rule: Rule) -> ActionResult:
    """Let a rule take the best pages of every site now, some sites at a time."""
    async with transaction(database) as connection:
        domains = await domains_among(connection, actor.tenant_id, None)
    named = replace(actor, name=f"{actor.name}, by rule: {rule.name}")
    total = ActionResult()
    for start in range(0, len(domains), SITES_AT_ONCE):
        some = domains[start : start + SITES_AT_ONCE]
        async with transaction(database) as connection:
            total += await take_best(connection, named, rule, some)
    if total.queued and rule.kind.deciding.starts:
        await curation_sdk.control.wake(database, rule.kind.deciding.starts)
    return total


def undecided_condition(kind: Kind) -> Condition:
    """Rules never overrule a person: they decide only about what is new."""
    name = kind.deciding.column.key
    return Condition(
        field=name, comparison=Comparison.EQUAL, value=kind.deciding.undecided.value
    )
