"""Let the tenants' rules decide about what a group of items has made, once for all."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from curation_sdk import Transaction
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.rule import apply_rules
from scrapersky.curation.site_budget import SiteBudget
from scrapersky.records import KINDS


@dataclass(frozen=True, slots=True)
class Made:
    """What one item has made: whose it is, and by which value it is found."""

    tenant_id: UUID
    user_id: UUID
    value: UUID
    site: SiteBudget | None = None
    """What is set for every site, where pages are chosen among."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Rules choose among records of a kind that have one of some values in a field.

    Items that settle together are chosen among together: a rule's decisions about them
    are one action, with one line in the audit, and are undone as one.
    """

    kind: str
    field: str

    def among(
        self,
        transaction: Transaction,
        tenant_id: UUID,
        user_id: UUID,
        value: UUID,
        *,
        site: SiteBudget | None = None,
    ) -> None:
        """Let the rules choose at the end of the transaction."""
        transaction.at_end(self, Made(tenant_id, user_id, value, site))

    async def __call__(self, transaction: Transaction, made: list[Made]) -> None:
        """Apply every tenant's rules once."""
        kind = KINDS[self.kind]
        values: dict[tuple[UUID, UUID], set[str]] = defaultdict(set)
        for each in made:
            values[each.tenant_id, each.user_id].add(str(each.value))
        for (tenant_id, user_id), some in sorted(values.items()):
            decided = await apply_rules(
                transaction.connection,
                tenant_id,
                kind,
                user_id=user_id,
                site=made[0].site,
                among=Condition(
                    field=self.field, comparison=Comparison.ONE_OF, value=sorted(some)
                ),
            )
            if decided.queued and kind.deciding.starts:
                transaction.wake(kind.deciding.starts)
