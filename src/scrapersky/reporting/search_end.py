"""When a search is over: everything that it found was followed to its contacts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import Row, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.companies.reading import QUERIES as MATCHED_KINDS
from scrapersky.companies.reading import READ_OVERLAP
from scrapersky.curation.clause import where
from scrapersky.curation.condition import auto_select_conditions
from scrapersky.kit.clock import utc_now
from scrapersky.records import (
    CURATED,
    KINDS,
    CompanyMember,
    CompanyProgress,
    Place,
    PlaceSearch,
    kind_of,
)
from scrapersky.records.change import ChangeEvent, note_changes
from scrapersky.records.place_search import SEARCHES
from scrapersky.records.status import TaskStatus
from scrapersky.reporting.stage_counts import StageCount, count_here
from scrapersky.stages import PIPELINE

PACE_WINDOW: Final = timedelta(minutes=5)
NEVER: Final = datetime.fromtimestamp(0, UTC)
SEARCHES_EACH: Final = 20
"""Of those that finished last, and of all others, how many are looked at in one turn."""
STOPPED: Final = frozenset(
    {
        TaskStatus.ERROR,
        TaskStatus.CANCELLED,
        TaskStatus.PAUSED,
        TaskStatus.MANUAL_REVIEW,
    }
)
ProgressState = Literal["searching", "following", "undecided", "finished", "stopped"]


@dataclass(frozen=True, slots=True)
class UndecidedCount:
    """Records of a kind that wait for a person, of what would be followed."""

    kind: str
    records: int


@dataclass(frozen=True, slots=True)
class SearchFollowUp:
    """How far a search is, with everything that it found."""

    state: ProgressState
    stages: Sequence[StageCount]
    undecided: Sequence[UndecidedCount]
    estimated_end_at: datetime | None
    followed_at: datetime | None
    error: str | None
    """Why it stopped, if it failed."""

    @property
    def open(self) -> int:
        """Records that stages still have to work on."""
        return sum(count.open for count in self.stages)


async def progress_of(connection: AsyncConnection, search: Row[Any]) -> SearchFollowUp:
    """Count what a search has led to, and say who has to go on."""
    stages = await count_here(connection, search.id)
    undecided = await count_undecided(connection, search.id)
    remaining = sum(count.open for count in stages)
    state = state_of(search.status, remaining, undecided)
    if state == "finished" and not await is_put_together(connection, search):
        state = "following"
    return SearchFollowUp(
        state,
        stages,
        undecided,
        await estimated_end(connection, search.id, remaining),
        search.followed_at,
        search.error if state == "stopped" else None,
    )


def state_of(
    status: TaskStatus, remaining: int, undecided: Sequence[UndecidedCount]
) -> ProgressState:
    """Say who has to go on."""
    if status in STOPPED:
        return "stopped"
    if status is not TaskStatus.COMPLETED:
        return "searching"
    if remaining:
        return "following"
    return "undecided" if undecided else "finished"


async def is_put_together(connection: AsyncConnection, search: Row[Any]) -> bool:
    """Say whether what was found has become companies, or why it has not is known.

    Whoever waits for a search asks for its companies next.
    """
    tenant = (
        select(PlaceSearch.tenant_id)
        .where(PlaceSearch.id == search.id)
        .scalar_subquery()
    )
    progress = {
        row.kind: row
        for row in await connection.execute(
            select(CompanyProgress).where(CompanyProgress.tenant_id == tenant)
        )
    }
    if any(row.failures for row in progress.values()):
        return True
    unread = [
        exists().where(
            kind.found_by(search.id),
            kind.record.updated_at > read_until(progress, name),
        )
        for name, kind in KINDS.items()
        if name in MATCHED_KINDS
    ]
    found = select(Place.id).where(KINDS["places"].found_by(search.id))
    unmatched = exists().where(
        CompanyMember.place_id.in_(found), CompanyMember.is_matched.is_(False)
    )
    return not await connection.scalar(select(or_(unmatched, *unread)))


def read_until(progress: Mapping[str, Row[Any]], kind: str) -> datetime:
    """Return when the records of a kind were last read into companies."""
    return progress[kind].read_until + READ_OVERLAP if kind in progress else NEVER


async def count_undecided(
    connection: AsyncConnection, search_id: UUID
) -> list[UndecidedCount]:
    """Count what somebody has to select before stages work on it."""
    found = []
    for kind in CURATED.values():
        decision, chosen = kind.deciding, auto_select_conditions(kind)
        if chosen is None or decision.is_optional:
            continue
        query = (
            select(func.count())
            .select_from(kind.record)
            .where(
                decision.column == decision.undecided,
                where(kind, chosen),
                kind.found_by(search_id),
            )
        )
        if records := await connection.scalar(query) or 0:
            found.append(UndecidedCount(kind.name, records))
    return found


async def estimated_end(
    connection: AsyncConnection, search_id: UUID, remaining: int
) -> datetime | None:
    """Foresee when what is known now is done, at the pace of the last minutes."""
    if not remaining:
        return None
    since = func.statement_timestamp() - PACE_WINDOW
    done = 0
    for stage in PIPELINE:
        kind = kind_of(stage.model)
        query = (
            select(func.count())
            .select_from(stage.model)
            .where(
                stage.claims.in_([stage.done, stage.failed]),
                stage.model.updated_at > since,
                kind.found_by(search_id),
            )
        )
        done += await connection.scalar(query) or 0
    return utc_now() + PACE_WINDOW * (remaining / done) if done else None


@dataclass(slots=True)
class SearchTurns:
    """Where a process is in looking at every search that is not over yet."""

    after: UUID | None = None


async def finish_searches(engine: AsyncEngine, turns: SearchTurns | None = None) -> int:
    """Note which searches are over now, so that the change log has them.

    Those that finished last are looked at in each call, and of all others some, from where the
    last call with the same turns ended: however many wait for a decision, each has its turn.
    """
    turns = turns or SearchTurns()
    open_ones = select(PlaceSearch).where(
        PlaceSearch.status == TaskStatus.COMPLETED, PlaceSearch.followed_at.is_(None)
    )
    latest = open_ones.order_by(PlaceSearch.updated_at.desc())
    others = open_ones.order_by(PlaceSearch.id)
    if turns.after is not None:
        others = others.where(PlaceSearch.id > turns.after)
    finished = 0
    async with engine.connect() as connection:
        some = (await connection.execute(others.limit(SEARCHES_EACH))).all()
        # After the last one it begins again with the first.
        turns.after = some[-1].id if len(some) == SEARCHES_EACH else None
        newest = await connection.execute(latest.limit(SEARCHES_EACH))
        rows = {row.id: row for row in (*newest, *some)}
        for row in rows.values():
            progress = await progress_of(connection, row)
            if progress.state == "finished":
                finished += await note_end(connection, row, progress)
            await connection.commit()
    return finished


async def note_end(
    connection: AsyncConnection, search: Row[Any], progress: SearchFollowUp
) -> int:
    """Write down that a search is over, once, and log it for those who follow changes."""
    marked = await connection.execute(
        update(PlaceSearch)
        .where(PlaceSearch.id == search.id, PlaceSearch.followed_at.is_(None))
        .values(followed_at=func.clock_timestamp())
    )
    if marked.rowcount:
        details = {
            count.stage: {"done": count.done, "failed": count.failed}
            for count in progress.stages
            if count.total
        }
        await note_changes(
            connection,
            search.tenant_id,
            SEARCHES.name,
            [search.id],
            ChangeEvent.FINISHED,
            details=details,
        )
    return marked.rowcount
