"""Find the contacts of places: the one next step after a search or an import."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.curation.condition import Condition, auto_select_conditions
from scrapersky.curation.decision import Selection, decide, selection_clause
from scrapersky.curation.rule import save_rule
from scrapersky.errors import InvalidDecision
from scrapersky.records import CURATED
from scrapersky.records.audit import Actor
from scrapersky.records.company import COMPANIES, Company
from scrapersky.records.kind import Kind

FIRST_STEP: Final = "places"
MOST_COMPANIES: Final = 10_000
RULE: Final = "Find contacts: {many}"
RULES_OF: Final = text(
    "SELECT name FROM selection_rules WHERE tenant_id = :tenant AND is_enabled"
)
PLACES_OF: Final = text(
    """SELECT place_id FROM company_members
    WHERE tenant_id = :tenant AND company_id = ANY(:ids) AND place_id IS NOT NULL
    LIMIT :most"""
)


@dataclass(frozen=True, slots=True)
class ContactSearch:
    """What was begun: places on their way, and the rules that take them on."""

    selected: int
    queued: int
    action_id: UUID | None
    rules: Sequence[str]
    """The rules that were added, so that no step waits for a person."""


async def find_contacts(
    connection: AsyncConnection, actor: Actor, selection: Selection
) -> ContactSearch:
    """Select places that nobody has decided about, and see that each step is taken."""
    places = CURATED[FIRST_STEP]
    decision = places.deciding
    if decision.on is None:
        raise InvalidDecision("Places lead to nothing.")
    rules = await add_rules(connection, actor)
    undecided = Condition(field=decision.column.key, value=decision.undecided.value)
    if selection.ids is None:
        selection = replace(selection, conditions=(*selection.conditions, undecided))
    done = await decide(connection, actor, places, decision.on.value, selection)
    return ContactSearch(done.changed, done.queued, done.action_id, rules)


async def add_rules(connection: AsyncConnection, actor: Actor) -> list[str]:
    """Add the rules that take a selected place on to its contacts; return the new ones."""
    known = await connection.scalars(RULES_OF, {"tenant": actor.tenant_id})
    there = {*known}
    added = []
    for kind in CURATED.values():
        name = RULE.format(many=kind.plural.replace("_", " "))
        if name not in there and is_between(kind):
            await add_rule(connection, actor, kind, name)
            added.append(name)
    return added


def is_between(kind: Kind) -> bool:
    """Say whether records of a kind wait for a decision between a place and its contacts."""
    decision = kind.deciding
    return (
        kind.name != FIRST_STEP
        and decision.on is not None
        and decision.auto_select is not None
        and not decision.is_optional
    )


async def add_rule(
    connection: AsyncConnection, actor: Actor, kind: Kind, name: str
) -> None:
    """Add the rule that decides about a kind as is done where there is no person."""
    chosen = auto_select_conditions(kind) or ()
    await save_rule(
        connection,
        actor,
        name=name,
        kind=kind.name,
        conditions=[one.model_dump(mode="json") for one in chosen],
        status=str(kind.deciding.on),
        best_first=kind.deciding.is_within_site_budget,
    )


async def places_of(
    connection: AsyncConnection, actor: Actor, companies: Selection
) -> Selection:
    """Return the places of some companies."""
    meant = selection_clause(COMPANIES, actor.tenant_id, companies)
    query = Company.__table__.select().with_only_columns(Company.id).where(meant)
    ids = (await connection.scalars(query.limit(MOST_COMPANIES + 1))).all()
    if len(ids) > MOST_COMPANIES:
        raise InvalidDecision(
            f"More than {MOST_COMPANIES:,} companies at once; nothing was changed.",
            hint="Narrow the filter down.",
        )
    values = {"tenant": actor.tenant_id, "ids": [*ids], "most": 2 * MOST_COMPANIES}
    found = await connection.scalars(PLACES_OF, values)
    return Selection(ids=tuple(found.all()))


def of_search(search_id: UUID) -> Selection:
    """Mean the places that a search has found."""
    return Selection(conditions=(Condition(field="search_id", value=str(search_id)),))
