"""Look at the rules again and again, store_alerts what is wrong, and report it once.

Every process could look; one does each time, whichever is first. So it also happens when all
workers are gone, as long as the API runs.
"""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy import func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.companies.setback import failing_tenants
from scrapersky.db.connection import explain_state, sqlstate_of
from scrapersky.errors import DatabaseProblem, DatabaseUnreachable, ScraperSkyError
from scrapersky.records import Process
from scrapersky.records.alert import Alert, AlertWatch
from scrapersky.records.check import check_writing
from scrapersky.records.schedule import SchedulerRun
from scrapersky.reporting.attempts import attempts_lately, settled_within
from scrapersky.reporting.database import database_figures
from scrapersky.reporting.stage_stats import full_queues, waiting_for_anyone
from scrapersky.scheduler.alert import (
    FAILURE_WINDOW,
    MIN_FREE_BYTES,
    RUN_WINDOW,
    ActiveAlert,
    Snapshot,
    Thresholds,
    active_alerts,
    stall_window,
)
from scrapersky.scheduler.alert_sender import AlertSender, Message
from scrapersky.scheduler.message import aftermath, message_of, message_of_many, refusal
from scrapersky.scheduler.outage import RULE, SETTLED_AFTER, count_returned, reason_of
from scrapersky.scheduler.overrides import stored_changes, with_changes
from scrapersky.scheduler.presence import GONE_SECONDS, live_processes
from scrapersky.settings import Settings

INTERVAL_SECONDS: Final = 60.0
MAX_SINGLE_MESSAGES: Final = 3
"""More that begin, or end, at once have a cause in common, and are one message."""
ALERT_RETENTION: Final = timedelta(days=30)
"""How long what is over is remembered."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SnapshotReader:
    """Sees the installation as it is."""

    engine: AsyncEngine
    started_with: Settings

    async def read(self) -> Snapshot:
        """Look once, by the settings that operators may have changed since the start."""
        settings = with_changes(self.started_with, await stored_changes(self.engine))
        stages = settings.stages
        high_water = {name: given.high_water for name, given in stages.items()}
        waiting = await waiting_for_anyone(self.engine)
        states = await curation_sdk.control.states(self.engine)
        return Snapshot(
            waiting=waiting,
            database=await database_figures(self.engine),
            attempts=await attempts_lately(self.engine, FAILURE_WINDOW),
            runs=await runs_lately(self.engine),
            paused={one.name: one.paused_why or "" for one in states if one.paused},
            held_back=full_queues(waiting, high_water),
            processes=await live_processes(self.engine),
            timeouts={name: given.timeout for name, given in stages.items()},
            intervals=settings.intervals,
            settled=await settled_within(
                self.engine,
                {name: stall_window(one) for name, one in settings.intervals.items()},
            ),
            setbacks=await failing_tenants(self.engine),
            disk_free=free_disk(settings.data_dir),
            thresholds=Thresholds(
                oldest=timedelta(minutes=settings.alert_oldest_minutes),
                dead_letters=settings.alert_dead_letters,
            ),
        )


class AlertMonitor:
    """Looks again and again, and reports what is wrong.

    `announce` says that this process is there before it says of others that they are not.
    """

    def __init__(
        self,
        reader: SnapshotReader,
        sender: AlertSender,
        *,
        name: str = "",
        announce: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._reader = reader
        self._engine = reader.engine
        self._sender = sender
        self._name = name
        self._announce = announce
        self._refusal: DatabaseProblem | None = None
        """Why nothing can be written, if somebody was notified of it."""

    async def look(self) -> list[ActiveAlert]:
        """Look now, store_alerts what is wrong, and report what nobody knows of yet."""
        found = active_alerts(await self._reader.read())
        await store_alerts(self._engine, found)
        if self._sender.has_anyone:
            await self._send()
        return found

    async def run(self) -> None:
        """Look for as long as the process runs."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            await self.take_turn()

    async def take_turn(self) -> None:
        """Look if nobody else does; where nothing can be written, at least report that."""
        try:
            if self._announce is not None:
                await self._announce()
            await check_writing(self._engine)
            await self._report_recovery()
            if await self._is_my_turn():
                await self.look()
        except (SQLAlchemyError, OSError, ScraperSkyError) as error:
            log.warning("watch.failed", error=reason_of(error.__cause__ or error))
            await self._report_refusal(error)

    async def _report_refusal(self, error: Exception) -> None:
        """Notify somebody of a database that can be read and not be written to.

        No alert can be stored in it, so the process that has lived longest does so, once.
        """
        problem = error if isinstance(error, DatabaseProblem) else None
        problem = problem or explain_state(sqlstate_of(error))
        if problem is None or isinstance(problem, DatabaseUnreachable):
            return  # Nobody can be chosen to report it.
        if self._refusal is not None or not self._sender.has_anyone:
            return
        try:
            is_mine = await longest_living(self._engine) == self._name
        except (SQLAlchemyError, OSError):
            return
        if is_mine and await self._sender.send(refusal(problem)):
            self._refusal = problem

    async def _report_recovery(self) -> None:
        refused = self._refusal
        if refused and await self._sender.send(refusal(refused, is_over=True)):
            self._refusal = None

    async def _is_my_turn(self) -> bool:
        """Say whether nobody has looked for a while, and that this process does now."""
        now = func.clock_timestamp()
        long_ago = now - text(f"interval '{INTERVAL_SECONDS * 0.8} seconds'")
        statement = (
            insert(AlertWatch)
            .values(id=1, looked_at=now)
            .on_conflict_do_update(
                index_elements=[AlertWatch.id],
                set_={"looked_at": now},
                where=AlertWatch.looked_at < long_ago,
            )
            .returning(AlertWatch.id)
        )
        async with self._engine.begin() as connection:
            return await connection.scalar(statement) is not None

    async def _send(self) -> None:
        """Notify somebody of what is new; after an outage later, and in one message."""
        async with self._engine.connect() as connection:
            outage = (await connection.execute(UNSENT_OUTAGE)).one_or_none()
            if outage is not None and not outage.is_settled:
                return
            rows = (await connection.execute(UNSENT)).all()
            back = 0 if outage is None else await count_returned(connection, outage)
        if outage is not None:
            await self._deliver(aftermath(outage, rows, back), [outage, *rows])
            return
        for is_over in (False, True):
            alike = [row for row in rows if (row.ended_at is not None) is is_over]
            if len(alike) > MAX_SINGLE_MESSAGES:
                await self._deliver(message_of_many(alike), alike)
                continue
            for row in alike:
                await self._deliver(message_of(row), [row])

    async def _deliver(self, message: Message, rows: Sequence[Any]) -> None:
        if not await self._sender.send(message):
            return
        named = {
            "rules": [row.rule for row in rows],
            "subjects": [row.subject for row in rows],
            "over": [row.ended_at is not None for row in rows],
        }
        async with self._engine.begin() as connection:
            await connection.execute(MARK_SENT, named)


