"""What the attempts of every stage came to lately, over all tenants."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import queries
from scrapersky.reporting.stage_stats import LOST, TROUBLE
from scrapersky.stages import PIPELINE

LATELY = text(
    " UNION ALL ".join(
        f"""SELECT '{stage.name}', count(*),
          count(*) FILTER (WHERE a.outcome IN {TROUBLE}),
          count(*) FILTER (WHERE a.outcome IN {LOST})
        FROM {queries.attempts(stage.name)} a
        WHERE a.settled_at > statement_timestamp() - CAST(:age AS interval)"""  # noqa: S608
        for stage in PIPELINE
    )
)


@dataclass(frozen=True, slots=True)
class Attempts:
    """How many there were, how many failed, and how many of those were the last."""

    total: int = 0
    failed: int = 0
    dead: int = 0


async def attempts_lately(engine: AsyncEngine, age: timedelta) -> dict[str, Attempts]:
    """Count the attempts of every stage that were settled within this time."""
    async with engine.connect() as connection:
        rows = await connection.execute(LATELY, {"age": age})
        return {stage: Attempts(*counts) for stage, *counts in rows}


async def settled_within(
    engine: AsyncEngine, windows: Mapping[str, timedelta]
) -> set[str]:
    """Return which of these stages have settled an item within the time of each."""
    found = set()
    async with engine.connect() as connection:
        for stage, age in windows.items():
            if await connection.scalar(
                text(
                    f"SELECT EXISTS (SELECT FROM {queries.attempts(stage)} a WHERE "  # noqa: S608
                    "a.settled_at > statement_timestamp() - CAST(:age AS interval))"
                ),
                {"age": age},
            ):
                found.add(stage)
    return found
