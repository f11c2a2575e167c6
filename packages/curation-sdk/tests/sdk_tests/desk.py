"""A ticket desk: a model that is not ours, two stages' columns, and questions about it."""

import asyncio
import enum
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from sqlalchemy import DateTime, Enum, ForeignKey, Text, func, insert, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import (
    Backoff,
    Done,
    Outcome,
    Stage,
    Worker,
    queue_index,
    run_job_loop,
    stage,
)
from curation_sdk.events import Event, Events
from sdk_tests.rig.waiting import HUNG


class State(enum.StrEnum):
    NEW = "New"
    QUEUED = "Queued"
    PROCESSING = "Processing"
    COMPLETE = "Complete"
    ERROR = "Error"
    SKIPPED = "Skipped"


def values(kind: type[State]) -> list[str]:
    return [member.value for member in kind]


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012 - as SQLAlchemy wants it
        datetime: DateTime(timezone=True),
        State: Enum(State, name="state", values_callable=values),
    }


class Ticket(Base):
    __tablename__ = "ticket"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(default="")
    tenant: Mapped[str] = mapped_column(default="a")
    priority: Mapped[int] = mapped_column(default=0)
    state: Mapped[State] = mapped_column(default=State.QUEUED)
    error: Mapped[str | None] = mapped_column(Text)
    answer_state: Mapped[State] = mapped_column(default=State.NEW)
    updated_at: Mapped[datetime] = mapped_column(
        server_default=func.clock_timestamp(), onupdate=func.now()
    )


class Reply(Base):
    __tablename__ = "reply"

    id: Mapped[int] = mapped_column(primary_key=True)
    ticket_id: Mapped[int] = mapped_column(ForeignKey("ticket.id"))
    words: Mapped[str] = mapped_column(unique=True)


queue_index(Ticket.state, State.QUEUED)
queue_index(Ticket.answer_state, State.QUEUED)

Work = Callable[[Ticket, Any], Awaitable[Outcome]]
SOON = timedelta(milliseconds=20)


async def succeed(_ticket: Ticket, _tools: object) -> Outcome:
    return Done()


def reply_with(words: str, ticket: Ticket) -> Done:
    async def write(transaction: Any) -> None:
        await transaction.execute(
            insert(Reply).values(ticket_id=ticket.id, words=words)
        )

    return Done(write)


async def reply(ticket: Ticket, _tools: object) -> Outcome:
    return reply_with(f"re: {ticket.id}", ticket)


def triage(work: Work = succeed, **options: Any) -> Stage[Ticket, Any]:
    """Declare the stage that owns `ticket.state`, quick enough for tests."""
    quick: dict[str, Any] = {
        "error": Ticket.error,
        "batch": 10,
        "concurrency": 10,
        "lease": timedelta(seconds=2),
        "backoff": Backoff(first=SOON, longest=SOON),
    }
    return stage(
        "triage",
        claims=Ticket.state,
        queued=State.QUEUED,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
        **(quick | options),
    )(work)


def answer(work: Work = succeed, **options: Any) -> Stage[Ticket, Any]:
    """Declare the stage that owns `ticket.answer_state`."""
    return stage(
        "answer",
        claims=Ticket.answer_state,
        queued=State.QUEUED,
        processing=State.PROCESSING,
        done=State.COMPLETE,
        failed=State.ERROR,
        **options,
    )(work)


@dataclass
class Desk:
    """The database as a person at the desk sees it."""

    engine: AsyncEngine
    dsn: str
    heard: list[Event] = field(default_factory=list)

    @property
    def events(self) -> Events[Event]:
        events: Events[Event] = Events()
        events.listen(self.heard.append)
        return events

    async def open(self, count: int, **columns: Any) -> None:
        """Queue tickets 1 to `count`, or that many more."""
        async with self.engine.begin() as connection:
            rows = [{"title": "", **columns}] * count
            await connection.execute(insert(Ticket), rows)

    async def execute(self, statement: str) -> None:
        async with self.engine.begin() as connection:
            await connection.execute(text(statement))

    async def rows(self, statement: str) -> list[tuple[Any, ...]]:
        async with self.engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(statement))]

    async def one(self, statement: str) -> Any:
        return (await self.rows(statement))[0][0]

    async def states(self) -> dict[str, int]:
        rows = await self.rows("SELECT state::text, count(*) FROM ticket GROUP BY 1")
        return dict(rows)

    async def outcomes(self, item: int = 1) -> list[str]:
        query = f"SELECT outcome FROM curation.attempt WHERE item = '{item}' ORDER BY settled_at"
        return [row[0] for row in await self.rows(query)]

    async def tried(self, item: int = 1) -> list[str]:
        """Return outcomes, without those of claims that a loop handed back as it ended."""
        return [each for each in await self.outcomes(item) if each != "returned"]

    async def drain(
        self, *stages: Stage[Any, Any], seconds: float = 10, **options: Any
    ) -> int:
        """Work the first stage until nothing can be claimed."""
        async with self.worker(*stages, **options) as worker:
            return await worker.drain(stages[0], within=timedelta(seconds=seconds))

    @asynccontextmanager
    async def worker(
        self, *stages: Stage[Any, Any], **options: Any
    ) -> AsyncIterator[Worker]:
        options.setdefault("poll", timedelta(milliseconds=50))
        async with Worker(self.engine, stages, events=self.events, **options) as worker:
            yield worker

    @asynccontextmanager
    async def running(
        self, *stages: Stage[Any, Any], **options: Any
    ) -> AsyncIterator[Worker]:
        """Run a worker in the background."""
        async with self.worker(*stages, **options) as worker:
            task = asyncio.create_task(worker.run())
            yield worker
            await worker.stop()
            await task

    async def until(self, statement: str, wanted: Any, seconds: float = HUNG) -> None:
        """Wait until a query's first value is `wanted`; fail if it never is."""
        await eventually(lambda: self.one(statement), wanted, seconds)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["asyncpg.Connection[Any]"]:
        made: asyncpg.Connection[Any] = await asyncpg.connect(self.dsn)
        yield made
        made.terminate()

    def emitted(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.heard if isinstance(event, kind)]


async def job_loop(desk: Desk, function: Any, **options: Any) -> int:
    """Work the tickets through the plain entry, quick enough for tests."""
    quick: dict[str, Any] = {
        "engine": desk.engine,
        "events": desk.events,
        "status_field_name": "state",
        "backoff": Backoff(first=SOON, longest=SOON),
    }
    return await run_job_loop(
        Ticket,
        State,
        State.QUEUED,
        State.PROCESSING,
        State.COMPLETE,
        State.ERROR,
        function,
        **(quick | options),
    )


async def eventually(
    ask: Callable[[], Awaitable[Any]], wanted: Any, seconds: float = HUNG
) -> None:
    deadline = time.monotonic() + seconds
    got = await ask()
    while got != wanted and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
        got = await ask()
    assert got == wanted
