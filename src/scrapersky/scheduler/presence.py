"""A process that announces itself to the others, and does as its operator asks: drain.

What a worker holds is in the claims; here is only who lives, where, of which version, which
jobs it runs and why it rests. By it people see who is gone, and the runs of those are ended.
"""

import asyncio
import math
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, Self
from uuid import UUID

import structlog
from sqlalchemy import case, delete, exists, extract, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.orm import aliased

from curation_sdk import Worker
from curation_sdk.process import is_dead, sign
from scrapersky.db.transaction import Database, transaction
from scrapersky.errors import UnknownRecord
from scrapersky.kit.background import cancel
from scrapersky.kit.build import full_version
from scrapersky.records import Process, SchedulerRun
from scrapersky.records.base import Json
from scrapersky.records.process import ProcessRole
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.outage import reason_of, record_outage

BEAT_SECONDS: Final = 5.0
STOP_SECONDS: Final = 3.0
"""Seconds for which a process that stops waits for the database."""
SILENT_SECONDS: Final = 15.0
"""Seconds without a beat of anybody after which the next one ends a silence."""
GONE_SECONDS: Final = 30.0
"""Seconds without a beat, though others could beat, after which a process counts as gone."""
RETENTION: Final = "1 day"
DRAINING: Final = "asked to drain"
LOST_RUN: Final = "Its process ended without a word; the next run goes on."

log = structlog.get_logger(__name__)


class Pausable(Protocol):
    """Who stops claiming and claims again; a worker."""

    def rest(self, why: str) -> None:
        """Claim nothing until `resume`."""
        ...

    def resume(self) -> None:
        """Claim again."""
        ...


class RestReasons:
    """Why the workers of this process rest: they claim again when no reason is left."""

    def __init__(self, worker: Pausable | None) -> None:
        self._worker = worker
        self._reasons: dict[str, str] = {}

    @property
    def why(self) -> str | None:
        """The first reason that still holds."""
        return next(iter(self._reasons.values()), None)

    def of(self, giver: str) -> Pausable:
        """Return what one giver of reasons may call, without ending the rest of another."""
        return _Reason(self, giver)

    def change(self, giver: str, why: str | None) -> None:
        """Set or take back the reason of one giver."""
        before = self.why
        if why is None:
            self._reasons.pop(giver, None)
        else:
            self._reasons[giver] = why
        if self._worker is None or self.why == before:
            return
        if self.why is None:
            self._worker.resume()
        else:
            self._worker.rest(self.why)


@dataclass(frozen=True, slots=True)
class _Reason:
    reasons: RestReasons
    giver: str

    def rest(self, why: str) -> None:
        self.reasons.change(self.giver, why)

    def resume(self) -> None:
        self.reasons.change(self.giver, None)


