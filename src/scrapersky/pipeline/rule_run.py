"""Let the tenants' rules decide about the new records of a group of items, once for all."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from curation_sdk import Transaction
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.rule import apply_rules
from scrapersky.curation.site_budget import SiteBudget
from scrapersky.pipeline.settlement import SettleStep
from scrapersky.records import KINDS


@dataclass(frozen=True, slots=True)
class RuleRun:
    """A run of a tenant's rules over the records of a kind with a value in a field."""

    kind: str
    field: str
    tenant_id: UUID
    user_id: UUID
    value: UUID
    site: SiteBudget | None = None
    """What is set for every site, where pages are chosen among."""


@SettleStep
async def run_rules(transaction: Transaction, runs: list[RuleRun]) -> None:
    """Apply every tenant's rules once to the records of a kind.

    So a rule's decisions about items that settle together are one action, with one line
    in the audit, and are undone as one.
    """
    groups: dict[tuple[str, str], list[RuleRun]] = defaultdict(list)
    for run in runs:
        groups[run.kind, run.field].append(run)
    for (name, field), some in groups.items():
        kind = KINDS[name]
        values: dict[tuple[UUID, UUID], set[str]] = defaultdict(set)
        for run in some:
            values[run.tenant_id, run.user_id].add(str(run.value))
        for (tenant_id, user_id), wanted in sorted(values.items()):
            decided = await apply_rules(
                transaction.connection,
                tenant_id,
                kind,
                user_id=user_id,
                site=some[0].site,
                among=Condition(
                    field=field, comparison=Comparison.ONE_OF, value=sorted(wanted)
                ),
            )
            if decided.queued and kind.deciding.starts:
                transaction.wake(kind.deciding.starts)