async def longest_living(engine: AsyncEngine) -> str | None:
    """Return which of the processes that were heard of last has been there longest."""
    latest = select(func.max(Process.seen_at)).scalar_subquery()
    lately = Process.seen_at > latest - text(f"interval '{GONE_SECONDS} seconds'")
    query = select(Process.name).where(lately)
    async with engine.connect() as connection:
        return await connection.scalar(
            query.order_by(Process.started_at, Process.name).limit(1)
        )


UNSENT: Final = (
    select(Alert.__table__)
    .where(
        or_(
            Alert.sent_at.is_(None) & Alert.ended_at.is_(None),
            Alert.ended_at.is_not(None)
            & Alert.sent_at.is_not(None)
            & Alert.end_sent_at.is_(None),
        )
    )
    .order_by(Alert.since)
)
"""What nobody was notified of. What began and ended meanwhile is no news."""
UNSENT_OUTAGE: Final = text("""SELECT *,
    ended_at < clock_timestamp() - CAST(:settled AS interval) AS is_settled
  FROM alerts WHERE rule = :rule AND end_sent_at IS NULL
    AND ended_at > clock_timestamp() - interval '1 day'""").bindparams(
    rule=RULE, settled=SETTLED_AFTER
)
"""The one that nobody was notified of; of an old one, nobody was there to be."""
MARK_SENT: Final = text("""UPDATE alerts SET
    sent_at = coalesce(sent_at, clock_timestamp()),
    end_sent_at = CASE WHEN sent.over THEN clock_timestamp() END
  FROM unnest(CAST(:rules AS text[]), CAST(:subjects AS text[]), CAST(:over AS bool[]))
    AS sent (rule, subject, over)
  WHERE alerts.rule = sent.rule AND alerts.subject = sent.subject""")


async def store_alerts(engine: AsyncEngine, found: Sequence[ActiveAlert]) -> None:
    """Write down what is wrong now, and what no longer is."""
    named = {
        "rules": [alert.rule for alert in found],
        "subjects": [alert.subject for alert in found],
    }
    async with engine.begin() as connection:
        if found:
            await connection.execute(UPSERT_ALERTS, [asdict(alert) for alert in found])
        await connection.execute(END_OTHERS, named)
        await connection.execute(DELETE_OLD, {"age": ALERT_RETENTION})


UPSERT_ALERTS = text("""INSERT INTO alerts (rule, subject, summary, advice)
  VALUES (:rule, :subject, :summary, :advice)
  ON CONFLICT (rule, subject) DO UPDATE SET
    summary = excluded.summary, advice = excluded.advice, seen_at = clock_timestamp(),
    since = CASE WHEN alerts.ended_at IS NULL THEN alerts.since ELSE clock_timestamp() END,
    sent_at = CASE WHEN alerts.ended_at IS NULL THEN alerts.sent_at END,
    ended_at = NULL, end_sent_at = NULL""")
END_OTHERS = text("""UPDATE alerts SET ended_at = clock_timestamp() WHERE ended_at IS NULL
  AND (rule, subject) NOT IN (SELECT * FROM unnest(
    CAST(:rules AS text[]), CAST(:subjects AS text[])))""")
DELETE_OLD = text(
    "DELETE FROM alerts WHERE ended_at < clock_timestamp() - CAST(:age AS interval)"
)


async def runs_lately(engine: AsyncEngine) -> dict[str, dict[str, int]]:
    """Count the runs of every job within RUN_WINDOW, by outcome."""
    since = func.clock_timestamp() - text(
        f"interval '{RUN_WINDOW.total_seconds()} seconds'"
    )
    query = (
        select(SchedulerRun.job_id, SchedulerRun.outcome, func.count())
        .where(SchedulerRun.due_at > since)
        .group_by(SchedulerRun.job_id, SchedulerRun.outcome)
    )
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    async with engine.connect() as connection:
        for job, outcome, count in await connection.execute(query):
            found[job][outcome] = count
    return dict(found)


def free_disk(directory: Path) -> int:
    """Return how many bytes are free where our data is, or will be."""
    while not directory.exists() and directory != directory.parent:
        directory = directory.parent
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return MIN_FREE_BYTES


def alert_sender(settings: Settings) -> AlertSender:
    """Make what notifies whoever the settings name."""
    return AlertSender(
        webhook=settings.alert_webhook_url,
        smtp=settings.alert_smtp_url,
        sender=settings.alert_email_from,
        recipients=settings.alert_email_to,
    )
