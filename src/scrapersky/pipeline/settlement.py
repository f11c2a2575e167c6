"""What is done once for all items that settle together, and in which order.

Items that settle together share a transaction. A step runs once in it, with what all of
the items and the steps before it have added; after the last step it is committed.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar

from curation_sdk import Transaction

ValueT = TypeVar("ValueT")

SETTLE_STEPS: Final = (
    "store_visits",
    "store_unreachable",
    "settle_sites",
    "name_contacts",
    "run_rules",
    "count_gains",
    # Last of all: every worker of the tenant waits for this row.
    "charge_tenants",
)


class SettleStep(Generic[ValueT]):
    """A function that is called once before the commit, at its place in the order."""

    def __init__(
        self, act: Callable[[Transaction, list[ValueT]], Awaitable[None]]
    ) -> None:
        self.act = act
        self.name = act.__name__
        self.position = SETTLE_STEPS.index(self.name)

    def add(self, transaction: Transaction, value: ValueT) -> None:
        """Have the step run with this value among others; only later steps may be added to."""
        transaction.at_end(_run_first, (self, value))


async def _run_first(
    transaction: Transaction, added: list[tuple[SettleStep[Any], Any]]
) -> None:
    """Run the first step that has values; what it adds to others joins what is left."""
    first = min((step for step, _ in added), key=lambda step: step.position)
    for step, value in added:
        if step is not first:
            step.add(transaction, value)
    await first.act(transaction, [value for step, value in added if step is first])
