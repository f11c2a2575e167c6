"""The stats: how every stage stands, per tenant, for the page and for the stream."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from cachetools import LRUCache
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.api.refreshed import RefreshedValue
from scrapersky.db.transaction import Database
from scrapersky.kit.clock import utc_now
from scrapersky.records import kind_of
from scrapersky.reporting import stage_stats
from scrapersky.reporting.failures import FailureSummary, recent_failures
from scrapersky.scheduler.overrides import (
    Changes,
    StageChanges,
    apply_changes,
    changeable,
    stored_changes,
    with_changes,
)
from scrapersky.settings import Settings
from scrapersky.stages import PIPELINE, STAGES

MOST_TENANTS: Final = 500
MAX_MINUTES: Final = 180
"""Minutes of throughput that are kept."""
SLICE_MINUTES: Final = 10
"""Minutes asked for in one statement."""
BUDGET_SECONDS: Final = 0.7
"""Seconds a request may spend on minutes that nobody has asked for before."""
CAUSE_WINDOW: Final = timedelta(hours=1)
MOST_CAUSES: Final = 100
OPEN_MINUTES: Final = 2
"""Minutes that may still change: the current one, and one just over."""


@dataclass(frozen=True, slots=True)
class OverrideView:
    """A setting of a stage that was changed while processes run."""

    setting: str
    value: object
    changed_by: str | None
    changed_at: datetime
    no_effect: str | None
    """Why it does not hold."""


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage as people see it."""

    stage: str
    title: str
    does: str
    lane: str
    kind: str
    makes: str | None
    field: str
    queued_status: str
    queued: int
    working: int
    waiting_retry: int
    held: int
    done: int
    failed: int
    oldest_seconds: float | None
    rate_per_minute: float
    eta_seconds: float | None
    errors_last_hour: int
    paused: str | None
    next: tuple[str, ...]
    pace: str = ""
    rate_limit: int | None = None
    high_water: int | None = None
    held_back: str | None = None
    changed: Changes = dataclass_field(default_factory=dict)
    overrides: tuple[OverrideView, ...] = ()
    settings: Changes = dataclass_field(default_factory=dict)
    started_with: Changes = dataclass_field(default_factory=dict)

    @property
    def sign(self) -> tuple[object, ...]:
        """What must change before anyone is notified anew: not the mere passing of time."""
        return (
            self.stage, self.queued, self.working, self.waiting_retry, self.held,
            self.done, self.failed, self.errors_last_hour, self.paused, self.held_back,
            *self.settings.values(), self.overrides,
        )  # fmt: skip


Counts = dict[str, stage_stats.Minute]


