"""Whether a failure may be our own: asked before a site or an address is blamed for it."""

from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import GiveUp, Later, Outcome, Retry, queries
from curation_sdk.registry import AnyStage
from scrapersky.errors import BadTls, ConnectFailed, DnsFailed

RETRY_DELAY = timedelta(seconds=15)
"""When an item is tried again that this machine could not judge."""


class HealthProbe(Protocol):
    """Says whether this machine is fit to judge others."""

    async def dns_fault(self) -> str | None:
        """Say what is wrong with the way names are resolved here; None if nothing is."""
        ...

    async def route_fault(self) -> str | None:
        """Say what is wrong with the way hosts are reached from here."""
        ...

    async def tls_fault(self) -> str | None:
        """Say what is wrong with the way certificates are checked here."""
        ...


class AssumedHealthy:
    """Is always sure of itself; for tools and tests."""

    async def dns_fault(self) -> str | None:
        """Find nothing wrong."""
        return None

    async def route_fault(self) -> str | None:
        """Find nothing wrong."""
        return None

    async def tls_fault(self) -> str | None:
        """Find nothing wrong."""
        return None


async def reclassify(outcome: Outcome, health: HealthProbe) -> Outcome:
    """Return an outcome, or `Later` for a failure that is this machine's own."""
    if not isinstance(outcome, Retry | GiveUp):
        return outcome
    match outcome.cause:
        case DnsFailed():
            why = await health.dns_fault()
        case ConnectFailed():
            why = await health.route_fault()
        case BadTls():
            why = await health.tls_fault()
        case _:
            why = None
    return outcome if why is None else Later(why, RETRY_DELAY)


def with_health_check(stage: AnyStage) -> AnyStage:
    """Return a stage whose items are not blamed for a failure of this machine."""
    work = stage.work

    async def checked_work(item: Any, tools: Any) -> Outcome:  # noqa: ANN401
        return await reclassify(await work(item, tools), tools.health)

    return stage.configured(work=checked_work)


async def was_tried_before(reader: AsyncEngine, stage: str, item: UUID) -> bool:
    """Say whether an item of a stage has failed before, so that this is a second look."""
    query = text(
        f"""SELECT EXISTS (SELECT FROM {queries.attempts(stage)} a
        WHERE a.item = :item AND a.outcome = 'retried')"""  # noqa: S608 - ours
    )
    async with reader.connect() as connection:
        return bool(await connection.scalar(query, {"item": str(item)}))
