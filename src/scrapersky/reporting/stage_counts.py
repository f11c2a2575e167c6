"""How many records stand where: for all of a database, or for one search."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, Text, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from curation_sdk.registry import AnyStage
from scrapersky.records import kind_of
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


async def count_stages(
    engine: AsyncEngine, search_id: UUID | None = None
) -> list[StageCount]:
    """Count the records of every stage, in the order of the pipeline."""
    async with engine.connect() as connection:
        return await count_here(connection, search_id)


async def count_here(
    connection: AsyncConnection, search_id: UUID | None
) -> list[StageCount]:
    """Count in the caller's transaction."""
    counts = []
    for stage in PIPELINE:
        rows = await connection.execute(count_query(stage, search_id))
        by_status = {str(row[0]): int(row[1]) for row in rows}
        counts.append(sort_counts(stage, by_status))
    return counts


def count_query(stage: AnyStage, search_id: UUID | None) -> Executable:
    """Write the query that counts one stage's records by status."""
    status: ColumnElement[str] = cast(stage.claims, Text)
    query = select(status, func.count()).where(stage.claims.is_not(None))
    if search_id is not None:
        query = query.where(kind_of(stage.model).found_by(search_id))
    return query.group_by(status)


def sort_counts(stage: AnyStage, by_status: dict[str, int]) -> StageCount:
    """Sort counts by status into what they mean; other statuses are not the stage's."""
    return StageCount(
        stage.name,
        queued=by_status.get(str(stage.queued), 0),
        working=by_status.get(str(stage.processing), 0),
        done=by_status.get(str(stage.done), 0),
        failed=by_status.get(str(stage.failed), 0),
    )
