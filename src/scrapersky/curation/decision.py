"""Set the status of records, by ids or by conditions; `undo.py` takes it back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from cachetools import LRUCache, cached
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Select,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    false,
    func,
    insert,
    literal,
    literal_column,
    null,
    select,
    true,
    update,
)
from sqlalchemy import Text as TextType
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from scrapersky.curation.action import ActionResult, audit, keep_counts, open_action
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Comparison, Condition, in_short
from scrapersky.curation.search import matches
from scrapersky.db.transaction import (
    Database,
    commit_chunk,
    run_in_transaction,
    transaction,
)
from scrapersky.records import CurationChange, Kind
from scrapersky.records.audit import Actor
from scrapersky.records.change import log_as_part_of
from scrapersky.records.curation import ActionType
from scrapersky.records.work_queue import Attribute, WorkQueue

CHUNK_ROWS = 5_000
"""Rows changed in one transaction: short enough that nobody waits for it."""

ALREADY = "already {status}"
IN_STAGE = "the stage has it already"
MEANWHILE = "changed meanwhile"
LASTING = "stays {status}"
ID_BYTES: Final = 16
NOTHING: Final[ColumnElement[Any]] = cast(null(), TextType)
"""What stands for the stage where a decision starts none."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records are meant: these ids, or all that satisfy the conditions."""

    ids: tuple[UUID, ...] | None = None
    conditions: tuple[Condition, ...] = ()
    words: str | None = None
    """Only what has these words, as the search of a list finds it."""

    def as_json(self) -> dict[str, Any]:
        """Return what is kept with the action."""
        if self.ids is not None:
            return {"ids": len(self.ids)}
        kept: dict[str, Any] = {"conditions": in_short(self.conditions)}
        return {**kept, "q": self.words} if self.words else kept


async def decide(
    database: Database,
    actor: Actor,
    kind: Kind,
    status: str,
    selection: Selection,
    *,
    force: bool = False,
    rule_id: UUID | None = None,
) -> ActionResult:
    """Set a curation status on every selected record of the actor's tenant.

    What is meant is picked once; it is changed in chunks, each in a transaction, so that
    readers and other writers are never blocked for long, and each chunk is whole. The
    last chunk is left in the caller's transaction, with the audit line. Returns what
    changed, what was queued and what was left, why. The action shows how far it is.
    """
    wanted = kind.status_named(status)
    opening = partial(
        begin, actor, kind, wanted, selection, force=force, rule_id=rule_id
    )
    work, chunks, total = await run_in_transaction(database, opening)
    for number, ids in enumerate(chunks[1:], start=2):
        await commit_chunk(database)
        is_last = number == len(chunks)
        step = partial(advance, actor, work, total, ids, is_last=is_last)
        total = await run_in_transaction(database, step)
    if total.queued and kind.deciding.starts:
        await curation_sdk.control.wake(database, kind.deciding.starts)
    return total


async def begin(
    actor: Actor,
    kind: Kind,
    status: Any,  # noqa: ANN401 - a member of the kind's enum
    selection: Selection,
    connection: AsyncConnection,
    *,
    force: bool,
    rule_id: UUID | None,
) -> "tuple[OpenAction, list[list[UUID]], ActionResult]":
    """Pick what is meant, and decide about the first chunk of it."""
    if selection.ids is not None:
        chosen, chunks = None, [*chunks_of_ids(selection.ids)]
    else:
        chosen = selection_clause(kind, actor.tenant_id, selection)
        chunks = [*chunks_of(await read_selected_ids(connection, kind, chosen))] or [[]]
    action_id = await open_action(
        connection,
        actor,
        kind,
        ActionType.DECIDED,
        status=status.value,
        selection=selection.as_json(),
        rule_id=rule_id,
        matched=sum(map(len, chunks)),
    )
    lifts = force or is_meant(kind, selection)
    work = OpenAction(action_id, kind, status, actor.tenant_id, chosen, force, lifts)
    total = ActionResult(action_id=action_id)
    is_last = len(chunks) == 1
    step = advance(actor, work, total, chunks[0], connection, is_last=is_last)
    return work, chunks, await step


