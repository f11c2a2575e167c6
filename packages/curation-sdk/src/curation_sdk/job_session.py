"""The session a job function gets: its writes commit with the item's status, or never.

Functions are written in several styles: `session.commit()`, `async with session.begin():`,
or neither. All of them work, and none of them commits before the function has returned:
a commit only sets the point to which a later rollback goes back.
"""

import sys
from datetime import datetime
from typing import Any, Self
from weakref import WeakKeyDictionary

import asyncpg
from sqlalchemy import TextClause, event, inspect
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    AsyncSessionTransaction,
)
from sqlalchemy.orm import (
    InstanceState,
    ORMExecuteState,
    Session,
    SessionTransaction,
    UOWTransaction,
)

from curation_sdk import statements
from curation_sdk.claim import ClaimedKey
from curation_sdk.connection import ENDS_TRANSACTION
from curation_sdk.errors import ClaimLost, ContractViolation
from curation_sdk.queue import Queue

_sessions: "WeakKeyDictionary[Connection, JobSession]" = WeakKeyDictionary()
"""Whose transaction runs on a connection."""


class FencedSession(Session):
    """The synchronous session inside a `JobSession`, to which its rules are attached."""

    job_session: "JobSession"


class SavepointBlock(AsyncSessionTransaction):
    """A savepoint of `begin()` or `begin_nested()`; one that raises takes back only itself."""

    __slots__ = ("_is_commit",)

    session: "JobSession"

    def __init__(self, session: "JobSession", *, is_commit: bool) -> None:
        super().__init__(session, nested=True)
        self._is_commit = is_commit

    async def start(self, is_ctxmanager: bool = False) -> Self:  # noqa: FBT001, FBT002 - as overridden
        """Begin the block; as a context manager, it counts as open."""
        await super().start(is_ctxmanager)
        self.session.open_blocks += is_ctxmanager
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        self.session.open_blocks -= 1
        try:
            await super().__aexit__(kind, value, traceback)
        finally:
            if self._is_commit and kind is None:
                await self.session.keep()
            else:
                await self.session.set_floor()


class JobSession(AsyncSession):
    """A session that connects at its first statement and leaves the commit to the loop."""

    sync_session_class = FencedSession
    sync_session: FencedSession

    def __init__(
        self, engine: AsyncEngine, model: type[Any], queue: Queue, claim: ClaimedKey
    ) -> None:
        super().__init__(engine, expire_on_commit=False)
        self.sync_session.job_session = self
        self.model = model
        self.queue = queue
        self.claim = claim
        self.open_blocks = 0
        self.is_unsaved = False
        self.has_kept = False
        self.has_returned = False
        self.may_commit = False
        self.is_abandoned = self.is_disconnected = False
        self.used_connection: Connection | None = None
        self.began_at: datetime | None = None
        """When its transaction began, by the database; another one begins at another time."""

    def begin(self) -> AsyncSessionTransaction:
        """Begin a block within the transaction; one that raises takes back only itself."""
        return SavepointBlock(self, is_commit=True)

    def begin_nested(self) -> AsyncSessionTransaction:
        """Begin a block whose end does not count as a commit."""
        return SavepointBlock(self, is_commit=False)

    async def commit(self) -> None:
        """Flush, and let no later rollback take it back; the loop commits."""
        await self.flush()
        await self.keep()

    async def keep(self) -> None:
        """Set the point to which `rollback` goes back; inside a block, leave it to that."""
        if self.open_blocks:
            return
        await self._end_savepoints("commit")
        self.is_unsaved = False
        self.has_kept = self.in_transaction()
        await self.set_floor()

    async def set_floor(self) -> None:
        """Begin the savepoint to which `rollback` goes back; it is sent when it is used."""
        if self.has_kept and not self.open_blocks and not self.in_nested_transaction():
            await super().begin_nested()

    async def rollback(self) -> None:
        """Take back what was written since the last commit."""
        self.is_unsaved = False
        if not self.has_kept:
            await super().rollback()
            return
        await self._end_savepoints("rollback")
        await self.set_floor()

    async def close(self) -> None:
        """Do nothing if everything is committed: the loop closes the session itself."""
        pending = self.new or self.dirty or self.deleted
        if self.has_returned or not (self.is_unsaved or pending):
            return
        if sys.exception() is None:
            raise ContractViolation(
                "The function closed its session before it committed what it wrote.",
                hint="Call session.commit() first, or leave out session.close(): the "
                "loop commits and closes when the function returns.",
            )
        # A function that fails closes its session as well; that is not another failure.
        await self.rollback()

    async def reset(self) -> None:
        """Take back what is not committed and forget every object."""
        await self.rollback()
        self.expunge_all()

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is None:
            await self.close()

    async def flushed_connection(self) -> AsyncConnection:
        """Write what is pending and return the connection; the function has returned."""
        await self.flush()
        await self._end_savepoints("commit")
        connection = await self.connection()
        self.has_returned = True
        return connection

    async def commit_with_status(self) -> None:
        """Commit what was written, including the status."""
        self.may_commit = True
        await super().commit()
        self.may_commit = False

    async def end(self) -> None:
        """Close the session for good; what was not committed is rolled back."""
        self.has_returned = True
        if not self.is_disconnected:
            self.used_connection = None
            await super().close()

    def abandon(self) -> None:
        """Let a function that ignores its cancellation do nothing more to the item."""
        self.is_abandoned = True
        self.disconnect()

    def disconnect(self) -> None:
        """End the transaction under whoever still uses the session."""
        self.has_returned = self.is_disconnected = True
        if self.used_connection is not None:
            self.used_connection.invalidate()

    def refuse_ended_transaction(self) -> None:
        """Raise if the function has ended the transaction in a way that nobody could refuse."""
        driver = self._open_driver()
        if driver is not None and not driver.is_in_transaction():
            raise ended_behind()

    async def refuse_other_transaction(self) -> None:
        """Raise, also if another one was begun in its place."""
        self.refuse_ended_transaction()
        driver = self._open_driver()
        if driver is None:
            return
        try:
            began_at = await driver.fetchval(statements.TRANSACTION_BEGAN)
        except (asyncpg.PostgresError, asyncpg.InterfaceError):
            return  # the transaction has failed, or the connection is in use
        if began_at != self.began_at:
            raise ended_behind()

    def server_pid(self) -> int | None:
        """Return the server's process that has the transaction open, if there is one."""
        driver = self._open_driver()
        return None if driver is None else int(driver.get_server_pid())

    def _open_driver(self) -> "asyncpg.Connection[Any] | None":
        """Return the driver's connection while the session has a transaction on it."""
        connection = self.used_connection
        if connection is None or connection.closed or connection.invalidated:
            return None
        driver: Any = connection.connection.driver_connection
        return driver if self.in_transaction() and not driver.is_closed() else None

    def has_new_key(self, row: object) -> bool:
        """Return whether this is the item's row, with another primary key than it has."""
        state: InstanceState[Any] = inspect(row)
        if state.class_ is not self.model or state.identity != (self.claim.key,):
            return False
        key = state.mapper.get_property_by_column(state.mapper.primary_key[0]).key
        return bool(state.attrs[key].history.deleted)

    async def _end_savepoints(self, how: str) -> None:
        while (savepoint := self.get_nested_transaction()) is not None:
            await getattr(savepoint, how)()

    def refuse_late_use(self) -> None:
        """Raise in a task that the function started and did not wait for."""
        if not self.has_returned or self.may_commit:
            return
        self.queue.log.error("job.session_used_late", item=self.claim.item)
        raise ContractViolation(
            f"The session of item {self.claim.item} was used after its function returned.",
            hint="Await every task that the function starts before it returns.",
        )


