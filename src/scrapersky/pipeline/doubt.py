"""Whether a failure may be our own: asked before a site or an address is blamed for it."""

from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import AnyStage, GiveUp, Later, Outcome, Retry, queries
from scrapersky.errors import BadTls, ConnectFailed, DnsFailed

COME_BACK = timedelta(seconds=15)
"""When an item is tried again that this machine could not judge."""


class SelfDoubt(Protocol):
    """Says whether this machine is fit to judge others."""

    async def about_names(self) -> str | None:
        """Say what is wrong with the way names are resolved here; None if nothing is."""
        ...

    async def about_routes(self) -> str | None:
        """Say what is wrong with the way hosts are reached from here."""
        ...

    async def about_certificates(self) -> str | None:
        """Say what is wrong with the way certificates are checked here."""
        ...


class NoDoubt:
    """Is always sure of itself; for tools and tests."""

    async def about_names(self) -> str | None:
        """Find nothing wrong."""
        return None

    async def about_routes(self) -> str | None:
        """Find nothing wrong."""
        return None

    async def about_certificates(self) -> str | None:
        """Find nothing wrong."""
        return None


async def excused(outcome: Outcome, doubt: SelfDoubt) -> Outcome:
    """Return an outcome, or `Later` for a failure that is this machine's own."""
    if not isinstance(outcome, Retry | GiveUp):
        return outcome
    match outcome.why.partition(":")[0]:
        case DnsFailed.outcome:
            why = await doubt.about_names()
        case ConnectFailed.outcome:
            why = await doubt.about_routes()
        case BadTls.outcome:
            why = await doubt.about_certificates()
        case _:
            why = None
    return outcome if why is None else Later(why, COME_BACK)


def doubting(stage: AnyStage) -> AnyStage:
    """Return a stage whose items are not blamed for a failure of this machine."""
    work = stage.work

    async def work_in_doubt(item: Any, tools: Any) -> Outcome:  # noqa: ANN401
        return await excused(await work(item, tools), tools.doubt)

    return stage.configured(work=work_in_doubt)


async def was_tried_before(reader: AsyncEngine, stage: str, item: UUID) -> bool:
    """Say whether an item of a stage has failed before, so that this is a second look."""
    query = text(
        f"""SELECT EXISTS (SELECT FROM {queries.attempts(stage)} a
        WHERE a.item = :item AND a.outcome = 'retried')"""  # noqa: S608 - ours
    )
    async with reader.connect() as connection:
        return bool(await connection.scalar(query, {"item": str(item)}))
