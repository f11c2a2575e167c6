"""Money: every request's price is set aside before the request is made."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from scrapersky.errors import BudgetExhausted


@dataclass(frozen=True, slots=True)
class Charge:
    """What one request will cost."""

    provider: str
    what: str
    """The item on the provider's price list."""
    amount: Decimal
    currency: str = "USD"


class Budget(Protocol):
    """Money that requests are paid out of.

    A durable one commits the charge before `reserve` returns. Whoever dies between
    the reservation and the answer has paid for one request too many at most, and the
    sum of all charges can never pass the cap.
    """

    async def reserve(self, charge: Charge) -> None:
        """Set the amount aside, or raise BudgetExhausted and change nothing."""
        ...

    async def refund(self, charge: Charge) -> None:
        """Take back a reservation for a request that the provider did not bill."""
        ...


class LocalBudget:
    """A budget that lives as long as the process, for tools and tests."""

    def __init__(self, cap: Decimal | None = None) -> None:
        self.cap = cap
        self.spent = Decimal(0)
        self.requests = 0

    async def reserve(self, charge: Charge) -> None:
        """Set the amount aside, or raise BudgetExhausted and change nothing."""
        refuse_overspending(charge, spent=self.spent, cap=self.cap)
        self.spent += charge.amount
        self.requests += 1

    async def refund(self, charge: Charge) -> None:
        """Take back a reservation for a request that the provider did not bill."""
        self.spent -= charge.amount


def refuse_overspending(charge: Charge, *, spent: Decimal, cap: Decimal | None) -> None:
    """Raise BudgetExhausted if the charge would carry the sum over the cap."""
    if cap is not None and charge.amount > 0 and spent + charge.amount > cap:
        raise BudgetExhausted(
            charge.provider,
            f"the budget of {cap} {charge.currency} is spent up to {spent}; the next "
            f"request ({charge.what}) costs {charge.amount}",
            hint="Raise the budget of the search and queue it again: it continues "
            "where it stopped.",
        )