async def decide_here(
    connection: AsyncConnection,
    actor: Actor,
    kind: Kind,
    status: str,
    selection: Selection,
    *,
    rule_id: UUID | None = None,
    among: tuple[Condition, ...] = (),
) -> ActionResult:
    """Decide inside a transaction of the caller, who also wakes the stage.

    `among` narrows the selection further, and is not kept with the action.
    """
    wanted = kind.status_named(status)
    chosen = and_(
        selection_clause(kind, actor.tenant_id, selection), where(kind, among)
    )
    picked = await read_selected_ids(connection, kind, chosen)
    if not picked:
        return ActionResult()
    action_id = await open_action(
        connection,
        actor,
        kind,
        ActionType.DECIDED,
        status=wanted.value,
        selection=selection.as_json(),
        rule_id=rule_id,
    )
    lifts = is_meant(kind, selection)
    work = OpenAction(action_id, kind, wanted, actor.tenant_id, chosen, lifts=lifts)
    total = ActionResult(action_id=action_id)
    for ids in chunks_of(picked):
        total += await decide_chunk(connection, work, ids)
    await keep_counts(connection, total, is_last=True)
    await audit(connection, actor, ActionType.DECIDED, kind, total)
    return total


async def count_selected(
    database: Database, tenant_id: UUID, kind: Kind, selection: Selection
) -> int:
    """Count what a selection means, changing nothing."""
    query = select(func.count()).select_from(kind.record)
    async with transaction(database) as connection:
        found = await connection.scalar(
            query.where(selection_clause(kind, tenant_id, selection))
        )
    return int(found or 0)


def selection_clause(
    kind: Kind, tenant_id: UUID, selection: Selection
) -> ColumnElement[bool]:
    """Translate a selection into SQL, always within one tenant."""
    mine: ColumnElement[bool] = kind.record.tenant_id == tenant_id
    if selection.ids is not None:
        return and_(mine, kind.record.id == func.any(literal(list(selection.ids))))
    return and_(mine, where(kind, selection.conditions), matches(kind, selection.words))


@dataclass(frozen=True, slots=True)
class OpenAction:
    """An action that has been opened: what is set, and on what."""

    action_id: UUID
    kind: Kind
    status: Any
    tenant_id: UUID
    chosen: ColumnElement[bool] | None
    """What the rows of a chunk must still be; None: they were named one by one."""
    force: bool = False
    lifts: bool = False
    """Whether records lose a status that lasts, too."""


def is_meant(kind: Kind, selection: Selection) -> bool:
    """Say whether a selection means just those records that have the status that lasts.

    That is so of one record that was named, and of a filter by that status.
    """
    status = kind.deciding.lasting
    if status is None:
        return True
    if selection.ids is not None:
        return len(selection.ids) == 1
    column = kind.deciding.column.key
    return any(
        one.field == column
        and one.comparison is Comparison.EQUAL
        and one.value == status
        and not one.alternatives
        for one in selection.conditions
    )


async def read_selected_ids(
    connection: AsyncConnection, kind: Kind, chosen: ColumnElement[bool]
) -> bytes:
    """Return the ids of all that is meant now, 16 bytes each.

    They are in the order of the table: rows of one chunk that lie together are read
    and written together.
    """
    place: ColumnElement[Any] = literal_column(f"{kind.record.__tablename__}.ctid")
    in_order = aggregate_order_by(literal(b""), place)
    ids = func.string_agg(func.uuid_send(kind.record.id), in_order)
    return bytes(await connection.scalar(select(ids).where(chosen)) or b"")


def chunks_of_ids(ids: Sequence[UUID]) -> Iterator[list[UUID]]:
    """Yield ids, as many at a time as one transaction changes; once if there are none."""
    for start in range(0, len(ids) or 1, CHUNK_ROWS):
        yield [*ids[start : start + CHUNK_ROWS]]


def chunks_of(picked: bytes) -> Iterator[list[UUID]]:
    """Yield the ids, as many at a time as one transaction changes."""
    for start in range(0, len(picked), CHUNK_ROWS * ID_BYTES):
        part = picked[start : start + CHUNK_ROWS * ID_BYTES]
        yield [
            UUID(bytes=part[at : at + ID_BYTES]) for at in range(0, len(part), ID_BYTES)
        ]


async def advance(
    actor: Actor,
    work: OpenAction,
    total: ActionResult,
    ids: list[UUID],
    connection: AsyncConnection,
    *,
    is_last: bool,
) -> ActionResult:
    """Decide about some, and keep what all came to so far."""
    await log_as_part_of(connection, work.action_id)
    total += await decide_chunk(connection, work, ids)
    await keep_counts(connection, total, is_last=is_last)
    if is_last:
        await audit(connection, actor, ActionType.DECIDED, work.kind, total)
    return total


