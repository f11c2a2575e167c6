"""A queue in a few lines: the columns of a row that is one, and a worker that runs it."""

import asyncio
import signal
import threading
from datetime import datetime
from typing import Any, TypedDict, Unpack, overload

from sqlalchemy import (
    URL,
    BigInteger,
    DateTime,
    Identity,
    Index,
    MetaData,
    Text,
    func,
    text,
)
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from curation_sdk.connection import engine_of
from curation_sdk.migrations import migrate
from curation_sdk.stage import Stage, ToolsT
from curation_sdk.worker import Worker


class QueueMixin:
    """Gives a model what a queue needs: a key, a status, an error, and the index of claims.

    The statuses are those that `@stage` has unless it is given others: queued, processing,
    done and failed.
    """

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    status: Mapped[str] = mapped_column(Text, default="queued", server_default="queued")
    error: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now(), onupdate=func.now()
    )

    @declared_attr.directive
    def __table_args__(cls) -> Any:  # noqa: ANN401, N805 - as SQLAlchemy types it
        """Add the partial index that claims walk along."""
        name = f"{cls.__tablename__}_status_queue"  # type: ignore[attr-defined]
        is_queued = text("status = 'queued'")
        return (Index(name[:63], "updated_at", "id", postgresql_where=is_queued),)


class RunOptions(TypedDict, total=False):
    """What `run_worker` takes besides its stages."""

    metadata: MetaData | None


@overload
async def run_worker(
    url: str | URL, *stages: Stage[Any, None], **options: Unpack[RunOptions]
) -> None: ...


@overload
async def run_worker(
    url: str | URL,
    *stages: Stage[Any, ToolsT],
    tools: ToolsT,
    **options: Unpack[RunOptions],
) -> None: ...


async def run_worker(
    url: str | URL,
    *stages: Stage[Any, Any],
    tools: object = None,
    metadata: MetaData | None = None,
) -> None:
    """Create what is missing, and work these stages until SIGINT, SIGTERM or cancelled.

    Creates the SDK's tables, and those of `metadata` if it is given. A program with an
    engine and migrations of its own uses `Worker`.
    """
    engine = engine_of(url)
    try:
        await migrate(engine)
        if metadata is not None:
            async with engine.begin() as connection:
                await connection.run_sync(metadata.create_all)
        async with Worker(engine, stages, tools=tools) as worker:
            # Only the main thread hears signals.
            if threading.current_thread() is threading.main_thread():
                loop = asyncio.get_running_loop()
                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(number, worker.request_stop)
            await worker.run()
    finally:
        await engine.dispose()
