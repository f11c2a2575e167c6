"""Ask a provider: pay first, judge the answer, try again where that may help."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from scrapersky.errors import ProviderError, ProviderUnusable
from scrapersky.providers.budget import Budget, Charge
from scrapersky.providers.client import (
    ProviderAnswer,
    ProviderClient,
    ProviderRequest,
    RequestPace,
    next_pause,
)

ReadT = TypeVar("ReadT")
ERROR_STATUS = 400


async def ask_paid(
    client: ProviderClient,
    request: ProviderRequest,
    judge: Callable[[ProviderAnswer], ReadT],
    *,
    budget: Budget,
    charge: Charge,
    pace: RequestPace | None = None,
) -> ReadT:
    """Return what the judge reads in the answer to a request that was paid before.

    Every try reserves its own price. An error answer is not billed by anyone, so its
    price is given back; a request without an answer may have been billed and is not.
    """
    failed = 0
    while True:
        if pace is not None:
            await pace.turn()
        await budget.reserve(charge)
        try:
            return await read_answer(
                client, request, judge, budget=budget, charge=charge
            )
        except ProviderError as error:
            failed += 1
            pause = next_pause(client.policy, failed, error.retry_after)
            if not error.retryable or pause is None:
                raise
        await asyncio.sleep(pause.total_seconds())


async def read_answer(
    client: ProviderClient,
    request: ProviderRequest,
    judge: Callable[[ProviderAnswer], ReadT],
    *,
    budget: Budget,
    charge: Charge,
) -> ReadT:
    """Make the request once; give its price back if the provider refused it."""
    answer = await client.ask(request)
    try:
        return judge(answer)
    except (ProviderError, ProviderUnusable):
        if answer.status >= ERROR_STATUS:
            await budget.refund(charge)
        raise