async def decide_chunk(
    connection: AsyncConnection, work: OpenAction, ids: list[UUID]
) -> ActionResult:
    """Decide about those of these rows that are still meant."""
    status = work.status
    ways = {"force": work.force, "lifts": work.lifts}
    if work.chosen is None:
        statement = named_chunk(work.kind, status, **ways)
    else:
        statement = chunk(work.kind, status, work.chosen, **ways)
    values = {"ids": ids, "action": work.action_id, "tenant": work.tenant_id}
    found = (await connection.execute(statement, values)).one()
    skipped = {}
    if found.lasting:
        skipped[LASTING.format(status=work.kind.deciding.lasting)] = found.lasting
    if unchanged := found.seen - found.changed - found.lasting:
        is_queueing = status == work.kind.deciding.on
        reason = IN_STAGE if is_queueing else ALREADY.format(status=status.value)
        skipped[reason] = unchanged
    if gone := len(ids) - found.seen:
        skipped[MEANWHILE] = gone
    return ActionResult(found.changed, found.queued, skipped)


@cached(
    LRUCache(200), key=lambda kind, status, **ways: (kind.name, status, *ways.items())
)
def named_chunk(
    kind: Kind,
    status: Any,  # noqa: ANN401 - a member of the kind's enum
    *,
    force: bool,
    lifts: bool,
) -> Select[int, int, int, int]:
    """Write the statement for rows that were named; it takes longer than to run it."""
    return chunk(kind, status, true(), force=force, lifts=lifts)


def chunk(
    kind: Kind,
    status: Any,  # noqa: ANN401 - a member of the kind's enum
    chosen: ColumnElement[bool],
    *,
    force: bool,
    lifts: bool,
) -> Select[int, int, int, int]:
    """Write the statement that changes some rows, notes each, and counts them."""
    model, queue = kind.record, kind.deciding.queue
    ids = bindparam("ids", type_=ARRAY(Uuid))
    mine = model.tenant_id == bindparam("tenant", type_=Uuid())
    rows = (
        select(
            model.id,
            model.tenant_id,
            kind.deciding.column.label("before"),
            (queue.column if queue else NOTHING).label("stage_before"),
            (queue.error if queue else NOTHING).label("error_before"),
        )
        .where(model.id == func.any(ids), mine, chosen)
        .order_by(model.id)
        .with_for_update()
        .cte("chosen")
        .prefix_with("MATERIALIZED")
    )
    queues = queues_record(kind, status, rows.c.stage_before, force=force)
    changes = rows.c.before != status
    lasts = false() if lifts else and_(changes, rows.c.before == kind.deciding.lasting)
    plan = select(
        rows,
        queues.label("queues"),
        and_(changes | queues, ~lasts).label("changes"),
        lasts.label("lasts"),
    ).cte("plan")
    updated = (
        update(model)
        .where(model.id == plan.c.id, plan.c.changes)
        .values({kind.deciding.column: status, **queued_by(queue, plan.c.queues)})
        .returning(model.id)
        .cte("updated")
    )
    noted = (
        insert(CurationChange)
        .from_select(
            [
                "action_id", "record_id", "tenant_id", "status_before",
                "stage_status_before", "error_before", "queued",
            ],
            select(
                bindparam("action", type_=Uuid()),
                plan.c.id,
                plan.c.tenant_id,
                cast(plan.c.before, TextType),
                cast(plan.c.stage_before, TextType),
                plan.c.error_before,
                plan.c.queues,
            ).where(plan.c.changes),
        )
        .returning(CurationChange.record_id)
        .cte("noted")
    )  # fmt: skip
    return (
        select(
            func.count().label("seen"),
            func.count().filter(plan.c.changes).label("changed"),
            func.count().filter(plan.c.queues).label("queued"),
            func.count().filter(plan.c.lasts).label("lasting"),
        )
        .select_from(plan)
        .add_cte(updated, noted)
    )


def queues_record(
    kind: Kind,
    status: Any,  # noqa: ANN401 - a member of the kind's enum
    stage_before: ColumnElement[Any],
    *,
    force: bool,
) -> ColumnElement[bool]:
    """Say whether a status queues a record that its stage found so."""
    decision = kind.deciding
    if decision.queue is None or status != decision.on:
        return false()
    is_busy = func.coalesce(stage_before.in_(decision.queue.busy), False)
    return true() if force else ~is_busy


def queued_by(
    queue: WorkQueue | None, queues: ColumnElement[bool]
) -> dict[Attribute, ColumnElement[Any]]:
    """Return what a decision that queues changes beside the status."""
    if queue is None:
        return {}
    queued = literal(queue.queued, queue.column.type)
    return {
        queue.column: case((queues, queued), else_=queue.column),
        queue.error: case((queues, null()), else_=queue.error),
    }
