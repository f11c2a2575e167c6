"""What the attempts of every stage came to lately, over all tenants."""

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
