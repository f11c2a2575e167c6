"""The stages of a running process, which follow what operators change."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import Worker
from curation_sdk.registry import AnyStage
from scrapersky.scheduler.overrides import (
    StageChanges,
    apply_changes,
    changeable,
    stored_changes,
    useless_changes,
    with_changes,
)
from scrapersky.scheduler.schedule import JobSchedule, ScheduledJob
from scrapersky.settings import Settings
from scrapersky.stages import STAGES, configure_stage

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 5.0
"""Seconds between two looks at what was changed."""


class LiveStages:
    """Applies changed settings to the worker and the schedule of this process."""

    def __init__(
        self,
        engine: AsyncEngine,
        settings: Settings,
        changes: Mapping[str, StageChanges],
        *,
        stages: Iterable[AnyStage],
        worker: Worker,
        schedule: JobSchedule,
        make_job: Callable[[AnyStage, Settings], ScheduledJob],
        eager: Callable[[Settings], Collection[str]],
    ) -> None:
        self._engine = engine
        self._started_with = settings
        self._changes = changes
        self._stages = {stage.name: stage for stage in stages}
        self._worker = worker
        self._schedule = schedule
        self._make_job = make_job
        self._eager = eager
        """Which stages work in this process between two ticks."""
        self._refreshing = asyncio.Lock()
        self.settings = with_changes(settings, changes)

    async def watch(self) -> None:
        """Follow what is changed, for as long as the process runs."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.refresh()
            except Exception as error:  # noqa: BLE001 - the database will be back
                log.warning("settings.not_read", error=str(error))

    async def refresh(self) -> None:
        """Apply what was changed since the last look."""
        async with self._refreshing:
            found = await stored_changes(self._engine)
            if found != self._changes:
                await self._apply(found)
                self._changes = found

    async def _apply(self, changes: Mapping[str, StageChanges]) -> None:
        before = self.settings
        self.settings = with_changes(self._started_with, changes)
        warn_of_useless(self._started_with, changes)
        eager = self._eager(self.settings)
        for name in self._stages:
            is_changed = before.stages[name] != self.settings.stages[name]
            is_eager = name in eager
            if is_changed and not is_eager:
                # First, or it would use a higher limit between ticks.
                await self._worker.stop_stage(name)
            await self._limit(name)
            if is_changed:
                await self._follow(name, is_eager=is_eager)

    async def _limit(self, name: str) -> None:
        """Give a stage its batch, concurrency, rate, and the marks of those that it feeds."""
        wanted = configure_stage(STAGES[name], self.settings.stages)
        stage = self._stages[name] = self._stages[name].configured(
            batch=wanted.batch,
            concurrency=wanted.concurrency,
            rate_per_minute=wanted.rate_per_minute,
            high_water=wanted.high_water,
        )
        await self._worker.limit(
            name,
            batch=stage.batch,
            concurrency=stage.concurrency,
            rate_per_minute=stage.rate_per_minute,
            high_water=stage.high_water,
        )

    async def _follow(self, name: str, *, is_eager: bool) -> None:
        """Take over when the job of a stage runs, and whether it works in between."""
        log.info("settings.changed", stage=name, pace=self.settings.pace_in_words(name))
        self._schedule.replace(self._make_job(self._stages[name], self.settings))
        if is_eager:
            await self._worker.start_stage(name)


def report_changes(settings: Settings, changes: Mapping[str, StageChanges]) -> None:
    """Log what holds instead of the settings that this process was started with."""
    for stage, given in settings.stages.items():
        changed = changes.get(stage, {})
        _, wrong = apply_changes(given, changed)
        before = changeable(settings, stage)
        for name in changed.keys() - wrong.keys():
            log.info(
                "settings.override",
                stage=stage,
                setting=name,
                value=changed[name].value,
                instead_of=before[name],
                origin=changed[name].origin,
                clear=f"scrapersky stages reset {stage} {name}",
            )
    warn_of_useless(settings, changes)


def warn_of_useless(settings: Settings, changes: Mapping[str, StageChanges]) -> None:
    """Log what was changed and does not hold, with the reason."""
    for why in useless_changes(settings, changes):
        log.warning("settings.change_refused", why=why)