def ended_behind() -> ContractViolation:
    """Return what is wrong with a COMMIT or ROLLBACK that the session knows nothing of."""
    return ContractViolation(
        "The function ended the transaction behind its session.",
        hint="Use commit(), rollback() or begin() of the session that the function was "
        "given.",
    )


def with_guarded_commits(engine: AsyncEngine) -> AsyncEngine:
    """Return the same engine, whose connections refuse to be committed behind a session."""
    guarded = engine.execution_options()
    event.listen(guarded.sync_engine, "commit", refuse_foreign_commit)
    return guarded


def refuse_foreign_commit(connection: Connection) -> None:
    """Let only the loop commit a transaction that belongs to a session."""
    session = _sessions.get(connection)
    if session is not None and not session.may_commit:
        raise ended_behind()


@event.listens_for(FencedSession, "after_begin")
def check_fence(
    session: FencedSession, transaction: SessionTransaction, connection: Connection
) -> None:
    """Let the session write only while the claim on its item holds."""
    job = session.job_session
    try:
        job.refuse_late_use()
    except ContractViolation:
        # Nobody closes the session any more.
        connection.invalidate()
        connection.close()
        raise
    if transaction.nested:
        return
    job.used_connection = connection
    _sessions[connection] = job
    # The lock makes the reaper, and any later claim, wait for our COMMIT.
    found = connection.exec_driver_sql(
        statements.LOCK_CLAIM, (job.queue.stage, job.claim.item, job.claim.fence)
    )
    job.began_at = found.scalar()
    if job.began_at is None:
        raise ClaimLost(f"Another worker has claimed item {job.claim.item} meanwhile.")


@event.listens_for(FencedSession, "before_commit")
def refuse_commit(session: FencedSession) -> None:
    """Let only the loop commit the transaction."""
    if not session.job_session.may_commit and not session.in_nested_transaction():
        raise ended_behind()


@event.listens_for(FencedSession, "before_flush")
def refuse_late_flush(
    session: FencedSession, _context: UOWTransaction, _instances: object
) -> None:
    """Refuse what a task left behind by the function would write, and another key."""
    job = session.job_session
    job.refuse_late_use()
    if any(map(job.has_new_key, session.dirty)):
        raise ContractViolation(
            f"The function changed the primary key of item {job.claim.item}.",
            hint="Add a row with the new key instead, and delete this one.",
        )


@event.listens_for(FencedSession, "after_flush")
def note_flush(session: FencedSession, _context: UOWTransaction) -> None:
    """Remember that something was written; a block of its own counts as committed."""
    if not session.job_session.open_blocks:
        session.job_session.is_unsaved = True


@event.listens_for(FencedSession, "do_orm_execute")
def note_statement(state: ORMExecuteState) -> None:
    """Remember that a statement has written something."""
    session = state.session
    assert isinstance(session, FencedSession)  # noqa: S101 - registered for this class
    job = session.job_session
    job.refuse_late_use()
    statement = state.statement
    if isinstance(statement, TextClause) and ENDS_TRANSACTION.match(statement.text):
        raise ended_behind()
    if (state.is_insert or state.is_update or state.is_delete) and not job.open_blocks:
        job.is_unsaved = True
