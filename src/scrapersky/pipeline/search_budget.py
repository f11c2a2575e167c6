"""Money for searches: every charge is committed before the request is made."""

from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.errors import BudgetExhausted
from scrapersky.providers.budget import Budget, Charge
from scrapersky.records import PlaceSearch


class SearchBudget(Budget):
    """Pays out of the search's own budget; the charge is committed before the call."""

    def __init__(self, database: AsyncEngine, search_id: UUID) -> None:
        self._database = database
        self._search_id = search_id

    async def reserve(self, charge: Charge) -> None:
        """Set the amount aside, or raise BudgetExhausted and change nothing."""
        if not charge.amount:
            return
        statement = (
            update(PlaceSearch)
            .where(
                PlaceSearch.id == self._search_id,
                PlaceSearch.budget.is_(None)
                | (PlaceSearch.spent + charge.amount <= PlaceSearch.budget),
            )
            .values(spent=PlaceSearch.spent + charge.amount)
            .returning(PlaceSearch.spent)
        )
        async with self._database.begin() as connection:
            if (await connection.execute(statement)).one_or_none() is not None:
                return
            state = (
                await connection.execute(
                    select(PlaceSearch.spent, PlaceSearch.budget).where(
                        PlaceSearch.id == self._search_id
                    )
                )
            ).one()
        raise BudgetExhausted(
            charge.provider,
            f"the budget of {state.budget} {charge.currency} is spent up to "
            f"{state.spent}; the next request ({charge.what}) costs {charge.amount}.",
            hint="Raise the budget of the search and queue it again: it continues "
            "where it stopped.",
        )

    async def refund(self, charge: Charge) -> None:
        """Take back a reservation for a request that was not billed."""
        async with self._database.begin() as connection:
            await connection.execute(
                update(PlaceSearch)
                .where(PlaceSearch.id == self._search_id)
                .values(spent=PlaceSearch.spent - charge.amount)
            )
