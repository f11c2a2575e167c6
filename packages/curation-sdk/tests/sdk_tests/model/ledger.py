"""Workers without loops: every step of the protocol, taken by hand, on real PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import asyncpg
from sqlalchemy import BigInteger, DateTime, Identity, Text, func, insert
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import (
    Done,
    Outcome,
    Stage,
    Transaction,
    Worker,
    migrate,
    queue_index,
    stage,
    statements,
)
from curation_sdk.claim import ClaimedItem
from curation_sdk.connection import WorkerConnection
from curation_sdk.crash_rule import RESCUED_TOGETHER, SET_APART
from curation_sdk.reap import Reaper
from curation_sdk.settlement import Result

QUEUED, WORKING, DONE, FAILED, CANCELLED = (
    "queued",
    "working",
    "done",
    "failed",
    "cancelled",
)
LEASE = timedelta(seconds=30)
BATCH = 2


class Base(DeclarativeBase):
    """The tables of the ledger."""


class Job(Base):
    """A record whose input may change while someone works on it."""

    __tablename__ = "job"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(Text, server_default=QUEUED)
    error: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int] = mapped_column(server_default="0")
    queued_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.clock_timestamp()
    )


class Entry(Base):
    """An effect; nothing keeps it from being written twice but the engine."""

    __tablename__ = "entry"
    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    job_id: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int]


queue_index(Job.status, QUEUED, order_by=Job.queued_at)


async def nothing(_job: Job, _tools: object) -> Outcome:
    return Done()


def book() -> Stage[Job, object]:
    """Declare the stage."""
    declare = stage(
        "book",
        claims=Job.status,
        error=Job.error,
        order_by=Job.queued_at,
        queued=QUEUED,
        processing=WORKING,
        done=DONE,
        failed=FAILED,
        batch=BATCH,
        lease=LEASE,
        max_crashes=3,
        max_attempts=3,
    )
    return declare(nothing)


@dataclass(frozen=True, slots=True)
class InHand:
    """A claim somebody holds, or believes to hold."""

    hand: "Hand"
    held: ClaimedItem
    job: int
    version: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One job as the database has it, its claim included."""

    status: str | None
    version: int | None
    fence: int | None
    claimed: bool
    expired: bool
    entries: tuple[int, ...]


class LossyLane(WorkerConnection):
    """A connection that can lose the answer to its next statement or commit."""

    lose_next = False
    when_begun: Callable[[], None] | None = None

    async def fetch(self, statement: str, *arguments: object) -> list[Any]:
        rows = await super().fetch(statement, *arguments)
        self._maybe_lose()
        return rows

    @asynccontextmanager
    async def transaction(self, *first: str) -> AsyncIterator[Transaction]:
        async with super().transaction(*first) as transaction:
            if self.when_begun is not None:
                self.when_begun()
                self.when_begun = None
            yield transaction
        self._maybe_lose()

    def _maybe_lose(self) -> None:
        if self.lose_next:
            self.lose_next = False
            raise asyncpg.ConnectionDoesNotExistError("the answer was lost")


class Hand:
    """A worker that takes one step at a time, as the test asks."""

    def __init__(self, engine: AsyncEngine, name: str) -> None:
        self.worker = Worker(engine, [book()], name=name)
        self.connection = LossyLane(engine)
        self.worker._claim_connection = self.connection
        self.worker._settle_connection = self.connection
        self.worker._settler._connection = self.connection
        self.engine = engine

    async def start(self) -> None:
        """Prepare the stage as a worker does, but start none of its loops."""
        [self.ready] = await self.worker.registry.check(self.engine, self.worker.stages)
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a worker that was started just now."""
        self.connection.lose_next = False
        self.run = self.worker._prepare(self.ready)

    def batch(self, size: int) -> None:
        """Begin anew with batches of this size."""
        stage = self.ready.stage.configured(batch=size)
        self.ready = replace(self.ready, stage=stage)
        held = self.run.held
        self.forget()
        self.run.held.update(held)

    async def claim(self, kind: str) -> list[InHand]:
        """Claim from the queue, from those whose wait is over, or from suspects."""
        takes: dict[str, Callable[[], Awaitable[list[ClaimedItem]]]] = {
            "batch": self.run.claimer.next_batch,
            "due": partial(self.run.claimer.next_due, BATCH),
            "suspect": self.next_suspects,
        }
        found = []
        for held in await takes[kind]():
            job = self.run.function.item_of(held)
            found.append(InHand(self, held, job.id, job.version))
        return found

    async def next_suspects(self) -> list[ClaimedItem]:
        """Claim rescued items, or else one that is tried alone."""
        rescued = await self.run.claimer.next_rescued(RESCUED_TOGETHER)
        if rescued:
            return rescued
        found = await self.run.claimer.next_suspect()
        for held in found:
            await self.connection.fetch(SET_APART, "book", held.item, held.fence)
        return found

    async def claim_suspects_together(self) -> None:
        """Claim every suspect there is, as a worker that does not set them apart."""
        while await self.run.claimer.next_rescued(RESCUED_TOGETHER):
            pass
        while await self.run.claimer.next_suspect():
            pass

    async def beat(self, mine: InHand) -> bool:
        """Renew the lease; tell whether the claim still stood."""
        rows = await self.connection.fetch(
            statements.HEARTBEAT,
            ["book"],
            [mine.held.item],
            [mine.held.fence],
            [LEASE.total_seconds()],
        )
        # It answers with the claims that are lost.
        return not rows

    async def settle(self, mine: InHand, result: Result) -> None:
        """Hand a result to the engine's settler."""
        await self.settle_together([(mine, result)])

    async def settle_together(self, results: list[tuple[InHand, Result]]) -> None:
        """Hand several results to the engine's settler at once."""
        batch = [(mine.held, result) for mine, result in results]
        await self.worker._settler.settle(self.run, batch)

    async def reap(self) -> None:
        """Rescue what has expired."""
        await Reaper(self.connection).reap_at_once([self.run.queue])

    async def close(self) -> None:
        """Give the connection back."""
        await self.connection.close()


