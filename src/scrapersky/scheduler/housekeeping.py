"""The jobs that belong to no stage: rescue, purge, match companies."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.companies.matching import match_companies
from scrapersky.kit.duty_cycle import DutyCycle
from scrapersky.kit.stopping import IsStopping
from scrapersky.pipeline.dead_pages import choose_after_dead_letters
from scrapersky.pipeline.upload import purge_uploads
from scrapersky.politeness import PostgresLedger
from scrapersky.privacy.retention import RETENTION_RULES as KINDS_KEPT
from scrapersky.privacy.retention import forget_expired, purge_expired
from scrapersky.privacy.snapshot import remove_unkept
from scrapersky.privacy.snapshot_budget import trim_snapshots
from scrapersky.reporting.search_end import SearchTurns, finish_searches
from scrapersky.revisits.schedule import begin_due
from scrapersky.scheduler.item_counter import Counts
from scrapersky.scheduler.overview import planned_jobs
from scrapersky.scheduler.run_log import purge_runs
from scrapersky.scheduler.schedule import ScheduledJob
from scrapersky.settings import Settings

ORPHAN_SHARE: Final = 100
"""Rows in processing without a claim are looked for in a hundredth of the time at most."""
MATCHING_SHARE: Final = 0.9
"""How much of the time between two runs of the matcher one may take."""
REST_PER_WORK: Final = 4.0
"""Seconds of rest for a second of work: a fifth of one core is left to take from the stages."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """Rests after work as long as the stages of this process have items in hand.

    Where they have none there is nobody to make way for, and it goes on at once. A stop
    ends a rest.
    """

    in_hand: Callable[[], int]
    stopping: asyncio.Event

    async def __call__(self, worked: float) -> None:
        """Rest for so many seconds of work."""
        if self.in_hand():
            with suppress(TimeoutError):
                async with asyncio.timeout(worked * REST_PER_WORK):
                    await self.stopping.wait()


def housekeeping(
    settings: Settings,
    engine: AsyncEngine,
    matcher: AsyncEngine,
    throttle: Throttle,
) -> list[ScheduledJob]:
    """List the jobs that belong to no stage; `matcher` is the engine of the last one."""
    orphans = DutyCycle(ORPHAN_SHARE)
    searches = SearchTurns()
    is_stopping: IsStopping = throttle.stopping.is_set
    # It ends before it is due again, so that tenants with new records wait a minute at most.
    within = MATCHING_SHARE * settings.matching.interval

    async def rescue(_limit: int | None) -> Counts:
        with orphans.turn() as is_due:
            reaped = await curation_sdk.reap.reap(engine, orphans=is_due)
        await choose_after_dead_letters(
            engine,
            user_id=settings.scheduler_system_user_id,
            site=settings.budgets.site,
            # Twice the interval: a run may be late, or another process's turn.
            within=2 * settings.reap.interval,
        )
        await finish_searches(engine, searches)
        await begin_due(engine)
        return Counts(picked=reaped.rescued + reaped.quarantined + reaped.requeued)

    async def purge(_limit: int | None) -> Counts:
        age = timedelta(days=settings.history_days)
        await PostgresLedger(engine).purge(age, is_stopping)
        expired = await forget_expired(engine, is_stopping)
        expired += await purge_uploads(engine, age, is_stopping)
        kept = retention_days(settings)
        expired += sum((await purge_expired(engine, kept, is_stopping)).values())
        expired += await trim_snapshots(
            engine, settings.budgets.tenant.snapshot_bytes, is_stopping
        )
        expired += await remove_unkept(engine, is_stopping=is_stopping)
        runs = await purge_runs(engine, age, is_stopping)
        attempts = await curation_sdk.control.purge(
            engine, older_than=age, is_stopping=is_stopping
        )
        return Counts(picked=expired + runs + attempts)

    async def match(limit: int | None) -> Counts:
        run = await match_companies(
            matcher,
            limit,
            within=within,
            is_stopping=is_stopping,
            give_way=throttle,
        )
        errors = [f"tenant {key}: {why}" for key, why in run.failures.items()]
        return Counts(
            picked=run.records,
            failed=len(errors),
            last_error=errors[-1] if errors else None,
        )

    work = {
        "reap_expired_claims": rescue,
        "purge_old_history": purge,
        "match_companies": match,
    }
    return [
        ScheduledJob(job.id, job.name, job.settings, work[job.id], is_singleton=True)
        for job in planned_jobs(settings)
        if job.id in work
    ]


def retention_days(settings: Settings) -> dict[str, int]:
    """Return how long each kind of data is kept, by the name of its setting."""
    return {
        kind.setting: getattr(settings, kind.setting.lower()) for kind in KINDS_KEPT
    }
