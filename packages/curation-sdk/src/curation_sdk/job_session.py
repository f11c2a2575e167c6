"""The session a job function gets: its writes commit with the item's status, or never.

Functions are written in several styles: `session.commit()`, `async with session.begin():`,
or neither. All of them work, and none of them commits before the function has returned.
"""

import structlog
from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    AsyncSessionTransaction,
)
from sqlalchemy.orm import (
    ORMExecuteState,
    Session,
    SessionTransaction,
    UOWTransaction,
)

from curation_sdk import statements
from curation_sdk.claim import Claim
from curation_sdk.errors import ClaimLost, ContractViolation

log = structlog.get_logger()


class FencedSession(Session):
    """The synchronous session inside a `JobSession`, to which its rules are attached."""

    job_session: "JobSession"


class JobSession(AsyncSession):
    """A session that connects at its first statement and leaves the commit to the loop."""

    sync_session_class = FencedSession
    sync_session: FencedSession

    def __init__(self, engine: AsyncEngine, stage: str, claim: Claim) -> None:
        super().__init__(engine, expire_on_commit=False)
        self.sync_session.job_session = self
        self.stage = stage
        self.claim = claim
        self.is_unsaved = False
        self.has_ended = False
        self.may_commit = False

    def begin(self) -> AsyncSessionTransaction:
        """Begin a savepoint; a block that raises rolls back only its own writes."""
        return self.begin_nested()

    async def commit(self) -> None:
        """Flush; everything commits together when the function returns."""
        await self.flush()
        self.is_unsaved = False

    async def close(self) -> None:
        """Do nothing if everything is committed: the loop closes the session itself."""
        pending = self.new or self.dirty or self.deleted
        if not self.has_ended and (self.is_unsaved or pending):
            raise ContractViolation(
                "The function closed its session before it committed what it wrote.",
                hint="Call session.commit() first, or leave out session.close(): the "
                "loop commits and closes when the function returns.",
            )

    async def flushed_connection(self) -> AsyncConnection:
        """Write what is pending and return the connection of the transaction."""
        await self.flush()
        return await self.connection()

    async def commit_with_status(self) -> None:
        """Commit what was written, including the status."""
        self.may_commit = True
        await super().commit()

    async def end(self) -> None:
        """Close the session for good; what was not committed is rolled back."""
        self.has_ended = True
        await super().close()


@event.listens_for(FencedSession, "after_begin")
def check_fence(
    session: FencedSession, _transaction: SessionTransaction, connection: Connection
) -> None:
    """Let the session write only while the claim on its item holds."""
    job = session.job_session
    if job.has_ended:
        log.error("job.session_used_late", stage=job.stage, item=job.claim.item)
        raise ContractViolation(
            f"The session of item {job.claim.item} was used after its function returned.",
            hint="Await every task that the function starts before it returns.",
        )
    # The lock makes the reaper, and any later claim, wait for this COMMIT.
    found = connection.exec_driver_sql(
        statements.LOCK_CLAIM, (job.stage, job.claim.item, job.claim.fence)
    )
    if found.first() is None:
        raise ClaimLost(f"Another worker has claimed item {job.claim.item} meanwhile.")


@event.listens_for(FencedSession, "before_commit")
def refuse_commit(session: FencedSession) -> None:
    """Let only the loop commit the transaction."""
    if not session.job_session.may_commit and not session.in_nested_transaction():
        raise ContractViolation(
            "The function committed the transaction behind its session.",
            hint="Use commit() or begin() of the session that the function was given.",
        )


@event.listens_for(FencedSession, "after_flush")
def note_flush(session: FencedSession, _context: UOWTransaction) -> None:
    """Remember that something was written; a block of its own counts as committed."""
    if not session.in_nested_transaction():
        session.job_session.is_unsaved = True


@event.listens_for(FencedSession, "do_orm_execute")
def note_statement(state: ORMExecuteState) -> None:
    """Remember that a statement has written something."""
    session = state.session
    is_write = state.is_insert or state.is_update or state.is_delete
    if is_write and not session.in_nested_transaction():
        assert isinstance(session, FencedSession)  # noqa: S101 - registered for this class
        session.job_session.is_unsaved = True
