"""Whether a website that was read before does not answer any more: that is no failure."""

from dataclasses import replace
from typing import Final
from uuid import UUID

from sqlalchemy import text

from curation_sdk import GiveUp, Outcome, Retry
from scrapersky.errors import FetchError, PageWithheld
from scrapersky.pipeline.health_check import reclassify, was_tried_before
from scrapersky.pipeline.tools import Tools
from scrapersky.revisits.visit import HAS_VALUES, Silence, visited_again

PAGE_HAS_VALUES: Final = text(f"SELECT {HAS_VALUES} FROM pages p WHERE p.id = :page")  # noqa: S608


async def silence_of(
    outcome: Outcome, tools: Tools, stage: str, item: UUID, site: Silence
) -> Silence | None:
    """Report that a known website is silent, at the second try; None if it is not.

    What it said stays, and its next visit is when it is asked again. A failure that may
    be this machine's own is none of the site's.
    """
    if not isinstance(outcome, Retry | GiveUp):
        return None
    if isinstance(outcome, GiveUp) and not isinstance(outcome.cause, FetchError):
        return None  # it has answered
    async with tools.reader.connect() as connection:
        if not await visited_again(connection, [site.domain_id]):
            return None
    if not isinstance(await reclassify(outcome, tools.health), Retry | GiveUp):
        return None
    if isinstance(outcome, Retry) and not await was_tried_before(
        tools.reader, stage, item
    ):
        return None
    cause = outcome.cause
    is_replaced = isinstance(cause, PageWithheld) and cause.is_replaced
    return replace(site, why=outcome.why, is_replaced=is_replaced)


async def holds_values(tools: Tools, page_id: UUID) -> bool:
    """Say whether a page has said how to reach somebody."""
    async with tools.reader.connect() as connection:
        found = await connection.scalar(PAGE_HAS_VALUES, {"page": page_id})
    return bool(found)