class StageStats:
    """How the stages stand, per tenant, remembered for a moment."""

    def __init__(
        self,
        engine: AsyncEngine,
        settings: Settings,
        waiting: RefreshedValue[list[stage_stats.QueueStatus]],
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._waiting_for_anyone = waiting
        self._paused = RefreshedValue(partial(paused_stages, engine))
        self._changes = RefreshedValue(partial(stored_changes, engine))
        self._tenants: LRUCache[UUID, _Tenant] = LRUCache(MOST_TENANTS)
        # Counts may take seconds: they must not hold every connection at once.
        self._counting = asyncio.Lock()

    async def stages(
        self,
        tenant_id: UUID,
        paused: Mapping[str, str | None] | None = None,
        changes: Mapping[str, StageChanges] | None = None,
    ) -> list[StageView]:
        """Report how every stage stands, in the order of the pipeline.

        `paused` says which stages are just being paused, and why, or resumed (None);
        `changes` of which ones the settings are just being changed.
        """
        tenant = self._of(tenant_id)
        # All look-ups begin before the first is waited for.
        self._paused.prepare()
        self._changes.prepare()
        self._waiting_for_anyone.prepare()
        tenant.prepare()
        waiting = await tenant.stages({**await self._paused.get(), **(paused or {})})
        changed = {**await self._changes.get(), **(changes or {})}
        settings = with_changes(self._settings, changed)
        held_back = await self.held_back()
        return [
            replace(
                view,
                pace=settings.pace_in_words(view.stage),
                rate_limit=settings.stages[view.stage].rate_per_minute,
                high_water=settings.stages[view.stage].high_water or None,
                held_back=held_back.get(view.stage),
                changed={
                    name: one.value for name, one in changed.get(view.stage, {}).items()
                },
                overrides=self._overrides(view.stage, changed.get(view.stage, {})),
                settings=changeable(settings, view.stage),
                started_with=changeable(self._settings, view.stage),
            )
            for view in waiting
        ]

    def _overrides(self, stage: str, changed: StageChanges) -> tuple[OverrideView, ...]:
        _, wrong = apply_changes(self._settings.stages[stage], changed)
        return tuple(
            OverrideView(name, one.value, one.by, one.at, wrong.get(name))
            for name, one in changed.items()
        )

    async def throughput(self, tenant_id: UUID, minutes: int) -> dict[datetime, Counts]:
        """Report what was settled in each of the last minutes, the oldest first."""
        return await self._of(tenant_id).minutes(min(minutes, MAX_MINUTES))

    async def trouble(self, tenant_id: UUID) -> list[FailureSummary]:
        """Report what failed in the last hour, by cause, the latest first."""
        return await self._of(tenant_id).trouble.get()

    async def paused(self) -> dict[str, str]:
        """Report which stages are paused, and why."""
        return await self._paused.get()

    def forget_control(self) -> None:
        """Look anew whether stages are paused, and what of them was changed."""
        self._paused.forget()
        self._changes.forget()

    async def close(self) -> None:
        """End every look-up."""
        await self._paused.close()
        await self._changes.close()
        for tenant in self._tenants.values():
            await tenant.close()

    async def held_back(self) -> dict[str, str]:
        """Report which stages wait for room in a queue that they feed, and why."""
        given = with_changes(self._settings, await self._changes.get()).stages
        marks = {stage: given[stage].high_water for stage in given}
        return stage_stats.full_queues(await self._waiting_for_anyone.get(), marks)

    async def intervals(self) -> dict[str, timedelta]:
        """Return the time between two runs of the stages that work only then."""
        return with_changes(self._settings, await self._changes.get()).intervals

    def _of(self, tenant_id: UUID) -> "_Tenant":
        tenant = self._tenants.get(tenant_id)
        if tenant is None:
            tenant = _Tenant(self._engine, tenant_id, self._counting)
            self._tenants[tenant_id] = tenant
        return tenant


class _Tenant:
    """What is remembered for one tenant."""

    def __init__(
        self, engine: AsyncEngine, tenant_id: UUID, counting: asyncio.Lock
    ) -> None:
        self._engine = engine
        self._tenant_id = tenant_id
        self._waiting = RefreshedValue(
            partial(stage_stats.count_waiting, engine, tenant_id)
        )
        self._results = {
            stage.name: RefreshedValue(
                partial(stage_stats.results, engine, tenant_id, stage),
                guess=partial(stage_stats.expected_results, engine, tenant_id, stage),
                turn=counting,
            )
            for stage in PIPELINE
        }
        self._recent = RefreshedValue(self._read_recent)
        self.trouble = RefreshedValue(self._read_trouble)
        self._minutes: dict[datetime, Counts] = {}
        self._filling = asyncio.Lock()

    def prepare(self) -> None:
        self._waiting.prepare()
        self._recent.prepare()
        for results in self._results.values():
            results.prepare()

    async def stages(self, paused: Mapping[str, str | None]) -> list[StageView]:
        waiting = await self._waiting.get()
        results = [await self._results[stage.name].get() for stage in PIPELINE]
        minutes = await self.minutes(60)
        now = utc_now()
        return [
            view(queued, result, minutes, paused.get(queued.stage), now)
            for queued, result in zip(waiting, results, strict=True)
        ]

    async def minutes(self, count: int) -> dict[datetime, Counts]:
        recent = await self._recent.get()
        last = minute_of(utc_now())
        wanted = [last - timedelta(minutes=ago) for ago in range(count)]
        if any(at not in self._minutes for at in wanted[OPEN_MINUTES:]):
            await self._fill(wanted[OPEN_MINUTES:])
        # What is over is final; what was recent when it was read may not be.
        found = {**recent, **self._minutes}
        return {at: found.get(at, {}) for at in reversed(wanted)}

    async def close(self) -> None:
        await self._waiting.close()
        await self._recent.close()
        await self.trouble.close()
        for value in self._results.values():
            await value.close()

    async def _read_trouble(self) -> list[FailureSummary]:
        return await recent_failures(
            self._engine,
            self._tenant_id,
            since=utc_now() - CAUSE_WINDOW,
            limit=MOST_CAUSES,
        )

    async def _read_recent(self) -> dict[datetime, Counts]:
        now = minute_of(utc_now())
        found = await self._read(
            self._engine, now - timedelta(minutes=OPEN_MINUTES), None
        )
        for at, counts in found.items():
            if at <= now - timedelta(minutes=OPEN_MINUTES):
                self._minutes[at] = counts
        self._minutes.setdefault(now - timedelta(minutes=OPEN_MINUTES), {})
        return found

    async def _fill(self, wanted: list[datetime]) -> None:
        """Read minutes that are missing, the latest first, as far as time allows."""
        async with self._filling, self._engine.connect() as connection:
            started = time.monotonic()
            horizon = wanted[0] - timedelta(minutes=MAX_MINUTES)
            self._minutes = {a: c for a, c in self._minutes.items() if a > horizon}
            missing = [at for at in wanted if at not in self._minutes]
            while missing and time.monotonic() - started < BUDGET_SECONDS:
                newest = missing[0]
                oldest = newest - timedelta(minutes=SLICE_MINUTES - 1)
                until = newest + timedelta(minutes=1)
                found = await self._read(connection, oldest, until)
                for at in [at for at in missing if at >= oldest]:
                    self._minutes[at] = found.get(at, {})
                missing = [at for at in missing if at < oldest]

    async def _read(
        self, database: Database, since: datetime, until: datetime | None
    ) -> dict[datetime, Counts]:
        found: dict[datetime, Counts] = defaultdict(dict)
        for minute in await stage_stats.minutes(
            database, self._tenant_id, since=since, until=until
        ):
            found[minute.at][minute.stage] = minute
        return dict(found)


def view(
    waiting: stage_stats.QueueStatus,
    results: stage_stats.Results,
    minutes: dict[datetime, Counts],
    paused: str | None,
    now: datetime,
) -> StageView:
    """Put together what is known of one stage."""
    stage, declared = waiting.stage, STAGES[waiting.stage]
    rate = rate_of(stage, minutes, now)
    ahead = waiting.queued + waiting.working
    eta = ahead / rate * 60 if rate > 0 and paused is None else None
    return StageView(
        stage=stage,
        title=declared.title,
        does=declared.does,
        lane=declared.lane.value,
        kind=kind_of(declared.model).name,
        makes=kind_of(declared.makes).name if declared.makes else None,
        field=declared.claims.key,
        queued_status=str(declared.queued),
        queued=waiting.queued,
        working=waiting.working,
        waiting_retry=waiting.waiting_retry,
        held=waiting.held,
        done=results.done,
        failed=results.failed,
        oldest_seconds=waiting.oldest_seconds,
        rate_per_minute=round(rate, 1),
        eta_seconds=None if eta is None else round(eta, 1),
        errors_last_hour=sum(
            counts[stage].errors for counts in minutes.values() if stage in counts
        ),
        paused=paused,
        next=declared.feeds,
    )


def rate_of(stage: str, minutes: dict[datetime, Counts], now: datetime) -> float:
    """Return how many items per minute were settled in the current and the last one."""
    current = minute_of(now)
    over = (now - current).total_seconds() + 60
    settled = sum(
        counts[stage].done + counts[stage].failed
        for at, counts in minutes.items()
        if at >= current - timedelta(minutes=1) and stage in counts
    )
    return settled / over * 60


def minute_of(moment: datetime) -> datetime:
    """Return the beginning of a moment's minute."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


async def paused_stages(engine: AsyncEngine) -> dict[str, str]:
    """Report which stages are paused, and why."""
    return {
        state.name: state.paused_why or "paused"
        for state in await curation_sdk.control.states(engine)
        if state.paused
    }
