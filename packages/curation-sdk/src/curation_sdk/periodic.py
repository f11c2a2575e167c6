"""Periodic work: plain functions that run at set times, each once over all processes.

    @periodic("send_digest", Cron("0 6 * * 1-5", zone="Europe/Vienna"))
    async def send_digest(run: PeriodicRun) -> None: ...

    await run_periodic(engine, send_digest)

Each function is a claim without a row: whoever takes it when it is due runs it, and a lease
lets another process take it over if that one dies. To do periodic work on rows, queue them
in such a function.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from typing import Any, NamedTuple, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import statements
from curation_sdk.compat import connect_apart
from curation_sdk.connection import CONNECT_TIMEOUT_SECONDS, refuse_unusable_engine
from curation_sdk.control import execute
from curation_sdk.errors import CurationSdkError
from curation_sdk.log import get_logger
from curation_sdk.migrations import refuse_old_tables
from curation_sdk.process import sign
from curation_sdk.settlement import described, traceback_of
from curation_sdk.stage import is_generator, is_plain_function, takes

__all__ = [
    "Cron",
    "Every",
    "PeriodicFunction",
    "PeriodicRun",
    "Schedule",
    "periodic",
    "run_periodic",
]

STAGE = "(periodic)"
"""The name under which these claims are kept; no stage can be called so."""
LEASE_SECONDS = 30.0
POLL_SECONDS = 1.0
MAX_COUNTED_RUNS = 1_000
MAX_YEARS = 8
"""How far ahead a time is looked for: the 29th of February may be that far away."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = {
    name: number
    for names, first in (
        ("jan feb mar apr may jun jul aug sep oct nov dec", 1),
        ("sun mon tue wed thu fri sat", 0),
    )
    for number, name in enumerate(names.split(), first)
}
FIELDS = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 31),
    "month": (1, 12),
    "weekday": (0, 7),
}

log = get_logger(__name__)


class PeriodicRun(NamedTuple):
    """One run of a periodic function."""

    name: str
    """The name of the function."""
    due_at: datetime
    """The time it was due; later than planned, if no process was there."""
    missed: int
    """How many more times were due by now; this run stands for them too."""


