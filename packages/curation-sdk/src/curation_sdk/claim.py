"""Claim: take the next items of a stage, at a cost that does not grow with the table."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import asyncpg
from sqlalchemy import Column, Dialect, Float, Numeric, inspect
from sqlalchemy.orm import ColumnProperty, Mapper

from curation_sdk.compat import detach, instance_maker
from curation_sdk.connection import Transaction, WorkerConnection
from curation_sdk.limits import ClaimLimits
from curation_sdk.queue import OrderTerm, column_of, only_key, order_terms, stored
from curation_sdk.stage import Stage
from curation_sdk.statements import Statements
from curation_sdk.working import correlation_id

Statement = str | Callable[[int], str]
"""A claim: with its limit as $4, or written for one."""
Tries = tuple[int, int]
"""A number of attempts: at least, and at most."""
ANY_TRIES = (0, 2**31 - 1)
POSTPONED = (0, 0)
"""Items that wait without having spent an attempt."""
FAILED_BEFORE = (1, ANY_TRIES[1])
RESCAN_SECONDS = 2.0
"""Seconds after which rows behind the cursor are looked for again."""
TENANT_LIST_SECONDS = 0.25
"""Seconds for which a list of tenants with queued rows is used."""
REQUEUE_SECONDS = 10.0
"""Seconds for which, after one queued row that had a claim, more are expected."""


class ClaimedItem:
    """An item in hand: the fence of its claim, and the row as it was when claimed."""

    __slots__ = ("beat", "claimed", "crashes", "fence", "item", "row", "tries")

    def __init__(
        self, item: str, fence: int, row: "asyncpg.Record | None", now: float
    ) -> None:
        self.item = item
        self.fence = fence
        self.row = row
        self.tries = 1
        self.crashes = 0
        self.claimed = now
        self.beat = now

    @property
    def correlation_id(self) -> str:
        """What identifies this attempt, in logs and in the item's history."""
        return correlation_id(self.item, self.fence)


@dataclass(frozen=True, slots=True)
class ClaimedKey:
    """A claim without its row, for work that loads the row itself."""

    key: Any
    item: str
    fence: int
    tries: int
    crashes: int = 0