class Ledger:
    """The database, three hands, and an observer that belongs to none of them."""

    def __init__(
        self, engine: AsyncEngine, observer: "asyncpg.Connection[Any]"
    ) -> None:
        self.engine = engine
        self.observer = observer
        self.hands = [Hand(engine, f"hand{number}") for number in range(3)]

    @classmethod
    async def open(cls, url: str, dsn: str) -> "Ledger":
        """Create the tables where they are missing and connect."""
        engine = create_async_engine(url)
        await migrate(engine)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        observer = await asyncpg.connect(dsn)
        # Steps that meet crosswise are sorted out by the server; it need not wait 1 s.
        name = await observer.fetchval("SELECT current_database()")
        await observer.execute(f'ALTER DATABASE "{name}" SET deadlock_timeout = 20')
        ledger = cls(engine, observer)
        for hand in ledger.hands:
            await hand.start()
        return ledger

    async def close(self) -> None:
        """Close every connection."""
        for hand in self.hands:
            await hand.close()
        await self.observer.close()
        await self.engine.dispose()

    async def reset(self, jobs: int) -> None:
        """Start again with so many queued jobs."""
        await self.observer.execute(
            "DELETE FROM job; DELETE FROM entry; DELETE FROM curation.claim;"
            "DELETE FROM curation.attempt; DELETE FROM curation.dead_letter"
        )
        await self.observer.execute(
            "INSERT INTO job (id) SELECT generate_series(1, $1::int)", jobs
        )
        for hand in self.hands:
            hand.forget()

    async def look(self, job: int) -> Snapshot:
        """Read one job and its claim."""
        return (await self.look_at([job]))[job]

    async def look_at(self, jobs: Iterable[int]) -> dict[int, Snapshot]:
        """Read these jobs and their claims."""
        rows = await self.observer.fetch(
            "SELECT n, status, version, fence, k.item IS NOT NULL AS claimed,"
            " coalesce(lease_until < clock_timestamp(), false) AS expired,"
            " ARRAY(SELECT e.version FROM entry e WHERE job_id = n ORDER BY e.id)"
            "   AS entries"
            " FROM unnest($1::bigint[]) AS n"
            " LEFT JOIN job ON job.id = n"
            " LEFT JOIN curation.claim k ON k.item = n::text",
            list(jobs),
        )
        return {
            row["n"]: Snapshot(
                row["status"],
                row["version"],
                row["fence"],
                row["claimed"],
                row["expired"],
                tuple(row["entries"]),
            )
            for row in rows
        }

    async def cancel(self, job: int) -> None:
        """Cancel by plain SQL, as a person does."""
        await self.observer.execute(
            "UPDATE job SET status = 'cancelled' WHERE id = $1"
            " AND status IN ('queued', 'working')",
            job,
        )

    async def erase(self, job: int) -> None:
        """Delete the row."""
        await self.observer.execute("DELETE FROM job WHERE id = $1", job)

    async def requeue(self, job: int) -> None:
        """Change the input and queue the job again, by plain SQL."""
        await self.observer.execute(
            "UPDATE job SET status = 'queued', version = version + 1,"
            " queued_at = clock_timestamp() WHERE id = $1",
            job,
        )

    async def jump(self, seconds: int) -> None:
        """Do to every stored time what a jump of the server's clock would do."""
        await self.observer.execute(
            "UPDATE curation.claim SET"
            " lease_until = lease_until - make_interval(secs => $1),"
            " due_at = due_at - make_interval(secs => $1)",
            float(seconds),
        )

    async def cut(self, hand: Hand) -> None:
        """End the hand's session on the server's side."""
        driver = hand.connection._driver
        if driver is not None and not driver.is_closed():
            pid = driver.get_server_pid()
            await self.observer.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)


def entry_of(
    mine: InHand, meanwhile: Callable[[], Awaitable[object]] | None = None
) -> Done:
    """Return an outcome that writes one entry, and lets something happen meanwhile."""

    async def write(transaction: Transaction) -> None:
        await transaction.execute(
            insert(Entry).values(job_id=mine.job, version=mine.version)
        )
        if meanwhile is not None:
            await meanwhile()

    return Done(write)
