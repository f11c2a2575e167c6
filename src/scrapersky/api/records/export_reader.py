"""Read rows for a file in steps, each a transaction of its own, and ask who is suppressed."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.tenancy import statement_timeout
from scrapersky.export.buffer import ExportBuffer, RowChunks, Rows
from scrapersky.export.turns import ExportTurns
from scrapersky.privacy.stopped import StoppedCompanies, stopped_among
from scrapersky.privacy.suppression_filter import (
    SuppressionFilter,
    filter_of,
    hashes_asked,
    keys_in_use,
)

CHUNK_ROWS: Final = 500
"""Rows of a step: to take them from the database keeps the event loop for 10 ms or so."""
STEP_TIMEOUT: Final = timedelta(seconds=60)
"""How long one step may take: a file that has begun cannot be begun again."""

WithoutStopped = Callable[[StoppedCompanies, Rows], Rows]
Allow = Callable[[SuppressionFilter, Rows], Rows]
"""Which rows the suppression list leaves, and what of them."""


@dataclass(frozen=True, slots=True)
class ExportReader:
    """Reads one export, in turn with the others; nothing is held between two steps."""

    engine: AsyncEngine
    tenant_id: UUID
    turns: ExportTurns
    without: WithoutStopped | None = None
    """How rows of companies that must not be contacted are left out; None: they are not."""

    @asynccontextmanager
    async def step(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection for one step."""
        async with (
            self.turns.step,
            statement_timeout(STEP_TIMEOUT),
            self.engine.connect() as connection,
        ):
            yield connection

    async def allowed(self, chunks: RowChunks, allow: Allow) -> RowChunks:
        """Yield the rows of a list that may be sent, however slowly they are.

        They are read ahead of the client; the suppression list is asked about each chunk
        when its turn to be sent has come.
        """
        async with aclosing(ExportBuffer(self.turns).chunks(chunks)) as buffered:
            async for rows in buffered:
                yield await self._without_suppressed(rows, allow)

    async def _without_suppressed(self, rows: Rows, allow: Allow) -> Rows:
        async with self.step() as connection:
            stopped = await stopped_among(connection, self.tenant_id, rows)
            keys = await keys_in_use(connection, self.tenant_id)
        if stopped and self.without is not None:
            rows = self.without(stopped, rows)
        if keys is None:
            return rows
        hosts = {row["domain"] for row in rows if row.get("domain")}
        # The names of the columns are nobody's.
        values = [[*row.values()] for row in rows]
        hashes = await self.turns.compute(hashes_asked, keys, values, domains=hosts)
        async with self.step() as connection:
            suppressions = await filter_of(connection, self.tenant_id, keys, hashes)
        if not suppressions:
            return rows
        return await self.turns.compute(allow, suppressions, rows)
