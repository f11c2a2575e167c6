"""How many records stand where: for all of a database, or for one search."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import AnyStage
from scrapersky.stages import PIPELINE


@dataclass(frozen=True, slots=True)
class StageCount:
    """The records of one stage, by what has become of them."""

    stage: str
    queued: int = 0
    working: int = 0
    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All records the stage has, had or will have."""
        return self.queued + self.working + self.done + self.failed

    @property
    def open(self) -> int:
        """Records whose work is not over."""
        return self.queued + self.working


MINE = {
    "place_searches": "m.id = :search",
    "places_staging": "m.id IN (SELECT place_id FROM hit)",
    "local_businesses": "m.place_id IN (SELECT place_id FROM hit)",
    "domains": "m.id IN (SELECT id FROM domain)",
    "sitemap_files": "m.domain_id IN (SELECT id FROM domain)",
    "pages": "m.domain_id IN (SELECT id FROM domain)",
    "contacts": "m.domain_id IN (SELECT id FROM domain)",
}
OF_SEARCH = """WITH hit AS (
    SELECT place_id FROM place_search_hits WHERE search_id = :search
  ), domain AS (
    SELECT DISTINCT domain_id AS id FROM local_businesses
    WHERE place_id IN (SELECT place_id FROM hit) AND domain_id IS NOT NULL
  ) """


async def count_stages(
    engine: AsyncEngine, search_id: UUID | None = None
) -> list[StageCount]:
    """Count the records of every stage, in the order of the pipeline."""
    counts = []
    async with engine.connect() as connection:
        for stage in PIPELINE:
            values = {} if search_id is None else {"search": search_id}
            rows = await connection.execute(
                text(statement(stage, of_search=search_id is not None)), values
            )
            by_status = {str(row[0]): int(row[1]) for row in rows}
            counts.append(counted(stage, by_status))
    return counts


def statement(stage: AnyStage, *, of_search: bool) -> str:
    """Write the query that counts one stage's records by status."""
    table, column = stage.model.__tablename__, stage.claims.key
    where = f"AND {MINE[table]}" if of_search else ""
    head = OF_SEARCH if of_search else ""
    return (
        f"{head}SELECT m.{column}::text, count(*) FROM {table} m "  # noqa: S608 - our names
        f"WHERE m.{column} IS NOT NULL {where} GROUP BY 1"
    )


def counted(stage: AnyStage, by_status: dict[str, int]) -> StageCount:
    """Sort counts by status into what they mean; other statuses are not the stage's."""
    return StageCount(
        stage.name,
        queued=by_status.get(str(stage.queued), 0),
        working=by_status.get(str(stage.processing), 0),
        done=by_status.get(str(stage.done), 0),
        failed=by_status.get(str(stage.failed), 0),
    )