class Presence:
    """Keeps this process's line in the list of processes while the block lasts."""

    def __init__(
        self,
        engine: AsyncEngine,
        worker: Worker | None,
        rests: RestReasons,
        *,
        role: ProcessRole,
        address: str | None = None,
        name: str | None = None,
        stages: Sequence[str] = (),
        jobs: Callable[[], Sequence[Json]] = tuple,
    ) -> None:
        # Every statement is whole by itself.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._worker = worker
        self._rests = rests
        self._jobs = jobs
        self._line = {
            "name": name or own_name(),
            "role": role.value,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": full_version(),
            "address": address,
            "stages": list(stages),
        }
        self._ending = asyncio.Event()
        self._beat_at = math.inf
        """When it last succeeded to be heard, by the clock of this process."""
        self._failed: str | None = None
        """Why it did not since then."""
        self._beating: asyncio.Task[None] | None = None

    @property
    def role(self) -> str:
        """What this process is there for, as the others see it."""
        return str(self._line["role"])

    @property
    def name(self) -> str:
        """What this process is called in the list, and in the claims of its worker."""
        return str(self._line["name"])

    async def __aenter__(self) -> Self:
        """Say that this process is there; forget those that went long ago."""
        async with self._engine.connect() as connection:
            await connection.execute(
                delete(Process).where(
                    Process.seen_at
                    < func.clock_timestamp() - text(f"interval '{RETENTION}'")
                )
            )
        await self.beat()
        self._beating = asyncio.create_task(self._keep_beating(), name="presence")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Say goodbye; who cannot is gone after a while."""
        if self._beating is not None:
            # A beat that is under way ends first, or it would be our last word.
            self._ending.set()
            await asyncio.wait({self._beating}, timeout=STOP_SECONDS)
            await cancel(self._beating)
        with suppress(SQLAlchemyError, OSError):
            async with self._engine.connect() as connection:
                mine = Process.name == self.name
                await connection.execute(delete(Process).where(mine))

    async def beat(self) -> None:
        """Say how this process stands, and learn whether it is to drain.

        The first beat after an outage of the database leaves a record of that.
        """
        away, why = time.monotonic() - self._beat_at, self._failed
        await self._say()
        self._beat_at, self._failed = time.monotonic(), None
        if why is not None and away > SILENT_SECONDS:
            async with self._engine.connect() as connection:
                await record_outage(connection, self.name, away, why)

    async def _say(self) -> None:
        before = self._rests.why
        asked = await self._write()
        self._rests.change("operator", None if asked is None else DRAINING)
        if self._rests.why != before:
            await self._write()

    async def _write(self) -> datetime | None:
        now = {
            "in_hand": 0 if self._worker is None else self._worker.in_hand,
            "resting": self._rests.why,
            "jobs": list(self._jobs()),
            "seen_at": func.clock_timestamp(),
        }
        statement = (
            insert(Process)
            .values({**self._line, **now})
            .on_conflict_do_update(
                index_elements=[Process.name], set_={**now, "back_at": BACK_AT}
            )
            .returning(Process.drain_asked_at)
        )
        async with self._engine.connect() as connection:
            return await connection.scalar(statement)

    async def _keep_beating(self) -> None:
        while not self._ending.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), BEAT_SECONDS)
                return
            try:
                await self.beat()
                async with self._engine.connect() as connection:
                    await end_lost_runs(connection)
            except (SQLAlchemyError, OSError) as error:
                why = reason_of(error)
                log.warning("presence.not_recorded", error=why)
                if not isinstance(error, PoolTimeout):
                    # To have no connection free is our own fault.
                    self._failed = why


ANYONE: Final = aliased(Process)
BACK_AT: Final = case(
    (
        select(func.max(ANYONE.seen_at)).scalar_subquery()
        < func.clock_timestamp() - text(f"interval '{SILENT_SECONDS} seconds'"),
        func.clock_timestamp(),
    ),
    else_=Process.back_at,
)
"""Of the first who is heard again after nobody was. One that was silent alone is not."""
HEARD_AT: Final = func.greatest(
    Process.seen_at, select(func.max(ANYONE.back_at)).scalar_subquery()
)
"""While the database was away nobody could be heard, and not all come back at once: none is
gone before the first of them has been back for a while."""


def own_name() -> str:
    """Name a process that has no worker; two lives of one have two names."""
    return f"{socket.gethostname()}-{os.getpid()}-{sign().hex}"


async def end_lost_runs(connection: AsyncConnection) -> None:
    """End the runs of processes that are gone, also of those that a former release had.

    Of a process of this machine that is known at once, of others after GONE_SECONDS.
    """
    is_running = SchedulerRun.outcome == RunOutcome.RUNNING
    processes = await connection.scalars(
        select(SchedulerRun.process).where(is_running).distinct()
    )
    dead = [name for name in processes if died_here(name)]
    is_alive = exists().where(
        # Former releases wrote only the beginning of the name.
        func.starts_with(Process.name, SchedulerRun.process),
        func.clock_timestamp() - text(f"interval '{GONE_SECONDS} seconds'") < HEARD_AT,
    )
    lost = (
        select(SchedulerRun.id)
        .where(is_running, or_(SchedulerRun.process.in_(dead), ~is_alive))
        .with_for_update(skip_locked=True)
    )
    ended = await connection.execute(
        update(SchedulerRun)
        .where(SchedulerRun.id.in_(lost))
        .values(
            outcome=RunOutcome.LOST,
            error=LOST_RUN,
            finished_at=func.clock_timestamp(),
        )
        .returning(SchedulerRun.job_id, SchedulerRun.process)
    )
    for job_id, process in ended:
        log.warning("scheduler.run_lost", id=job_id, process=process)


def died_here(name: str) -> bool:
    """Whether a process of this machine that had this name has certainly ended."""
    try:
        return is_dead(UUID(name.rpartition("-")[2]))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """One process as operators see it."""

    name: str
    role: str
    host: str
    pid: int
    version: str
    address: str | None
    stages: tuple[str, ...]
    in_hand: int
    resting: str | None
    started_at: datetime
    seen_seconds: float
    """How long ago it was heard of."""
    state: str
    """`working`, `serving`, `resting`, `draining`, `drained` or `gone`."""
    jobs: tuple[Json, ...] = ()
    """The jobs that it runs, as its scheduler publishes them."""


async def live_processes(database: Database) -> list[LiveProcess]:
    """List the processes of this database, also those that vanished lately."""
    now = func.clock_timestamp()
    query = select(
        Process.__table__,
        extract("epoch", now - Process.seen_at).label("seen_seconds"),
        extract("epoch", now - HEARD_AT).label("missed_seconds"),
    )
    async with transaction(database) as connection:
        ordered = query.order_by(Process.started_at, Process.name)
        rows = (await connection.execute(ordered)).all()
    return [
        LiveProcess(
            name=row.name,
            role=row.role,
            host=row.host,
            pid=row.pid,
            version=row.version,
            address=row.address,
            stages=tuple(row.stages),
            jobs=tuple(row.jobs),
            in_hand=row.in_hand,
            resting=row.resting,
            started_at=row.started_at,
            seen_seconds=float(row.seen_seconds),
            state=state_of(
                missed=float(row.missed_seconds),
                works=bool(row.stages),
                drains=row.drain_asked_at is not None,
                resting=row.resting,
                in_hand=row.in_hand,
            ),
        )
        for row in rows
    ]


def state_of(
    *, missed: float, works: bool, drains: bool, resting: str | None, in_hand: int
) -> str:
    """Say in a word how a process stands that has missed its beats for so many seconds."""
    if missed > GONE_SECONDS:
        return "gone"
    if not works:
        return "serving"
    if drains:
        return "drained" if resting and not in_hand else "draining"
    return "resting" if resting else "working"


async def ask_to_drain(
    connection: AsyncConnection, name: str, *, drain: bool = True
) -> None:
    """Let one process claim nothing more, or let it claim again; it hears within seconds."""
    asked = func.clock_timestamp() if drain else None
    changed = await connection.execute(
        update(Process)
        .where(Process.name == name)
        .values(drain_asked_at=asked)
        .returning(Process.name)
    )
    if changed.first() is None:
        raise UnknownRecord(
            f"There is no process '{name}'.", hint="`scrapersky workers` lists them."
        )
