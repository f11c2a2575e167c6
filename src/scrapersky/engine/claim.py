"""Claim: take the next items of a stage, fast whatever else the table holds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
import orjson
from sqlalchemy import Column, Dialect, Float, Numeric, inspect
from sqlalchemy.orm import Mapper

from scrapersky.engine.lane import Lane
from scrapersky.engine.sql import Statements
from scrapersky.engine.stage import Stage

RESCAN_EVERY = 2.0
"""Seconds a cursor may run on before rows left of it are looked for again."""
TENANTS_EVERY = 0.25
"""Seconds a list of tenants with work is trusted."""
HISTORY = 6
"""Where a claimed row says which items have a history (of tries and deaths)."""
FIRST_COLUMN = 7
"""Where a claimed row's own columns begin, after the claim's."""


class Held:
    """An item in hand: whose it is by fence, and the row as it was when claimed."""

    __slots__ = ("beat", "claimed", "deaths", "fence", "item", "row", "tries")

    def __init__(self, row: "asyncpg.Record | Sequence[Any]", now: float) -> None:
        self.fence: int = row[0]
        self.tries: int = row[1]
        self.deaths: int = row[2]
        self.item: str = row[3]
        self.row: asyncpg.Record | Sequence[Any] | None = row
        self.claimed = now
        self.beat = now


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim alone, for work that loads its row itself."""

    key: Any
    item: str
    fence: int
    tries: int


class Claimer:
    """Sends a stage's claims and remembers how far it has come."""

    def __init__(
        self, stage: Stage[Any, Any], statements: Statements, lane: Lane, worker: str
    ) -> None:
        self._stage = stage
        self._statements = statements
        self._lane = lane
        self._worker = worker
        self._alone_first = False
        self._cursor: tuple[Any, Any] | None = None
        self._scanned = 0.0
        self._tenants: list[Any] = []
        self._tenants_at = 0.0

    async def next_batch(self) -> list[Held]:
        """Claim the next queued items; an empty list means that none was found."""
        if self._statements.claim_shared is not None:
            return await self._share(self._statements.claim_shared)
        onward = self._statements.claim_onward
        fresh = time.monotonic() - self._scanned < RESCAN_EVERY
        if onward is not None and self._cursor is not None and fresh:
            # Walking on from the last item steps over the dead index entries that
            # an old snapshot keeps; what was left behind is found by the next scan.
            found = await self._take(onward, *self._cursor)
            if found:
                return found
        self._scanned = time.monotonic()
        return await self._take(self._statements.claim)

    async def next_due(self) -> list[Held]:
        """Claim items whose wait for another try is over."""
        return await self._take(self._statements.claim_due, moves=False)

    async def next_suspects(self, *, alone: bool = True) -> list[Held]:
        """Claim items whose worker died: a few, or (if `alone`) one that may be to blame."""
        if not alone:
            return await self._take(self._statements.claim_rescued, moves=False)
        kinds = [self._statements.claim_rescued, self._statements.claim_suspect]
        if self._alone_first:
            kinds.reverse()
        # In turns, so that neither kind waits for the end of the other.
        self._alone_first = not self._alone_first
        found = await self._take(kinds[0], moves=False)
        return found or await self._take(kinds[1], moves=False)

    async def _take(
        self, statement: str, *beyond: object, moves: bool = True
    ) -> list[Held]:
        lease = self._stage.lease.total_seconds()
        rows = await self._lane.fetch(
            statement, self._stage.name, self._worker, lease, *beyond
        )
        if moves:
            self._cursor = furthest(rows) or self._cursor
        now = time.monotonic()
        found = [Held(row, now) for row in rows]
        if rows and rows[0][HISTORY] is not None:
            history = orjson.loads(rows[0][HISTORY])
            for held in found:
                held.tries, held.deaths = history.get(held.item, (1, 0))
        return found

    async def _share(self, shared: str) -> list[Held]:
        stale = time.monotonic() - self._tenants_at > TENANTS_EVERY
        if stale or not self._tenants:
            await self._refresh_tenants()
        batch = self._stage.batch
        chosen, rest = self._tenants[:batch], self._tenants[batch:]
        if not chosen:
            return []
        self._tenants = rest + chosen
        each = -(-batch // len(chosen))
        found = await self._take(shared, chosen, each, moves=False)
        if not found:
            self._tenants.clear()
        return found

    async def _refresh_tenants(self) -> None:
        assert self._statements.tenants is not None  # noqa: S101 - for the type checker
        self._tenants_at = time.monotonic()
        rows = await self._lane.fetch(self._statements.tenants)
        self._tenants = [row[0] for row in rows]


def furthest(rows: Sequence[asyncpg.Record]) -> tuple[Any, Any] | None:
    """Return the claim order's last (rank, key) among the rows."""
    ranked = [(row[4], row[5]) for row in rows if row[4] is not None]
    return max(ranked, default=None)


def loaded_columns(stage: Stage[Any, Any]) -> list[tuple[str, Column[Any]]]:
    """Return the attributes an item carries, with their columns."""
    mapper: Mapper[Any] = inspect(stage.model)
    keys = set(mapper.primary_key)
    found = []
    for attribute in mapper.column_attrs:
        column = attribute.columns[0]
        wanted = not attribute.deferred and stage.load == "row"
        if isinstance(column, Column) and (wanted or column in keys):
            found.append((attribute.key, column))
    return found


def select_list(stage: Stage[Any, Any], dialect: Dialect) -> str:
    """Write the columns an item carries as SQL, each under a neutral name."""
    quote = dialect.identifier_preparer.format_column
    columns = enumerate(loaded_columns(stage))
    return ", ".join(f"m.{quote(column)} AS c{n}" for n, (_, column) in columns)


def maker_of(stage: Stage[Any, Any], dialect: Dialect) -> Callable[[Any], Any]:
    """Return what turns a claimed row into a detached instance of the model.

    No session is involved, so this costs microseconds; changes to the instance are
    never written, and attributes that were not loaded raise when they are touched.
    """
    columns = loaded_columns(stage)
    names = [name for name, _ in columns]
    mapper: Mapper[Any] = inspect(stage.model)
    identity = mapper.get_property_by_column(mapper.primary_key[0]).key
    converters = [
        (name, convert)
        for name, column in columns
        if (convert := converter_of(column, dialect)) is not None
    ]
    missing = [a.key for a in mapper.column_attrs if a.key not in names]
    new_instance = mapper.class_manager.new_instance

    def make(row: asyncpg.Record) -> object:
        instance = new_instance()
        values = instance.__dict__
        values.update(zip(names, row[FIRST_COLUMN:], strict=True))
        for name, convert in converters:
            values[name] = convert(values[name])
        state = instance._sa_instance_state  # noqa: SLF001 - SQLAlchemy's own name
        state.key = (mapper.class_, (values[identity],), None)
        if missing:
            state.expired_attributes.update(missing)
        return instance

    return make


def converter_of(column: Column[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return what turns the driver's value into the model's, if anything must."""
    if isinstance(column.type, Numeric | Float):
        # The driver knows Decimal and float apart by itself.
        return None
    kind = column.type.dialect_impl(dialect)
    return kind.result_processor(dialect, None)
