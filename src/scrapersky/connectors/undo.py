"""Take the last run back: what it made is deleted there, what it changed gets its values back.

What somebody has changed there since is left, and said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.outbox import RECORDS
from scrapersky.connectors.protocol import (
    CrmField,
    CrmKind,
    CrmRecord,
    RecordWrite,
    Written,
)
from scrapersky.connectors.values import normalised
from scrapersky.errors import RecordConflict
from scrapersky.records.base import Base
from scrapersky.records.sync import SyncState, SyncWrite

WRITES: Final = Base.metadata.tables[SyncWrite.__tablename__]
WRITES_AT_ONCE: Final = 100


@dataclass(slots=True)
class UndoResult:
    """What came of a slice of an undo."""

    deleted: int = 0
    restored: int = 0
    kept: int = 0
    """Left as they are: somebody has changed them there since."""
    left: int = 0
    """Writes of the run that are still to be taken back."""


async def undo_next(engine: AsyncEngine, opened: CrmConnection) -> UndoResult:
    """Take back the next writes of the last run; the connection must be paused."""
    row = opened.row
    if row.is_active:
        raise RecordConflict(
            "The connection is at work.", hint="Pause it, and undo its last run then."
        )
    result = UndoResult()
    async with engine.connect() as connection:
        run_id = await last_run(connection, row.id)
        writes = (
            await connection.execute(of_run(row.id, run_id, WRITES_AT_ONCE))
        ).all()
    for kind in opened.crm.info.kinds:
        some = [one for one in writes if one.kind == kind.value]
        if some:
            await undo_some(engine, opened, kind, some, result)
    async with engine.connect() as connection:
        query = of_run(row.id, run_id, None).subquery()
        counted = await connection.scalar(select(func.count()).select_from(query))
        result.left = counted or 0
    return result


def writes_of(sync_id: UUID) -> Select[Any]:
    """Select everything that was written through a connection."""
    return select(WRITES).where(WRITES.c.connection_id == sync_id)


async def last_run(connection: AsyncConnection, sync_id: UUID) -> UUID | None:
    """Return the last run that wrote anything: of one that found no difference nothing is left."""
    query = select(WRITES.c.run_id).where(WRITES.c.connection_id == sync_id)
    found: UUID | None = await connection.scalar(
        query.order_by(WRITES.c.id.desc()).limit(1)
    )
    return found


def of_run(sync_id: UUID, run_id: UUID | None, most: int | None) -> Any:  # noqa: ANN401 - a query
    """Select the writes of a run that were not taken back, the last one first."""
    query = writes_of(sync_id).where(
        WRITES.c.run_id == run_id, WRITES.c.undone_at.is_(None)
    )
    return query.order_by(WRITES.c.id.desc()).limit(most)


async def undo_some(
    engine: AsyncEngine,
    opened: CrmConnection,
    kind: CrmKind,
    writes: Sequence[Row[Any]],
    result: UndoResult,
) -> None:
    """Take back writes of one kind: each is the same however often it is done."""
    schema = await opened.schema(kind)
    names = sorted({name for one in writes for name in one.after})
    found = await opened.crm.read(kind, [one.their_id for one in writes], names)
    doomed, gone = [], []
    for one in writes:
        there = found.get(one.their_id)
        if there is None or there.is_deleted:
            gone.append(one)
        elif one.is_new and is_as_written(one, there, schema):
            doomed.append(one)
        elif one.is_new:
            result.kept += 1
        else:
            is_restored = await restore(opened, one, there, schema)
            result.restored += is_restored
            result.kept += not is_restored
    if doomed and opened.crm.info.can_delete:
        await opened.crm.delete(kind, [one.their_id for one in doomed])
        result.deleted += len(doomed)
        gone += doomed
    async with engine.begin() as connection:
        await unlink(connection, opened.row.id, [one.record_id for one in gone])
        await connection.execute(
            update(WRITES)
            .where(WRITES.c.id.in_([one.id for one in writes]))
            .values(undone_at=func.clock_timestamp())
        )


def is_as_written(one: Row[Any], there: CrmRecord, schema: dict[str, CrmField]) -> bool:
    """Say whether a record holds what we wrote, in every field that we wrote."""
    return all(
        normalised(value, schema.get(name))
        == normalised(there.values.get(name), schema.get(name))
        for name, value in one.after.items()
    )


async def restore(
    opened: CrmConnection,
    one: Row[Any],
    there: CrmRecord,
    schema: dict[str, CrmField],
) -> bool:
    """Give fields back what they held, unless somebody has changed them since."""
    back = {
        name: one.before.get(name)
        for name, value in one.after.items()
        if normalised(value, schema.get(name))
        == normalised(there.values.get(name), schema.get(name))
    }
    if not back:
        return False
    kind = CrmKind(one.kind)
    write = RecordWrite(kind=kind, our_id=one.record_id, values=back, their_id=there.id)
    [answer] = await opened.crm.write(kind, [write])
    return isinstance(answer, Written)


async def unlink(
    connection: AsyncConnection, sync_id: UUID, record_ids: Sequence[UUID]
) -> None:
    """Forget the links of records that are gone there: pushed again, they are made anew."""
    await connection.execute(
        update(RECORDS)
        .where(RECORDS.c.connection_id == sync_id, RECORDS.c.record_id.in_(record_ids))
        .values(state=SyncState.UNLINKED, snapshot={}, differs={}, linked_to=None)
    )
