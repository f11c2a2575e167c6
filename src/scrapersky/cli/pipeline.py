"""Drive one search through the whole pipeline from the terminal, and show it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk.control import count_waiting
from scrapersky.curation.clause import where
from scrapersky.curation.condition import auto_select_conditions
from scrapersky.curation.decision import Selection, decide
from scrapersky.records import CURATED, Kind
from scrapersky.records.audit import Actor
from scrapersky.reporting.stage_counts import StageCount, count_stages
from scrapersky.stages import STAGES

POLL_SECONDS = 0.5
SOON_SECONDS = 30.0
"""Seconds. A try that is further away is not waited for."""


@dataclass(slots=True)
class PipelineRun:
    """One search on its way through the pipeline."""

    engine: AsyncEngine
    actor: Actor
    search_id: UUID
    validate: bool = True
    soon: float = SOON_SECONDS
    started: float = field(default_factory=time.monotonic)
    counts: list[StageCount] = field(default_factory=list)
    waiting: int = 0
    """Items that failed for now, and whose next try is not soon."""
    reader: AsyncEngine = field(init=False)
    """For single queries, twice a second: they need no transaction around them."""

    def __post_init__(self) -> None:
        self.reader = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    async def advance(self) -> bool:
        """Decide what waits, count what is where; say whether all of it is over."""
        await self._decide_for_the_person()
        self.counts = await count_stages(self.reader, self.search_id)
        self.waiting = await self._count_waiting()
        if sum(count.open for count in self.counts) > self.waiting:
            return False
        # Something may have arrived between the decision and the count.
        return not await self._decide_for_the_person()

    async def _count_waiting(self) -> int:
        return await count_waiting(
            self.reader, longer_than=timedelta(seconds=self.soon)
        )

    async def _decide_for_the_person(self) -> int:
        total = 0
        for kind in CURATED.values():
            if kind.deciding.is_optional and not self.validate:
                continue
            on = kind.deciding.on
            ids = await self._undecided(kind)
            if ids and on is not None:
                decided = await decide(
                    self.engine,
                    self.actor,
                    kind,
                    on.value,
                    Selection(ids=ids),
                )
                total += decided.queued
        return total

    async def _undecided(self, kind: Kind) -> tuple[UUID, ...]:
        """Return what waits for a person, of what is taken where there is none."""
        decision, chosen = kind.deciding, auto_select_conditions(kind)
        if chosen is None:
            return ()
        query = select(kind.record.id).where(
            decision.column == decision.undecided,
            where(kind, chosen),
            kind.found_by(self.search_id),
        )
        async with self.reader.connect() as connection:
            return tuple((await connection.scalars(query)).all())


async def show_run(
    run: PipelineRun, console: Console, is_alive: Callable[[], bool]
) -> None:
    """Show a run with a bar per stage until it is over."""
    async with bars(console) as show:
        while is_alive():
            if await run.advance():
                show(run.counts)
                break
            show(run.counts)
            await asyncio.sleep(POLL_SECONDS)
    if run.waiting:
        console.print(
            f"{run.waiting} items could not be had now and are tried again later."
        )


@asynccontextmanager
async def bars(console: Console) -> AsyncIterator[Callable[[list[StageCount]], None]]:
    """Keep a progress bar for every stage while the block runs."""
    columns = (
        TextColumn("{task.description:>15}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:>8}"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    began = time.monotonic()
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console) as progress:

        def show(counts: list[StageCount]) -> None:
            for count in counts:
                if count.total == 0 and count.stage not in tasks:
                    continue
                if count.stage not in tasks:
                    tasks[count.stage] = progress.add_task(
                        STAGES[count.stage].title, total=count.total, rate="", note=""
                    )
                over = count.done + count.failed
                rate = over / max(time.monotonic() - began, 0.001)
                progress.update(
                    tasks[count.stage],
                    completed=over,
                    total=count.total,
                    rate=f"{rate:.1f}/s",
                    note=f"[red]{count.failed} failed[/]" if count.failed else "",
                )

        yield show


async def default_tenant(engine: AsyncEngine) -> UUID:
    """Return the tenant that a laptop's data belongs to."""
    async with engine.connect() as connection:
        found = await connection.scalar(
            text("SELECT id FROM tenants WHERE slug = 'default'")
        )
    return UUID(str(found))