class Claimer:
    """Sends a stage's claims and remembers its position in the queue."""

    def __init__(
        self,
        stage: Stage[Any, Any],
        statements: Statements,
        connection: WorkerConnection,
        worker: str,
        limits: ClaimLimits | None = None,
    ) -> None:
        self._stage = stage
        self._limits = limits
        self._statements = statements
        self._connection = connection
        self._worker = worker
        self._cursor: tuple[Any, Any] | None = None
        self._scanned = 0.0
        self._claimed_rows_at = -REQUEUE_SECONDS
        self._tenants: list[Any] = []
        self._tenants_at = 0.0
        where = {column: n for n, column in enumerate(carried_columns(stage))}
        key = only_key(stage, inspect(stage.model))
        rank = order_terms(stage)[0].column
        self._place = itemgetter(where[rank], where[key])
        self._item_at = len(where)
        self._ranks: list[tuple[int, bool]] = []
        if stage.load == "claim":
            terms = [*order_terms(stage), OrderTerm(key)]
            self._ranks = [(where[term.column], term.descending) for term in terms]

    def limit(self, stage: Stage[Any, Any], limits: ClaimLimits | None) -> None:
        """Claim within another batch and other limits."""
        self._stage, self._limits = stage, limits

    @property
    def held_back_by(self) -> str | None:
        """Which limit the last claim ran into, if any."""
        return None if self._limits is None else self._limits.reached

    def key(self, held: ClaimedItem) -> Any:  # noqa: ANN401 - whatever the key column holds
        """Return the key of a claimed row."""
        assert held.row is not None  # noqa: S101 - asked when work begins
        return self._place(held.row)[1]

    async def next_batch(self, limit: int | None = None) -> list[ClaimedItem]:
        """Claim the next queued items; an empty list means that none was found.

        It claims a batch, or `limit`; equal shares of tenants are at most a batch.
        """
        limit = limit or self._stage.batch
        shared = self._statements.claim_shared is not None
        if time.monotonic() - self._claimed_rows_at > REQUEUE_SECONDS:
            try:
                return await (self._share(limit) if shared else self._walk_on(limit))
            except asyncpg.UniqueViolationError:
                self._claimed_rows_at = time.monotonic()
        self._scanned = time.monotonic()
        return await self.next_rows(limit)

    async def next_rows(self, limit: int) -> list[ClaimedItem]:
        """Claim up to `limit` queued items, in the order of the queue."""
        if self._statements.claim_shared is not None:
            return await self._share(limit, again=True)
        return await self._take(limit, self._statements.claim_again)

    async def next_due(
        self, limit: int, tries: Tries = ANY_TRIES, *, but: Sequence[str] = ()
    ) -> list[ClaimedItem]:
        """Claim items whose wait for another attempt is over, but none of these.

        `tries` is how many attempts they have spent: at least, and at most.
        """
        return await self._take(limit, self._statements.claim_due, list(but), *tries)

    async def next_due_of(self, slow: list[str], limit: int) -> list[ClaimedItem]:
        """Claim those of these items whose wait for another attempt is over."""
        return await self._take(limit, self._statements.claim_due_slow, slow)

    async def next_rescued(self, limit: int) -> list[ClaimedItem]:
        """Claim a few items whose worker crashed with more than one item in hand."""
        return await self._take(limit, self._statements.claim_rescued)

    async def next_suspect(self) -> list[ClaimedItem]:
        """Claim one item whose next crash would condemn it."""
        return await self._take(1, self._statements.claim_suspect)

    async def _walk_on(self, limit: int) -> list[ClaimedItem]:
        onward = self._statements.claim_onward
        fresh = time.monotonic() - self._scanned < RESCAN_SECONDS
        if onward is not None and self._cursor is not None and fresh:
            # Starting after the last item skips the dead index entries that an old
            # snapshot keeps; rows behind the cursor are found by the next full scan.
            found = await self._take(limit, onward, *self._cursor)
            if found:
                self._move(found)
                return found
        self._scanned = time.monotonic()
        found = await self._take(limit, self._statements.claim)
        self._move(found)
        return found

    async def _share(self, limit: int, *, again: bool = False) -> list[ClaimedItem]:
        stale = time.monotonic() - self._tenants_at > TENANT_LIST_SECONDS
        if stale or not self._tenants:
            await self._refresh_tenants()
        batch = min(limit, self._stage.batch)
        chosen, rest = self._tenants[:batch], self._tenants[batch:]
        if not chosen:
            return []
        statements = self._statements
        statement = statements.claim_shared_again if again else statements.claim_shared
        assert statement is not None  # noqa: S101 - for the type checker
        each = -(-batch // len(chosen))
        found = await self._take(batch, statement, chosen, each)
        self._tenants = rest + chosen if found else []
        return found

    async def _refresh_tenants(self) -> None:
        assert self._statements.tenants is not None  # noqa: S101 - for the type checker
        self._tenants_at = time.monotonic()
        rows = await self._connection.fetch(self._statements.tenants)
        self._tenants = [row[0] for row in rows]

    async def _take(
        self, limit: int, statement: Statement, *more: object
    ) -> list[ClaimedItem]:
        limits = self._limits
        if limits is None:
            rows = await self._send(self._connection, limit, statement, *more)
        else:
            async with self._connection.transaction(limits.lock) as transaction:
                allowed = await limits.allow(transaction, limit)
                if not allowed:
                    return []
                rows = await self._send(transaction, allowed, statement, *more)
        if not rows:
            return []
        now = time.monotonic()
        at = self._item_at
        # All rows of one claim share a fence.
        fence, *history = rows[0][at + 1 :]
        if self._ranks:
            rows = in_order(rows, self._ranks)
        found = [ClaimedItem(row[at], fence, row, now) for row in rows]
        if history and history[0] is not None:
            known = json.loads(history[0])
            for held in found:
                held.tries, held.crashes = known.get(held.item, (1, 0))
        return found

    async def _send(
        self,
        sender: WorkerConnection | Transaction,
        limit: int,
        statement: Statement,
        *more: object,
    ) -> "list[asyncpg.Record]":
        lease = self._stage.lease.total_seconds()
        if isinstance(statement, str):
            more = (limit, *more)
        else:
            statement = statement(limit)
        return await sender.fetch(
            statement, self._stage.name, self._worker, lease, *more
        )

    def _move(self, found: list[ClaimedItem]) -> None:
        places = (self._place(held.row) for held in found if held.row is not None)
        ranked = [place for place in places if place[0] is not None]
        self._cursor = max(ranked, default=self._cursor)


def in_order(
    rows: "list[asyncpg.Record]", ranks: list[tuple[int, bool]]
) -> "list[asyncpg.Record]":
    """Sort rows by some of their columns, each with whether it is descending.

    A claim takes the first rows of the queue, but returns them as the table has them.
    Only loops want more than that: they say in which order their items are worked.
    """
    for place, descending in reversed(ranks):

        def rank(row: asyncpg.Record, place: int = place) -> tuple[bool, Any]:
            value = row[place]
            return (True, 0) if value is None else (False, value)

        rows = sorted(rows, key=rank, reverse=descending)
    return rows


def loaded_columns(stage: Stage[Any, Any]) -> list[tuple[str, Column[Any]]]:
    """Return the attributes an item has loaded besides its status, with their columns."""
    mapper: Mapper[Any] = inspect(stage.model)
    keys = set(mapper.primary_key)
    status = column_of(stage, stage.claims)
    found = []
    for attribute in mapper.column_attrs:
        column = attribute.columns[0]
        # The status need not be loaded: every claimed item is being processed.
        wanted = carries_row(stage, attribute) and column is not status
        if isinstance(column, Column) and (wanted or column in keys):
            found.append((attribute.key, column))
    return found


def carries_row(stage: Stage[Any, Any], attribute: ColumnProperty[Any]) -> bool:
    """Return whether a stage's items have this attribute loaded."""
    return not attribute.deferred and stage.load == "row"


def carried_columns(stage: Stage[Any, Any]) -> list[Column[Any]]:
    """Return the columns a claim returns: the item's own, and its place in the queue."""
    columns = [column for _, column in loaded_columns(stage)]
    terms = [term.column for term in order_terms(stage)]
    wanted = terms if stage.load == "claim" else terms[:1]
    return [*columns, *(rank for rank in wanted if rank not in set(columns))]


def select_list(stage: Stage[Any, Any], dialect: Dialect) -> str:
    """Write the columns a claim returns as SQL, each under a neutral name."""
    quote = dialect.identifier_preparer.format_column
    columns = enumerate(carried_columns(stage))
    return ", ".join(f"m.{quote(column)} AS c{n}" for n, column in columns)


def maker_of(stage: Stage[Any, Any], dialect: Dialect) -> Callable[[Any], Any]:
    """Return what turns a claimed row into a detached instance of the model.

    No session is involved, which keeps it cheap. Changes to the instance are never
    written, and attributes that were not loaded raise when they are accessed.
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
    status = mapper.column_attrs[stage.claims.key]
    known = processing_of(stage, dialect) if carries_row(stage, status) else {}
    present = {*names, *known}
    missing = [a.key for a in mapper.column_attrs if a.key not in present]
    new_instance = instance_maker(mapper)

    def make(row: asyncpg.Record) -> object:
        instance = new_instance()
        values = instance.__dict__
        # The item's own columns come first; the rest is for the SDK.
        values.update(zip(names, row), **known)  # noqa: B905 - on purpose
        for name, convert in converters:
            values[name] = convert(values[name])
        detach(instance, mapper, values[identity], missing)
        return instance

    return make


def processing_of(stage: Stage[Any, Any], dialect: Dialect) -> dict[str, Any]:
    """Return the status of every claimed item, as an attribute of its model."""
    value: Any = stored(stage, stage.processing, dialect)
    convert = converter_of(column_of(stage, stage.claims), dialect)
    return {stage.claims.key: value if convert is None else convert(value)}


def converter_of(column: Column[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return what converts the driver's value into the model's, if it needs converting."""
    if isinstance(column.type, Numeric | Float):
        # The driver already distinguishes Decimal from float.
        return None
    kind = column.type.dialect_impl(dialect)
    return kind.result_processor(dialect, None)