class Schedule(Protocol):
    """Says when something is due."""

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time that is later than this one."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """Due at every multiple of an interval since 1970, in UTC: every hour on the hour."""

    interval: timedelta
    """At least a second."""

    def __post_init__(self) -> None:
        if self.interval < timedelta(seconds=1):
            raise CurationSdkError(
                f"An interval of {self.interval} is too short.",
                hint="It must be at least a second.",
            )

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time that is later than this one."""
        return EPOCH + ((moment - EPOCH) // self.interval + 1) * self.interval


class Cron:
    """Due as crontab says: minute, hour, day of the month, month, day of the week.

    Times are those of a clock in `zone`. One that a clock skips in spring comes an hour
    later. One that it shows twice in autumn comes once, and twice if every hour is meant:
    `*/10 * * * *` never waits longer than ten minutes.
    """

    def __init__(self, expression: str, *, zone: str = "UTC") -> None:
        self._expression = expression
        fields = expression.lower().split()
        if len(fields) != len(FIELDS):
            raise CurationSdkError(
                f"'{expression}' has {len(fields)} fields instead of {len(FIELDS)}.",
                hint="Write minute, hour, day, month and weekday: '0 6 * * 1-5'.",
            )
        read = [read_field(*each) for each in zip(FIELDS, fields, strict=True)]
        self._minutes, self._hours, self._days, self._months, weekdays = read
        # An hour that is written as a number is meant once a day.
        self._folds = (0, 1) if fields[1].startswith("*") else (0,)
        self._weekdays = {number % 7 for number in weekdays}
        # As in crontab: where both days are restricted, either will do.
        self._is_either_day = "*" not in {fields[2][0], fields[4][0]}
        try:
            self._zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise CurationSdkError(
                f"'{zone}' is no time zone that this system knows.",
                hint="Write it as 'Europe/Vienna'; without a zone database, install tzdata.",
            ) from error

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time that is later than this one."""
        day = moment.astimezone(self._zone).date()
        last = day + timedelta(days=366 * MAX_YEARS)
        while day < last:
            if self._is_day(day):
                later = [each for each in self._times_of(day) if each > moment]
                if later:
                    return min(later)
            day += timedelta(days=1)
        raise CurationSdkError(
            f"'{self._expression}' is never due.",
            hint="Its month has no such day; leave one of the two open.",
        )

    def _times_of(self, day: date) -> Iterator[datetime]:
        for hour, minute, fold in product(self._hours, self._minutes, self._folds):
            local = datetime.combine(day, time(hour, minute, fold=fold), self._zone)
            yield local.astimezone(UTC)

    def _is_day(self, day: date) -> bool:
        if day.month not in self._months:
            return False
        of_month = day.day in self._days
        of_week = day.isoweekday() % 7 in self._weekdays
        return of_month or of_week if self._is_either_day else of_month and of_week


def read_field(name: str, text: str) -> set[int]:
    """Read one field of a cron expression: `*`, `5`, `1-5`, `*/15`, `mon,wed`."""
    lowest, highest = FIELDS[name]
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        try:
            every = int(step) if step else 1
            if span == "*":
                low, high = lowest, highest
            else:
                low = NAMES.get(first, -1) if first in NAMES else int(first)
                high = NAMES[last] if last in NAMES else int(last or low)
                if step and not last:
                    high = highest
        except ValueError:
            low, high, every = -1, -1, 0
        if not (lowest <= low <= high <= highest and every > 0):
            raise CurationSdkError(
                f"'{part}' cannot be the {name} of a cron expression.",
                hint=f"It is a number from {lowest} to {highest}, the lower one first in a "
                "span: '5', '1-5', '*/15' or '1,3'.",
            )
        found.update(range(low, high + 1, every))
    return found


@dataclass(frozen=True, slots=True)
class PeriodicFunction:
    """A function and when it runs."""

    name: str
    """Identifies it over all processes."""
    schedule: Schedule
    """When it is due."""
    function: Callable[[PeriodicRun], Awaitable[Any]]
    """`async def f(run)`."""

    async def __call__(self, run: PeriodicRun) -> None:
        """Run it once, without its schedule, for tests."""
        await self.function(run)


def periodic(
    name: str, schedule: Schedule
) -> Callable[[Callable[[PeriodicRun], Awaitable[Any]]], PeriodicFunction]:
    """Let an `async def f(run)` run at set times; see `run_periodic`.

    One that must block is a plain `def` below `@in_thread`.
    """
    if not callable(getattr(schedule, "next_after", None)):
        raise CurationSdkError(
            f"'{name}' cannot run at set times: {schedule!r} is not a schedule.",
            hint="Write Cron('0 6 * * *') or Every(timedelta(hours=1)).",
        )

    def declare(function: Callable[[PeriodicRun], Awaitable[Any]]) -> PeriodicFunction:
        is_async = not (is_plain_function(function) or is_generator(function))
        if not (is_async and takes(function, 1)):
            raise CurationSdkError(
                f"'{name}' cannot run at set times: it is no `async def f(run)`.",
                hint="Declare it so, without `yield`; if it must block, put @in_thread "
                "above a plain `def`.",
            )
        return PeriodicFunction(name, schedule, function)

    return declare


async def run_periodic(
    engine: AsyncEngine, *functions: PeriodicFunction, poll: float = POLL_SECONDS
) -> None:
    """Run these functions when they are due, until cancelled.

    Any number of processes may do the same: each time that is due is run by one of them.
    A function that raises is logged, and runs again at its next time. Times that nobody
    was there for are run once, and `PeriodicRun.missed` says how many they were.
    """
    refuse_unusable_engine(engine)
    names = [function.name for function in functions]
    if not names or len(set(names)) < len(names):
        raise CurationSdkError(
            "run_periodic needs functions, each with a name of its own: "
            f"it was given {', '.join(names) or 'none'}.",
            hint="Pass functions declared with @periodic(name, schedule).",
        )
    async with engine.connect() as connection:
        await refuse_old_tables(connection)
    worker = f"{socket.gethostname()}-{os.getpid()}-{sign().hex}"
    async with asyncio.TaskGroup() as group:
        for function in functions:
            group.create_task(PeriodicLoop(engine, function, worker).run(poll))


class PeriodicLoop:
    """Runs one periodic function whenever this process is the first to find it due."""

    def __init__(
        self, engine: AsyncEngine, function: PeriodicFunction, worker: str
    ) -> None:
        self._engine = engine
        self._function = function
        self._worker = worker

    async def run(self, poll: float) -> None:
        """Look for the time, again and again."""
        is_registered = False
        while True:
            try:
                if not is_registered:
                    await self._register()
                    is_registered = True
                await self.run_if_due()
            except Exception as error:  # noqa: BLE001 - nothing may end the loop
                log.warning("periodic.fault", name=self._function.name, why=repr(error))
            await asyncio.sleep(poll)

    async def run_if_due(self) -> bool:
        """Run the function if it is due and nobody else runs it; return whether."""
        name = self._function.name
        taken = await self._send(
            statements.TAKE_PERIODIC, STAGE, name, self._worker, LEASE_SECONDS
        )
        if not taken:
            return False
        fence, due_at, now = taken[0]
        ended = threading.Event()
        # A thread: the function may block the event loop, and is alive all the same.
        threading.Thread(
            target=self._beat,
            args=(fence, ended),
            name="curation-sdk-periodic",
            daemon=True,
        ).start()
        try:
            why, trace = await self._outcome(due_at, now)
        finally:
            ended.set()
        (row,) = await self._send(statements.NOW)
        following = self._function.schedule.next_after(row[0])
        key = (STAGE, name, fence)
        outcome = "done" if why is None else "gave_up"
        await self._send(
            statements.FINISH_PERIODIC, *key, following, outcome, why, trace
        )
        return True

    async def _outcome(
        self, due_at: datetime, now: datetime
    ) -> tuple[str | None, str | None]:
        name, schedule = self._function.name, self._function.schedule
        run = PeriodicRun(name, due_at, count_due(schedule, due_at, now))
        # A task of its own, which it may cancel without ending this one.
        task = asyncio.create_task(self._function(run))
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
        if task.cancelled():
            log.error("periodic.failed", name=name, why="it cancelled itself")
            return "it cancelled itself", None
        if error := task.exception():  # it runs again at its next time
            trace = traceback_of(error)
            log.error("periodic.failed", name=name, exception=trace)
            return described(error), trace
        return None, None

    async def _register(self) -> None:
        (row,) = await self._send(statements.NOW)
        due_at = self._function.schedule.next_after(row[0])
        await self._send(
            statements.REGISTER_PERIODIC, STAGE, self._function.name, due_at
        )

    def _beat(self, fence: int, ended: threading.Event) -> None:
        while not ended.wait(LEASE_SECONDS / 3):
            try:
                asyncio.run(self._renew_lease(fence))
            except Exception as error:  # noqa: BLE001 - the next one may get through
                log.warning("periodic.fault", name=STAGE, why=repr(error))

    async def _renew_lease(self, fence: int) -> None:
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            driver = await connect_apart(self._engine)
        try:
            key = ([STAGE], [self._function.name], [fence])
            await driver.fetch(statements.HEARTBEAT, *key, [LEASE_SECONDS])
        finally:
            driver.terminate()

    async def _send(self, statement: str, *arguments: object) -> list[Any]:
        async with self._engine.begin() as connection:
            found = await execute(connection, statement, *arguments)
            return list(found.all()) if found.returns_rows else []


def count_due(schedule: Schedule, after: datetime, until: datetime) -> int:
    """Count the times that are due after one moment, up to another."""
    count, moment = 0, schedule.next_after(after)
    while moment <= until and count < MAX_COUNTED_RUNS:
        count, moment = count + 1, schedule.next_after(moment)
    return count
